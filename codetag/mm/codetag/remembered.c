// SPDX-License-Identifier: GPL-2.0
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

/**
 * struct remembered_query - a query for modules to come
 * @list:	in remembered_queries, in the order in which they apply
 * @nr:		what the user knows it by
 * @source:	the query as it was written
 * @text:	a copy of it, which the parser has changed and @query points into
 * @query:	the query
 */
struct remembered_query {
	struct list_head list;
	unsigned int nr;
	char *source;
	char *text;
	struct codetag_query query;
};

/*
 * Protects remembered_queries, and keeps one write from getting between the
 * queries of another. codetag_lock() nests inside.
 */
DEFINE_MUTEX(codetag_query_mutex);

static LIST_HEAD(remembered_queries);
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
 * @source:	what it was written as, without a separator
 * @len:	bytes of @source
 *
 * Context: Process.
 * Return: The query, to be given to codetag_remember(); NULL without memory for it.
 */
struct remembered_query *codetag_remembered_new(const char *source, size_t len)
{
	struct remembered_query *r = kzalloc(sizeof(*r), GFP_KERNEL);
	struct codetag_query_error err;
	size_t pos = 0;

	if (!r)
		return NULL;

	r->source = kmemdup_nul(source, len, GFP_KERNEL);
	r->text = kmemdup_nul(source, len, GFP_KERNEL);
	/* It has been parsed before, together with what surrounded it. */
	if (r->source && r->text &&
	    codetag_query_parse(r->text, len, &pos, &r->query, &err) == 1)
		return r;

	codetag_remembered_free(r);
	return NULL;
}

/**
 * codetag_remember - remember a query; the last one of the same queries counts
 * @new: what codetag_remembered_new() returned
 *
 * Context: Process, with codetag_query_mutex held.
 */
void codetag_remember(struct remembered_query *new)
{
	struct remembered_query *old;

	list_for_each_entry(old, &remembered_queries, list) {
		if (strcmp(old->source, new->source))
			continue;
		list_del(&old->list);
		codetag_remembered_free(old);
		break;
	}
	new->nr = ++last_remembered_nr;
	list_add_tail(&new->list, &remembered_queries);
}

/* ---- modules ------------------------------------------------------------------ */

#ifdef CONFIG_MODULES

static void apply(const struct remembered_query *r, const struct module *mod)
{
	struct codetag_change change = { .query = r->query };

	if (codetag_change_prepare(&change, mod))
		pr_warn("no memory for '%s' in module %s\n", r->source, mod->name);
	codetag_change_make(&change, mod);
	codetag_change_free(&change);
}

/* The module has its ids by now, and none of its code has run. */
static void module_comes(const struct module *mod)
{
	struct remembered_query *r;

	mutex_lock(&codetag_query_mutex);
	codetag_lock();
	list_for_each_entry(r, &remembered_queries, list)
		apply(r, mod);
	codetag_unlock();
	codetag_change_switch();
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
	list_for_each_entry(r, &remembered_queries, list)
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
		pr_warn_ratelimited("queries: '%s' is neither 'remove N' nor 'remove all'\n",
				    command);
		return -EINVAL;
	}

	mutex_lock(&codetag_query_mutex);
	list_for_each_entry_safe(r, next, &remembered_queries, list) {
		if (!all && r->nr != nr)
			continue;
		list_del(&r->list);
		codetag_remembered_free(r);
		removed++;
	}
	mutex_unlock(&codetag_query_mutex);
	return all || removed ? 0 : -ENOENT;
}

static ssize_t queries_write(struct file *file, const char __user *buf, size_t len, loff_t *ppos)
{
	char command[32];
	int ret;

	if (len >= sizeof(command))
		return -EINVAL;
	if (copy_from_user(command, buf, len))
		return -EFAULT;
	command[len] = '\0';

	ret = strlen(command) == len ? queries_remove(strim(command)) : -EINVAL;
	return ret ?: len;
}

static int queries_open(struct inode *inode, struct file *file)
{
	return single_open(file, queries_show, NULL);
}

static const struct file_operations queries_fops = {
	.owner		= THIS_MODULE,
	.open		= queries_open,
	.read		= seq_read,
	.write		= queries_write,
	.llseek		= seq_lseek,
	.release	= single_release,
};

static int __init queries_init(void)
{
	if (IS_ENABLED(CONFIG_DEBUG_FS) && !mem_alloc_profiling_permanently_disabled())
		debugfs_create_file("queries", 0600, codetag_debugfs_dir(), NULL, &queries_fops);
	return 0;
}
late_initcall(queries_init);
