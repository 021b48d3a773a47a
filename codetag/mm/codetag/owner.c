// SPDX-License-Identifier: GPL-2.0
/*
 * The owner of an object or a page, as a line in reports about it.
 *
 * Reports are written when something is wrong, in any context, with any lock held. So
 * nothing is allocated or locked here. Tags are read by functions that survive a bad
 * address: the id can be overwritten, and a module can go at the same time.
 */
#define pr_fmt(fmt) "codetag: " fmt

#include <linux/codetag_owner.h>
#include <linux/memory_hotplug.h>
#include <linux/mm.h>
#include <linux/page_tag.h>
#include <linux/pgalloc_tag.h>
#include <linux/printk.h>
#include <linux/uaccess.h>
#include "internal.h"
#include "slab_ref.h"

/* Of a file or function: long enough for nearly all of them. */
#define NAME_SIZE 80

static void show_id(const char *what, u16 id)
{
	char file[NAME_SIZE], function[NAME_SIZE];
	const struct codetag *tag = codetag_from_id(id);
	struct codetag ct;

	if (!tag || copy_from_kernel_nofault(&ct, tag, sizeof(ct)) ||
	    strncpy_from_kernel_nofault(file, ct.filename, sizeof(file)) <= 0 ||
	    strncpy_from_kernel_nofault(function, ct.function, sizeof(function)) <= 0) {
		pr_err("%s allocated by a call site that is not known (id %u)\n", what, id);
		return;
	}
	pr_err("%s allocated at %s:%u func:%s\n", what, file, ct.lineno, function);
}

/**
 * codetag_show_object - print the line that allocated a slab object
 * @addr: any address
 *
 * Prints nothing if there is no allocated object at @addr.
 *
 * Context: Any.
 */
void codetag_show_object(const void *addr)
{
	const struct kmem_cache *s;
	const struct slab *slab;
	unsigned int size, i;
	void *object;
	u16 *ref, id;

	addr = kasan_reset_tag(addr);
	if (!virt_addr_valid(addr))
		return;
	slab = virt_to_slab(addr);
	if (!slab)
		return;
	s = READ_ONCE(slab->slab_cache);
	if (!s || mem_alloc_profiling_permanently_disabled())
		return;

	if (is_kfence_address(addr)) {
		ref = codetag_slab_ref_any(s, addr);
	} else {
		if (get_kernel_nofault(size, &s->size) || !size)
			return;
		object = kasan_reset_tag(slab_address(slab));
		i = (addr - object) / size;
		/* Behind the last object are ids, or nothing. */
		if (i >= slab->objects)
			return;
		object += i * size;
		ref = codetag_slab_ref_in(s, slab, fixup_red_left((struct kmem_cache *)s, object));
	}
	if (!get_kernel_nofault(id, ref) && id)
		show_id("object", id);
}

/**
 * codetag_show_page - print the line that allocated a page
 * @page: the page, or one of a compound page
 *
 * Prints nothing if the page is not charged to any.
 *
 * Context: Any.
 */
void codetag_show_page(const struct page *page)
{
	const struct page *head = compound_head(page);
	unsigned long pfn = page_to_pfn(page);
	u16 id;

	/* Only pages that the page allocator has had are sure to have a place. */
	if (!alloc_tag_refs_exist() || pfn_to_online_page(pfn) != page)
		return;
	/* The head can be what is wrong with the page. */
	if (head > page || pfn_to_online_page(pfn - (page - head)) != head)
		head = page;
	if (!page_tag_has_place(head))
		return;
	id = page_tag_get(pgalloc_tag_holder((struct page *)head));
	if (id && !page_tag_is_mark(id))
		show_id("page", id);
}
