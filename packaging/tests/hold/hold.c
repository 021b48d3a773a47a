// SPDX-License-Identifier: GPL-2.0
/* A module that holds memory as long as it is loaded, for DKMS to build. */
#include <linux/module.h>
#include <linux/slab.h>

static void *held;

static int __init hold_init(void)
{
	held = kmalloc(12345, GFP_KERNEL);
	return held ? 0 : -ENOMEM;
}

static void __exit hold_exit(void)
{
	kfree(held);
}

module_init(hold_init);
module_exit(hold_exit);
MODULE_DESCRIPTION("Holds memory");
MODULE_LICENSE("GPL");
