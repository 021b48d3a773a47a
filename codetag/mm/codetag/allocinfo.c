// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reports: /proc/allocinfo, and the largest call sites for show_mem().
 */
#include <linux/compat.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/irqflags.h>
#include <linux/preempt.h>
#include <linux/printk.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/sizes.h>
#include <linux/string.h>
#include <linux/string_choices.h>
#include <linux/string_helpers.h>
#include "allocinfo.h"
#include "internal.h"

/* ---- /proc/allocinfo ------------------------------------------------------ */

/*
 * Position 0 is the header, a tag has the position that codetag_next() gives
 * it: id 0 is no tag.
 */
static void *allocinfo_find(struct seq_file *m, loff_t *pos)
{
	struct allocinfo_iter *iter = m->private;
	unsigned long at = *pos;

	if (!codetag_next(&at, &iter->info, &iter->sums))
		return NULL;
	*pos = at;
	return &iter->info;
}

/**
 * allocinfo_start - begin to read a file that has a line for each tag
 * @m:		the file; its private data is a struct allocinfo_iter
 * @pos:	where to begin
 *
 * Context: Process. Takes codetag_lock(), which allocinfo_stop() releases.
 * Return: SEQ_START_TOKEN for the header, or a struct codetag_info; NULL at the end.
 */
void *allocinfo_start(struct seq_file *m, loff_t *pos)
{
	struct allocinfo_iter *iter = m->private;

	codetag_lock();
	iter->sums.nr = 0;
	iter->sums.may_sleep = true;
	return *pos ? allocinfo_find(m, pos) : SEQ_START_TOKEN;
}

/**
 * allocinfo_next - go on reading a file that has a line for each tag
 * @m:		the file
 * @v:		the last line, not used
 * @pos:	position of the last line; on return that of the next one
 *
 * Context: Process, with codetag_lock() held.
 * Return: A struct codetag_info; NULL at the end.
 */
void *allocinfo_next(struct seq_file *m, void *v, loff_t *pos)
{
	(*pos)++;
	return allocinfo_find(m, pos);
}

/**
 * allocinfo_stop - undo allocinfo_start()
 * @m:	the file
 * @v:	the last line, not used
 *
 * Context: Process, with codetag_lock() held.
 */
void allocinfo_stop(struct seq_file *m, void *v)
{
	codetag_unlock();
}

/**
 * allocinfo_show_notes - end the line of a tag
 * @m:		where to print to
 * @info:	the tag
 *
 * Context: With codetag_lock() held.
 */
void allocinfo_show_notes(struct seq_file *m, const struct codetag_info *info)
{
	/* Some or all memory of the site is charged to a reserved id. */
	if (!allocinfo_accurate(info))
		seq_puts(m, " accurate:no");
	if (info->unloaded)
		seq_puts(m, " unloaded:yes");
	seq_puts(m, " \n");
}

static int allocinfo_show(struct seq_file *m, void *v)
{
	const struct codetag_info *info = v;

	if (v == SEQ_START_TOKEN) {
		seq_puts(m, "allocinfo - version: 2.0\n");
		seq_puts(m, "#     <size>  <calls> <tag info>\n");
		return 0;
	}

	allocinfo_show_line(m, info, "%12lli %8llu", info->bytes, info->calls);
	return 0;
}

static const struct seq_operations allocinfo_ops = {
	.start	= allocinfo_start,
	.next	= allocinfo_next,
	.stop	= allocinfo_stop,
	.show	= allocinfo_show,
};

static int allocinfo_open(struct inode *inode, struct file *file)
{
	struct allocinfo_iter *iter;
	int ret = codetag_may_open(file);

	if (ret)
		return ret;
	iter = __seq_open_private(file, &allocinfo_ops, sizeof(*iter));
	if (!iter)
		return -ENOMEM;
	mutex_init(&iter->cursor.lock);
	return 0;
}

static struct allocinfo_cursor *cursor_of(struct file *file)
{
	struct seq_file *m = file->private_data;
	struct allocinfo_iter *iter = m->private;

	return &iter->cursor;
}

static int allocinfo_release(struct inode *inode, struct file *file)
{
	mutex_destroy(&cursor_of(file)->lock);
	return seq_release_private(inode, file);
}

static long allocinfo_file_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	return allocinfo_ioctl(cursor_of(file), cmd, (void __user *)arg);
}

#ifdef CONFIG_COMPAT
static long allocinfo_compat_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	return allocinfo_ioctl(cursor_of(file), cmd, compat_ptr(arg));
}
#endif

static const struct proc_ops allocinfo_proc_ops = {
	.proc_open		= allocinfo_open,
	.proc_release		= allocinfo_release,
	.proc_read_iter		= seq_read_iter,
	.proc_lseek		= seq_lseek,
	.proc_ioctl		= allocinfo_file_ioctl,
#ifdef CONFIG_COMPAT
	.proc_compat_ioctl	= allocinfo_compat_ioctl,
#endif
};

static int __init allocinfo_init(void)
{
	if (mem_alloc_profiling_permanently_disabled())
		return 0;

	if (!proc_create("allocinfo", 0400, NULL, &allocinfo_proc_ops))
		pr_warn("codetag: cannot create /proc/allocinfo\n");
	return 0;
}
fs_initcall(allocinfo_init);

/* ---- show_mem() ----------------------------------------------------------- */

#define NR_TOP	10

/* Counters of contexts that may be read where nothing may sleep: 0.1 s, if none is cached */
#define MOST_READS	SZ_1M

/* Does another allocator get its memory here? Its objects have lines of their own. */
static bool is_container(const struct codetag *ct)
{
	if (!strcmp(ct->filename, "mm/slub.c"))
		return !strcmp(ct->function, "alloc_slab_page") ||
		       !strcmp(ct->function, "allocate_slab");
	return !strcmp(ct->filename, "mm/percpu-vm.c") || !strcmp(ct->filename, "mm/percpu-km.c");
}

static void show_top(const struct codetag_info *info)
{
	const struct codetag *ct = info->ct;
	char bytes[16];

	string_get_size(max(info->bytes, 0LL), 1, STRING_UNITS_2, bytes, sizeof(bytes));
	pr_notice("%12s %8llu %s:%u %s%s%sfunc:%s\n", bytes, info->calls,
		  ct->filename, ct->lineno, info->modname ? "[" : "", info->modname ?: "",
		  info->modname ? "] " : "", ct->function);
}

/* The largest sites; returns how many there are. */
static int find_top(struct codetag_info *top, s64 *in_containers, struct codetag_sums *sums)
{
	struct codetag_info info;
	unsigned long pos = 0;
	int i, nr = 0;

	sums->nr = 0;
	sums->reads_left = MOST_READS;
	sums->incomplete = false;
	*in_containers = 0;
	for (; codetag_next(&pos, &info, sums); pos++) {
		if (is_container(info.ct)) {
			*in_containers += info.bytes;
			continue;
		}
		for (i = nr; i && top[i - 1].bytes < info.bytes; i--)
			if (i < NR_TOP)
				top[i] = top[i - 1];
		if (i < NR_TOP) {
			top[i] = info;
			nr = min(nr + 1, NR_TOP);
		}
	}
	return nr;
}

/* May the locks of the list be tried here? */
static bool may_show_mem(void)
{
	if (in_nmi())
		return false;
	/* Releasing a semaphore there enables interrupts. */
	return !IS_ENABLED(CONFIG_PREEMPT_RT) || (!in_hardirq() && !irqs_disabled());
}

/**
 * alloc_tag_show_mem - print the call sites that hold the most memory
 *
 * It waits for nothing. It prints no list if the list of call sites is being changed, and
 * nothing at all if another CPU is printing.
 *
 * Context: Any, usually out of memory.
 */
void alloc_tag_show_mem(void)
{
	static unsigned long printing;
	static struct codetag_sums sums;
	struct codetag_info top[NR_TOP];
	s64 in_containers;
	char bytes[16];
	int i, nr;

	if (mem_alloc_profiling_permanently_disabled())
		return;
	if (!may_show_mem()) {
		pr_notice("Memory allocations: not listed, no lock can be taken in this context\n");
		return;
	}
	if (test_and_set_bit_lock(0, &printing))
		return;
	if (!codetag_trylock()) {
		pr_notice("Memory allocations: not listed, the list of call sites is being changed\n");
		goto unlock;
	}

	nr = find_top(top, &in_containers, &sums);
	pr_notice("Memory allocations (profiling is currently turned %s):\n",
		  str_on_off(mem_alloc_profiling_enabled()));
	for (i = 0; i < nr; i++)
		show_top(&top[i]);
	if (sums.incomplete)
		pr_notice("Some of these sums lack memory: there are too many contexts to read\n");
	string_get_size(in_containers, 1, STRING_UNITS_2, bytes, sizeof(bytes));
	pr_notice("Left out so that nothing counts twice: %s of slab and percpu pages\n", bytes);
	codetag_unlock();
unlock:
	clear_bit_unlock(0, &printing);
}
