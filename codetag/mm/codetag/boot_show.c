// SPDX-License-Identifier: GPL-2.0-only
/*
 * /sys/kernel/debug/codetag/boot: the memory that lines took at boot and have kept.
 *
 * A page that the page allocator never had is PageReserved(), and is no longer when it is freed.
 * An allocation may set this flag in pages of its own, which have an owner. So a read looks at
 * the pages of all areas, and the rows add up to the memory that the page allocator does not
 * have. Pages that an allocation reserved while its site was not profiled have no owner: they
 * are listed wrongly.
 */
#include <linux/debugfs.h>
#include <linux/init.h>
#include <linux/memory_hotplug.h>
#include <linux/mm.h>
#include <linux/pfn.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include "boot.h"
#include "internal.h"
#include "owner.h"

/* Memory that boot has kept can go offline, and its struct pages with it. */
static bool is_kept(unsigned long pfn)
{
	struct page *page = pfn_to_online_page(pfn);

	return page && PageReserved(page) && !codetag_page_has_owner(page);
}

/* Bytes of an area in pages that were never freed; @pages: those not counted before. */
static u64 count_kept(const struct codetag_boot_area *area, unsigned long *next_pfn, u64 *pages)
{
	unsigned long pfn;
	u64 bytes = 0;

	for (pfn = PHYS_PFN(area->start); pfn < PFN_UP(area->end); pfn++) {
		cond_resched();
		if (!is_kept(pfn))
			continue;
		bytes += min(area->end, PFN_PHYS(pfn + 1)) - max(area->start, PFN_PHYS(pfn));
		if (pfn >= *next_pfn) {
			(*pages)++;
			*next_pfn = pfn + 1;
		}
	}
	return bytes;
}

static void show_site(struct seq_file *m, u64 bytes, u64 areas,
		      const struct codetag_boot_site *site)
{
	seq_printf(m, "%12llu %8llu %s:%u func:%s%s\n", bytes, areas, site->file, site->line,
		   site->func, site->hash ? " hash:yes" : "");
}

/* The areas of a line together, if @first is its first one. */
static void show_areas_of(struct seq_file *m, const u64 *bytes, unsigned int first)
{
	const struct codetag_boot_areas *kept = codetag_boot_kept();
	const struct codetag_boot_site *site = kept->area[first].site;
	u64 sum = 0, areas = 0;
	unsigned int i;

	for (i = 0; i < kept->nr; i++) {
		if (kept->area[i].site != site)
			continue;
		if (i < first)
			return;
		sum += bytes[i];
		areas += bytes[i] > 0;
	}
	if (sum)
		show_site(m, sum, areas, site);
}

static int boot_show(struct seq_file *m, void *v)
{
	const struct codetag_boot_areas *kept = codetag_boot_kept();
	u64 *bytes, sum = 0, pages = 0;
	unsigned long next_pfn = 0;
	unsigned int i;

	bytes = kvcalloc(kept->nr, sizeof(*bytes), GFP_KERNEL);
	if (!bytes)
		return -ENOMEM;
	get_online_mems();
	for (i = 0; i < kept->nr; i++) {
		bytes[i] = count_kept(&kept->area[i], &next_pfn, &pages);
		sum += bytes[i];
	}
	put_online_mems();

	seq_puts(m, "boot - version: 1.0\n#     <size>  <areas> <tag info>\n");
	for (i = 0; i < kept->nr; i++)
		show_areas_of(m, bytes, i);
	if (pages * PAGE_SIZE > sum)
		show_site(m, pages * PAGE_SIZE - sum, pages, &codetag_boot_parts);
	kvfree(bytes);
	return 0;
}

CODETAG_DEFINE_FILE(boot, boot_show, NULL);

static int __init boot_init(void)
{
	if (codetag_boot_kept()->nr)
		debugfs_create_file("boot", 0400, codetag_debugfs_dir(), NULL, &boot_fops);
	return 0;
}
late_initcall(boot_init);
