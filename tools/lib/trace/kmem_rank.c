// SPDX-License-Identifier: GPL-2.0-only
#include "trace/kmem_rank.h"

#include <stdlib.h>
#include <string.h>

#include "base/glob.h"
#include "base/memory.h"
#include "base/number.h"

const char *const kmem_key_names[KMEM_KEYS] = {
	[TOTAL_DYNAMIC] = "total_dynamic",
	[CURRENT_DYNAMIC] = "current_dynamic",
	[ALLOC_COUNT] = "alloc_count",
	[FREE_COUNT] = "free_count",
	[WASTE] = "waste",
	[TOTAL_WASTE] = "total_waste",
	[REMOTE_FREED] = "remote_freed",
};

bool kmem_any_in_branch(const struct kmem *kmem, const char *branch)
{
	for (size_t i = 0; i < kmem->callers; i++)
		if (path_is_below(kmem->caller[i].path, branch))
			return true;
	return false;
}

bool kmem_key_of_waste(enum kmem_key key)
{
	return key == WASTE || key == TOTAL_WASTE;
}

int64_t kmem_waste(const struct kmem_caller *caller)
{
	return sub64(caller->current_alloc, caller->current_req);
}

int64_t kmem_total_waste(const struct kmem_caller *caller)
{
	return sub64(caller->total_alloc, caller->total_req);
}

int64_t kmem_mean_requested(const struct kmem_caller *caller)
{
	return caller->allocs ? caller->total_req / caller->allocs : 0;
}

int64_t kmem_mean(const struct kmem_caller *caller)
{
	return caller->allocs ? caller->total_alloc / caller->allocs : 0;
}

double kmem_fragmentation(const struct kmem_caller *caller)
{
	return percent(kmem_total_waste(caller), caller->total_alloc);
}

int64_t kmem_weight(const struct kmem_caller *c, enum kmem_key key)
{
	switch (key) {
	case TOTAL_DYNAMIC:
		return c->total_alloc;
	case CURRENT_DYNAMIC:
		return c->current_alloc;
	case ALLOC_COUNT:
		return c->allocs;
	case FREE_COUNT:
		return c->freed;
	case WASTE:
		return kmem_waste(c);
	case TOTAL_WASTE:
		return kmem_total_waste(c);
	case REMOTE_FREED:
		return c->remote_freed;
	case KMEM_KEYS:
		break;
	}
	return 0;
}

static int compare(const void *a, const void *b, void *key)
{
	const struct kmem_caller *const *x = a, *const *y = b;
	int64_t wx = kmem_weight(*x, *(enum kmem_key *)key), wy = kmem_weight(*y, *(enum kmem_key *)key);

	if (wx != wy)
		return wx < wy ? 1 : -1;
	return strcmp((*x)->name, (*y)->name);
}

const struct kmem_caller **kmem_rank(const struct kmem *kmem,
				     const struct kmem_order *order, size_t *count)
{
	const struct kmem_caller **ranked = xcalloc(kmem->callers, sizeof(*ranked));
	enum kmem_key key = order->key;

	*count = 0;
	for (size_t i = 0; i < kmem->callers; i++)
		if (kmem->caller[i].allocs || (order->frees_too && kmem->caller[i].frees))
			ranked[(*count)++] = &kmem->caller[i];
	qsort_r(ranked, *count, sizeof(*ranked), compare, &key);
	if (order->top && order->top < *count)
		*count = order->top;
	return ranked;
}

size_t kmem_findings(const struct kmem *kmem,
		     struct kmem_finding_text out[KMEM_FINDINGS])
{
	const struct kmem_finding_text all[KMEM_FINDINGS] = {
		{ &kmem->remote, "remote_frees", "freed on another CPU than allocated" },
		{ &kmem->wrong_function, "wrong_function",
		  "freed with the function of the other kind (kfree, kmem_cache_free)" },
		{ &kmem->wrong_cache, "wrong_cache", "freed into another cache" },
		{ &kmem->too_small, "too_small",
		  "given less than was asked for (a damaged log?), not counted as waste" },
		{ &kmem->unknown, "unknown_frees",
		  "freed, but not seen to be allocated (before the log began?)" },
		{ &kmem->reused, "missed_frees",
		  "allocated again, but not seen to be freed (not every free has an event)" },
		{ &kmem->in_parts, "part_frees",
		  "a part of the allocated pages freed by itself (split pages)" },
	};

	memcpy(out, all, sizeof(all));
	return KMEM_FINDINGS;
}
