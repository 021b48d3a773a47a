// SPDX-License-Identifier: GPL-2.0
/*
 * /sys/kernel/debug/codetag/audit: do the counters tell the truth?
 *
 * Reading the file recounts every reference there is, of pages, slab and
 * percpu objects, and compares the result with the counters. All CPUs are
 * stopped meanwhile, for a few milliseconds per GiB of memory. A task can be
 * stopped after it has stored a reference and before it has counted it: so a
 * mismatch must be seen several times in a row to be believed.
 */
#include <linux/cpu.h>
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/init.h>
#include <linux/memory_hotplug.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/pgalloc_tag.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/stop_machine.h>
#include <linux/vmalloc.h>
#include "internal.h"

#define AUDIT_PASSES	5
#define AUDIT_NR_IDS	(CODETAG_ID_MAX + 1)

/**
 * struct audit - one recount
 * @rc:		what was found
 * @counted:	what the counters said at the same moment, by id
 * @delta:	by id, how far they were apart in the pass before
 */
struct audit {
	struct codetag_recount rc;
	struct alloc_tag_counters *counted;
	struct alloc_tag_counters *delta;
};

/* One recount at a time: it takes memory, and stops everything. */
static DEFINE_MUTEX(audit_mutex);

/* The size of what the page is the first one of. */
static size_t audit_page_size(struct page *page)
{
	u16 next;

	if (PageHead(page))
		return PAGE_SIZE << compound_order(page);

	/* Non-compound allocations leave their order with the second page. */
	if (!pfn_valid(page_to_pfn(page) + 1))
		return PAGE_SIZE;
	next = page_ref_get(page + 1);
	if (next >= CODETAG_ID_TAIL && next < CODETAG_ID_FIRST)
		return PAGE_SIZE << (next - CODETAG_ID_TAIL);
	return PAGE_SIZE;
}

static void audit_page(struct codetag_recount *rc, struct page *page)
{
	u16 id = page_ref_get(page);

	rc->pages++;
	if (id && (id < CODETAG_ID_TAIL || id >= CODETAG_ID_FIRST))
		codetag_recount_add(rc, id, audit_page_size(page));
	codetag_slab_recount(rc, page);
}

static int audit_stopped(void *data)
{
	struct audit *audit = data;
	struct codetag_recount *rc = &audit->rc;
	struct zone *zone;
	unsigned long pfn;
	unsigned int id;

	memset(rc->found, 0, AUDIT_NR_IDS * sizeof(*rc->found));
	rc->pages = 0;
	rc->objects = 0;

	for_each_populated_zone(zone) {
		for (pfn = zone->zone_start_pfn; pfn < zone_end_pfn(zone); pfn++) {
			struct page *page = pfn_to_online_page(pfn);

			if (!page || page_zone(page) != zone)
				continue;
			audit_page(rc, page);
			/*
			 * The other struct pages of a huge page can be the first
			 * ones over again, see HUGETLB_PAGE_OPTIMIZE_VMEMMAP.
			 */
			if (PageHead(page)) {
				rc->pages += compound_nr(page) - 1;
				pfn += compound_nr(page) - 1;
			}
		}
	}
	pcpu_codetag_recount(rc);

	for (id = 1; id < AUDIT_NR_IDS; id++)
		audit->counted[id] = codetag_from_id(id) ? alloc_tag_read(id) :
				     (struct alloc_tag_counters) {};
	return 0;
}

static bool audit_pass(struct audit *audit, bool first)
{
	bool mismatch = false;
	unsigned int id;

	stop_machine_cpuslocked(audit_stopped, audit, NULL);

	for (id = 1; id < AUDIT_NR_IDS; id++) {
		struct alloc_tag_counters *delta = &audit->delta[id];
		u64 bytes = audit->counted[id].bytes - audit->rc.found[id].bytes;
		u64 calls = audit->counted[id].calls - audit->rc.found[id].calls;

		if (!first && (delta->bytes != bytes || delta->calls != calls)) {
			bytes = 0;
			calls = 0;
		}
		delta->bytes = bytes;
		delta->calls = calls;
		mismatch |= bytes || calls;
	}
	return mismatch;
}

static void audit_print(struct seq_file *m, struct audit *audit)
{
	unsigned int id, tags = 0, mismatches = 0;

	for (id = 1; id < AUDIT_NR_IDS; id++) {
		struct alloc_tag_counters *counted = &audit->counted[id];
		struct alloc_tag_counters *found = &audit->rc.found[id];
		struct codetag *ct = codetag_from_id(id);

		tags += !!ct;
		if (!audit->delta[id].bytes && !audit->delta[id].calls)
			continue;

		mismatches++;
		seq_printf(m, "mismatch: id %u counted %lld %lld found %lld %lld ", id,
			   counted->bytes, counted->calls, found->bytes, found->calls);
		if (ct && ct->function)
			seq_printf(m, "%s:%u func:%s\n", ct->filename, ct->lineno, ct->function);
		else
			seq_puts(m, "an id that no tag has\n");
	}
	seq_printf(m, "audit: %u tags, %lu pages, %lu objects, %u mismatches\n",
		   tags, audit->rc.pages, audit->rc.objects, mismatches);
}

static int audit_show(struct seq_file *m, void *v)
{
	size_t size = AUDIT_NR_IDS * sizeof(struct alloc_tag_counters);
	struct audit audit = {
		.rc.found	= vzalloc(size),
		.counted	= vzalloc(size),
		.delta		= vzalloc(size),
	};
	int pass, ret = -ENOMEM;

	if (!audit.rc.found || !audit.counted || !audit.delta)
		goto out;

	ret = -ERESTARTSYS;
	if (mutex_lock_interruptible(&audit_mutex))
		goto out;

	ret = -ENOMEM;
	cpus_read_lock();
	get_online_mems();
	codetag_lock();
	if (codetag_slab_recount_prepare()) {
		for (pass = 0; pass < AUDIT_PASSES; pass++) {
			if (!audit_pass(&audit, !pass))
				break;
			/* Whoever was interrupted or preempted shall go on. */
			msleep(10 << pass);
		}
		codetag_slab_recount_done();
		audit_print(m, &audit);
		ret = 0;
	}
	codetag_unlock();
	put_online_mems();
	cpus_read_unlock();
	mutex_unlock(&audit_mutex);
out:
	vfree(audit.delta);
	vfree(audit.counted);
	vfree(audit.rc.found);
	return ret;
}
DEFINE_SHOW_ATTRIBUTE(audit);

static int __init audit_init(void)
{
	if (!mem_alloc_profiling_permanently_disabled())
		debugfs_create_file("audit", 0400, codetag_debugfs_dir(), NULL, &audit_fops);
	return 0;
}
late_initcall(audit_init);
