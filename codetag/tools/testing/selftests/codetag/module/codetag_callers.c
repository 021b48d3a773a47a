// SPDX-License-Identifier: GPL-2.0-only
/*
 * codetag_callers: three callers of one helper that allocates, one of which forgets a
 * record now and then, to see whether it is found:
 *
 *	insmod codetag_callers.ko [rate=10000] [leak_every=1000] [size=200]
 *	codetag leaks --stacks
 *
 * From loading on a thread allocates "rate" records a second, in turns through
 * take_request(), take_reply() and take_session(), each of which calls new_record().
 * A caller has its newest 64 records; older ones are freed, but one in "leak_every"
 * of all records is taken by take_session() and then forgotten. All look
 * the same but for their stacks: /proc/allocinfo has one line for them.
 *
 * "rate" (0: rest) and "leak_every" (0: never) can be changed at any time; "allocated"
 * and "leaked" say how many there were. Unloading frees everything.
 */
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/slab.h>

#define MAX_RATE	1000000U
#define NR_HELD		64

static unsigned int rate = 10000;
module_param(rate, uint, 0644);
MODULE_PARM_DESC(rate, "records a second");

static unsigned int leak_every = 1000;
module_param(leak_every, uint, 0644);
MODULE_PARM_DESC(leak_every, "one in so many records is forgotten, 0 for none");

static unsigned int size = 200;
module_param(size, uint, 0400);
MODULE_PARM_DESC(size, "bytes of a record");

static unsigned long allocated;
module_param(allocated, ulong, 0444);
MODULE_PARM_DESC(allocated, "how many records there were; writing has no effect");

static unsigned long leaked;
module_param(leaked, ulong, 0444);
MODULE_PARM_DESC(leaked, "how many were forgotten; writing has no effect");

struct record {
	struct record *next;
	char kind;
};

static noinline struct record *new_record(void)
{
	return kmalloc(size, GFP_KERNEL);
}

/* These differ, and do something after the call, so that each has a frame of its own. */
static noinline struct record *take_request(void)
{
	struct record *record = new_record();

	if (record)
		record->kind = 'q';
	return record;
}

static noinline struct record *take_reply(void)
{
	struct record *record = new_record();

	if (record)
		record->kind = 'r';
	return record;
}

static noinline struct record *take_session(void)
{
	struct record *record = new_record();

	if (record)
		record->kind = 's';
	return record;
}

static struct caller {
	struct record *(*take)(void);
	struct record *held[NR_HELD];
	unsigned int oldest;
} callers[] = {
	{ .take = take_request },
	{ .take = take_reply },
	{ .take = take_session },
};

#define SESSIONS (&callers[ARRAY_SIZE(callers) - 1])

static struct record *forgotten;

static void keep(struct caller *caller, struct record *record)
{
	kfree(caller->held[caller->oldest]);
	caller->held[caller->oldest] = record;
	caller->oldest = (caller->oldest + 1) % NR_HELD;
}

static void one(void)
{
	unsigned int every = READ_ONCE(leak_every);
	bool leak = every && allocated % every == every - 1;
	struct caller *caller = leak ? SESSIONS : &callers[allocated % ARRAY_SIZE(callers)];
	struct record *record = caller->take();

	if (!record)
		return;
	WRITE_ONCE(allocated, allocated + 1);
	if (!leak) {
		keep(caller, record);
		return;
	}
	/* Only to be freed when the module is unloaded. */
	record->next = forgotten;
	forgotten = record;
	WRITE_ONCE(leaked, leaked + 1);
}

static int work(void *unused)
{
	unsigned long now, last = jiffies, due;

	while (!kthread_should_stop()) {
		schedule_timeout_interruptible(HZ / 20);
		now = jiffies;
		due = min(READ_ONCE(rate), MAX_RATE) * min(now - last, HZ) / HZ;
		last = now;
		for (; due && !kthread_should_stop(); due--) {
			one();
			cond_resched();
		}
	}
	return 0;
}

static struct task_struct *worker;

static int __init codetag_callers_init(void)
{
	if (size < sizeof(struct record))
		return -EINVAL;
	allocated = 0;
	leaked = 0;
	worker = kthread_run(work, NULL, KBUILD_MODNAME);
	return PTR_ERR_OR_ZERO(worker);
}

static void __exit codetag_callers_exit(void)
{
	struct record *record;
	unsigned int i, n;

	kthread_stop(worker);
	for (i = 0; i < ARRAY_SIZE(callers); i++)
		for (n = 0; n < NR_HELD; n++)
			kfree(callers[i].held[n]);
	while ((record = forgotten)) {
		forgotten = record->next;
		kfree(record);
	}
}

module_init(codetag_callers_init);
module_exit(codetag_callers_exit);

MODULE_DESCRIPTION("One of three callers of a helper leaks, for tests of code tagging");
MODULE_LICENSE("GPL");
