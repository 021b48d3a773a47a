// SPDX-License-Identifier: GPL-2.0
/*
 * Choosing call sites: which are profiled, and which fail.
 *
 * Queries (see query.h) come from the boot parameter "codetag=" and from
 * /sys/kernel/debug/codetag/control. What is written there at once is done as
 * a whole or not at all: all of its queries are parsed, matched and given the
 * memory that they need before the first one changes anything.
 */
#define pr_fmt(fmt) "codetag: " fmt

#include <linux/debugfs.h>
#include <linux/init.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include "change.h"
#include "internal.h"
#include "remembered.h"

/* What one write() to a file can hold. */
#define CONTROL_TEXT_MAX	SZ_64K

/* What all "codetag=" of a command line can hold together. */
#define BOOT_TEXT_MAX		2048

/**
 * struct control_query - one query of a write, prepared so that it cannot fail
 * @list:	in the queries of the write, in the order in which they apply
 * @change:	what it does
 * @remember:	the query, to be remembered; or NULL
 */
struct control_query {
	struct list_head list;
	struct codetag_change change;
	struct remembered_query *remember;
};

/* ---- all or nothing ------------------------------------------------------------ */

/* With codetag_lock() held. @source is the text that the query was parsed from. */
static int prepare_query(struct control_query *q, const char *source)
{
	const struct codetag_query *query = &q->change.query;
	bool for_modules = codetag_query_names_module(query);
	size_t len = query->end - query->start;
	int ret;

	if (query->action == CODETAG_ACTION_NONE) {
		pr_warn_ratelimited("control: '%*pE' at %zu: no action such as =p, +p, -p, fault or keys=\n",
				    min_t(int, len, 64), source + query->start, query->start);
		return -EINVAL;
	}
	if (!for_modules && !codetag_query_matches_any(query)) {
		pr_warn_ratelimited("control: '%*pE' at %zu: no call site matches\n",
				    min_t(int, len, 64), source + query->start, query->start);
		return -ENOENT;
	}

	ret = codetag_change_prepare(&q->change, NULL);
	if (ret || !for_modules)
		return ret;
	q->remember = codetag_remembered_new(source + query->start, len);
	return q->remember ? 0 : -ENOMEM;
}

/* With codetag_query_mutex and codetag_lock() held. */
static void make_query(struct control_query *q)
{
	codetag_change_make(&q->change, NULL);
	if (q->remember)
		codetag_remember(q->remember);
	q->remember = NULL;
}

static void free_query(struct control_query *q)
{
	codetag_change_free(&q->change);
	codetag_remembered_free(q->remember);
	kfree(q);
}

static void print_query_error(const struct codetag_query_error *err)
{
	pr_warn_ratelimited("control: '%s' at %zu: %s\n", err->token, err->position, err->why);
}

/* The next query of a text; 0 at its end, otherwise like run_queries(). */
static int parse_query(char *text, const char *source, size_t len, size_t *pos,
		       struct list_head *queries)
{
	struct codetag_query_error err;
	struct control_query *q;
	int ret;

	/* Nothing is changed yet, and very many queries take their time. */
	if (fatal_signal_pending(current))
		return -EINTR;

	q = kzalloc(sizeof(*q), GFP_KERNEL);
	if (!q)
		return -ENOMEM;

	ret = codetag_query_parse(text, len, pos, &q->change.query, &err);
	if (ret <= 0) {
		if (ret)
			print_query_error(&err);
		kfree(q);
		return ret;
	}
	list_add_tail(&q->list, queries);
	return prepare_query(q, source) ?: 1;
}

/*
 * Run the queries of a text, all or none of them. The parser changes @text,
 * @source is a copy that stays.
 */
static int run_queries(char *text, const char *source, size_t len)
{
	struct control_query *q, *next;
	LIST_HEAD(queries);
	size_t pos = 0;
	int ret;

	mutex_lock(&codetag_query_mutex);
	codetag_lock();
	do {
		ret = parse_query(text, source, len, &pos, &queries);
	} while (ret > 0);

	list_for_each_entry_safe(q, next, &queries, list) {
		if (!ret)
			make_query(q);
		free_query(q);
	}
	codetag_unlock();
	codetag_change_switch();
	mutex_unlock(&codetag_query_mutex);
	return ret;
}

/* ---- boot --------------------------------------------------------------------- */

/* Two copies of the boot parameter: one for early, one for when memory can be had. */
static char boot_source[BOOT_TEXT_MAX] __initdata;
static char boot_text[BOOT_TEXT_MAX] __initdata;

static int __init codetag_param(char *arg)
{
	size_t len = strlen(boot_source);

	if (!arg)
		return -EINVAL;
	if (snprintf(boot_source + len, BOOT_TEXT_MAX - len, "%s;", arg) >= BOOT_TEXT_MAX - len) {
		boot_source[len] = '\0';
		pr_warn("codetag=%s: more than %d characters in all; ignored\n",
			arg, BOOT_TEXT_MAX - 2);
	}
	return 0;
}
early_param("codetag", codetag_param);

/* Is all of the boot parameter well formed? */
static bool __init boot_text_good(void)
{
	size_t pos = 0, len = strlen(boot_source);
	struct codetag_query_error err;
	struct codetag_query query;
	int ret;

	strscpy(boot_text, boot_source);
	while ((ret = codetag_query_parse(boot_text, len, &pos, &query, &err)) > 0) {
		if (query.action == CODETAG_ACTION_NONE) {
			pr_warn("codetag=: '%.*s' has no action such as =p, +p, -p, fault or keys=\n",
				(int)(query.end - query.start), boot_source + query.start);
			return false;
		}
	}
	if (ret)
		pr_warn("codetag=: '%s' at %zu: %s\n", err.token, err.position, err.why);
	return !ret;
}

/**
 * codetag_control_init - switch the sites that the boot parameter names
 *
 * Context: Boot, before the first allocation, after the sites got their ids.
 */
void __init codetag_control_init(void)
{
	size_t pos = 0, len = strlen(boot_source);
	struct codetag_query_error err;
	struct codetag_query query;

	if (!boot_text_good()) {
		pr_warn("codetag=%s: ignored\n", boot_source);
		boot_source[0] = '\0';
		return;
	}

	strscpy(boot_text, boot_source);
	while (codetag_query_parse(boot_text, len, &pos, &query, &err) > 0)
		if (query.action < CODETAG_ACTION_FAULT)
			codetag_change_flags(&query, NULL);
}

/* The rest of it, for which memory is needed: faults, and what is remembered. */
static int __init control_boot_init(void)
{
	size_t pos = 0, len = strlen(boot_source);
	struct codetag_query_error err;
	struct codetag_query query;

	if (mem_alloc_profiling_permanently_disabled())
		return 0;

	/* One by one: a site that is not there does not stop the others. */
	strscpy(boot_text, boot_source);
	while (codetag_query_parse(boot_text, len, &pos, &query, &err) > 0) {
		char *source = kmemdup_nul(boot_source + query.start,
					   query.end - query.start, GFP_KERNEL);
		char *text = kmemdup_nul(source, query.end - query.start, GFP_KERNEL);

		if (!source || !text || run_queries(text, source, query.end - query.start))
			pr_warn("codetag=: '%s' has no effect\n", source);
		kfree(source);
		kfree(text);
	}
	return 0;
}
early_initcall(control_boot_init);

/* ---- debugfs ------------------------------------------------------------------ */

static void *control_find(struct seq_file *m, loff_t *pos)
{
	struct codetag_info *info = m->private;
	unsigned long at = *pos;

	if (!codetag_next_site(&at, info))
		return NULL;
	*pos = at;
	return info;
}

static void *control_start(struct seq_file *m, loff_t *pos)
{
	codetag_lock();
	return control_find(m, pos);
}

static void *control_next(struct seq_file *m, void *v, loff_t *pos)
{
	(*pos)++;
	return control_find(m, pos);
}

static void control_stop(struct seq_file *m, void *v)
{
	codetag_unlock();
}

static int control_show(struct seq_file *m, void *v)
{
	const struct codetag_info *info = v;
	const struct codetag *ct = info->ct;

	seq_printf(m, "%s:%u ", ct->filename, ct->lineno);
	if (info->modname)
		seq_printf(m, "[%s] ", info->modname);
	seq_printf(m, "func:%s =%s id %u", ct->function, codetag_profiled(info) ? "p" : "_",
		   info->without_id ? 0 : info->id);
	codetag_keys_show(m, info);
	codetag_fault_show(m, info);
	seq_putc(m, '\n');
	return 0;
}

static const struct seq_operations control_seq_ops = {
	.start	= control_start,
	.next	= control_next,
	.stop	= control_stop,
	.show	= control_show,
};

static int control_open(struct inode *inode, struct file *file)
{
	return seq_open_private(file, &control_seq_ops, sizeof(struct codetag_info));
}

static ssize_t control_write(struct file *file, const char __user *buf, size_t len, loff_t *ppos)
{
	char *text, *source;
	int ret;

	if (len > CONTROL_TEXT_MAX) {
		pr_warn_ratelimited("control: more than %d bytes in one write\n", CONTROL_TEXT_MAX);
		return -E2BIG;
	}

	source = memdup_user_nul(buf, len);
	if (IS_ERR(source))
		return PTR_ERR(source);

	/* Who writes through a buffer cuts at a multiple of its size. */
	if (len >= PAGE_SIZE && source[len - 1] != '\n' && source[len - 1] != ';') {
		pr_warn_ratelimited("control: %zu bytes that do not end with a newline: the end may be missing\n",
				    len);
		kfree(source);
		return -E2BIG;
	}

	text = kmemdup(source, len + 1, GFP_KERNEL);
	ret = text ? run_queries(text, source, len) : -ENOMEM;
	kfree(text);
	kfree(source);
	return ret ?: len;
}

static const struct file_operations control_fops = {
	.owner		= THIS_MODULE,
	.open		= control_open,
	.read		= seq_read,
	.write		= control_write,
	.llseek		= seq_lseek,
	.release	= seq_release_private,
};

static int __init control_debugfs_init(void)
{
	if (IS_ENABLED(CONFIG_DEBUG_FS) && !mem_alloc_profiling_permanently_disabled())
		debugfs_create_file("control", 0600, codetag_debugfs_dir(), NULL, &control_fops);
	return 0;
}
late_initcall(control_debugfs_init);
