// SPDX-License-Identifier: GPL-2.0-only
/*
 * A live patch of a function that allocates, single_open().
 *
 * As codetag_live it allocates through a call site of its own, as a patch that is
 * written by hand does. As codetag_live_tag it uses the tag of the function that it
 * replaces, as patches do that are made of two builds of a kernel: the tag is a static
 * variable of a function there, and such variables stay those of the original. Then
 * scripts/klp-symbol makes a symbol of the kernel of codetag_live_original, which is
 * looked up in kallsyms when the patch is loaded.
 */
#include <linux/alloc_tag.h>
#include <linux/livepatch.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#ifdef CODETAG_LIVE_TAG
struct alloc_tag codetag_live_original;
/* The only reference, in a section of its own, whose relocations scripts/klp-symbol takes. */
static struct alloc_tag *tag __section(".data..codetag_live") = &codetag_live_original;
#endif

static void *live_start(struct seq_file *m, loff_t *pos)
{
	return *pos ? NULL : SEQ_START_TOKEN;
}

static void *live_next(struct seq_file *m, void *v, loff_t *pos)
{
	++*pos;
	return NULL;
}

static void live_stop(struct seq_file *m, void *v)
{
}

static int live_single_open(struct file *file, int (*show)(struct seq_file *m, void *v), void *data)
{
	struct seq_operations *op;
	int ret = -ENOMEM;

#ifdef CODETAG_LIVE_TAG
	op = alloc_hooks_tag(READ_ONCE(tag), kmalloc_noprof(sizeof(*op), GFP_KERNEL_ACCOUNT));
#else
	op = kmalloc(sizeof(*op), GFP_KERNEL_ACCOUNT);
#endif
	if (!op)
		return ret;

	op->start = live_start;
	op->next = live_next;
	op->stop = live_stop;
	op->show = show;
	ret = seq_open(file, op);
	if (!ret)
		((struct seq_file *)file->private_data)->private = data;
	else
		kfree(op);
	return ret;
}

static struct klp_func live_funcs[] = {
	{
		.old_name = "single_open",
		.new_func = live_single_open,
	}, { }
};

static struct klp_object live_objects[] = {
	{
		.funcs = live_funcs,
	}, { }
};

static struct klp_patch live_patch = {
	.mod = THIS_MODULE,
	.objs = live_objects,
};

static int __init live_init(void)
{
	return klp_enable_patch(&live_patch);
}

static void __exit live_exit(void)
{
}

module_init(live_init);
module_exit(live_exit);
MODULE_INFO(livepatch, "Y");
MODULE_DESCRIPTION("a live patch of a function that allocates");
MODULE_LICENSE("GPL");
