// SPDX-License-Identifier: GPL-2.0-only
/*
 * The owner of an object or a page, as a line in reports about it.
 *
 * Reports are written when something is wrong, in any context, with any lock held. So
 * nothing is allocated or locked here. Functions that survive a bad address read what
 * pointers lead to: an id can be overwritten, and a cache or a module can go meanwhile.
 */
#define pr_fmt(fmt) "codetag: " fmt

#include <linux/codetag_owner.h>
#include <linux/memory_hotplug.h>
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/page_tag.h>
#include <linux/pgalloc_tag.h>
#include <linux/printk.h>
#include <linux/rcupdate.h>
#include <linux/uaccess.h>
#include "internal.h"
#include "owner.h"
#include "page_store.h"
#include "slab_ref.h"
#include "tags.h"

#undef MODULE_PARAM_PREFIX
#define MODULE_PARAM_PREFIX "codetag."

/* Does an oops name what registers point to? */
static unsigned int oops_registers = 1;
module_param_cb(oops_registers, &codetag_param_ops, &oops_registers, 0644);

/* ---- call sites ------------------------------------------------------------ */

/* Of a file or function: long enough for nearly all of them. */
#define NAME_SIZE 80

struct names {
	char file[NAME_SIZE];
	char function[NAME_SIZE];
	unsigned int lineno;
};

static bool get_names(u16 id, struct names *names)
{
	const struct codetag *tag;
	struct codetag ct;
	bool known;

	rcu_read_lock();
	tag = codetag_from_id(id);
	known = tag && !copy_from_kernel_nofault(&ct, tag, sizeof(ct)) &&
		strncpy_from_kernel_nofault(names->file, ct.filename, NAME_SIZE) > 0 &&
		strncpy_from_kernel_nofault(names->function, ct.function, NAME_SIZE) > 0;
	rcu_read_unlock();
	names->lineno = known ? ct.lineno : 0;
	return known;
}

static void show_id(const char *kind, u16 id)
{
	struct names names;

	if (get_names(id, &names))
		pr_err("%s allocated at %s:%u func:%s\n", kind, names.file, names.lineno,
		       names.function);
	else
		pr_err("%s allocated by an unknown call site (id %u)\n", kind, id);
}

/* ---- pages ----------------------------------------------------------------- */

/* The struct page of an address, if there is one that somebody has initialized. */
static struct page *page_of(const void *addr)
{
	struct page *page = virt_addr_valid(addr) ? pfn_to_online_page(PHYS_PFN(__pa(addr))) : NULL;

	return page && !PagePoisoned(page) ? page : NULL;
}

/* The first page of a compound page. @page may be damaged, and be a compound page only by that. */
static struct page *head_of(const struct page *page)
{
	const struct page *head = compound_head(page);

	if (head > page || pfn_to_online_page(page_to_pfn(page) - (page - head)) != head)
		head = page;
	return (struct page *)head;
}

/*
 * The first page of the allocation that @page is part of. If that is not compound, only its
 * first page says how far it reaches: look at all that can be the first one.
 */
static struct page *first_of(const struct page *page)
{
	unsigned long pfn = page_to_pfn(page);
	struct page *first = head_of(page);
	unsigned int order;

	if (first != page || PageHead(page))
		return first;
	for (order = pfn & 1; order <= MAX_PAGE_ORDER; order++) {
		first = pfn_to_online_page(ALIGN_DOWN(pfn, 1UL << order));
		if (!first || PagePoisoned(first) || !page_tag_has_place(first))
			break;
		if (page_tag_get(first) && pgalloc_tag_order(first) >= order)
			return first;
	}
	/* A page of its own, which is no second page. */
	return (struct page *)page;
}

static u16 id_of(struct page *first)
{
	u16 id;

	/* Only pages that the page allocator has had are sure to have a place. */
	if (pfn_to_online_page(page_to_pfn(first)) != first || !page_tag_has_place(first))
		return CODETAG_ID_NONE;
	id = page_tag_get(page_tag_holder(first));
	return page_tag_is_mark(id) ? CODETAG_ID_NONE : id;
}

/**
 * codetag_page_has_owner - whether a page is part of an allocation that is charged to a site
 * @page: the page, of online memory
 *
 * Context: Any.
 * Return: Whether it is.
 */
bool codetag_page_has_owner(const struct page *page)
{
	return alloc_tag_refs_exist() && id_of(first_of(page));
}

static bool page_owner_of(const void *addr, struct codetag_owner *owner)
{
	const struct page *page = page_of(addr);
	struct page *first;
	unsigned int order;

	if (!page || !alloc_tag_refs_exist())
		return false;
	first = first_of(page);
	owner->id = id_of(first);
	if (!owner->id)
		return false;
	order = pgalloc_tag_order(first);
	if (order)
		snprintf(owner->kind, sizeof(owner->kind), "%lu pages", 1UL << order);
	else
		strscpy(owner->kind, "page");
	owner->offset = ((page - first) << PAGE_SHIFT) + offset_in_page(addr);
	return true;
}

/* ---- slab objects ---------------------------------------------------------- */

/* The size of the objects of a cache, 0 if its memory is gone. */
static unsigned int size_of(const struct kmem_cache *s)
{
	unsigned int size;
	bool vector;

	if (!s || get_kernel_nofault(size, &s->size) ||
	    get_kernel_nofault(vector, &s->codetag_vector))
		return 0;
	return size;
}

/* The slab that @addr is in, and its cache and the size of the objects. */
static struct slab *slab_of(const void *addr, struct kmem_cache **s, unsigned int *size)
{
	struct page *page = page_of(addr);
	struct slab *slab;

	if (!page || !PageSlab(head_of(page)))
		return NULL;
	slab = page_slab(head_of(page));
	*s = READ_ONCE(slab->slab_cache);
	*size = size_of(*s);
	return *size ? slab : NULL;
}

static u16 read_id(const u16 *ref)
{
	u16 id;

	return get_kernel_nofault(id, ref) ? CODETAG_ID_NONE : id;
}

static bool object_owner_of(const void *addr, struct codetag_owner *owner)
{
	struct kmem_cache *s;
	struct slab *slab;
	const char *name;
	unsigned int size, i;
	void *object;

	addr = kasan_reset_tag(addr);
	slab = slab_of(addr, &s, &size);
	if (!slab || mem_alloc_profiling_permanently_disabled())
		return false;
	if (is_kfence_address(addr)) {
		object = kfence_object_start(addr);
		owner->id = object ? read_id(codetag_slab_ref_slow(s, addr)) : CODETAG_ID_NONE;
	} else {
		object = kasan_reset_tag(slab_address(slab));
		i = (addr - object) / size;
		/* Behind the last object are ids, or nothing. */
		if (i >= slab->objects)
			return false;
		object = fixup_red_left(s, object + i * size);
		owner->id = read_id(codetag_slab_ref_in(s, slab, object));
	}
	if (get_kernel_nofault(name, &s->name) ||
	    strncpy_from_kernel_nofault(owner->kind, name, sizeof(owner->kind)) <= 0)
		strscpy(owner->kind, "object");
	owner->offset = object ? addr - object : 0;
	return owner->id;
}

/* ---- reports --------------------------------------------------------------- */

/**
 * codetag_owner_of - find the call site of the memory at an address
 * @addr:	any address
 * @owner:	filled in if a call site is charged. For a free slab object only its kind and
 *		offset are set, and the result is false. The caller zeroes it first.
 *
 * Context: Any.
 * Return: false if there is no slab object or page at @addr that is charged to a call site.
 */
bool codetag_owner_of(unsigned long addr, struct codetag_owner *owner)
{
	struct kmem_cache *s;
	unsigned int size;

	if (object_owner_of((void *)addr, owner))
		return true;
	/* The pages of slabs are no answer. */
	return !slab_of(kasan_reset_tag((void *)addr), &s, &size) &&
	       page_owner_of(kasan_reset_tag((void *)addr), owner);
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
	struct codetag_owner owner;

	if (object_owner_of(addr, &owner))
		show_id("object", owner.id);
}

/**
 * codetag_show_page - print the line that allocated a page
 * @page: the page, or one of an allocation of several pages, or NULL
 *
 * Prints nothing if the page is not charged to any.
 *
 * Context: Any.
 */
void codetag_show_page(const struct page *page)
{
	u16 id;

	if (!page || !alloc_tag_refs_exist() || pfn_to_online_page(page_to_pfn(page)) != page)
		return;
	id = id_of(first_of(page));
	if (id)
		show_id("page", id);
}

/**
 * codetag_show_register - print the memory that a register points to, and its line
 * @name:	name of the register
 * @value:	its value
 *
 * Prints nothing if that is nothing that is charged to a call site.
 *
 * Context: Any.
 */
void codetag_show_register(const char *name, unsigned long value)
{
	struct codetag_owner owner;
	struct names names;

	if (READ_ONCE(oops_registers) && codetag_owner_of(value, &owner) &&
	    get_names(owner.id, &names))
		printk(KERN_DEFAULT "%s: %s %+ld, allocated at %s:%u\n", name, owner.kind,
		       owner.offset, names.file, names.lineno);
}

/* Objects of one call site that are left in a cache */
struct remaining {
	const struct codetag *tag;	/* to compare only: its module can go */
	unsigned int nr;
	u16 id;
};

/* Count an object in a table; the last element counts the rest. */
static void count_remaining(struct remaining *table, unsigned int size, u16 id)
{
	const struct codetag *tag;
	unsigned int i;

	rcu_read_lock();
	tag = codetag_from_id(id);
	rcu_read_unlock();
	for (i = 0; i < size - 1 && table[i].nr && table[i].tag != tag; i++)
		;
	table[i] = (struct remaining){ tag, table[i].nr + 1, id };
}

/* Count the objects of a slab that are allocated. */
static void count_slab(struct remaining *table, unsigned int size, struct kmem_cache *s,
		       struct slab *slab)
{
	void *object = kasan_reset_tag(slab_address(slab));
	unsigned int i;
	u16 id;

	for (i = 0; i < slab->objects; i++, object += s->size) {
		id = read_id(is_kfence_address(object) ?
			     codetag_slab_ref_slow(s, object) :
			     codetag_slab_ref_in(s, slab, fixup_red_left(s, object)));
		if (id)
			count_remaining(table, size, id);
	}
}

/**
 * codetag_show_remaining - print which lines allocated the objects of a cache
 * @s: the cache, which is destroyed but for its objects, and stays
 *
 * SLUB keeps no list of its full slabs: look at all pages.
 *
 * Context: Process, without locks.
 */
void codetag_show_remaining(struct kmem_cache *s)
{
	struct remaining table[17] = {};
	unsigned long pfn, end = 0;
	struct names names;
	struct page *page;
	unsigned int i;
	int nid;

	if (mem_alloc_profiling_permanently_disabled())
		return;
	get_online_mems();
	for_each_online_node(nid)
		end = max(end, node_end_pfn(nid));
	for (pfn = 0; pfn < end; cond_resched()) {
		page = pfn_to_online_page(pfn);
		if (!page || PagePoisoned(page)) {
			pfn = codetag_next_pfn(pfn);
			continue;
		}
		if (PageSlab(page) && READ_ONCE(page_slab(page)->slab_cache) == s)
			count_slab(table, ARRAY_SIZE(table), s, page_slab(page));
		pfn += PageHead(page) ? 1UL << compound_order(page) : 1;
	}
	put_online_mems();
	for (i = 0; i < ARRAY_SIZE(table) - 1 && table[i].nr; i++)
		if (get_names(table[i].id, &names))
			pr_err("%s: %u objects allocated at %s:%u func:%s\n", s->name, table[i].nr,
			       names.file, names.lineno, names.function);
		else
			pr_err("%s: %u objects of an unknown call site\n", s->name,
			       table[i].nr);
	if (table[i].nr)
		pr_err("%s: %u objects of other lines\n", s->name, table[i].nr);
}
