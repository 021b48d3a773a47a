// SPDX-License-Identifier: GPL-2.0-only
/*
 * Faults at chosen call sites.
 *
 * The kernel's own struct fault_attr decides whether an allocation fails, or a count
 * ("nth=N") does. A fault that has fired as often as it should is spent: it is disarmed, but
 * stays in the list.
 */
#define pr_fmt(fmt) "codetag: " fmt

#include <linux/debugfs.h>
#include <linux/fault-inject.h>
#include <linux/init.h>
#include <linux/irq_work.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include "fault.h"
#include "faults.h"
#include "internal.h"
#include "query.h"

/**
 * struct codetag_fault - the fault of one call site
 * @armed:	the site
 * @attr:	decides whether an allocation fails
 * @by_count:	let the first @nth - 1 pass, then ask @attr
 * @nth:	allocations until the one that fails, counting that one
 * @passed:	allocations that were asked about
 * @failed:	allocations that were made to fail
 * @skipped:	allocations that may not fail (__GFP_NOFAIL)
 * @spent:	it has failed as often as it should
 *
 * The counts are atomic. should_fail_ex() updates @attr. The other members are constant, except
 * @spent, which is only set.
 */
struct codetag_fault {
	struct codetag_armed armed;
	struct fault_attr attr;
	bool by_count;
	atomic_long_t nth;
	atomic_long_t passed;
	atomic_long_t failed;
	atomic_long_t skipped;
	bool spent;
};

DEFINE_STATIC_KEY_FALSE(codetag_faults_key);

static struct codetag_fault *fault_of(struct codetag_armed *armed)
{
	return armed ? container_of(armed, struct codetag_fault, armed) : NULL;
}

/* ---- arming and disarming ------------------------------------------------------ */

static void disarm_spent(struct work_struct *work)
{
	struct codetag_fault *fault;

	mutex_lock(&codetag_faults.mutex);
	list_for_each_entry(fault, &codetag_faults.known, armed.list)
		if (READ_ONCE(fault->spent))
			codetag_disarm(&fault->armed);
	mutex_unlock(&codetag_faults.mutex);
	codetag_armory_switch(&codetag_faults);
}

static DECLARE_WORK(disarm_spent_work, disarm_spent);

static void queue_disarm_spent(struct irq_work *irq_work)
{
	schedule_work(&disarm_spent_work);
}

/* The allocating task may hold the locks of the workqueues. */
static DEFINE_IRQ_WORK(disarm_spent_irq_work, queue_disarm_spent);

/* Its name in reports: the end of a path tells more than its start. */
static void name_attr(struct fault_attr *attr, const struct codetag *ct)
{
	size_t room = sizeof(attr->dname), path = strlen(ct->filename);
	size_t len = snprintf(NULL, 0, "%s:%u %s", ct->filename, ct->lineno, ct->function);
	size_t skip = len < room ? 0 : min(len - room + 1, path);

	snprintf(attr->dname, room, "%s:%u %s", ct->filename + skip, ct->lineno, ct->function);
}

/**
 * codetag_fault_new - prepare a fault for a call site
 * @info:	the site
 * @settings:	when to fail
 *
 * Context: Process.
 * Return: The fault, for codetag_arm() or codetag_armed_free(); NULL without memory for it.
 */
struct codetag_armed *codetag_fault_new(const struct codetag_info *info,
					const struct codetag_fault_settings *settings)
{
	struct codetag_fault *fault = kzalloc(sizeof(*fault), CODETAG_GFP);

	if (!fault)
		return NULL;

	if (codetag_armed_init(&fault->armed, &codetag_faults, info)) {
		kfree(fault);
		return NULL;
	}

	fault->by_count = settings->nth;
	atomic_long_set(&fault->nth, settings->nth);

	fault->attr = (struct fault_attr)FAULT_ATTR_INITIALIZER;
	fault->attr.probability = settings->probability;
	fault->attr.interval = settings->interval;
	atomic_set(&fault->attr.times, settings->times);
	atomic_set(&fault->attr.space, settings->space);
	fault->attr.verbose = settings->verbose;
	fault->attr.task_filter = settings->task_filter;
	fault->attr.stacktrace_depth = settings->stacktrace_depth;
	fault->attr.require_start = settings->require_start;
	fault->attr.require_end = settings->require_end;
	fault->attr.reject_start = settings->reject_start;
	fault->attr.reject_end = settings->reject_end;
	name_attr(&fault->attr, info->ct);
	return &fault->armed;
}

/* ---- failing --------------------------------------------------------------------- */

static bool fault_fires(struct codetag_fault *fault, gfp_t gfp, size_t size)
{
	/* Printing can allocate; __GFP_NOWARN marks allocations that must not print. */
	int flags = gfp & __GFP_NOWARN ? FAULT_NOWARN : 0;

	if (READ_ONCE(fault->spent))
		return false;
	if (fault->attr.task_filter && !(in_task() && current->make_it_fail))
		return false;
	if (gfp & __GFP_NOFAIL) {
		atomic_long_inc(&fault->skipped);
		return false;
	}

	atomic_long_inc(&fault->passed);
	if (fault->by_count && atomic_long_dec_if_positive(&fault->nth))
		return false;
	if (!should_fail_ex(&fault->attr, size, flags)) {
		/* fail-nth of the task overruled this; fail the next allocation instead. */
		if (fault->by_count)
			atomic_long_set(&fault->nth, 1);
		return false;
	}

	atomic_long_inc(&fault->failed);
	if (!atomic_read(&fault->attr.times)) {
		WRITE_ONCE(fault->spent, true);
		irq_work_queue(&disarm_spent_irq_work);
	}
	return true;
}

/**
 * __codetag_should_fail - codetag_should_fail() for a site with a fault
 * @gfp:	flags of the allocation
 * @size:	its size in bytes
 *
 * Context: Any but NMI.
 * Return: Whether the allocation must fail.
 */
bool __codetag_should_fail(gfp_t gfp, size_t size)
{
	struct alloc_tag *tag = alloc_tag_current();
	struct codetag_fault *fault;
	bool fires;

	if (in_task() && current->alloc_tag_asked == tag)
		return false;

	rcu_read_lock();
	fault = fault_of(codetag_armed_find(&codetag_faults, &tag->ct));
	fires = fault && fault_fires(fault, gfp, size);
	rcu_read_unlock();
	return fires;
}

/* ---- reports --------------------------------------------------------------------- */

static void free_fault(struct codetag_armed *armed)
{
	kfree(fault_of(armed));
}

static void show_fault(struct seq_file *m, struct codetag_armed *armed)
{
	struct codetag_fault *fault = fault_of(armed);
	const struct fault_attr *attr = &fault->attr;

	if (READ_ONCE(fault->spent))
		return;

	if (fault->by_count)
		seq_printf(m, " fault nth=%ld", max(atomic_long_read(&fault->nth), 1L));
	else
		seq_printf(m, " fault probability=%lu interval=%lu times=%d space=%d",
			   attr->probability, attr->interval, atomic_read(&attr->times),
			   atomic_read(&attr->space));
	seq_printf(m, " verbose=%lu task-filter=%d", attr->verbose, attr->task_filter);
	if (codetag_fault_filters(attr))
		seq_printf(m, " stacktrace-depth=%lu require-start=0x%lx require-end=0x%lx reject-start=0x%lx reject-end=0x%lx",
			   attr->stacktrace_depth, attr->require_start, attr->require_end,
			   attr->reject_start, attr->reject_end);
}

static void show_counts(struct seq_file *m, struct codetag_armed *armed, const char *state)
{
	struct codetag_fault *fault = fault_of(armed);

	seq_printf(m, "%8lu %8lu %8lu %-8s %s\n", atomic_long_read(&fault->passed),
		   atomic_long_read(&fault->failed), atomic_long_read(&fault->skipped),
		   READ_ONCE(fault->spent) ? "spent" : state, armed->name);
}

struct codetag_armory codetag_faults = {
	.bit = CODETAG_ARMED_FAULT,
	.key = &codetag_faults_key,
	.free = free_fault,
	.show = show_fault,
	.show_counts = show_counts,
	CODETAG_ARMORY_INIT(codetag_faults),
};

static int faults_show(struct seq_file *m, void *v)
{
	seq_puts(m, "# passed  failed  skipped state    tag\n");
	codetag_armory_show(m, &codetag_faults);
	return 0;
}

CODETAG_DEFINE_FILE(faults, faults_show, NULL);

static int __init faults_debugfs_init(void)
{
	if (IS_ENABLED(CONFIG_DEBUG_FS) && !mem_alloc_profiling_permanently_disabled())
		debugfs_create_file("faults", 0400, codetag_debugfs_dir(), NULL, &faults_fops);
	return 0;
}
late_initcall(faults_debugfs_init);
