// SPDX-License-Identifier: GPL-2.0
/* A module that holds memory as long as it is loaded, or longer, for DKMS to build. */
#include <linux/module.h>
#include <linux/slab.h>

static void *held;
static bool keep;
module_param(keep, bool, 0);
MODULE_PARM_DESC(keep, "the memory stays when the module goes");

static int __init hold_init(void)
{
	held = kmalloc(12345, GFP_KERNEL);
	return held ? 0 : -ENOMEM;
}

static void __exit hold_exit(void)
{
	if (!keep)
		kfree(held);
}

module_init(hold_init);
module_exit(hold_exit);
MODULE_DESCRIPTION("Holds memory");
MODULE_LICENSE("GPL");
