// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/owners.h"

#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/strmap.h"
#include "base/text.h"
#include "model/group.h"
#include "read/activity.h"

static const char *const words[OWNERS] = {
	[OWNER_SITES] = "call sites",
	[OWNER_MODULES] = "modules",
	[OWNER_PROCESSES] = "processes",
	[OWNER_CGROUPS] = "control groups",
	[OWNER_CACHES] = "slab caches",
	[OWNER_AREAS] = "vmalloc areas",
};

const char *owner_words(enum owner_by by)
{
	return words[by];
}

static int by_size(const void *a, const void *b)
{
	const struct owner *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? 1 : -1;
	return strcmp(x->name, y->name);
}

static int by_number(int64_t x, int64_t y, const void *a, const void *b)
{
	return x != y ? (x < y ? 1 : -1) : by_size(a, b);
}

static int by_allocs(const void *a, const void *b)
{
	const struct owner *x = a, *y = b;

	return by_number(x->recent.allocs, y->recent.allocs, a, b);
}

static int by_frees(const void *a, const void *b)
{
	const struct owner *x = a, *y = b;

	return by_number(x->recent.frees, y->recent.frees, a, b);
}

static struct owner *add(struct owners *owners, const char *name, int64_t bytes, int64_t count)
{
	struct owner *owner;

	GROW(owners->owner, owners->count, owners->room);
	owner = &owners->owner[owners->count++];
	*owner = (struct owner){ .name = name, .bytes = bytes, .count = count };
	return owner;
}

static void add_holders(struct owners *owners, const struct holders *holders)
{
	for (size_t i = 0; i < holders->count; i++)
		add(owners, holders->holder[i].name, holders->holder[i].bytes,
		    holders->holder[i].count);
}

/* Areas by their callers. Those that are stacks are of another kind than the others. */
static void add_areas(struct owners *owners, const struct holders *areas, enum memory_kind_id id)
{
	for (size_t i = 0; i < areas->count; i++) {
		const struct holder *area = &areas->holder[i];

		if (id == MEMORY_KINDS ||
		    id == (explain_is_stack(area->name) ? MEMORY_STACKS : MEMORY_VMALLOC))
			add(owners, area->name, area->bytes, area->count);
	}
}

/*
 * Rows of one site, or of one module, are one owner. With @busy only rows whose recent activity is
 * not known to be none; they may hold nothing.
 */
static void add_sites(struct owners *owners, const struct snapshot *host,
		      enum memory_kind_id id, enum owner_by owner_by, bool busy)
{
	const enum group_by by = owner_by == OWNER_SITES ? BY_SITE : BY_MODULE;
	const struct grouping grouping = { .by = by };
	struct strmap names = { 0 };
	struct text name = { 0 };

	for (size_t i = 0; i < host->info.count; i++) {
		const struct site *site = &host->info.site[i];
		enum memory_kind_id kind;
		struct owner *owner;
		bool ambiguous;
		size_t at;

		if (busy ? site->recent.known && !site->recent.allocs && !site->recent.frees :
			   site->bytes <= 0)
			continue;
		kind = explain_site(site, &host->machine, &ambiguous);
		if (kind == MEMORY_CONTAINER || (id != MEMORY_KINDS && kind != id))
			continue;
		text_clear(&name);
		group_name(&name, grouping, site);
		at = strmap_add(&names, name.s, name.len);
		if (at == owners->count) {
			add(owners, arena_copy(&owners->strings, name.s, name.len), 0, 0);
			if (by == BY_SITE)
				owners->owner[at].site = site;
		}
		owner = &owners->owner[at];
		owner->bytes = add64(owner->bytes, site->bytes);
		owner->count = add64(owner->count, site->calls);
		activity_add(&owner->recent, &site->recent);
		owner->ambiguous |= ambiguous;
	}
	text_free(&name);
	strmap_free(&names);
}

/*
 * A file does not tell whether a cache is reclaimable. A cache that is larger than all
 * reclaimable memory is not.
 */
static bool may_be_of(const struct slab_cache *cache, int64_t bytes, enum memory_kind_id id,
		      const struct machine *machine)
{
	const char *all = id == MEMORY_SLAB ? "SUnreclaim" : "SReclaimable";

	if (id == MEMORY_KINDS)
		return true;
	if (cache->reclaim != RECLAIM_UNKNOWN)
		return (cache->reclaim == RECLAIM_YES) == (id == MEMORY_SLAB_RECLAIMABLE);
	return !fields_find(&machine->meminfo, all) ||
	       bytes <= fields_number(&machine->meminfo, all);
}

static void add_caches(struct owners *owners, const struct snapshot *host, enum memory_kind_id id)
{
	const struct slabinfo *slabs = &host->machine.slabinfo;
	int64_t page = machine_page_size(&host->machine);

	for (size_t i = 0; i < slabs->count; i++) {
		const struct slab_cache *cache = &slabs->cache[i];
		int64_t bytes = mul64(mul64(cache->slabs, cache->pages_per_slab), page);

		if (bytes > 0 && may_be_of(cache, bytes, id, &host->machine))
			add(owners, cache->name, bytes, cache->objects);
	}
}

/* The whole charge of a group, or the fields of its memory.stat that belong to the kind. */
static void add_cgroups(struct owners *owners, const struct machine *machine,
			enum memory_kind_id id)
{
	for (size_t i = 0; i < machine->cgroups; i++) {
		const struct cgroup *cgroup = &machine->cgroup[i];
		int64_t bytes = id == MEMORY_KINDS ? cgroup->bytes : 0;

		for (size_t k = 0; id != MEMORY_KINDS && k < 2 && memory_kind(id)->cgroup[k]; k++)
			bytes = add64(bytes, fields_number(&cgroup->stat,
							   memory_kind(id)->cgroup[k]));
		if (bytes > 0)
			add(owners, cgroup->name, bytes, 1);
	}
}

void owners_find(struct owners *owners, const struct snapshot *host, enum memory_kind_id id,
		 enum owner_by by)
{
	bool slabs = id == MEMORY_SLAB || id == MEMORY_SLAB_RECLAIMABLE || id == MEMORY_KINDS;

	*owners = (struct owners){ .by = by };
	switch (by) {
	case OWNER_SITES:
	case OWNER_MODULES:
		add_sites(owners, host, id, by, false);
		break;
	case OWNER_PROCESSES:
		if (id == MEMORY_PROCESSES || id == MEMORY_KINDS)
			add_holders(owners, &host->machine.processes);
		break;
	case OWNER_CGROUPS:
		add_cgroups(owners, &host->machine, id);
		break;
	case OWNER_CACHES:
		if (slabs)
			add_caches(owners, host, id);
		break;
	case OWNER_AREAS:
		add_areas(owners, &host->machine.vmalloc, id);
		break;
	case OWNERS:
		break;
	}
	if (owners->count)
		qsort(owners->owner, owners->count, sizeof(*owners->owner), by_size);
}

bool owner_is_counted(enum owner_by by)
{
	return by == OWNER_SITES || by == OWNER_MODULES;
}

void owners_find_busy(struct owners *owners, const struct snapshot *host, enum memory_kind_id id,
		      enum owner_by by, bool frees)
{
	size_t kept = 0;

	*owners = (struct owners){ .by = by };
	if (owner_is_counted(by))
		add_sites(owners, host, id, by, true);
	for (size_t i = 0; i < owners->count; i++)
		if (owners->owner[i].recent.allocs || owners->owner[i].recent.frees)
			owners->owner[kept++] = owners->owner[i];
	owners->count = kept;
	if (owners->count)
		qsort(owners->owner, owners->count, sizeof(*owners->owner), frees ? by_frees : by_allocs);
}

/* Do the call sites have memory? Not if they were switched off when it was allocated. */
static bool sites_tell(const struct snapshot *host)
{
	if (host->machine.profiling == PROFILING_NONE || host->machine.profiling == PROFILING_OFF)
		return false;
	for (size_t i = 0; i < host->info.count; i++)
		if (host->info.site[i].bytes)
			return true;
	return false;
}

enum owner_by owners_best(const struct snapshot *host, enum memory_kind_id id)
{
	if (id == MEMORY_PROCESSES && host->machine.processes.count)
		return OWNER_PROCESSES;
	if (id == MEMORY_VMALLOC && host->machine.vmalloc.count)
		return OWNER_AREAS;
	if ((id == MEMORY_SLAB || id == MEMORY_SLAB_RECLAIMABLE) &&
	    !sites_tell(host))
		return OWNER_CACHES;
	return OWNER_SITES;
}

void owners_free(struct owners *owners)
{
	free(owners->owner);
	arena_free(&owners->strings);
	*owners = (struct owners){ 0 };
}
