// SPDX-License-Identifier: GPL-2.0-only
/*
 * /sys/kernel/debug/codetag/contexts: the memory of split sites, by context.
 */
#include <linux/cgroup.h>
#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/init.h>
#include <linux/kallsyms.h>
#include <linux/memcontrol.h>
#include <linux/numa.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string_helpers.h>
#include "context.h"
#include "context_stack.h"
#include "internal.h"
#include "site.h"
#include "split.h"

/* ---- keys ------------------------------------------------------------------------- */

static void show_split(struct seq_file *m, unsigned int split_by, unsigned int max)
{
	char separator = '=';
	unsigned int key;

	seq_puts(m, " keys");
	for (key = 0; key < CODETAG_NR_KEYS; key++) {
		if (!(split_by & BIT(key)))
			continue;
		seq_putc(m, separator);
		seq_puts(m, codetag_key_names[key]);
		separator = ',';
	}
	if (!(split_by & CODETAG_SPLIT_KEYS))
		seq_puts(m, "=none");
	if (split_by & CODETAG_FRAME_KEYS)
		seq_printf(m, " depth=%u", split_by >> CODETAG_SPLIT_DEPTH);
	if (split_by & CODETAG_SPLIT_KEYS)
		seq_printf(m, " max=%u", max);
}

/**
 * codetag_keys_show - show the keys that a call site is split by
 * @m:		where to print to
 * @info:	the site
 *
 * Prints nothing for a site that is not.
 *
 * Context: Process, with codetag_lock() held.
 */
void codetag_keys_show(struct seq_file *m, const struct codetag_info *info)
{
	unsigned int max, split_by = codetag_split_by(info, &max);

	if (split_by & CODETAG_SPLIT_KEYS)
		show_split(m, split_by, max);
}

/**
 * codetag_trace_show - show whether a call site is traced
 * @m:		where to print to
 * @info:	the site
 *
 * Context: Process, with codetag_lock() held.
 */
void codetag_trace_show(struct seq_file *m, const struct codetag_info *info)
{
	unsigned int max;

	if (codetag_split_by(info, &max) & CODETAG_SPLIT_TRACE)
		seq_puts(m, " trace");
}

/* The tag as it is in /proc/allocinfo. */
static void show_tag(struct seq_file *m, u16 id)
{
	struct codetag_info info;

	if (!codetag_info_of(id, &info))
		return;
	seq_printf(m, " %s:%u", info.ct->filename, info.ct->lineno);
	if (info.modname)
		seq_printf(m, " [%s]", info.modname);
	seq_printf(m, " func:%s", info.ct->function);
	if (info.unloaded)
		seq_puts(m, " unloaded:yes");
}

static void show_counters(struct seq_file *m, u16 id)
{
	struct codetag_sum sum = alloc_tag_read(id);

	seq_printf(m, "%12lld %8u", max_t(s64, sum.bytes, 0), codetag_calls(&sum));
}

static void show_site(struct seq_file *m, const struct codetag_site *site)
{
	unsigned int split_by = READ_ONCE(site->split_wanted);

	/* The memory that is charged to the site itself */
	seq_puts(m, "# site: ");
	show_counters(m, site->id);
	seq_printf(m, " %8lu", codetag_site_lost(site));
	show_tag(m, site->id);
	show_split(m, split_by, READ_ONCE(site->max));
	if (split_by & CODETAG_SPLIT_TRACE)
		seq_puts(m, " trace");
	seq_printf(m, " contexts=%u\n", READ_ONCE(site->nr));
}

/* ---- values ---------------------------------------------------------------------- */

static void show_age(struct seq_file *m, u64 age)
{
	u64 now = codetag_uptime(), start = (u32)age, end = start + (age >> 32);

	/* The smallest and largest age of its allocations, in seconds */
	seq_printf(m, " age=%llu-%llu", now > end ? now - end : 0, now > start ? now - start : 0);
}

/* Users choose names: blanks, backslashes and all but printable ASCII become octal. */
static void show_name(struct seq_file *m, const char *name)
{
	seq_escape_str(m, name, ESCAPE_OCTAL | ESCAPE_NAP | ESCAPE_APPEND, " \\");
}

#ifdef CONFIG_MEMCG
/* The path of an online group of a v1 hierarchy, in which ids are not those of v2's. */
static bool v1_path(u64 value, char *path)
{
	struct mem_cgroup *memcg;
	bool found = false;

	for (memcg = mem_cgroup_iter(NULL, NULL, NULL); memcg;
	     memcg = mem_cgroup_iter(NULL, memcg, NULL)) {
		if (codetag_cgroup_value(memcg->css.cgroup) != value)
			continue;
		found = mem_cgroup_online(memcg) &&
			cgroup_path(memcg->css.cgroup, path, PATH_MAX) > 0;
		mem_cgroup_iter_break(NULL, memcg);
		break;
	}
	return found;
}

/* The path of a memory control group, as long as it is there. */
static bool memcg_path(u64 value, char *path)
{
	struct cgroup *cgrp;
	bool found;

	if (!cgroup_subsys_on_dfl(memory_cgrp_subsys))
		return v1_path(value, path);
	cgrp = cgroup_get_from_id(value);
	if (IS_ERR(cgrp))
		return false;
	found = codetag_cgroup_value(cgrp) == value && cgroup_path(cgrp, path, PATH_MAX) > 0;
	cgroup_put(cgrp);
	return found;
}
#else
static bool memcg_path(u64 value, char *path) { return false; }
#endif

static void show_cgroup(struct seq_file *m, u64 value)
{
	char *path;

	seq_puts(m, " cgroup=");
	if (!value) {
		seq_puts(m, "none");
		return;
	}
	path = kmalloc(PATH_MAX, GFP_KERNEL);
	if (path && memcg_path(value, path))
		show_name(m, path);
	else
		seq_printf(m, "%llu", value & (BIT_ULL(CODETAG_HIERARCHY_SHIFT) - 1));
	kfree(path);
}

static void show_small(struct seq_file *m, unsigned int split_by, u64 word)
{
	int nid = (int)(u16)word - 1;
	gfp_t gfp = (__force gfp_t)(u32)(word >> CODETAG_GFP_SHIFT);

	if (split_by & BIT(CODETAG_KEY_NODE)) {
		if (nid == NUMA_NO_NODE)
			seq_puts(m, " node=all");
		else
			seq_printf(m, " node=%d", nid);
	}
	if (split_by & BIT(CODETAG_KEY_CPU))
		seq_printf(m, " cpu=%u", (u16)(word >> CODETAG_CPU_SHIFT) & 0x3fff);
	if (split_by & BIT(CODETAG_KEY_ACCOUNTED))
		seq_printf(m, " accounted=%s", str_yes_no(word >> CODETAG_ACCOUNTED_SHIFT & 1));
	if (split_by & BIT(CODETAG_KEY_GFP))
		seq_printf(m, " gfp=%pGg", &gfp);
}

static void show_values(struct seq_file *m, const struct codetag_context *ctx)
{
	unsigned int split_by = ctx->split_by;
	const u64 *word = ctx->words;
	char comm[TASK_COMM_LEN];

	if (split_by & CODETAG_SMALL_KEYS)
		show_small(m, split_by, *word++);
	if (split_by & BIT(CODETAG_KEY_SIZE))
		seq_printf(m, " size=%llu", *word++);
	if (split_by & BIT(CODETAG_KEY_AGE))
		show_age(m, *word++);
	if (split_by & BIT(CODETAG_KEY_CGROUP))
		show_cgroup(m, *word++);
	if (split_by & BIT(CODETAG_KEY_TASK)) {
		memcpy(comm, word, sizeof(comm));
		seq_puts(m, " task=");
		show_name(m, comm);
	}
}

static void show_stack_of(struct seq_file *m, const struct codetag_context *ctx)
{
	char text[CODETAG_FRAME_TEXT + 1];
	unsigned int i;

	if (ctx->text) {
		seq_puts(m, ctx->text->text);
		return;
	}
	for (i = 0; i < ctx->nr_frames; i++) {
		codetag_frame_text(text, ctx->stack[i]);
		seq_puts(m, text);
	}
}

static void show_context(struct seq_file *m, const struct codetag_context *ctx)
{
	struct codetag_sum sum = alloc_tag_read(ctx->id);
	u32 calls = codetag_calls(&sum);
	u32 allocs = sum.allocs + sum.parts;

	/* All that it ever had has moved to other contexts, see codetag_page_charged(). */
	if (!allocs && !calls)
		return;
	seq_printf(m, "%12lld %8u", max_t(s64, sum.bytes, 0), calls);
	/* If memory moves to another context meanwhile, do not show more frees than allocations. */
	seq_printf(m, " %8u", max(allocs, calls));
	show_tag(m, ctx->site->id);
	show_values(m, ctx);
	seq_putc(m, '\n');
	show_stack_of(m, ctx);
}

/* ---- the file -------------------------------------------------------------------- */

/* The next line: a site or, after all sites, a context */
struct contexts_iter {
	struct codetag_site *site;
	struct codetag_context *ctx;
};

/*
 * Position 0 is the header, a site has that of its own id, a context that of its id
 * behind those. Sites and contexts cannot go while one piece is read.
 */
#define CONTEXTS_AT	(CODETAG_ID_MAX + 1)

static struct codetag_site *site_from(unsigned int id)
{
	struct codetag_site *site;

	list_for_each_entry_rcu(site, &codetag_sites, list, true)
		if (site->id >= id)
			return site;
	return NULL;
}

static struct codetag_site *site_after(struct codetag_site *site)
{
	return list_next_or_null_rcu(&codetag_sites, &site->list, struct codetag_site, list);
}

static void *contexts_at(struct contexts_iter *iter, loff_t *pos)
{
	if (iter->site) {
		*pos = iter->site->id;
		return iter;
	}
	iter->ctx = codetag_context_next(max_t(loff_t, *pos, CONTEXTS_AT) - CONTEXTS_AT);
	if (!iter->ctx)
		return NULL;
	*pos = CONTEXTS_AT + iter->ctx->id;
	return iter;
}

static void *contexts_start(struct seq_file *m, loff_t *pos)
{
	struct contexts_iter *iter = m->private;

	codetag_contexts_lock();
	if (!*pos)
		return SEQ_START_TOKEN;
	iter->site = *pos < CONTEXTS_AT ? site_from(*pos) : NULL;
	return contexts_at(iter, pos);
}

static void *contexts_next(struct seq_file *m, void *v, loff_t *pos)
{
	struct contexts_iter *iter = m->private;

	(*pos)++;
	if (v == SEQ_START_TOKEN)
		iter->site = site_from(0);
	else if (iter->site)
		iter->site = site_after(iter->site);
	return contexts_at(iter, pos);
}

static void contexts_stop(struct seq_file *m, void *v)
{
	codetag_contexts_unlock();
}

static int contexts_show(struct seq_file *m, void *v)
{
	struct contexts_iter *iter = m->private;

	if (v == SEQ_START_TOKEN)
		seq_puts(m, "# contexts - version: 1.0\n"
			    "# site:    <size>  <calls>   <lost> <tag info> <keys>\n"
			    "#     <size>  <calls> <allocs> <tag info> <values>\n");
	else if (iter->site)
		show_site(m, iter->site);
	else
		show_context(m, iter->ctx);
	return 0;
}

static const struct seq_operations contexts_ops = {
	.start	= contexts_start,
	.next	= contexts_next,
	.stop	= contexts_stop,
	.show	= contexts_show,
};

static int contexts_open(struct inode *inode, struct file *file)
{
	return codetag_may_open(file) ?:
	       seq_open_private(file, &contexts_ops, sizeof(struct contexts_iter));
}

static const struct file_operations contexts_fops = {
	.owner		= THIS_MODULE,
	.open		= contexts_open,
	.read		= seq_read,
	.llseek		= seq_lseek,
	.release	= seq_release_private,
};

static int __init contexts_init(void)
{
	if (IS_ENABLED(CONFIG_DEBUG_FS) && !mem_alloc_profiling_permanently_disabled())
		debugfs_create_file("contexts", 0400, codetag_debugfs_dir(), NULL,
				    &contexts_fops);
	return 0;
}
late_initcall(contexts_init);
