// SPDX-License-Identifier: GPL-2.0-only
/* Feeds any text as a trace; at its end the sums have to balance. */
#include "trace/kmem.h"

#include <stdlib.h>
#include <string.h>

#include "read/input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = memcpy(xcalloc(size + 1, 1), data, size), *at = text, *line;
	struct kmem kmem = { 0 };
	struct kmem_caller total, part;
	bool complete;
	size_t len;

	while ((line = input_line(&at, text + size, &len, &complete))) {
		struct kmem_event event;

		kmem_event_parse(&event, line);
		kmem_add(&kmem, &event);
	}
	kmem_sum(&kmem, &(struct kmem_filter){ 0 }, &total);
	if ((int64_t)kmem.objects != total.allocs - total.freed)
		abort();
	if (!kmem.objects && total.allocs < 1000 && total.total_alloc < 1L << 40 &&
	    total.current_alloc)
		abort();
	kmem_sum(&kmem, &(struct kmem_filter){ .malloc_only = true }, &part);
	total.allocs -= part.allocs;
	total.frees -= part.frees;
	kmem_sum(&kmem, &(struct kmem_filter){ .cache_only = true }, &part);
	if (total.allocs != part.allocs || total.frees != part.frees)
		abort();
	kmem_free(&kmem);
	free(text);
	return 0;
}
