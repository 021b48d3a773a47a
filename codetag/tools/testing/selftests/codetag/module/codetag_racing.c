// SPDX-License-Identifier: GPL-2.0-only
/*
 * codetag_racing: when it is loaded, two threads change one variable for three seconds
 * without any order, for KCSAN to report.
 */
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/sched.h>

static unsigned long unordered;

static noinline void count_unordered(void)
{
	unordered++;
}

static int other_thread(void *unused)
{
	while (!kthread_should_stop()) {
		count_unordered();
		cond_resched();
	}
	return 0;
}

static int __init racing_init(void)
{
	struct task_struct *other = kthread_run(other_thread, NULL, "codetag_racing");
	unsigned long end = jiffies + 3 * HZ;

	if (IS_ERR(other))
		return PTR_ERR(other);
	while (time_before(jiffies, end)) {
		count_unordered();
		cond_resched();
	}
	kthread_stop(other);
	pr_info("codetag_racing: counted to about %lu\n", unordered);
	return 0;
}

static void __exit racing_exit(void)
{
}

module_init(racing_init);
module_exit(racing_exit);
MODULE_DESCRIPTION("A race for KCSAN to find");
MODULE_LICENSE("GPL");
