// SPDX-License-Identifier: GPL-2.0-only
/*
 * Benchmark of the kernel's allocators: choosing cases, running them, results.
 *
 * In debugfs, directory alloc_bench (alloc_bench_mod when it is a module):
 *
 * cases	the names of all cases
 * run		write a case's name: runs it
 * results	one line for each case that ran since the file was last emptied
 *		by a write: name, samples, then per pair of operations in
 *		thousandths of a tick: median, least and greatest sample, median
 *		of the part that allocates (- if not known). A case that
 *		cannot run here has a line: name, error
 * hold		write "prepare COUNT", then "KIND SIZE COUNT": allocates so many
 *		objects and holds them; "release" frees them, see memory.c
 * samples	how many times a case is measured; one more goes before to warm up
 */
#include <linux/debugfs.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/sort.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include "alloc_bench.h"

#define MAX_SAMPLES	64
#define MAX_RESULTS	64

void *bench_objects[BENCH_BATCH];

struct result {
	const char *name;
	int err;
	bool has_alloc;
	unsigned int samples;
	u64 median;
	u64 least;
	u64 most;
	u64 alloc;
};

static DEFINE_MUTEX(bench_mutex);
static struct result results[MAX_RESULTS];
static unsigned int nr_results;
static u32 nr_samples = 15;
static struct dentry *dir;

static const struct bench_case * const groups[] = {
	bench_page_cases,
	bench_slab_cases,
	bench_other_cases,
};

static int compare(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

static u64 per_op(u64 ticks, u64 ops)
{
	return ops ? div64_u64(ticks * 1000, ops) : 0;
}

static void run_case(const struct bench_case *c)
{
	static u64 total[MAX_SAMPLES], alloc[MAX_SAMPLES];
	struct result *r = &results[nr_results++];
	unsigned int i, samples = clamp(nr_samples, 1, MAX_SAMPLES);

	memset(r, 0, sizeof(*r));
	r->name = c->name;
	for (i = 0; i <= samples; i++) {
		struct bench_sample s = {};

		r->err = c->run(&s, c->rounds);
		if (r->err)
			return;
		if (s.alloc)
			r->has_alloc = true;
		/* The first one warms up. */
		if (i) {
			total[i - 1] = per_op(s.total, s.ops);
			alloc[i - 1] = per_op(s.alloc, s.ops);
		}
		cond_resched();
	}
	sort(total, samples, sizeof(*total), compare, NULL);
	sort(alloc, samples, sizeof(*alloc), compare, NULL);
	r->samples = samples;
	r->median = total[samples / 2];
	r->least = total[0];
	r->most = total[samples - 1];
	r->alloc = alloc[samples / 2];
}

static ssize_t run_write(struct file *file, const char __user *user, size_t size, loff_t *pos)
{
	const struct bench_case *c;
	char name[64];
	unsigned int i;

	if (size >= sizeof(name))
		return -EINVAL;
	if (copy_from_user(name, user, size))
		return -EFAULT;
	name[size] = '\0';
	strim(name);

	mutex_lock(&bench_mutex);
	for (i = 0; i < ARRAY_SIZE(groups); i++) {
		for (c = groups[i]; c->name; c++) {
			if (nr_results < MAX_RESULTS && !strcmp(name, c->name))
				run_case(c);
		}
	}
	mutex_unlock(&bench_mutex);
	return size;
}

static const struct file_operations run_fops = {
	.owner	= THIS_MODULE,
	.open	= simple_open,
	.write	= run_write,
};

static int results_show(struct seq_file *m, void *unused)
{
	unsigned int i;

	mutex_lock(&bench_mutex);
	for (i = 0; i < nr_results; i++) {
		const struct result *r = &results[i];

		if (r->err) {
			seq_printf(m, "%s error %d\n", r->name, r->err);
			continue;
		}
		seq_printf(m, "%s %u %llu %llu %llu ", r->name, r->samples,
			   r->median, r->least, r->most);
		if (r->has_alloc)
			seq_printf(m, "%llu\n", r->alloc);
		else
			seq_puts(m, "-\n");
	}
	mutex_unlock(&bench_mutex);
	return 0;
}

static int cases_show(struct seq_file *m, void *unused)
{
	const struct bench_case *c;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(groups); i++) {
		for (c = groups[i]; c->name; c++)
			seq_printf(m, "%s\n", c->name);
	}
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(cases);

static ssize_t hold_write(struct file *file, const char __user *user, size_t size, loff_t *pos)
{
	char line[64], name[17];
	unsigned long count;
	size_t each;
	int err = 0;

	if (size >= sizeof(line))
		return -EINVAL;
	if (copy_from_user(line, user, size))
		return -EFAULT;
	line[size] = '\0';

	mutex_lock(&bench_mutex);
	if (sscanf(line, "prepare %lu", &count) == 1)
		err = bench_hold_prepare(count);
	else if (sscanf(line, "%16s %zu %lu", name, &each, &count) == 3)
		err = bench_hold(name, each, count);
	else
		bench_release();
	mutex_unlock(&bench_mutex);
	return err ?: size;
}

static const struct file_operations hold_fops = {
	.owner	= THIS_MODULE,
	.open	= simple_open,
	.write	= hold_write,
};

static int results_open(struct inode *inode, struct file *file)
{
	return single_open(file, results_show, NULL);
}

static ssize_t results_write(struct file *file, const char __user *user, size_t size, loff_t *pos)
{
	mutex_lock(&bench_mutex);
	nr_results = 0;
	mutex_unlock(&bench_mutex);
	return size;
}

static const struct file_operations results_fops = {
	.owner		= THIS_MODULE,
	.open		= results_open,
	.read		= seq_read,
	.llseek		= seq_lseek,
	.write		= results_write,
	.release	= single_release,
};

static int __init bench_init(void)
{
	int err = bench_slab_init();

	if (err)
		return err;
	dir = debugfs_create_dir(KBUILD_MODNAME, NULL);
	debugfs_create_file("cases", 0400, dir, NULL, &cases_fops);
	debugfs_create_file("run", 0200, dir, NULL, &run_fops);
	debugfs_create_file("results", 0600, dir, NULL, &results_fops);
	debugfs_create_file("hold", 0200, dir, NULL, &hold_fops);
	debugfs_create_u32("samples", 0600, dir, &nr_samples);
	return 0;
}
module_init(bench_init);

static void __exit bench_exit(void)
{
	debugfs_remove(dir);
	bench_release();
	bench_slab_exit();
}
module_exit(bench_exit);

MODULE_DESCRIPTION("Benchmark of the kernel's allocators");
MODULE_LICENSE("GPL");
