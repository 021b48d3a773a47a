// SPDX-License-Identifier: GPL-2.0-only
/*
 * The queries that were applied last: /sys/kernel/debug/codetag/applied.
 *
 * The file control shows the settings of each call site. This one shows the queries behind them,
 * with the time and the task.
 */
#include <linux/debugfs.h>
#include <linux/init.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/timekeeping.h>
#include "applied.h"
#include "internal.h"
#include "remembered.h"

/**
 * struct applied_query - a query that was applied
 * @list:	in applied_queries
 * @seconds:	since boot
 * @pid:	of the task that wrote it
 * @comm:	its name
 * @text:	the query as it was written
 */
struct applied_query {
	struct list_head list;
	time64_t seconds;
	pid_t pid;
	char comm[TASK_COMM_LEN];
	char text[];
};

/* The oldest first. codetag_query_mutex protects these. */
static LIST_HEAD(applied_queries);
static unsigned int nr_applied;
static size_t applied_bytes;
static unsigned long nr_forgotten;

static void forget(struct applied_query *a)
{
	list_del(&a->list);
	nr_applied--;
	applied_bytes -= strlen(a->text);
	kfree(a);
}

/* The last one of the same queries counts. */
static void forget_same(const struct applied_query *new)
{
	struct applied_query *a;

	list_for_each_entry(a, &applied_queries, list) {
		if (!strcmp(a->text, new->text)) {
			forget(a);
			return;
		}
	}
}

/**
 * codetag_applied - note that a query was applied
 * @source:	the query as it was written, without a separator
 * @len:	bytes of @source
 *
 * Without memory for it, it counts as forgotten.
 *
 * Context: Process, with codetag_query_mutex held.
 */
void codetag_applied(const char *source, size_t len)
{
	struct applied_query *a = NULL;

	lockdep_assert_held(&codetag_query_mutex);
	if (len <= CODETAG_APPLIED_BYTES_MAX)
		a = kmalloc(struct_size(a, text, len + 1), CODETAG_GFP);
	if (!a) {
		nr_forgotten++;
		return;
	}
	a->seconds = ktime_get_boottime_seconds();
	a->pid = task_pid_nr(current);
	get_task_comm(a->comm, current);
	memcpy(a->text, source, len);
	a->text[len] = '\0';

	forget_same(a);
	list_add_tail(&a->list, &applied_queries);
	nr_applied++;
	applied_bytes += len;
	while (nr_applied > CODETAG_APPLIED_MAX || applied_bytes > CODETAG_APPLIED_BYTES_MAX) {
		forget(list_first_entry(&applied_queries, struct applied_query, list));
		nr_forgotten++;
	}
}

static int applied_show(struct seq_file *m, void *v)
{
	const struct applied_query *a;

	mutex_lock(&codetag_query_mutex);
	seq_puts(m, "# seconds pid task query\n");
	if (nr_forgotten)
		seq_printf(m, "# forgotten: %lu\n", nr_forgotten);
	list_for_each_entry(a, &applied_queries, list) {
		seq_printf(m, "%lld %d ", a->seconds, a->pid);
		seq_escape(m, a->comm, " \t\n\\");
		seq_printf(m, " %s\n", a->text);
	}
	mutex_unlock(&codetag_query_mutex);
	return 0;
}

CODETAG_DEFINE_FILE(applied, applied_show, NULL);

static int __init applied_init(void)
{
	if (!mem_alloc_profiling_permanently_disabled())
		debugfs_create_file("applied", 0400, codetag_debugfs_dir(), NULL, &applied_fops);
	return 0;
}
late_initcall(applied_init);
