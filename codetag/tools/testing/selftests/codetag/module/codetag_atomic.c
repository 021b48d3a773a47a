// SPDX-License-Identifier: GPL-2.0-only
/*
 * codetag_atomic: takes memory until an allocation fails, where nothing may wait, and
 * gives it back. "insmod codetag_atomic.ko in=softirq|hardirq|bh", which then fails.
 */
#include <linux/bottom_half.h>
#include <linux/completion.h>
#include <linux/gfp.h>
#include <linux/irq_work.h>
#include <linux/jiffies.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/string.h>
#include <linux/timer.h>

#define ORDER	9
#define MAX_PAGES	4096

static char *in = "bh";
module_param(in, charp, 0400);
MODULE_PARM_DESC(in, "where to allocate: softirq, hardirq or bh");

static struct page *pages[MAX_PAGES];
static DECLARE_COMPLETION(done);

static noinline void atomic_fail(void)
{
	int nr = 0;

	while (nr < MAX_PAGES && (pages[nr] = alloc_pages(GFP_ATOMIC, ORDER)))
		nr++;
	while (nr--)
		__free_pages(pages[nr], ORDER);
	complete(&done);
}

static void in_timer(struct timer_list *timer)
{
	atomic_fail();
}

static void in_irq_work(struct irq_work *work)
{
	atomic_fail();
}

static DEFINE_TIMER(timer, in_timer);
static DEFINE_IRQ_WORK(work, in_irq_work);

static int __init atomic_init(void)
{
	if (!strcmp(in, "softirq")) {
		mod_timer(&timer, jiffies + 1);
	} else if (!strcmp(in, "hardirq")) {
		irq_work_queue(&work);
	} else {
		local_bh_disable();
		atomic_fail();
		local_bh_enable();
	}
	wait_for_completion(&done);
	/* It may have completed, but not returned. */
	irq_work_sync(&work);
	while (timer_delete_sync(&timer))
		;
	return -EAGAIN;
}
module_init(atomic_init);

MODULE_DESCRIPTION("Allocations that fail in atomic context, for tests of code tagging");
MODULE_LICENSE("GPL");
