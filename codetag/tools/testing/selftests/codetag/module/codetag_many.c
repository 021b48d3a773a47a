// SPDX-License-Identifier: GPL-2.0-only
/*
 * codetag_many: nothing but call sites, as many as the build was told, for the
 * tests of ids. One object each at as many of them as "hold" says.
 */
#include <linux/module.h>
#include <linux/slab.h>

#include "codetag_test.h"

struct many_site {
	void *(*alloc)(void);
	const char *func;
	unsigned int line;
};

#include "many_sites.h"

static unsigned int hold;
module_param(hold, uint, 0400);
MODULE_PARM_DESC(hold, "at how many call sites to allocate");

static unsigned int sites = ARRAY_SIZE(many_sites);
module_param(sites, uint, 0444);
MODULE_PARM_DESC(sites, "how many call sites there are; writing has no effect");

static unsigned int gen;

static int __init codetag_many_init(void)
{
	struct ct_row *row;
	unsigned int i;
	void *p;

	sites = ARRAY_SIZE(many_sites);
	gen = ct_generation(KBUILD_MODNAME);
	for (i = 0; i < min(hold, sites); i++) {
		p = many_sites[i].alloc();
		row = ct_row(&(struct ct_where) {
			.group = "many", .module = KBUILD_MODNAME,
			.file = "many_sites.h", .func = many_sites[i].func,
			.line = many_sites[i].line, .gen = gen,
		});
		if (!ct_keep_slab(row, ct_free_kfree, p, 0, ct_kmalloc_cache(24)))
			return -ENOMEM;
	}
	return 0;
}

static void __exit codetag_many_exit(void)
{
	ct_unloaded(KBUILD_MODNAME, gen);
}

module_init(codetag_many_init);
module_exit(codetag_many_exit);

MODULE_DESCRIPTION("Many call sites");
MODULE_LICENSE("GPL");
