// SPDX-License-Identifier: GPL-2.0-only
/*
 * /sys/kernel/debug/codetag/whose: the memory at an address, and its call site.
 *
 * An address is written, and the answer read, through the same open file. It is true for
 * the moment of the write: nothing keeps the memory allocated.
 */
#define pr_fmt(fmt) "codetag: " fmt

#include <linux/ctype.h>
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/memory_hotplug.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/printk.h>
#include <linux/seq_buf.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include "internal.h"
#include "owner.h"
#include "tags.h"

/**
 * struct whose - an open file
 * @lock:	protects the others
 * @len:	length of the answer
 * @text:	the answer to the last address
 */
struct whose {
	struct mutex lock;	/* of the answer */
	size_t len;
	char text[512];
};

/* The linear address of memory in a vmalloc area; any other address as it is. */
static unsigned long linear_address(unsigned long addr)
{
	struct page *page = codetag_vmalloc_page(addr);

	return page && page_address(page) ?
	       (unsigned long)page_address(page) + offset_in_page(addr) : addr;
}

/* "ADDRESS OFFSET KIND: FILE:LINE [MODULE] func:FUNCTION", or less if nothing holds it. */
static void answer(struct whose *whose, unsigned long addr)
{
	struct codetag_owner owner = {};
	struct codetag_info info;
	struct seq_buf out;

	seq_buf_init(&out, whose->text, sizeof(whose->text));
	seq_buf_puts(&out, "# whose - version: 1.0\n");
	codetag_lock();
	if (codetag_owner_of(linear_address(addr), &owner)) {
		seq_buf_printf(&out, "%lx %ld %s: ", addr, owner.offset, owner.kind);
		if (codetag_info_of(codetag_site_id(owner.id), &info) && info.ct->function)
			seq_buf_printf(&out, "%s:%u %s%s%sfunc:%s\n", info.ct->filename,
				       info.ct->lineno, info.modname ? "[" : "", info.modname ?: "",
				       info.modname ? "] " : "", info.ct->function);
		else
			seq_buf_puts(&out, "an unknown call site\n");
	} else if (owner.kind[0]) {
		seq_buf_printf(&out, "%lx %ld %s: free\n", addr, owner.offset, owner.kind);
	} else {
		seq_buf_printf(&out, "%lx nothing\n", addr);
	}
	codetag_unlock();
	whose->len = seq_buf_used(&out);
}

/* "ffff888003a1c040", "0xffff888003a1c040", "pfn:3a1c" */
static bool parse_address(char *text, unsigned long *addr)
{
	bool is_pfn;
	struct page *page;

	text = strim(text);
	is_pfn = strstarts(text, "pfn:");
	if (is_pfn)
		text += strlen("pfn:");
	if (!isxdigit(*text) || kstrtoul(text, 16, addr))
		return false;
	if (is_pfn) {
		page = pfn_to_online_page(*addr);
		*addr = page ? (unsigned long)page_address(page) : 0;
	}
	return true;
}

static int whose_open(struct inode *inode, struct file *file)
{
	int ret = codetag_may_open(file);
	struct whose *whose;

	if (ret)
		return ret;
	whose = kzalloc(sizeof(*whose), GFP_KERNEL_ACCOUNT);
	if (!whose)
		return -ENOMEM;
	mutex_init(&whose->lock);
	file->private_data = whose;
	return 0;
}

static ssize_t whose_write(struct file *file, const char __user *from, size_t count, loff_t *pos)
{
	struct whose *whose = file->private_data;
	int ret = codetag_may_change();
	unsigned long addr;
	char text[32];

	if (ret)
		return ret;
	ret = codetag_copy_text(text, sizeof(text), from, count);
	if (ret == -EFAULT)
		return ret;
	if (ret || !parse_address(text, &addr)) {
		pr_warn_ratelimited("whose: '%*pE' is not a hexadecimal address or pfn:NUMBER\n",
				    (int)strlen(text), text);
		return -EINVAL;
	}
	mutex_lock(&whose->lock);
	answer(whose, addr);
	mutex_unlock(&whose->lock);
	/* A read begins with the begin of the answer. */
	*pos = 0;
	return count;
}

static ssize_t whose_read(struct file *file, char __user *to, size_t count, loff_t *pos)
{
	struct whose *whose = file->private_data;
	ssize_t ret;

	mutex_lock(&whose->lock);
	ret = simple_read_from_buffer(to, count, pos, whose->text, whose->len);
	mutex_unlock(&whose->lock);
	return ret;
}

static int whose_release(struct inode *inode, struct file *file)
{
	kfree(file->private_data);
	return 0;
}

static const struct file_operations whose_fops = {
	.owner		= THIS_MODULE,
	.open		= whose_open,
	.read		= whose_read,
	.write		= whose_write,
	.llseek		= default_llseek,
	.release	= whose_release,
};

static int __init whose_init(void)
{
	if (!mem_alloc_profiling_permanently_disabled())
		debugfs_create_file("whose", 0600, codetag_debugfs_dir(), NULL, &whose_fops);
	return 0;
}
late_initcall(whose_init);
