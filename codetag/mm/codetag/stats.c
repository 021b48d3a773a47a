// SPDX-License-Identifier: GPL-2.0-only
/*
 * /sys/kernel/debug/codetag/stats: usage, cost and losses of the profiler.
 */
#include <linux/debugfs.h>
#include <linux/init.h>
#include <linux/seq_file.h>
#include "internal.h"
#include "page_store.h"
#include "parts.h"
#include "slab_far.h"
#include "split.h"

#ifdef CONFIG_CODETAG_CONTEXTS
static void show_contexts(struct seq_file *m)
{
	struct codetag_context_use use;

	codetag_context_use(&use);
	seq_printf(m, "sites_split: %u\n", use.sites);
	seq_printf(m, "contexts_max: %u\n", use.max);
	seq_printf(m, "contexts_used: %u\n", use.used);
	seq_printf(m, "contexts_free: %u\n", use.free);
	seq_printf(m, "contexts_lost: %lu\n", use.lost);
	seq_printf(m, "mem_contexts: %zu\n", use.bytes);
}
#else
static void show_contexts(struct seq_file *m) {}
#endif

static int stats_show(struct seq_file *m, void *v)
{
	struct codetag_id_use use;

	codetag_reap();
	codetag_lock();
	codetag_id_use(&use);
	codetag_unlock();

	seq_printf(m, "enabled: %d\n", mem_alloc_profiling_enabled());
	page_tag_show_stats(m);
	pgalloc_tag_show_stats(m);
	seq_printf(m, "ids_reserved: %d\n", CODETAG_ID_FIRST);
	seq_printf(m, "ids_builtin: %u\n", use.builtin);
	seq_printf(m, "ids_module_used: %u\n", use.modules);
	seq_printf(m, "ids_unloaded: %u\n", use.unloaded);
	seq_printf(m, "ids_module_free: %u\n", use.free);
	seq_printf(m, "tags_without_id: %u\n", use.without_id);
	seq_printf(m, "modules_without_id: %lu\n", use.modules_without_id);
	seq_printf(m, "names_lost: %lu\n", use.names_lost);
	seq_printf(m, "ids_damaged: %lu\n", use.damaged);
	seq_printf(m, "parts_lost: %ld\n", atomic_long_read(&codetag_parts_nr_lost));
	seq_printf(m, "mem_tags: %zu\n", use.tag_bytes);
	seq_printf(m, "mem_counters: %zu\n", use.counter_bytes);
	show_contexts(m);
	codetag_slab_show_stats(m);
	pcpu_codetag_show_stats(m);
	return 0;
}

CODETAG_DEFINE_FILE(stats, stats_show, NULL);

static int __init stats_init(void)
{
	debugfs_create_file("stats", 0400, codetag_debugfs_dir(), NULL, &stats_fops);
	return 0;
}
late_initcall(stats_init);
