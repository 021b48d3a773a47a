// SPDX-License-Identifier: GPL-2.0-only
/*
 * /sys/kernel/debug/codetag/charged: the kinds of memory that call sites hold.
 *
 * The counters of a call site do not tell which allocator its memory came from. So
 * writing 1 to this file recounts pages, objects and percpu allocations. Unlike the audit,
 * it stops the CPUs only for one piece of memory at a time. Memory that is allocated or
 * freed meanwhile may be counted or not.
 */
#include <linux/cpu.h>
#include <linux/init.h>
#include <linux/memory_hotplug.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/seq_buf.h>
#include <linux/sizes.h>
#include <linux/stop_machine.h>
#include <linux/vmalloc.h>
#include "recount.h"
#include "result.h"
#include "tags.h"

/* Pages for which all CPUs are stopped at once: a millisecond, or a few. */
#define PIECE_PAGES	(SZ_64M / PAGE_SIZE)

/**
 * struct charged - one count
 * @rc:		the recount
 * @percpu:	memory of percpu allocations
 * @all:	memory of these, slab objects and pages
 * @sites:	the counters of all sites
 * @sites_counted: @sites is known; false if the list of call sites was being changed
 * @pfn:	where the next piece of memory begins
 */
struct charged {
	struct codetag_recount rc;
	struct codetag_held percpu;
	struct codetag_held all;
	struct codetag_held sites;
	bool sites_counted;
	unsigned long pfn;
};

static int count_percpu(void *data)
{
	struct charged *charged = data;

	codetag_recount_percpu(&charged->rc);
	return 0;
}

static int count_piece(void *data)
{
	struct charged *charged = data;

	codetag_recount_pages(&charged->rc, charged->pfn, charged->pfn + PIECE_PAGES);
	return 0;
}

static struct codetag_held held_so_far(const struct charged *charged)
{
	return (struct codetag_held){ charged->rc.bytes, charged->rc.calls };
}

/*
 * Sum up the counters of all sites, for comparison; false if the list of call sites was being
 * changed.
 */
static bool count_sites(struct codetag_held *sites)
{
	struct codetag_sum sums[CODETAG_BLOCK_SIZE];
	unsigned int id, i;

	/* The owner of the lock may wait for slab_mutex, which is held here. */
	if (!codetag_trylock())
		return false;
	for (id = 0; id <= CODETAG_ID_MAX; id += CODETAG_BLOCK_SIZE) {
		alloc_tag_read_block(id, sums);
		for (i = 0; i < CODETAG_BLOCK_SIZE; i++) {
			sites->bytes += sums[i].bytes;
			sites->calls += sums[i].calls;
		}
		codetag_rest(CODETAG_BLOCK_SIZE * num_possible_cpus());
	}
	codetag_unlock();
	return true;
}

static int count_all(struct charged *charged)
{
	unsigned long end = 0;
	struct zone *zone;

	for_each_populated_zone(zone)
		end = max(end, zone_end_pfn(zone));

	stop_machine_cpuslocked(count_percpu, charged, NULL);
	charged->percpu = held_so_far(charged);
	for (charged->pfn = 0; charged->pfn < end; charged->pfn += PIECE_PAGES) {
		if (codetag_recount_any(charged->pfn, charged->pfn + PIECE_PAGES))
			stop_machine_cpuslocked(count_piece, charged, NULL);
		cond_resched();
		if (signal_pending(current))
			return -EINTR;
	}
	charged->all = held_so_far(charged);
	/* Before memory for the text is allocated, too. */
	charged->sites_counted = count_sites(&charged->sites);
	return 0;
}

static void show_line(struct seq_buf *out, const struct codetag_held *held, const char *kind,
		      const char *name)
{
	seq_buf_printf(out, "%12llu %8llu %s%s%s\n", held->bytes, held->calls, kind,
		       name ? " " : "", name ?: "");
}

static void charged_print(struct seq_buf *out, const void *data)
{
	const struct charged *charged = data;
	struct codetag_held slab = {}, vmalloc = {}, pages = charged->all;
	size_t i;

	for (i = 0; i < codetag_recount_nr_caches(); i++) {
		slab.bytes += charged->rc.caches[i].bytes;
		slab.calls += charged->rc.caches[i].calls;
	}
	pages.bytes -= slab.bytes + charged->percpu.bytes;
	pages.calls -= slab.calls + charged->percpu.calls;
	codetag_recount_vmalloc(&vmalloc);

	seq_buf_puts(out, "# charged - version: 1.0\n"
		     "#     <size>  <calls> <kind> <cache>\n");
	if (charged->sites_counted)
		show_line(out, &charged->sites, "sites", NULL);
	show_line(out, &pages, "pages", NULL);
	show_line(out, &vmalloc, "vmalloc", NULL);
	show_line(out, &charged->percpu, "percpu", NULL);
	show_line(out, &slab, "slab", NULL);
	for (i = 0; i < codetag_recount_nr_caches(); i++)
		if (charged->rc.caches[i].calls)
			show_line(out, &charged->rc.caches[i], "cache", codetag_recount_cache(i));
}

static int charged_run(struct codetag_result *result)
{
	struct charged charged = {};
	int ret = -ENOMEM;

	cpus_read_lock();
	get_online_mems();
	if (!codetag_recount_prepare())
		goto unlock;
	charged.rc.caches = kvcalloc(codetag_recount_nr_caches(), sizeof(*charged.rc.caches),
				     GFP_KERNEL);
	if (charged.rc.caches)
		ret = count_all(&charged);
	if (!ret)
		ret = codetag_result_set(result, charged_print, &charged);
	kvfree(charged.rc.caches);
	codetag_recount_done();
unlock:
	put_online_mems();
	cpus_read_unlock();
	return ret;
}

static struct codetag_result charged_result = {
	.name	= "charged",
	.work	= "count",
	.run	= charged_run,
};

static int __init charged_init(void)
{
	codetag_result_create(&charged_result);
	return 0;
}
late_initcall(charged_init);
