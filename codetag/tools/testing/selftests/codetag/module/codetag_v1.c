// SPDX-License-Identifier: GPL-2.0-only
/*
 * codetag_v1: lets a kernel without CONFIG_MEMCG_V1 mount the memory controller in a
 * hierarchy of version 1, without files of its own there. Groups are charged all the same.
 */
#include <linux/cgroup.h>
#include <linux/memcontrol.h>
#include <linux/module.h>

static struct cftype no_files[1];

static int __init codetag_v1_init(void)
{
	if (memory_cgrp_subsys.legacy_cftypes)
		return -EEXIST;
	memory_cgrp_subsys.legacy_cftypes = no_files;
	return 0;
}

static void __exit codetag_v1_exit(void)
{
	memory_cgrp_subsys.legacy_cftypes = NULL;
}

module_init(codetag_v1_init);
module_exit(codetag_v1_exit);
MODULE_DESCRIPTION("Memory control groups of version 1, for tests of code tagging");
MODULE_LICENSE("GPL");
