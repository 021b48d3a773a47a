// SPDX-License-Identifier: GPL-2.0
/*
 * The page stores: how one is chosen at boot, and their slow paths.
 *
 * flags costs no memory, but holds only as many ids as page->flags has bits
 * to spare. slot costs two bytes for each page and holds every id; it needs a
 * memory map that is one array, so that a page's slot is found by arithmetic
 * on the page's address. page_ext works with every memory model.
 *
 * The slots of a sparse memory map lie in a piece of vmalloc space with room
 * for all physical memory there could ever be. Only what belongs to present
 * memory sections is populated.
 */
#define pr_fmt(fmt) "codetag: " fmt

#include <linux/init.h>
#include <linux/memblock.h>
#include <linux/memory.h>
#include <linux/mm.h>
#include <linux/page_ext.h>
#include <linux/pgalloc_tag.h>
#include <linux/seq_file.h>
#include <linux/vmalloc.h>
#include "internal.h"

enum page_ref_store {
	PAGE_REF_AUTO,
	PAGE_REF_FLAGS,
	PAGE_REF_SLOT,
	PAGE_REF_EXT,
};

static const char * const page_ref_store_names[] = {
	[PAGE_REF_AUTO]		= "auto",
	[PAGE_REF_FLAGS]	= "flags",
	[PAGE_REF_SLOT]		= "slot",
	[PAGE_REF_EXT]		= "page_ext",
};

DEFINE_STATIC_KEY_TRUE(page_ref_flags_key);
DEFINE_STATIC_KEY_FALSE(page_ref_slot_key);

/* The highest id that the store can hold. */
static u16 page_ref_max_id __ro_after_init = CODETAG_ID_MAX;

unsigned long page_ref_slot_offset __ro_after_init;
u16 *page_ref_slots __ro_after_init;

/* What codetag.page_ref= asks for. */
static enum page_ref_store page_ref_wanted __initdata;

/* The store in use; PAGE_REF_AUTO until it is chosen. */
static enum page_ref_store page_ref_store __ro_after_init;

/* Memory that the slots take. Changed under mem_hotplug_lock. */
static size_t page_ref_slot_bytes;

/*
 * page_ext comes up later than the first allocations where memory is sparse.
 * Until then the ids are in this array, from the lowest pfn on.
 */
static u16 *page_ref_boot_slots __initdata;
static unsigned long page_ref_boot_pfn __initdata;
static unsigned long page_ref_boot_nr __initdata;

static bool page_ref_ext_ready __ro_after_init;

/* Pages whose id did not fit the store, and pages that had no store at all. */
static atomic_long_t page_ref_nr_unrepresentable;
static atomic_long_t page_ref_nr_lost;

static int __init page_ref_param(char *arg)
{
	int i;

	for (i = 0; arg && i < ARRAY_SIZE(page_ref_store_names); i++) {
		if (!strcmp(arg, page_ref_store_names[i])) {
			page_ref_wanted = i;
			/* Too late once the other CPUs run. */
			if (i == PAGE_REF_EXT)
				early_page_ext = true;
			return 0;
		}
	}
	pr_warn("codetag.page_ref=%s: not one of auto, flags, slot, page_ext; using auto\n",
		arg ?: "");
	return 0;
}
early_param("codetag.page_ref", page_ref_param);

/* ---- page_ext ---------------------------------------------------------- */

static bool __init page_ref_ext_need(void)
{
	return page_ref_store == PAGE_REF_EXT;
}

/* Called when all page_ext is there: moves the ids of early pages into it. */
static void __init page_ref_ext_init(void)
{
	unsigned long i;

	if (page_ref_store != PAGE_REF_EXT)
		return;

	page_ref_ext_ready = true;
	if (!page_ref_boot_slots)
		return;

	for (i = 0; i < page_ref_boot_nr; i++)
		if (page_ref_boot_slots[i])
			page_ref_ext_set(pfn_to_page(page_ref_boot_pfn + i),
					 page_ref_boot_slots[i]);

	memblock_free_late(__pa(page_ref_boot_slots),
			   page_ref_boot_nr * sizeof(*page_ref_boot_slots));
	page_ref_boot_slots = NULL;
}

struct page_ext_operations page_ref_ext_ops = {
	.size	= sizeof(u16),
	.need	= page_ref_ext_need,
	.init	= page_ref_ext_init,
};

/* Returns the early slot of a page, NULL if it has none. */
static u16 * __init page_ref_boot_slot(const struct page *page)
{
	unsigned long i = page_to_pfn(page) - page_ref_boot_pfn;

	return page_ref_boot_slots && i < page_ref_boot_nr ? page_ref_boot_slots + i : NULL;
}

/**
 * page_ref_ext_get - page_ref_get() for the page_ext store
 * @page: the page
 *
 * Context: Any.
 * Return: The id, CODETAG_ID_NONE if the page holds none.
 */
u16 __ref page_ref_ext_get(const struct page *page)
{
	struct page_ext *ext;
	u16 *ref, id;

	if (unlikely(!page_ref_ext_ready)) {
		ref = page_ref_boot_slot(page);
		return ref ? *ref : CODETAG_ID_NONE;
	}

	ext = page_ext_get(page);
	if (unlikely(!ext))
		return CODETAG_ID_NONE;
	id = READ_ONCE(*(u16 *)page_ext_data(ext, &page_ref_ext_ops));
	page_ext_put(ext);
	return id;
}

/**
 * page_ref_ext_set - page_ref_set() for the page_ext store
 * @page: the page
 * @id:	  the id
 *
 * Context: Any.
 */
void __ref page_ref_ext_set(struct page *page, u16 id)
{
	struct page_ext *ext;
	u16 *ref;

	if (unlikely(!page_ref_ext_ready)) {
		ref = page_ref_boot_slot(page);
		if (ref)
			*ref = id;
		else if (id)
			atomic_long_inc(&page_ref_nr_lost);
		return;
	}

	ext = page_ext_get(page);
	if (unlikely(!ext)) {
		if (id)
			atomic_long_inc(&page_ref_nr_lost);
		return;
	}
	WRITE_ONCE(*(u16 *)page_ext_data(ext, &page_ref_ext_ops), id);
	page_ext_put(ext);
}

static bool __init page_ref_ext_setup(void)
{
	/* A flat page_ext is there before the first page can be allocated. */
	if (!IS_ENABLED(CONFIG_SPARSEMEM)) {
		page_ref_ext_ready = true;
		return true;
	}

	page_ref_boot_pfn = PFN_DOWN(memblock_start_of_DRAM());
	page_ref_boot_nr = PFN_UP(memblock_end_of_DRAM()) - page_ref_boot_pfn;
	page_ref_boot_slots = memblock_alloc(page_ref_boot_nr * sizeof(*page_ref_boot_slots),
					     PAGE_SIZE);
	return page_ref_boot_slots;
}

/* ---- slots ------------------------------------------------------------- */

#if defined(CONFIG_SPARSEMEM_VMEMMAP)

static struct vm_struct page_ref_slot_area;

/* Give the sections of pfns [first, end) slots, which hold no ids. */
static int __meminit page_ref_slots_populate(unsigned long first, unsigned long end, int nid)
{
	size_t size = (end - first) * sizeof(u16);

	if (vmemmap_populate_basepages(ALIGN_DOWN((unsigned long)(page_ref_slots + first),
						  PAGE_SIZE),
				       ALIGN((unsigned long)(page_ref_slots + end), PAGE_SIZE),
				       nid, NULL))
		return -ENOMEM;

	memset(page_ref_slots + first, 0, size);
	page_ref_slot_bytes += size;
	return 0;
}

static int __meminit page_ref_memory_callback(struct notifier_block *self,
					      unsigned long action, void *arg)
{
	struct memory_notify *mn = arg;
	unsigned long first = SECTION_ALIGN_DOWN(mn->start_pfn);
	unsigned long end = SECTION_ALIGN_UP(mn->start_pfn + mn->nr_pages);
	int err;

	/* Slots stay when memory goes offline: it may come back. */
	switch (action) {
	case MEM_GOING_ONLINE:
		err = page_ref_slots_populate(first, end, pfn_to_nid(mn->start_pfn));
		return notifier_from_errno(err);
	case MEM_CANCEL_ONLINE:
	case MEM_OFFLINE:
		page_ref_slot_bytes -= (end - first) * sizeof(u16);
		break;
	}
	return NOTIFY_OK;
}

static int __init page_ref_hotplug_init(void)
{
	if (page_ref_store == PAGE_REF_SLOT)
		hotplug_memory_notifier(page_ref_memory_callback, DEFAULT_CALLBACK_PRI);
	return 0;
}
core_initcall(page_ref_hotplug_init);

static bool __init page_ref_slots_setup(void)
{
	unsigned long first, end, done = 0;
	int i, nid;

	page_ref_slot_area.flags = VM_ALLOC | VM_SPARSE;
	page_ref_slot_area.size = sizeof(u16) << (MAX_PHYSMEM_BITS - PAGE_SHIFT);
	vm_area_register_early(&page_ref_slot_area, PAGE_SIZE);
	page_ref_slots = page_ref_slot_area.addr;

	/* Two ranges can lie in one section, but they come in order. */
	for_each_mem_pfn_range(i, MAX_NUMNODES, &first, &end, &nid) {
		first = max(SECTION_ALIGN_DOWN(first), done);
		end = SECTION_ALIGN_UP(end);
		if (first < end && page_ref_slots_populate(first, end, nid))
			return false;
		done = end;
	}
	return true;
}

#elif defined(CONFIG_FLATMEM)

static bool __init page_ref_slots_setup(void)
{
	unsigned long first = PFN_DOWN(memblock_start_of_DRAM());
	unsigned long nr = PFN_UP(memblock_end_of_DRAM()) - first;
	u16 *slots;

	page_ref_slot_bytes = PAGE_ALIGN(nr * sizeof(u16));
	slots = memblock_alloc(page_ref_slot_bytes, PAGE_SIZE);
	if (!slots)
		return false;
	page_ref_slots = slots - first;
	return true;
}

#else

static bool __init page_ref_slots_setup(void)
{
	return false;
}

#endif

/* ---- choice ------------------------------------------------------------ */

/* Do the ids of built-in code fit, with room for modules? */
static bool __init page_ref_flags_roomy(void)
{
	u32 end = codetag_builtin_end;

	if (!PAGE_REF_FLAGS_POSSIBLE)
		return false;
	if (IS_ENABLED(CONFIG_MODULES))
		end += (end - CODETAG_ID_FIRST) / 4;
	return PAGE_REF_BITS == 16 || end - 1 <= PAGE_REF_ID_MASK;
}

static bool __init page_ref_use(enum page_ref_store store)
{
	switch (store) {
	case PAGE_REF_FLAGS:
		if (!PAGE_REF_FLAGS_POSSIBLE || codetag_builtin_end - 1 > PAGE_REF_ID_MASK)
			return false;
		page_ref_max_id = PAGE_REF_ID_MASK;
		break;
	case PAGE_REF_SLOT:
		if (!page_ref_slots_setup())
			return false;
		page_ref_slot_offset = (unsigned long)page_ref_slots -
				       ((unsigned long)pfn_to_page(0) >> 5);
		static_branch_disable(&page_ref_flags_key);
		static_branch_enable(&page_ref_slot_key);
		break;
	case PAGE_REF_EXT:
		if (!page_ref_ext_setup())
			return false;
		static_branch_disable(&page_ref_flags_key);
		break;
	default:
		return false;
	}
	page_ref_store = store;
	return true;
}

/**
 * page_ref_init - choose the page store
 *
 * Context: Boot, while memblock is the only allocator.
 */
void __init page_ref_init(void)
{
	if (page_ref_wanted != PAGE_REF_AUTO) {
		if (page_ref_use(page_ref_wanted))
			return;
		pr_warn("codetag.page_ref=%s is not possible here (%d free page flag bits for %u ids); using auto\n",
			page_ref_store_names[page_ref_wanted],
			(int)PAGE_REF_BITS, codetag_builtin_end);
	}

	if (page_ref_flags_roomy() && page_ref_use(PAGE_REF_FLAGS))
		return;
	if (page_ref_use(PAGE_REF_SLOT) || page_ref_use(PAGE_REF_EXT))
		return;

	/* Out of memory this early: the boot fails without us soon enough. */
	panic("codetag: no memory for page references");
}

/**
 * page_ref_show_stats - the page store's part of the stats file
 * @m: where to print to
 */
void page_ref_show_stats(struct seq_file *m)
{
	unsigned long bytes = 0;

	if (page_ref_store == PAGE_REF_SLOT)
		bytes = READ_ONCE(page_ref_slot_bytes);
	else if (page_ref_store == PAGE_REF_EXT)
		bytes = get_num_physpages() * sizeof(u16);

	seq_printf(m, "store: %s\n", page_ref_store == PAGE_REF_AUTO ?
		   "none" : page_ref_store_names[page_ref_store]);
	seq_printf(m, "store_bits: %d\n",
		   page_ref_store == PAGE_REF_FLAGS ? (int)PAGE_REF_BITS :
		   page_ref_store == PAGE_REF_AUTO ? 0 : 16);
	seq_printf(m, "free_page_flag_bits: %d\n", (int)PAGE_REF_FREE_BITS);
	seq_printf(m, "mem_page_refs: %lu\n", bytes);
	seq_printf(m, "pages_not_representable: %ld\n",
		   atomic_long_read(&page_ref_nr_unrepresentable));
	seq_printf(m, "pages_without_store: %ld\n", atomic_long_read(&page_ref_nr_lost));
}

#ifdef PAGE_REF_SLOT_OUT_OF_LINE

/**
 * page_ref_slot_get - page_ref_get() for the slot store
 * @page: the page
 *
 * Sanitizers know nothing of the slots, so that only code that they do not
 * instrument may touch them.
 *
 * Context: Any.
 * Return: The id, CODETAG_ID_NONE if the page holds none.
 */
u16 page_ref_slot_get(const struct page *page)
{
	return READ_ONCE(*page_ref_slot(page));
}

/**
 * page_ref_slot_set - page_ref_set() for the slot store
 * @page: the page
 * @id:	  the id
 *
 * Context: Any.
 */
void page_ref_slot_set(struct page *page, u16 id)
{
	WRITE_ONCE(*page_ref_slot(page), id);
}

#endif /* PAGE_REF_SLOT_OUT_OF_LINE */

/* ---- from allocation to free ---------------------------------------------- */

/* The id to charge instead of one that the store cannot hold. */
static u16 page_ref_unrepresentable(struct codetag *ct)
{
	if (!(READ_ONCE(ct->state) & CODETAG_INACCURATE))
		WRITE_ONCE(ct->state, ct->state | CODETAG_INACCURATE);
	atomic_long_inc(&page_ref_nr_unrepresentable);
	return CODETAG_ID_UNREPRESENTABLE;
}

/* pgalloc_tag_add() with page_ext, or flags that do not hold every id. */
static noinline void add_any(struct page *page, unsigned int order, bool compound,
			     unsigned int id)
{
	if (unlikely(id > page_ref_max_id))
		id = page_ref_unrepresentable(&current->alloc_tag->ct);

	page_ref_set(page, id);
	if (order && !compound)
		page_ref_set(page + 1, CODETAG_ID_TAIL + order);
	alloc_tag_charge(id, PAGE_SIZE << order, 1);
}

/**
 * pgalloc_tag_add_slow - what of pgalloc_tag_add() is not inlined
 * @page:	first page
 * @order:	order of the allocation, not 0 with wide flags and slots
 * @compound:	the pages are going to be a compound page
 * @id:		id of the current call site
 *
 * Context: Any but NMI.
 */
void pgalloc_tag_add_slow(struct page *page, unsigned int order, bool compound,
			  unsigned int id)
{
	if (!pgalloc_tag_try_add(page, order, compound, id))
		add_any(page, order, compound, id);
}

/* pgalloc_tag_sub() likewise. */
static noinline void sub_any(struct page *page, unsigned int order)
{
	unsigned int id = page_ref_get(page);

	if (!id)
		return;

	if (!page_ref_in_flags()) {
		page_ref_set(page, CODETAG_ID_NONE);
		if (order)
			page_ref_set(page + 1, CODETAG_ID_NONE);
	}
	alloc_tag_uncharge(id, PAGE_SIZE << order, 1);
}

/**
 * pgalloc_tag_sub_slow - what of pgalloc_tag_sub() is not inlined
 * @page:	first page
 * @order:	order of the pages to be freed, not 0 with wide flags and slots
 *
 * Context: Any but NMI.
 */
void pgalloc_tag_sub_slow(struct page *page, unsigned int order)
{
	if (!pgalloc_tag_try_sub(page, order, false))
		sub_any(page, order);
}

/**
 * __pgalloc_tag_sub_tail - see pgalloc_tag_sub_tail()
 * @page:	first page
 * @order:	order of the allocation
 * @id:		id that the first page held
 */
void __pgalloc_tag_sub_tail(struct page *page, unsigned int order, u16 id)
{
	page_ref_set(page + 1, CODETAG_ID_NONE);
	alloc_tag_uncharge(id, (PAGE_SIZE << order) - PAGE_SIZE, 0);
}

/**
 * __pgalloc_tag_split - see pgalloc_tag_split()
 * @page:	first page
 * @old_order:	order of the allocation
 * @new_order:	order of the parts
 */
void __pgalloc_tag_split(struct page *page, unsigned int old_order, unsigned int new_order)
{
	unsigned long i, nr = 1UL << old_order, step = 1UL << new_order;
	u16 id = page_ref_get(page);

	if (!id || old_order == new_order)
		return;

	for (i = step; i < nr; i += step)
		page_ref_set(page + i, id);
	alloc_tag_charge(id, 0, (nr >> new_order) - 1);
}

/**
 * __pgalloc_tag_swap - see pgalloc_tag_swap()
 * @new: folio that takes over
 * @old: folio that goes away
 */
void __pgalloc_tag_swap(struct folio *new, struct folio *old)
{
	u16 id;

	/* Device memory is not charged, and need not have a place for an id. */
	if (folio_is_zone_device(new) || folio_is_zone_device(old))
		return;

	id = page_ref_get(&new->page);
	page_ref_set(&new->page, page_ref_get(&old->page));
	page_ref_set(&old->page, id);
}
