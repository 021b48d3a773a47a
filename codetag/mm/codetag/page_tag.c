// SPDX-License-Identifier: GPL-2.0-only
/*
 * The page id stores, and the choice of one at boot.
 *
 * flags costs no memory, but holds only as many ids as page->flags has unused
 * bits. slot costs two bytes for each page and holds every id. It needs a memory
 * map that is one array, so that the slot follows from the page's address.
 * page_ext works with every memory model.
 *
 * The slots of a sparse memory map lie in a piece of vmalloc space. It has room for all
 * memory that can be there, now or by hotplug. Only the parts for memory sections that have
 * been online are populated. The store is page_ext where that piece would take too much of
 * vmalloc space, or where the generic code cannot populate it.
 */
#define pr_fmt(fmt) "codetag: " fmt

#include <linux/init.h>
#include <linux/kmemleak.h>
#include <linux/memblock.h>
#include <linux/memory.h>
#include <linux/memory_hotplug.h>
#include <linux/mm.h>
#include <linux/page_ext.h>
#include <linux/page_tag.h>
#include <linux/pgalloc_tag.h>
#include <linux/seq_file.h>
#include <linux/stop_machine.h>
#include <linux/vmalloc.h>
#include "page_store.h"
#include "stats.h"

static const char * const page_tag_store_names[] = {
	[PAGE_TAG_AUTO]		= "auto",
	[PAGE_TAG_FLAGS]	= "flags",
	[PAGE_TAG_SLOT]		= "slot",
	[PAGE_TAG_EXT]		= "page_ext",
};

DEFINE_STATIC_KEY_TRUE(page_tag_flags_key);
DEFINE_STATIC_KEY_FALSE(page_tag_slot_key);

/* The highest id that the store can hold. */
u16 page_tag_max_id __ro_after_init = CODETAG_ID_MAX;

unsigned long page_tag_slot_offset __ro_after_init;
u16 *page_tag_slots __ro_after_init;

/* The value of codetag.page_ref=. */
static enum page_tag_store page_tag_requested __initdata;

/* The store in use; PAGE_TAG_AUTO until it is chosen. */
enum page_tag_store page_tag_store __ro_after_init;

/* Memory that the slots take. Changed under mem_hotplug_lock. */
size_t page_tag_slot_bytes;

/*
 * page_ext comes up later than the first allocations where memory is sparse.
 * Until then the ids are in this array, from the lowest pfn on.
 */
static u16 *page_tag_boot_slots __initdata;
static unsigned long page_tag_boot_pfn __initdata;
static unsigned long page_tag_boot_nr __initdata;

static bool page_tag_ext_ready __ro_after_init;

/* Pages that had no store at all. */
atomic_long_t page_tag_nr_lost;

static int __init page_tag_param(char *arg)
{
	int i;

	for (i = 0; arg && i < ARRAY_SIZE(page_tag_store_names); i++) {
		if (!strcmp(arg, page_tag_store_names[i])) {
			page_tag_requested = i;
			return 0;
		}
	}
	pr_warn("codetag.page_ref=%s: not one of auto, flags, slot, page_ext; using auto\n",
		arg ?: "");
	return 0;
}
early_param("codetag.page_ref", page_tag_param);

/* ---- page_ext ---------------------------------------------------------- */

static bool __init page_tag_ext_need(void)
{
	return page_tag_store == PAGE_TAG_EXT;
}

/* With all other CPUs stopped. */
static int __init page_tag_ext_move(void *unused)
{
	unsigned long i;

	page_tag_ext_ready = true;
	for (i = 0; i < page_tag_boot_nr; i++)
		if (page_tag_boot_slots[i])
			page_tag_ext_set(pfn_to_page(page_tag_boot_pfn + i),
					 page_tag_boot_slots[i]);
	return 0;
}

/*
 * Called when all page_ext is there, which can be late: moves the ids of early pages.
 * stop_machine() waits for all users of page_tag_boot_slots, as they disable preemption.
 */
static void __init page_tag_ext_init(void)
{
	if (page_tag_store != PAGE_TAG_EXT || !page_tag_boot_slots)
		return;

	stop_machine(page_tag_ext_move, NULL, NULL);
	kmemleak_free_part_phys(__pa(page_tag_boot_slots),
				page_tag_boot_nr * sizeof(*page_tag_boot_slots));
	free_reserved_area(page_tag_boot_slots, page_tag_boot_slots + page_tag_boot_nr, -1, NULL);
}

struct page_ext_operations page_tag_ext_ops = {
	.size	= sizeof(u16),
	.need	= page_tag_ext_need,
	.init	= page_tag_ext_init,
};

/*
 * The early slot of a page, NULL if it has none. Preemption is disabled as long as
 * it is used. False means that the page has its page_ext by now. Not __init: a slow
 * caller may come here after the init sections are freed, and must not look into them.
 */
static bool __ref page_tag_boot_slot(const struct page *page, u16 **ref)
{
	unsigned long i;

	if (READ_ONCE(page_tag_ext_ready))
		return false;
	i = page_to_pfn(page) - page_tag_boot_pfn;
	*ref = page_tag_boot_slots && i < page_tag_boot_nr ? page_tag_boot_slots + i : NULL;
	return true;
}

static bool page_tag_boot_get(const struct page *page, u16 *id)
{
	u16 *ref;

	guard(preempt)();
	if (!page_tag_boot_slot(page, &ref))
		return false;
	*id = ref ? *ref : CODETAG_ID_NONE;
	return true;
}

static bool page_tag_boot_set(struct page *page, u16 id)
{
	u16 *ref;

	guard(preempt)();
	if (!page_tag_boot_slot(page, &ref))
		return false;
	if (ref)
		*ref = id;
	else if (id)
		atomic_long_inc(&page_tag_nr_lost);
	return true;
}

/**
 * page_tag_ext_get - page_tag_get() for the page_ext store
 * @page: the page
 *
 * Context: Any.
 * Return: The id, CODETAG_ID_NONE if the page holds none.
 */
u16 page_tag_ext_get(const struct page *page)
{
	struct page_ext *ext;
	u16 id;

	if (unlikely(!page_tag_ext_ready) && page_tag_boot_get(page, &id))
		return id;

	ext = page_ext_get(page);
	if (unlikely(!ext))
		return CODETAG_ID_NONE;
	id = READ_ONCE(*(u16 *)page_ext_data(ext, &page_tag_ext_ops));
	page_ext_put(ext);
	return id;
}

/**
 * page_tag_ext_set - page_tag_set() for the page_ext store
 * @page: the page
 * @id:	  the id
 *
 * Context: Any.
 */
void page_tag_ext_set(struct page *page, u16 id)
{
	struct page_ext *ext;

	if (unlikely(!page_tag_ext_ready) && page_tag_boot_set(page, id))
		return;

	ext = page_ext_get(page);
	if (unlikely(!ext)) {
		if (id)
			atomic_long_inc(&page_tag_nr_lost);
		return;
	}
	WRITE_ONCE(*(u16 *)page_ext_data(ext, &page_tag_ext_ops), id);
	page_ext_put(ext);
}

static bool __init page_tag_ext_setup(void)
{
	/* A flat page_ext is there before the first page can be allocated. */
	if (!IS_ENABLED(CONFIG_SPARSEMEM)) {
		page_tag_ext_ready = true;
		return true;
	}

	page_tag_boot_pfn = PFN_DOWN(memblock_start_of_DRAM());
	page_tag_boot_nr = PFN_UP(memblock_end_of_DRAM()) - page_tag_boot_pfn;
	page_tag_boot_slots = memblock_alloc(page_tag_boot_nr * sizeof(*page_tag_boot_slots),
					     PAGE_SIZE);
	return page_tag_boot_slots;
}

/* ---- slots ------------------------------------------------------------- */

/**
 * page_tag_slots_fit - does vmalloc space have room for so many slots?
 * @nr: number of slots
 *
 * Not static for the tests.
 *
 * Context: Any.
 * Return: Whether it has.
 */
bool page_tag_slots_fit(u64 nr)
{
	return nr <= (VMALLOC_END - VMALLOC_START) / 4 / sizeof(u16);
}

#if defined(CONFIG_SPARSEMEM_VMEMMAP)

/*
 * The area is sparse. Once its place in vmalloc space is taken for good, its size is what
 * is populated, so that the sizes in /proc/vmallocinfo add up to memory.
 */
static struct vm_struct page_tag_slot_area;

/* Slots there is room for: those of all memory that can ever be present. */
static unsigned long page_tag_nr_slots __ro_after_init;

/*
 * vmemmap_populate_basepages() makes tables of one page, with zeros for missing entries.
 * Architectures with larger tables (s390) have other empty entries, too.
 */
static bool __init page_tag_tables_are_pages(void)
{
	return PTRS_PER_PTE * sizeof(pte_t) <= PAGE_SIZE &&
	       PTRS_PER_PMD * sizeof(pmd_t) <= PAGE_SIZE &&
	       PTRS_PER_PUD * sizeof(pud_t) <= PAGE_SIZE &&
	       PTRS_PER_P4D * sizeof(p4d_t) <= PAGE_SIZE;
}

/* Give the sections of pfns [first, end) slots, which hold no ids. */
static int __meminit page_tag_slots_populate(unsigned long first, unsigned long end, int nid)
{
	if (vmemmap_populate_basepages(PAGE_ALIGN_DOWN((unsigned long)(page_tag_slots + first)),
				       PAGE_ALIGN((unsigned long)(page_tag_slots + end)),
				       nid, NULL))
		return -ENOMEM;

	memset(page_tag_slots + first, 0, (end - first) * sizeof(u16));
	return 0;
}

/* Bytes of the slots of pfns [first, end) that there are, in whole pages. */
static size_t __meminit page_tag_slots_present(unsigned long first, unsigned long end)
{
	unsigned long addr = PAGE_ALIGN_DOWN((unsigned long)(page_tag_slots + first));
	size_t bytes = 0;

	for (; addr < (unsigned long)(page_tag_slots + end); addr += PAGE_SIZE)
		if (vmalloc_to_page((void *)addr))
			bytes += PAGE_SIZE;
	return bytes;
}

/* Slots stay when memory goes offline or does not come after all: it may come back. */
static int __meminit page_tag_memory_callback(struct notifier_block *self,
					      unsigned long action, void *arg)
{
	struct memory_notify *mn = arg;
	unsigned long first = SECTION_ALIGN_DOWN(mn->start_pfn);
	unsigned long end = SECTION_ALIGN_UP(mn->start_pfn + mn->nr_pages);
	size_t present;
	int err;

	if (action != MEM_GOING_ONLINE)
		return NOTIFY_DONE;
	if (WARN_ON_ONCE(end > page_tag_nr_slots))
		return notifier_from_errno(-ERANGE);

	present = page_tag_slots_present(first, end);
	err = page_tag_slots_populate(first, end, pfn_to_nid(mn->start_pfn));
	page_tag_slot_bytes += page_tag_slots_present(first, end) - present;
	WRITE_ONCE(page_tag_slot_area.size, page_tag_slot_bytes);
	return notifier_from_errno(err);
}

static int __init page_tag_hotplug_init(void)
{
	if (page_tag_store != PAGE_TAG_SLOT)
		return 0;

	WRITE_ONCE(page_tag_slot_area.size, page_tag_slot_bytes);
	hotplug_memory_notifier(page_tag_memory_callback, DEFAULT_CALLBACK_PRI);
	return 0;
}
core_initcall(page_tag_hotplug_init);

/* Where the kernel can have memory ends: more cannot be added later. */
static u64 __init page_tag_pfn_end(void)
{
	u64 end = memblock_end_of_DRAM();

#ifdef CONFIG_MEMORY_HOTPLUG
	end = max(end, (u64)mhp_get_pluggable_range(true).end + 1);
#endif
	return SECTION_ALIGN_UP(PHYS_PFN(end));
}

static bool __init page_tag_slots_setup(void)
{
	unsigned long first, end, done = 0;
	u64 nr = page_tag_pfn_end();
	int i, nid;

	if (!page_tag_tables_are_pages()) {
		pr_info("no slots: page tables are larger than a page\n");
		return false;
	}
	if (!page_tag_slots_fit(nr)) {
		pr_info("no address space for the slots of %llu pages\n", nr);
		return false;
	}
	page_tag_nr_slots = nr;
	page_tag_slot_area.flags = VM_SPARSE;
	page_tag_slot_area.caller = page_tag_slots_setup;
	page_tag_slot_area.size = PAGE_ALIGN(nr * sizeof(u16));
	vm_area_register_early(&page_tag_slot_area, PAGE_SIZE);
	page_tag_slots = page_tag_slot_area.addr;

	/* Two ranges can lie in one section, but they come in order. */
	for_each_mem_pfn_range(i, MAX_NUMNODES, &first, &end, &nid) {
		first = max(SECTION_ALIGN_DOWN(first), done);
		end = SECTION_ALIGN_UP(end);
		if (first < end) {
			if (page_tag_slots_populate(first, end, nid))
				return false;
			page_tag_slot_bytes += (end - first) * sizeof(u16);
		}
		done = end;
	}
	return true;
}

#elif defined(CONFIG_FLATMEM)

static bool __init page_tag_slots_setup(void)
{
	/* The first page is not always memory, but it has a struct page. Pairs are aligned. */
	unsigned long first = round_down(min_t(unsigned long,
					       PFN_DOWN(memblock_start_of_DRAM()),
					       ARCH_PFN_OFFSET), 2);
	unsigned long nr = PFN_UP(memblock_end_of_DRAM()) - first;
	u16 *slots;

	page_tag_slot_bytes = PAGE_ALIGN(nr * sizeof(u16));
	slots = memblock_alloc(page_tag_slot_bytes, PAGE_SIZE);
	if (!slots)
		return false;
	page_tag_slots = slots - first;
	return true;
}

#else

static bool __init page_tag_slots_setup(void)
{
	return false;
}

#endif

/* ---- choice ------------------------------------------------------------ */

/*
 * sparc64 keeps a CPU in flags that have no name. On parisc a flag is set by writing all
 * of them, under a lock that is not available.
 */
#define PAGE_TAG_FLAGS_USABLE	(PAGE_TAG_FLAGS_POSSIBLE && !IS_ENABLED(CONFIG_SPARC64) && \
				 !IS_ENABLED(CONFIG_PARISC))

/* Do the ids of built-in code fit, with room for modules? */
static bool __init page_tag_flags_roomy(void)
{
	unsigned long end = codetag_builtin_end;

	if (!PAGE_TAG_FLAGS_USABLE)
		return false;
	if (IS_ENABLED(CONFIG_MODULES))
		end += (end - CODETAG_ID_FIRST) / 4;
	return PAGE_TAG_BITS == 16 || end - 1 <= PAGE_TAG_ID_MASK;
}

static bool __init page_tag_use(enum page_tag_store store)
{
	switch (store) {
	case PAGE_TAG_FLAGS:
		if (!PAGE_TAG_FLAGS_USABLE || codetag_builtin_end - 1 > PAGE_TAG_ID_MASK)
			return false;
		page_tag_max_id = PAGE_TAG_ID_MASK;
		break;
	case PAGE_TAG_SLOT:
		if (!page_tag_slots_setup())
			return false;
		page_tag_slot_offset = (unsigned long)page_tag_slots -
				       ((unsigned long)pfn_to_page(0) >> 5);
		static_branch_disable(&page_tag_flags_key);
		static_branch_enable(&page_tag_slot_key);
		break;
	case PAGE_TAG_EXT:
		if (!page_tag_ext_setup())
			return false;
		static_branch_disable(&page_tag_flags_key);
		break;
	default:
		return false;
	}
	page_tag_store = store;
	return true;
}

/**
 * page_tag_init - choose the page store
 *
 * Context: Boot, while memblock is the only allocator.
 */
void __init page_tag_init(void)
{
	if (page_tag_requested != PAGE_TAG_AUTO) {
		if (page_tag_use(page_tag_requested))
			return;
		if (page_tag_requested == PAGE_TAG_FLAGS)
			pr_warn("codetag.page_ref=flags cannot be used by this kernel (%d free page flag bits for %lu ids); using auto\n",
				(int)PAGE_TAG_BITS, codetag_builtin_end);
		else
			pr_warn("codetag.page_ref=%s cannot be used by this kernel; using auto\n",
				page_tag_store_names[page_tag_requested]);
	}

	if (page_tag_flags_roomy() && page_tag_use(PAGE_TAG_FLAGS))
		return;
	/* A second attempt would register the same part of vmalloc space again. */
	if (page_tag_requested != PAGE_TAG_SLOT && page_tag_use(PAGE_TAG_SLOT))
		return;
	if (page_tag_use(PAGE_TAG_EXT))
		return;

	/* Without memory this early, the boot fails soon in any case. */
	panic("codetag: no memory for the page id store; boot with sysctl.vm.mem_profiling=never");
}

/**
 * page_tag_holder - the page of an allocation that holds its id
 * @page: the first page
 *
 * Context: Any.
 * Return: The second page if the first one holds a mark, else the first.
 */
struct page *page_tag_holder(struct page *page)
{
	/* Only an even page has a second one, in the same section then. */
	if (!(page_to_pfn(page) & 1) && page_tag_is_mark(page_tag_get(page)))
		page++;
	return page;
}

/**
 * page_tag_show_stats - the page store's part of the stats file
 * @m: where to print to
 *
 * Context: Process.
 */
void page_tag_show_stats(struct seq_file *m)
{
	unsigned long bytes = 0;

	if (page_tag_store == PAGE_TAG_SLOT)
		bytes = READ_ONCE(page_tag_slot_bytes);
	else if (page_tag_store == PAGE_TAG_EXT)
		bytes = get_num_physpages() * sizeof(u16);

	seq_printf(m, "store: %s\n", page_tag_store == PAGE_TAG_AUTO ?
		   "none" : page_tag_store_names[page_tag_store]);
	seq_printf(m, "store_bits: %d\n",
		   page_tag_store == PAGE_TAG_FLAGS ? (int)PAGE_TAG_BITS :
		   page_tag_store == PAGE_TAG_AUTO ? 0 : 16);
	seq_printf(m, "free_page_flag_bits: %d\n", (int)PAGE_TAG_FREE_BITS);
	seq_printf(m, "mem_page_refs: %lu\n", bytes);
	seq_printf(m, "pages_without_store: %ld\n", atomic_long_read(&page_tag_nr_lost));
}

#ifdef PAGE_TAG_SLOT_OUT_OF_LINE

/**
 * page_tag_slot_read - the id in a slot
 * @slot: the slot
 *
 * Sanitizers have no shadow for the slots, so only code that is not instrumented may access
 * them.
 *
 * Context: Any.
 * Return: The id, CODETAG_ID_NONE if there is none.
 */
u16 page_tag_slot_read(const u16 *slot)
{
	return READ_ONCE(*slot);
}

/**
 * page_tag_slot_write - put an id into a slot
 * @slot: the slot
 * @id:	  the id
 *
 * Context: Any.
 */
void page_tag_slot_write(u16 *slot, u16 id)
{
	WRITE_ONCE(*slot, id);
}

/**
 * page_tag_slot_clear_pair - remove what two slots hold
 * @slot: the first one, of an even page
 *
 * Context: Any; the pages belong to the same allocation.
 */
void page_tag_slot_clear_pair(u16 *slot)
{
	WRITE_ONCE(*(u32 *)slot, 0);
}

#endif /* PAGE_TAG_SLOT_OUT_OF_LINE */
