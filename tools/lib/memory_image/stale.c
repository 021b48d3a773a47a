// SPDX-License-Identifier: GPL-2.0
#include "memory_image/stale.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* Requests begin at cache lines. */
#define CACHE_LINE 64

struct pool {
	const struct kernel_objects *objects;
	struct image *image;
	uint64_t va;			/* of the pages */
	struct edge *edge;		/* by offset */
	size_t edges;
	uint32_t *request;		/* offsets of those that were used */
	size_t requests, room;
	uint32_t size;			/* of each, with the driver's data */
};

static int by_offset(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;

	return (x->offset > y->offset) - (x->offset < y->offset);
}

/* A request that was used has its queue, and the queue's data of a processor. */
static bool is_request(struct image *image, uint64_t va)
{
	const uint64_t *n = image->n;
	uint64_t queue = image_u64(image, va + n[N_REQUEST_QUEUE]);
	uint64_t ctx = image_u64(image, va + n[N_REQUEST_CTX]);

	return queue && ctx && image_u64(image, ctx + n[N_CTX_QUEUE]) == queue;
}

static void find_requests(struct pool *p)
{
	const uint64_t *n = p->image->n;
	uint32_t last = 0, step;

	for (size_t i = 0; i < p->edges && image_step(p->image); i++) {
		uint32_t at = p->edge[i].offset - (uint32_t)n[N_REQUEST_QUEUE];

		if (at % CACHE_LINE || (p->requests && at == last) || !is_request(p->image, p->va + at))
			continue;
		GROW(p->request, p->requests, p->room);
		p->request[p->requests++] = at;
		step = p->requests > 1 ? at - last : 0;
		if (step >= n[N_REQUEST_SIZE] && (!p->size || step < p->size))
			p->size = step;
		last = at;
	}
}

/* The request with an offset: the index of the last one that begins there or before + 1 */
static size_t request_at(const struct pool *p, uint32_t offset)
{
	size_t low = 0, high = p->requests;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (p->request[middle] <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static const struct edge *edge_at(const struct pool *p, uint32_t offset)
{
	struct edge key = { .offset = offset };

	return bsearch(&key, p->edge, p->edges, sizeof(key), by_offset);
}

static uint16_t site_of(const struct pool *p, const struct edge *edge)
{
	return image_site_id(p->objects->sites, p->objects->id[edge->to]);
}

/* Whether all requests have a pointer of their own where this one has @edge. */
static bool is_own(const struct pool *p, uint32_t request, const struct edge *edge)
{
	uint64_t word = image_u64(p->image, p->va + edge->offset);
	uint16_t site = site_of(p, edge);

	for (size_t i = 0; i < p->requests && image_step(p->image); i++) {
		uint32_t offset = p->request[i] + edge->offset - request;
		const struct edge *other = edge_at(p, offset);

		if (other == edge)
			continue;
		if (!other || site_of(p, other) != site ||
		    image_u64(p->image, p->va + offset) == word)
			return false;
	}
	return true;
}

static bool is_stale(const struct pool *p, const struct edge *edge)
{
	const uint64_t *n = p->image->n;
	size_t i = request_at(p, edge->offset);
	uint32_t request = i ? p->request[i - 1] : 0, in = edge->offset - request;

	if (!i || in >= p->size || in == n[N_REQUEST_QUEUE] || in == n[N_REQUEST_CTX] ||
	    image_u32(p->image, p->va + request + n[N_REQUEST_STATE]) != n[N_REQUEST_IDLE])
		return false;
	return in < n[N_REQUEST_SIZE] || !is_own(p, request, edge);
}

size_t stale_drop_requests(const struct kernel_objects *objects, const struct extent *extent,
			   struct edge *edge, size_t edges)
{
	struct image *image = objects->image;
	struct pool p = {
		.objects = objects, .image = image, .edge = edge, .edges = edges,
		.va = image->layout.direct_map + (extent->pfn << image->page_shift),
	};
	uint64_t missing = image->missing;
	size_t kept = edges;

	if (!image->n[N_REQUEST_SIZE] || !edges)
		return edges;
	qsort(edge, edges, sizeof(*edge), by_offset);
	find_requests(&p);
	if (p.size) {
		uint8_t *stale = xcalloc(edges, 1);

		for (size_t i = 0; i < edges; i++)
			stale[i] = is_stale(&p, &edge[i]);
		kept = 0;
		for (size_t i = 0; i < edges; i++)
			if (!stale[i])
				edge[kept++] = edge[i];
		free(stale);
	}
	free(p.request);
	image->missing = missing;
	return kept;
}

bool stale_net(struct image *image, const struct image_cache *cache, uint64_t va, uint32_t *next)
{
	const uint64_t *n = image->n;

	*next = (uint32_t)n[N_NET_NEXT_FREE];
	return *next && !strcmp(cache->name, "net_namespace") && !image_u32(image, va + n[N_NET_USERS]);
}
