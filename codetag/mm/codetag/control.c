// SPDX-License-Identifier: GPL-2.0
/*
 * Choosing call sites: which are profiled, and which fail.
 *
 * Queries (see query.h) come from the boot parameter "codetag=" and from
 * /sys/kernel/debug/codetag/control. What is written there at once is done as
 * a whole or not at all: all of its queries are parsed, matched and given the
 * memory that they need before the first one changes anything.
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
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include "internal.h"
#include "query.h"

/* What one write() to a file can hold. */
#define CONTROL_TEXT_MAX	SZ_64K

/* What all "codetag=" of a command line can hold together. */
#define BOOT_TEXT_MAX		2048

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

/**
 * struct control_change - one query of a write, prepared so that it cannot fail
 * @list:	in the changes of the write, in the order in which they apply
 * @query:	the query
 * @faults:	faults to be armed
 * @nr_faults:	how many of them
 * @remember:	the query, to be remembered; or NULL
 */
struct control_change {
	struct list_head list;
	struct codetag_query query;
	struct codetag_fault **faults;
	unsigned int nr_faults;
	struct remembered_query *remember;
};

/*
 * Protects remembered_queries, and keeps one write from getting between the
 * queries of another. codetag_lock() nests inside.
 */
static DEFINE_MUTEX(control_mutex);

static LIST_HEAD(remembered_queries);
static unsigned int last_remembered_nr;

/* ---- what a query matches --------------------------------------------------- */

/*
 * Go on from *pos to the next site that a query matches, in one module or,
 * with NULL, anywhere.
 */
static bool next_match(const struct codetag_query *query, const struct module *mod,
		       unsigned long *pos, struct codetag_info *info)
{
	for (; codetag_next_site(pos, info); (*pos)++) {
		if (mod && info->mod != mod)
			continue;
		if (codetag_query_matches(query, info->ct, info->without_id ? 0 : info->id,
					  !info->modname))
			return true;
	}
	return false;
}

static unsigned int count_matches(const struct codetag_query *query, const struct module *mod)
{
	struct codetag_info info;
	unsigned long pos;
	unsigned int nr = 0;

	for (pos = 0; next_match(query, mod, &pos, &info); pos++)
		nr++;
	return nr;
}

/* Do what needs no memory. */
static void apply_flags(const struct codetag_query *query, const struct module *mod)
{
	bool profile = query->flags & CODETAG_FLAG_PROFILE;
	struct codetag_info info;
	unsigned long pos;

	/* "+_" and "-_" change nothing. */
	if (query->action != CODETAG_ACTION_SET && !profile)
		return;

	for (pos = 0; next_match(query, mod, &pos, &info); pos++)
		codetag_set_profiled(&info, profile && query->action != CODETAG_ACTION_REMOVE);
}

static void disarm_faults(const struct codetag_query *query, const struct module *mod)
{
	struct codetag_info info;
	unsigned long pos;

	for (pos = 0; next_match(query, mod, &pos, &info); pos++)
		codetag_fault_disarm(&info);
	codetag_fault_forget_gone();
}

/* ---- changes: prepared, then made -------------------------------------------- */

static void free_remembered(struct remembered_query *r)
{
	if (!r)
		return;
	kfree(r->source);
	kfree(r->text);
	kfree(r);
}

static void free_change(struct control_change *change)
{
	unsigned int i;

	for (i = 0; i < change->nr_faults; i++)
		codetag_fault_free(change->faults[i]);
	kvfree(change->faults);
	free_remembered(change->remember);
	kfree(change);
}

static int prepare_faults(struct control_change *change, const struct module *mod)
{
	unsigned int nr = count_matches(&change->query, mod);
	struct codetag_info info;
	unsigned long pos;

	if (!IS_ENABLED(CONFIG_CODETAG_FAULT_INJECTION)) {
		pr_warn_ratelimited("control: this kernel has no faults: CONFIG_CODETAG_FAULT_INJECTION is not set\n");
		return -EOPNOTSUPP;
	}

	change->faults = kvcalloc(nr, sizeof(*change->faults), GFP_KERNEL);
	if (nr && !change->faults)
		return -ENOMEM;

	for (pos = 0; next_match(&change->query, mod, &pos, &info); pos++) {
		struct codetag_fault *fault = codetag_fault_new(&info, &change->query.fault);

		if (!fault)
			return -ENOMEM;
		change->faults[change->nr_faults++] = fault;
	}
	return 0;
}

static int prepare_remember(struct control_change *change, const char *source)
{
	const struct codetag_query *query = &change->query;
	size_t pos = 0, len = query->end - query->start;
	struct codetag_query_error err;
	struct remembered_query *r;

	r = kzalloc(sizeof(*r), GFP_KERNEL);
	if (!r)
		return -ENOMEM;
	change->remember = r;

	r->source = kmemdup_nul(source + query->start, len, GFP_KERNEL);
	r->text = kmemdup_nul(source + query->start, len, GFP_KERNEL);
	if (!r->source || !r->text)
		return -ENOMEM;

	/* It has been parsed before, together with what surrounded it. */
	return codetag_query_parse(r->text, len, &pos, &r->query, &err) == 1 ? 0 : -EINVAL;
}

/* With codetag_lock() held. @source is the text that the query was parsed from. */
static int prepare_change(struct control_change *change, const char *source)
{
	const struct codetag_query *query = &change->query;
	bool for_modules = codetag_query_names_module(query);
	int ret = 0;

	if (query->action == CODETAG_ACTION_NONE) {
		pr_warn_ratelimited("control: '%*pE' at %zu: no action such as =p, +p, -p or fault\n",
				    min_t(int, query->end - query->start, 64),
				    source + query->start, query->start);
		return -EINVAL;
	}
	if (!for_modules && !count_matches(query, NULL)) {
		pr_warn_ratelimited("control: '%*pE' at %zu: no call site matches\n",
				    min_t(int, query->end - query->start, 64),
				    source + query->start, query->start);
		return -ENOENT;
	}

	if (query->action == CODETAG_ACTION_FAULT)
		ret = prepare_faults(change, NULL);
	if (!ret && for_modules)
		ret = prepare_remember(change, source);
	return ret;
}

/* The last one of the same queries counts. */
static void remember(struct remembered_query *new)
{
	struct remembered_query *old;

	list_for_each_entry(old, &remembered_queries, list) {
		if (strcmp(old->source, new->source))
			continue;
		list_del(&old->list);
		free_remembered(old);
		break;
	}
	new->nr = ++last_remembered_nr;
	list_add_tail(&new->list, &remembered_queries);
}

/* With codetag_lock() held. Uses up what was prepared. */
static void make_change(struct control_change *change, const struct module *mod)
{
	unsigned int i;

	switch (change->query.action) {
	case CODETAG_ACTION_FAULT:
		for (i = 0; i < change->nr_faults; i++)
			codetag_fault_arm(change->faults[i]);
		change->nr_faults = 0;
		break;
	case CODETAG_ACTION_FAULT_OFF:
		disarm_faults(&change->query, mod);
		break;
	default:
		apply_flags(&change->query, mod);
	}

	if (change->remember)
		remember(change->remember);
	change->remember = NULL;
}

static void print_query_error(const struct codetag_query_error *err)
{
	pr_warn_ratelimited("control: '%s' at %zu: %s\n", err->token, err->position, err->why);
}

/*
 * Run the queries of a text, all or none of them. The parser changes @text,
 * @source is a copy that stays.
 */
static int run_queries(char *text, const char *source, size_t len)
{
	struct control_change *change, *next;
	struct codetag_query_error err;
	LIST_HEAD(changes);
	size_t pos = 0;
	int ret;

	mutex_lock(&control_mutex);
	codetag_lock();
	for (;;) {
		change = kzalloc(sizeof(*change), GFP_KERNEL);
		if (!change) {
			ret = -ENOMEM;
			break;
		}
		list_add_tail(&change->list, &changes);

		ret = codetag_query_parse(text, len, &pos, &change->query, &err);
		if (ret <= 0) {
			list_del(&change->list);
			kfree(change);
			if (ret)
				print_query_error(&err);
			break;
		}
		ret = prepare_change(change, source);
		if (ret)
			break;
	}

	list_for_each_entry_safe(change, next, &changes, list) {
		if (!ret)
			make_change(change, NULL);
		free_change(change);
	}
	codetag_unlock();
	codetag_fault_switch();
	mutex_unlock(&control_mutex);
	return ret;
}

/* ---- modules ------------------------------------------------------------------ */

#ifdef CONFIG_MODULES

/* With control_mutex and codetag_lock() held. */
static void apply_remembered(const struct remembered_query *r, const struct module *mod)
{
	struct control_change change = { .query = r->query };

	if (change.query.action == CODETAG_ACTION_FAULT && prepare_faults(&change, mod))
		pr_warn("no memory to arm the faults of '%s' in module %s\n", r->source, mod->name);
	make_change(&change, mod);
	kvfree(change.faults);
}

/* The module has its ids by now, and none of its code has run. */
static int control_module_notify(struct notifier_block *nb, unsigned long state, void *data)
{
	struct remembered_query *r;

	if (state != MODULE_STATE_COMING)
		return NOTIFY_DONE;

	mutex_lock(&control_mutex);
	codetag_lock();
	list_for_each_entry(r, &remembered_queries, list)
		apply_remembered(r, data);
	codetag_unlock();
	codetag_fault_switch();
	mutex_unlock(&control_mutex);
	return NOTIFY_OK;
}

static struct notifier_block control_module_nb = {
	.notifier_call = control_module_notify,
};

static void __init control_watch_modules(void)
{
	register_module_notifier(&control_module_nb);
}

#else

static void __init control_watch_modules(void) {}

#endif /* CONFIG_MODULES */

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
			pr_warn("codetag=: '%.*s' has no action such as =p, +p, -p or fault\n",
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
			apply_flags(&query, NULL);
}

/* The rest of it, for which memory is needed: faults, and what is remembered. */
static int __init control_boot_init(void)
{
	size_t pos = 0, len = strlen(boot_source);
	struct codetag_query_error err;
	struct codetag_query query;

	if (mem_alloc_profiling_permanently_disabled())
		return 0;

	control_watch_modules();

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

static int queries_show(struct seq_file *m, void *v)
{
	const struct remembered_query *r;

	mutex_lock(&control_mutex);
	list_for_each_entry(r, &remembered_queries, list)
		seq_printf(m, "%u: %s\n", r->nr, r->source);
	mutex_unlock(&control_mutex);
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

	mutex_lock(&control_mutex);
	list_for_each_entry_safe(r, next, &remembered_queries, list) {
		if (!all && r->nr != nr)
			continue;
		list_del(&r->list);
		free_remembered(r);
		removed++;
	}
	mutex_unlock(&control_mutex);
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

static int __init control_debugfs_init(void)
{
	if (!IS_ENABLED(CONFIG_DEBUG_FS) || mem_alloc_profiling_permanently_disabled())
		return 0;

	debugfs_create_file("control", 0600, codetag_debugfs_dir(), NULL, &control_fops);
	debugfs_create_file("queries", 0600, codetag_debugfs_dir(), NULL, &queries_fops);
	return 0;
}
late_initcall(control_debugfs_init);
