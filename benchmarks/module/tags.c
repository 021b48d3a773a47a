// SPDX-License-Identifier: GPL-2.0-only
/*
 * A module that is nothing but 3500 call sites, to see what grows with their
 * number. The build makes copies of it with names of their own.
 */
#include <linux/alloc_tag.h>
#include <linux/module.h>

#define TAG	do { DEFINE_ALLOC_TAG(tag); } while (0)
#define TAG_5	do { TAG; TAG; TAG; TAG; TAG; } while (0)
#define TAG_50	do { TAG_5; TAG_5; TAG_5; TAG_5; TAG_5; \
		     TAG_5; TAG_5; TAG_5; TAG_5; TAG_5; } while (0)
#define TAG_500	do { TAG_50; TAG_50; TAG_50; TAG_50; TAG_50; \
		     TAG_50; TAG_50; TAG_50; TAG_50; TAG_50; } while (0)

static int __init tags_init(void)
{
	TAG_500;
	TAG_500;
	TAG_500;
	TAG_500;
	TAG_500;
	TAG_500;
	TAG_500;
	return 0;
}
module_init(tags_init);

static void __exit tags_exit(void)
{
}
module_exit(tags_exit);

MODULE_DESCRIPTION("A module with very many call sites");
MODULE_LICENSE("GPL");
