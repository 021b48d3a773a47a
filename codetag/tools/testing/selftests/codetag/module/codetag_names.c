// SPDX-License-Identifier: GPL-2.0-only
/*
 * codetag_names: call sites in functions and in a file with names that are longer
 * than what an ioctl on /proc/allocinfo has room for, 63 characters. One object
 * each.
 */
#include <linux/module.h>
#include <linux/slab.h>

/* The same 63 characters, alone and at the end of longer names. */
static noinline void *the_end_of_a_name_that_is_as_long_as_what_user_space_has_room_f(void)
{
	return kmalloc(24, GFP_KERNEL);
}

static noinline void *xthe_end_of_a_name_that_is_as_long_as_what_user_space_has_room_f(void)
{
	return kmalloc(24, GFP_KERNEL);
}

static noinline void *first_the_end_of_a_name_that_is_as_long_as_what_user_space_has_room_f(void)
{
	return kmalloc(24, GFP_KERNEL);
}

static noinline void *other_the_end_of_a_name_that_is_as_long_as_what_user_space_has_room_f(void)
{
	return kmalloc(24, GFP_KERNEL);
}

/* It differs in the first one of them. */
static noinline void *other_she_end_of_a_name_that_is_as_long_as_what_user_space_has_room_f(void)
{
	return kmalloc(24, GFP_KERNEL);
}

#line 1 "drivers/somewhere/in/a/directory/that/is/deeper/than/any/other/one/names.c"
static noinline void *short_name(void)
{
	return kmalloc(24, GFP_KERNEL);
}

static void *(* const sites[])(void) = {
	the_end_of_a_name_that_is_as_long_as_what_user_space_has_room_f,
	xthe_end_of_a_name_that_is_as_long_as_what_user_space_has_room_f,
	first_the_end_of_a_name_that_is_as_long_as_what_user_space_has_room_f,
	other_the_end_of_a_name_that_is_as_long_as_what_user_space_has_room_f,
	other_she_end_of_a_name_that_is_as_long_as_what_user_space_has_room_f,
	short_name,
};

static void *held[ARRAY_SIZE(sites)];

static int __init codetag_names_init(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sites); i++)
		held[i] = sites[i]();
	return 0;
}

static void __exit codetag_names_exit(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(held); i++)
		kfree(held[i]);
}

module_init(codetag_names_init);
module_exit(codetag_names_exit);

MODULE_DESCRIPTION("Call sites with long names, for the tests of the code tagger");
MODULE_LICENSE("GPL");
