// SPDX-License-Identifier: GPL-2.0-only
#include "memory_image/stale.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* Requests begin at cache lines, which have 64 or 128 bytes. */
#define CACHE_LINE 64

/* The kernel gets pages for requests in blocks of this order at most. */
#define LARGEST_ORDER 4

enum verdict { UNKNOWN, SHARED, OWN };

struct pool {
	const struct kernel_objects *objects;
	struct image *image;
	uint64_t va;			/* of the pages */
	struct edge *edge;		/* by offset */
	size_t edges;
	uint64_t tags;			/* the tag set of all requests */
	uint32_t *request;		/* offsets of those that were used */
	size_t requests, room;
	uint32_t size;			/* of each, with the driver's data */
	uint8_t *verdict;		/* of each word of a request */
	uint64_t *word;			/* of each request, at one place */
};

static int by_offset(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;

	return (x->offset > y->offset) - (x->offset < y->offset);
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* A request that was used has its queue, and the queue's data of a processor. Returns the tag set. */
static uint64_t tags_of(struct image *image, uint64_t va)
{
	const uint64_t *n = image->n;
	uint64_t queue = image_u64(image, va + n[N_REQUEST_QUEUE]);
	uint64_t ctx = image_u64(image, va + n[N_REQUEST_CTX]);

	return queue && ctx && image_u64(image, ctx + n[N_CTX_QUEUE]) == queue ?
	       image_u64(image, queue + n[N_QUEUE_TAGS]) : 0;
}

static void find_requests(struct pool *p)
{
	uint32_t last = 0;

	for (size_t i = 0; i < p->edges && image_step(p->image); i++) {
		uint32_t at = p->edge[i].offset - (uint32_t)p->image->n[N_REQUEST_QUEUE];
		uint64_t tags;

		if (at % CACHE_LINE || (p->requests && at == last))
			continue;
		tags = tags_of(p->image, p->va + at);
		if (!tags || (p->tags && tags != p->tags))
			continue;
		p->tags = tags;
		GROW(p->request, p->requests, p->room);
		p->request[p->requests++] = last = at;
	}
}

/* False if this is no size that all found requests can have. */
static bool find_size(struct pool *p, uint64_t bytes)
{
	const uint64_t *n = p->image->n;
	uint64_t size = n[N_REQUEST_SIZE] + image_u32(p->image, p->tags + n[N_TAGS_DATA_SIZE]);

	for (uint64_t line = CACHE_LINE; line <= 2 * CACHE_LINE && size <= bytes; line *= 2) {
		uint64_t rounded = (size + line - 1) / line * line;
		size_t i = 0;

		while (i < p->requests && p->request[i] + rounded <= bytes &&
		       (p->request[i] - p->request[0]) % rounded == 0)
			i++;
		if (i == p->requests) {
			p->size = (uint32_t)rounded;
			return true;
		}
	}
	return false;
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

/* Whether each request has another pointer at @in, to memory of one call site. */
static enum verdict judge(const struct pool *p, uint32_t in)
{
	uint16_t site = 0;

	for (size_t i = 0; i < p->requests && image_step(p->image); i++) {
		const struct edge *edge = edge_at(p, p->request[i] + in);
		uint16_t id = edge ? image_site_id(p->objects->sites, p->objects->id[edge->to]) : 0;

		if (!id || (i && id != site))
			return SHARED;
		site = id;
		p->word[i] = image_u64(p->image, p->va + p->request[i] + in);
	}
	qsort(p->word, p->requests, sizeof(*p->word), by_value);
	for (size_t i = 1; i < p->requests; i++)
		if (p->word[i] == p->word[i - 1])
			return SHARED;
	return OWN;
}

static bool is_stale(const struct pool *p, const struct edge *edge)
{
	const uint64_t *n = p->image->n;
	size_t i = request_at(p, edge->offset);
	uint32_t request = i ? p->request[i - 1] : 0, in = edge->offset - request;

	if (!i || in >= p->size || in == n[N_REQUEST_QUEUE] || in == n[N_REQUEST_CTX] ||
	    image_u32(p->image, p->va + request + n[N_REQUEST_REF]))
		return false;
	if (in < n[N_REQUEST_SIZE])
		return true;
	if (p->verdict[in / 8] == UNKNOWN)
		p->verdict[in / 8] = (uint8_t)judge(p, in);
	return p->verdict[in / 8] == SHARED;
}

static size_t drop(struct pool *p)
{
	uint8_t *stale = xcalloc(p->edges, 1);
	size_t kept = 0;

	p->verdict = xcalloc(p->size / 8, 1);
	p->word = xcalloc(p->requests, sizeof(*p->word));
	for (size_t i = 0; i < p->edges; i++)
		stale[i] = is_stale(p, &p->edge[i]);
	for (size_t i = 0; i < p->edges; i++)
		if (!stale[i])
			p->edge[kept++] = p->edge[i];
	free(stale);
	free(p->verdict);
	free(p->word);
	return kept;
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

	if (!image->n[N_REQUEST_SIZE] || !edges || extent->order > LARGEST_ORDER)
		return edges;
	qsort(edge, edges, sizeof(*edge), by_offset);
	find_requests(&p);
	if (p.requests && find_size(&p, image->page_size << extent->order))
		kept = drop(&p);
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
