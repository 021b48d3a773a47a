// SPDX-License-Identifier: GPL-2.0-only
/*
 * Choosing call sites: to profile them, split them, trace them, guard them or make them fail.
 *
 * Queries (see query.h) come from the boot parameter "codetag=" and from
 * /sys/kernel/debug/codetag/control. A write is done as a whole or not at all: all of its
 * queries are parsed, matched and given their memory before anything is changed. The
 * number of queries and the length of their text are limited, so that the locks that
 * modules wait for are held for a bounded time.
 */
#define pr_fmt(fmt) "codetag: " fmt

#include <linux/debugfs.h>
#include <linux/init.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include "applied.h"
#include "change.h"
#include "guards.h"
#include "helpers.h"
#include "internal.h"
#include "remembered.h"
#include "site.h"
#include "split.h"

/* Limit of one write() to a file */
#define CONTROL_TEXT_MAX	SZ_64K
#define CONTROL_QUERIES_MAX	1024

/* Limit of all "codetag=" of a command line together */
#define BOOT_TEXT_MAX		2048

/**
 * struct control_query - one query of a write
 * @change:	the query
 * @remember:	the query, to be remembered; or NULL
 */
struct control_query {
	struct codetag_change change;
	struct remembered_query *remember;
};

/* ---- all or nothing ------------------------------------------------------------ */

static void print_query_error(const struct codetag_query_error *err)
{
	pr_warn_ratelimited("control: '%s' at %zu: %s\n", err->token, err->position, err->why);
}

/* A query of the text @source is well formed, but cannot be done. */
static void print_bad_query(const struct codetag_query *query, const char *source,
			    const char *why)
{
	pr_warn_ratelimited("control: '%*pE' at %zu: %s\n",
			    min_t(int, query->end - query->start, 64),
			    source + query->start, query->start, why);
}

static void free_query(struct control_query *q)
{
	list_del(&q->change.list);
	codetag_remembered_free(q->remember);
	kfree(q);
}

/* The next query of a text; 0 at its end, otherwise like run_queries(). */
static int parse_query(char *text, const char *source, size_t len, size_t *pos,
		       struct list_head *queries)
{
	struct codetag_query_error err;
	struct codetag_query *query;
	struct control_query *q;
	int ret;

	q = kzalloc(sizeof(*q), CODETAG_GFP);
	if (!q)
		return -ENOMEM;
	list_add_tail(&q->change.list, queries);

	query = &q->change.query;
	ret = codetag_query_parse(text, len, pos, query, &err);
	if (ret < 0)
		print_query_error(&err);
	if (ret <= 0) {
		free_query(q);
		return ret;
	}
	if (query->action == CODETAG_ACTION_NONE) {
		print_bad_query(query, source,
				"no action such as =p, +p, -p, fault, guard, trace or keys=");
		return -EINVAL;
	}
	ret = codetag_change_supported(query);
	if (ret)
		return ret;
	if (codetag_query_names_module(query)) {
		q->remember = codetag_remembered_new(source + query->start,
						     query->end - query->start);
		if (!q->remember)
			return -ENOMEM;
	}
	return 1;
}

static int parse_queries(char *text, const char *source, size_t len, struct list_head *queries)
{
	unsigned int nr = 0;
	size_t pos = 0;
	int ret;

	while ((ret = parse_query(text, source, len, &pos, queries)) > 0) {
		if (++nr > CONTROL_QUERIES_MAX) {
			pr_warn_ratelimited("control: more than %d queries in one write\n",
					    CONTROL_QUERIES_MAX);
			return -E2BIG;
		}
		codetag_rest(1);
	}
	return ret;
}

static bool have_guards(const struct list_head *queries)
{
	const struct control_query *q;

	if (!IS_ENABLED(CONFIG_CODETAG_GUARD))
		return false;
	list_for_each_entry(q, queries, change.list)
		if (q->change.query.action == CODETAG_ACTION_GUARD)
			return true;
	return false;
}

/* Does the same query follow in this write? Then that one is remembered. */
static bool comes_again(const struct control_query *q, const struct list_head *queries)
{
	const struct control_query *later = q;

	list_for_each_entry_continue(later, queries, change.list)
		if (later->remember && codetag_remembered_same(q->remember, later->remember))
			return true;
	return false;
}

/* Has each query matched, as far as it has to, and can be remembered? */
static int check_queries(const struct list_head *queries, const char *source)
{
	struct codetag_remembered_size size = codetag_remembered_size();
	struct control_query *q;

	list_for_each_entry(q, queries, change.list) {
		if (!q->change.matched) {
			print_bad_query(&q->change.query, source, "no call site matches");
			return -ENOENT;
		}
		if (q->remember && !comes_again(q, queries))
			codetag_remembered_add(&size, q->remember);
		/* It was compared with those of this write, and with those that are remembered. */
		codetag_rest(CONTROL_QUERIES_MAX + CODETAG_REMEMBERED_MAX);
	}
	if (size.nr > CODETAG_REMEMBERED_MAX || size.bytes > CODETAG_REMEMBERED_BYTES_MAX) {
		pr_warn_ratelimited("control: more than %d queries or %d bytes to be remembered for modules: forget some, see the file queries\n",
				    CODETAG_REMEMBERED_MAX, CODETAG_REMEMBERED_BYTES_MAX);
		return -ENOSPC;
	}
	return 0;
}

static void make_queries(struct list_head *queries, struct list_head *plans)
{
	struct control_query *q;

	codetag_changes_commit(queries, plans);
	list_for_each_entry(q, queries, change.list) {
		if (q->remember)
			codetag_remember(q->remember);
		q->remember = NULL;
		codetag_rest(CODETAG_REMEMBERED_MAX);
	}
}

static void note_queries(const struct list_head *queries, const char *source)
{
	const struct control_query *q;

	list_for_each_entry(q, queries, change.list) {
		codetag_applied(source + q->change.query.start,
				q->change.query.end - q->change.query.start);
		codetag_rest(CODETAG_APPLIED_MAX);
	}
}

/* Plan the changes, and make them if that is wanted. The caller frees the plans. */
static int plan_queries(struct list_head *queries, struct list_head *plans, const char *source,
			bool make)
{
	struct control_query *q;
	int ret;

	/* Remembered queries may match later. */
	list_for_each_entry(q, queries, change.list)
		q->change.matched = q->remember;
	codetag_lock();
	ret = codetag_changes_prepare(queries, plans) ?: check_queries(queries, source);
	if (!ret && make)
		make_queries(queries, plans);
	codetag_unlock();
	return ret;
}

/*
 * Get the memory of guards, for queries that match. That takes the lock of built-in parameters.
 * Its owner may be loading a module, which takes codetag_query_mutex.
 */
static int prepare_guards(struct list_head *queries, struct list_head *plans, const char *source)
{
	int ret = mutex_lock_killable(&codetag_query_mutex);

	if (ret)
		return ret;
	ret = plan_queries(queries, plans, source, false);
	mutex_unlock(&codetag_query_mutex);
	codetag_changes_free(plans);
	return ret ?: codetag_guard_prepare();
}

/*
 * Run the queries of a text, all or none of them. The parser changes @text,
 * @source is a copy that stays.
 */
static int run_queries(char *text, const char *source, size_t len)
{
	struct control_query *q, *next;
	LIST_HEAD(queries);
	LIST_HEAD(plans);
	int ret;

	ret = parse_queries(text, source, len, &queries);
	if (!ret && have_guards(&queries))
		ret = prepare_guards(&queries, &plans, source);
	ret = ret ?: mutex_lock_killable(&codetag_query_mutex);
	if (ret)
		goto free;

	ret = plan_queries(&queries, &plans, source, true);
	if (!ret) {
		codetag_change_switch();
		note_queries(&queries, source);
	}
	mutex_unlock(&codetag_query_mutex);

free:
	if (ret == -ENOMEM)
		pr_warn_ratelimited("control: not enough memory, nothing is changed\n");
	codetag_changes_free(&plans);
	list_for_each_entry_safe(q, next, &queries, change.list)
		free_query(q);
	return ret;
}

/* ---- boot --------------------------------------------------------------------- */

/* The boot parameter as given, and a scratch copy that the parser overwrites. */
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
			pr_warn("codetag=: '%.*s' has no action such as =p, +p, -p, fault, guard, trace or keys=\n",
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
			codetag_change_flags(&query);
}

/* Run one query of the boot parameter. */
static void __init run_boot_query(const struct codetag_query *query)
{
	size_t len = query->end - query->start;
	char *source = kmemdup_nul(boot_source + query->start, len, GFP_KERNEL);
	char *text = kmemdup_nul(source, len, GFP_KERNEL);

	if (!source || !text || run_queries(text, source, len))
		pr_warn("codetag=: '%s' has no effect\n", source);
	kfree(source);
	kfree(text);
}

/*
 * Run all queries again now that memory can be allocated: codetag_control_init() only set the
 * flags. All at once, so that no flag changes for a moment. If one has an error, they run one by
 * one, in their order: later ones override earlier ones.
 */
static int __init control_boot_init(void)
{
	size_t pos = 0, len = strlen(boot_source);
	struct codetag_query_error err;
	struct codetag_query query;

	if (mem_alloc_profiling_permanently_disabled())
		return 0;

	/* The first allocation of a site that is split by caller needs the list. */
	codetag_helpers_boot();
	strscpy(boot_text, boot_source);
	if (!run_queries(boot_text, boot_source, len))
		return 0;
	strscpy(boot_text, boot_source);
	while (codetag_query_parse(boot_text, len, &pos, &query, &err) > 0)
		run_boot_query(&query);
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
	codetag_change_show(m, info);
	codetag_trace_show(m, info);
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
	return codetag_may_open(file) ?:
	       seq_open_private(file, &control_seq_ops, sizeof(struct codetag_info));
}

/* "sites", the list alone: a kernel that is locked down opens no file that can be written. */
static const struct file_operations sites_fops = {
	.owner		= THIS_MODULE,
	.open		= control_open,
	.read		= seq_read,
	.llseek		= seq_lseek,
	.release	= seq_release_private,
};

static ssize_t control_write(struct file *file, const char __user *buf, size_t len, loff_t *ppos)
{
	int ret = codetag_may_change();
	char *text, *source;

	if (ret)
		return ret;
	if (len > CONTROL_TEXT_MAX) {
		pr_warn_ratelimited("control: more than %d bytes in one write\n", CONTROL_TEXT_MAX);
		return -E2BIG;
	}

	source = memdup_user_nul(buf, len);
	if (IS_ERR(source))
		return PTR_ERR(source);

	/* A buffered writer splits its text at a multiple of its buffer's size. */
	if (len >= PAGE_SIZE && source[len - 1] != '\n' && source[len - 1] != ';') {
		pr_warn_ratelimited("control: %zu bytes that do not end with a newline: the end may be missing\n",
				    len);
		kfree(source);
		return -E2BIG;
	}

	text = kmemdup(source, len + 1, CODETAG_GFP);
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
	struct dentry *dir;

	if (!IS_ENABLED(CONFIG_DEBUG_FS) || mem_alloc_profiling_permanently_disabled())
		return 0;
	dir = codetag_debugfs_dir();
	debugfs_create_file("control", 0600, dir, NULL, &control_fops);
	debugfs_create_file("sites", 0400, dir, NULL, &sites_fops);
	return 0;
}
late_initcall(control_debugfs_init);
