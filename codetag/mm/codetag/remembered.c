// SPDX-License-Identifier: GPL-2.0-only
/*
 * Queries for modules to come: /sys/kernel/debug/codetag/queries.
 *
 * A query that can match a module's code is remembered, and applied again
 * whenever such a module is loaded.
 */
#define pr_fmt(fmt) "codetag: " fmt

#include <linux/debugfs.h>
#include <linux/init.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include "change.h"
#include "internal.h"
#include "remembered.h"
#include "tags.h"

/**
 * struct remembered_query - a query for modules to come
 * @change:	the query, in remembered_queries
 * @nr:		what the user knows it by
 * @source:	the query as it was written
 * @text:	a copy of it, which the parser has changed and @change points into
 */
struct remembered_query {
	struct codetag_change change;
	unsigned int nr;
	char *source;
	char *text;
};

/*
 * Protects the variables below, and keeps the queries of a write together.
 * codetag_lock() nests inside.
 */
DEFINE_MUTEX(codetag_query_mutex);

static LIST_HEAD(remembered_queries);
static struct codetag_remembered_size remembered_size;
static unsigned int last_remembered_nr;

/**
 * codetag_remembered_free - free a query that is not remembered after all
 * @r: the query; may be NULL
 *
 * Context: Process.
 */
void codetag_remembered_free(struct remembered_query *r)
{
	if (!r)
		return;
	kfree(r->source);
	kfree(r->text);
	kfree(r);
}

/**
 * codetag_remembered_new - prepare to remember a query
 * @source:	the query as it was written, without a separator
 * @len:	bytes of @source
 *
 * Context: Process.
 * Return: The query, to be given to codetag_remember(); NULL without memory for it.
 */
struct remembered_query *codetag_remembered_new(const char *source, size_t len)
{
	struct remembered_query *r = kzalloc(sizeof(*r), CODETAG_GFP);
	struct codetag_query_error err;
	size_t pos = 0;

	if (!r)
		return NULL;

	/* It need not match anything now. */
	r->change.matched = true;
	r->source = kmemdup_nul(source, len, CODETAG_GFP);
	r->text = kmemdup_nul(source, len, CODETAG_GFP);
	/* It has been parsed before, together with what surrounded it. */
	if (r->source && r->text &&
	    codetag_query_parse(r->text, len, &pos, &r->change.query, &err) == 1)
		return r;

	codetag_remembered_free(r);
	return NULL;
}

/**
 * codetag_remembered_same - are two queries the same, so that only one is remembered?
 * @a: a query of codetag_remembered_new()
 * @b: another one
 *
 * Context: Any.
 * Return: Whether they are.
 */
bool codetag_remembered_same(const struct remembered_query *a, const struct remembered_query *b)
{
	return !strcmp(a->source, b->source);
}

static struct remembered_query *find_same(const struct remembered_query *r)
{
	struct remembered_query *old;

	list_for_each_entry(old, &remembered_queries, change.list)
		if (codetag_remembered_same(old, r))
			return old;
	return NULL;
}

static void forget(struct remembered_query *r)
{
	list_del(&r->change.list);
	remembered_size.nr--;
	remembered_size.bytes -= strlen(r->source);
	codetag_remembered_free(r);
}

/**
 * codetag_remembered_size - get the size of all that is remembered
 *
 * Context: Process, with codetag_query_mutex held.
 * Return: The size.
 */
struct codetag_remembered_size codetag_remembered_size(void)
{
	return remembered_size;
}

/**
 * codetag_remembered_add - add the size of a query, unless the same one is remembered already
 * @size:	the sum
 * @r:		a query of codetag_remembered_new()
 *
 * Context: Process, with codetag_query_mutex held.
 */
void codetag_remembered_add(struct codetag_remembered_size *size, const struct remembered_query *r)
{
	if (find_same(r))
		return;
	size->nr++;
	size->bytes += strlen(r->source);
}

/**
 * codetag_remember - remember a query; the last one of the same queries counts
 * @new: a query of codetag_remembered_new()
 *
 * Context: Process, with codetag_query_mutex held.
 */
void codetag_remember(struct remembered_query *new)
{
	struct remembered_query *old = find_same(new);

	if (old)
		forget(old);
	new->nr = ++last_remembered_nr;
	list_add_tail(&new->change.list, &remembered_queries);
	remembered_size.nr++;
	remembered_size.bytes += strlen(new->source);
}

/* ---- modules ------------------------------------------------------------------ */

#ifdef CONFIG_MODULES

/* The module has its ids by now, and none of its code has run. */
static void module_comes(struct module *mod)
{
	mutex_lock(&codetag_query_mutex);
	if (!list_empty(&remembered_queries)) {
		codetag_lock();
		codetag_changes_of_module(&remembered_queries, mod);
		codetag_unlock();
		codetag_change_switch();
	}
	mutex_unlock(&codetag_query_mutex);
}

static int module_notify(struct notifier_block *nb, unsigned long state, void *mod)
{
	if (state == MODULE_STATE_COMING)
		module_comes(mod);
	return NOTIFY_DONE;
}

static struct notifier_block module_nb = {
	.notifier_call = module_notify,
};

static int __init remembered_init(void)
{
	if (mem_alloc_profiling_permanently_disabled())
		return 0;

	return register_module_notifier(&module_nb);
}
early_initcall(remembered_init);

#endif /* CONFIG_MODULES */

/* ---- debugfs ------------------------------------------------------------------ */

static int queries_show(struct seq_file *m, void *v)
{
	const struct remembered_query *r;

	mutex_lock(&codetag_query_mutex);
	list_for_each_entry(r, &remembered_queries, change.list)
		seq_printf(m, "%u: %s\n", r->nr, r->source);
	mutex_unlock(&codetag_query_mutex);
	return 0;
}

/* "remove all" or "remove N" */
static int queries_remove(const char *command)
{
	struct remembered_query *r, *next;
	unsigned int nr = 0, removed = 0;
	bool all = !strcmp(command, "remove all");

	if (!all && (!str_has_prefix(command, "remove ") ||
		     kstrtouint(command + strlen("remove "), 10, &nr))) {
		pr_warn_ratelimited("queries: '%*pE' is neither 'remove N' nor 'remove all'\n",
				    (int)strlen(command), command);
		return -EINVAL;
	}

	mutex_lock(&codetag_query_mutex);
	list_for_each_entry_safe(r, next, &remembered_queries, change.list) {
		if (!all && r->nr != nr)
			continue;
		forget(r);
		removed++;
	}
	mutex_unlock(&codetag_query_mutex);
	return all || removed ? 0 : -ENOENT;
}

static ssize_t queries_write(struct file *file, const char __user *buf, size_t len, loff_t *ppos)
{
	int ret = codetag_may_change();
	char command[32];

	if (ret)
		return ret;
	ret = codetag_copy_text(command, sizeof(command), buf, len);
	if (ret == -EINVAL)
		pr_warn_ratelimited("queries: '%*pE' is too long, or a NUL byte follows\n",
				    (int)strlen(command), command);
	ret = ret ?: queries_remove(strim(command));
	return ret ?: len;
}

CODETAG_DEFINE_FILE(queries, queries_show, queries_write);

static int __init queries_init(void)
{
	if (IS_ENABLED(CONFIG_DEBUG_FS) && !mem_alloc_profiling_permanently_disabled())
		debugfs_create_file("queries", 0600, codetag_debugfs_dir(), NULL, &queries_fops);
	return 0;
}
late_initcall(queries_init);
