// SPDX-License-Identifier: GPL-2.0-only
/*
 * codetag_leaky: an operation with three allocations. When the third one fails
 * the second one is forgotten: a leak in an error path, for a fault sweep to
 * find. Writing to the parameter "run" runs the operation. Writing a number to the
 * parameter "forget" forgets so many objects, for a leak detector to find.
 */
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/slab.h>

static int operation(const char *val, const struct kernel_param *kp)
{
	void *first, *second, *third;

	first = kmalloc(1000, GFP_KERNEL);
	if (!first)
		return -ENOMEM;
	second = kmalloc(2000, GFP_KERNEL);
	if (!second) {
		kfree(first);
		return -ENOMEM;
	}
	third = kmalloc(3000, GFP_KERNEL);
	if (!third) {
		kfree(first);
		return -ENOMEM;
	}
	kfree(third);
	kfree(second);
	kfree(first);
	return 0;
}

static const struct kernel_param_ops operation_ops = {
	.set = operation,
};
module_param_cb(run, &operation_ops, NULL, 0200);
MODULE_PARM_DESC(run, "write anything to run the operation");

static int forget(const char *val, const struct kernel_param *kp)
{
	unsigned int count;
	int err = kstrtouint(val, 0, &count);

	while (!err && count--) {
		if (!kmalloc(300, GFP_KERNEL))
			err = -ENOMEM;
	}
	return err;
}

static const struct kernel_param_ops forget_ops = {
	.set = forget,
};
module_param_cb(forget, &forget_ops, NULL, 0200);
MODULE_PARM_DESC(forget, "write how many objects to forget");

MODULE_DESCRIPTION("An error path that leaks, for tests of code tagging");
MODULE_LICENSE("GPL");
