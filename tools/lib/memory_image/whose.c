// SPDX-License-Identifier: GPL-2.0-only
#include "memory_image/whose.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define MAX_TASKS 4194304
#define MAX_MODULES 65536

/* The thing that a walk has found, which ends the walk */
struct search {
	const struct image_sites *sites;
	struct recount *recount;
	uint64_t address;
	struct whose *whose;
};

static struct image *image_of(const struct search *s)
{
	return s->recount->image;
}

/* ---- pages and slab objects --------------------------------------------------------- */

static void find_object(struct search *s, const struct image_page *page)
{
	struct image_slab slab;
	unsigned int i = 0;
	uint64_t object;

	if (!image_slab_read(s->recount, page, &slab)) {
		text_printf(&s->whose->what, "page of a slab that is being made or freed");
		return;
	}
	if (!slab.kfence)
		i = (unsigned int)((s->address - slab.start) / slab.cache->size);
	if (i >= slab.objects) {
		text_printf(&s->whose->what, "end of a slab of %s, behind its objects",
			    slab.cache->name);
		return;
	}
	object = image_object(&slab, i);
	/* Red zones have no members. */
	if (s->address >= object && s->address - object < slab.cache->object_size)
		s->whose->cache = slab.cache;
	s->whose->id = image_object_id(s->recount, &slab, i);
	/* Before it is a red zone, or the begin of a page of KFENCE's. */
	s->whose->offset = s->address < object ? 0 : s->address - object;
	text_printf(&s->whose->what, "%s object of %s, %u bytes%s",
		    s->whose->id ? "allocated" : "free", slab.cache->name, slab.cache->object_size,
		    slab.kfence ? ", one of KFENCE's" : "");
}

/* The first page of the allocation with @page, which may be this one. */
static bool find_first(struct search *s, const struct image_page *page, struct image_page *first)
{
	struct image *image = image_of(s);

	*first = *page;
	if (page->is_tail) {
		uint64_t pfn = (page->head - image->layout.memory_map) / image->n[N_PAGE_SIZE_OF];

		return image_page_read(s->recount, pfn, first) && first->is_head;
	}
	/* The second page holds the id of the first. */
	if (page->pfn & 1 && image_page_read(s->recount, page->pfn - 1, first) && first->mark)
		return true;
	*first = *page;
	if (page->id >= image->n[N_ID_FIRST] || (page->id && page->id < image->n[N_ID_TAIL]))
		return true;
	for (unsigned int order = 1; order <= IMAGE_MAX_ALLOC_ORDER; order++) {
		if (!image_page_read(s->recount, page->pfn & ~((1ULL << order) - 1), first))
			break;
		if (first->id && first->pfn != page->pfn &&
		    first->pfn + (1ULL << image_page_order(s->recount, first)) > page->pfn)
			return true;
	}
	*first = *page;
	return true;
}

static const char *state_of(const struct image *image, const struct image_page *page)
{
	const uint64_t *n = image->n;
	uint32_t type = page->type >> 24;

	if (type == n[N_TYPE_BUDDY])
		return "free page";
	if (type == n[N_TYPE_OFFLINE])
		return "page that is offline";
	if (type == n[N_TYPE_GUARD])
		return "guard page";
	if (page->flags >> n[N_PG_RESERVED] & 1)
		return "page of the kernel since boot, or of no memory";
	return "page that no call site is charged for: free, or of before the profiler";
}

static void find_page(struct search *s, uint64_t pfn)
{
	struct image *image = image_of(s);
	struct image_page page, first;

	if (!image_page_read(s->recount, pfn, &page)) {
		text_printf(&s->whose->what, "page frame %#" PRIx64 ", which is no memory", pfn);
		s->whose->nothing = true;
		return;
	}
	if (!find_first(s, &page, &first)) {
		text_printf(&s->whose->what, "page of a compound page that is damaged");
		return;
	}
	if (first.is_slab) {
		find_object(s, &first);
		return;
	}
	s->whose->offset = ((pfn - first.pfn) << image->page_shift) + image_in_page(image, s->address);
	if (!first.id) {
		text_puts(&s->whose->what, state_of(image, &page));
		return;
	}
	s->whose->id = first.id;
	text_printf(&s->whose->what, "allocated pages of order %u, page frame %#" PRIx64
		    ", node %u", image_page_order(s->recount, &first), pfn,
		    (unsigned int)(page.flags >> image->n[N_NODE_SHIFT] & image->n[N_NODE_MASK]));
	if (first.type >> 24 == image->n[N_TYPE_TABLE])
		text_puts(&s->whose->what, ", a page table");
	if (first.type >> 24 == image->n[N_TYPE_HUGETLB])
		text_puts(&s->whose->what, ", a huge page");
}

/* ---- stacks ------------------------------------------------------------------------ */

static bool find_stack_of(struct search *s, uint64_t task)
{
	struct image *image = image_of(s);
	const uint64_t *n = image->n;
	uint64_t stack = image_u64(image, task + n[N_TASK_STACK]);
	char comm[17] = "";

	if (s->address - stack >= n[N_STACK_SIZE])
		return false;
	image_string(image, task + n[N_TASK_COMM], comm, 16);
	text_printf(&s->whose->what, "stack of %s, process %u; ", comm,
		    image_u32(image, task + n[N_TASK_PID]));
	return true;
}

/* All threads of all processes; the idle threads of other CPUs are in no list. */
static bool find_stack(struct search *s)
{
	struct image *image = image_of(s);
	const uint64_t *n = image->n;
	uint64_t leader = n[N_INIT_TASK], next;
	size_t tasks = 0;

	do {
		uint64_t head = image_u64(image, leader + n[N_TASK_SIGNAL]) + n[N_SIGNAL_THREADS];
		uint64_t at = image_u64(image, head);

		if (find_stack_of(s, leader))
			return true;
		for (; at && at != head && tasks++ < MAX_TASKS; at = image_u64(image, at))
			if (find_stack_of(s, at - n[N_TASK_THREAD]))
				return true;
		next = image_u64(image, leader + n[N_TASK_TASKS]);
		leader = next - n[N_TASK_TASKS];
	} while (next && leader != n[N_INIT_TASK] && tasks++ < MAX_TASKS && !image_exhausted(image));
	return false;
}

/* ---- the kernel and its modules ------------------------------------------------------ */

static bool find_module(struct search *s)
{
	struct image *image = image_of(s);
	const uint64_t *n = image->n;
	uint64_t head = n[N_MODULES], at = head ? image_u64(image, head) : 0;
	char name[64];

	for (size_t i = 0; at && at != head && i < MAX_MODULES && !image_exhausted(image); i++) {
		uint64_t module = at - n[N_MODULE_LIST];

		for (uint64_t part = 0; part < n[N_MODULE_PARTS]; part++) {
			uint64_t mem = module + n[N_MODULE_MEM] + part * n[N_MODULE_MEM_SIZE];
			uint64_t base = image_u64(image, mem + n[N_MODULE_BASE]);

			if (!base || s->address - base >= image_u32(image, mem + n[N_MODULE_LENGTH]))
				continue;
			text_printf(&s->whose->what, "module %s, its %s; ",
				    image_string(image, module + n[N_MODULE_NAME], name, sizeof(name)),
				    part ? "data" : "code");
			return true;
		}
		at = image_u64(image, at);
	}
	return false;
}

static bool find_kernel(struct search *s)
{
	const uint64_t *n = image_of(s)->n;

	if (s->address < n[N_TEXT] || s->address >= n[N_KERNEL_END])
		return false;
	s->whose->offset = s->address - n[N_TEXT];
	text_printf(&s->whose->what, "the kernel's image, its %s",
		    s->address < n[N_TEXT_END] ? "code" : "data");
	return true;
}

/* ---- percpu memory ------------------------------------------------------------------ */

static bool find_percpu(struct search *s)
{
	struct percpu_place place;

	if (!recount_find_percpu(s->recount, s->address, &place))
		return false;
	s->whose->id = place.id;
	s->whose->offset = place.offset;
	if (place.size)
		text_printf(&s->whose->what, "percpu memory of CPU %u, %" PRIu64 " bytes",
			    place.cpu, place.size);
	else
		text_printf(&s->whose->what, "percpu memory of CPU %u, free",
			    place.cpu);
	return true;
}

/* ---- all ---------------------------------------------------------------------------- */

void whose_find(const struct image_sites *sites, struct recount *recount, uint64_t address,
		struct whose *whose)
{
	struct image *image = recount->image;
	struct search s = { sites, recount, address = image_untagged(image, address), whose };
	uint64_t pa, direct;

	*whose = (struct whose){ 0 };
	if (find_kernel(&s) || find_percpu(&s))
		return;
	/* Stacks, modules and vmalloc areas consist of pages, so the search goes on. */
	if (!find_stack(&s) && !find_module(&s) && address >= image->layout.vmalloc &&
	    address < image->layout.vmalloc_end)
		text_puts(&whose->what, "vmalloc space; ");
	if (!image_translate(image, address, &pa)) {
		text_puts(&whose->what, "nothing is mapped at this address");
		whose->nothing = true;
		return;
	}
	/* Objects are found by their address in the direct map. */
	direct = image->layout.direct_map + pa;
	s.address = direct;
	find_page(&s, pa >> image->page_shift);
}

void whose_find_pfn(const struct image_sites *sites, struct recount *recount, uint64_t pfn,
		    struct whose *whose)
{
	const struct image *image = recount->image;
	struct search s = {
		sites, recount, image->layout.direct_map + (pfn << image->page_shift), whose,
	};

	*whose = (struct whose){ 0 };
	find_page(&s, pfn);
}
