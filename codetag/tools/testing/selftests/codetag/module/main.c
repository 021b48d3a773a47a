// SPDX-License-Identifier: GPL-2.0-only
/*
 * codetag_test: allocates and frees known amounts through every interface that
 * is tagged, on command, and prints the rows that /proc/allocinfo must have.
 *
 * /sys/kernel/debug/codetag_test/
 *
 *	run	write one command:
 *		hold CASE|all	allocate
 *		thin CASE|all	free every second piece
 *		drop CASE|all	free all
 *		cpu N		do the following on this CPU, -1: wherever
 *		churn start	threads that allocate and free at random
 *		churn stop	stop them and free everything
 *		misuse put	put_page() of a page of order 2 that is not compound
 *		misuse page	free half of a page of order 2, for the audit to
 *				find: the line of ct_misuse() is wrong from then on
 *		half on|off	have a page that is half made a compound page
 *		reserve on|off	allocate nearly all memory and mark its pages as reserved
 *		refuse MODULE	keep a module of that name from being loaded
 *		contents STEP	fill, look, churn or drop: fill every byte of objects of
 *				many caches, look whether it stays, exchange every second
 *				object, free all
 *	cases	the cases: name, result of the last hold, reason
 *	expect	what /proc/allocinfo has to show, see ct_ledger_show()
 *	churn	whether the threads run and how much they did
 *	contents	objects that are filled, and those that were changed
 */
#include <linux/cpu.h>
#include <linux/debugfs.h>
#include <linux/gfp.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "codetag_test.h"

static struct dentry *ct_dir;
/* One command at a time. */
static DEFINE_MUTEX(ct_run_lock);
/* Where commands run, or -1. */
static int ct_cpu = -1;

static struct ct_case * const ct_tables[] = {
	ct_page_cases, ct_slab_cases, ct_other_cases,
};

struct ct_command {
	char *verb;
	char *what;
};

static int hold(const char *what)
{
	struct ct_case *c;
	int found = 0;
	int i;

	for (i = 0; i < ARRAY_SIZE(ct_tables); i++) {
		for (c = ct_tables[i]; c->name; c++) {
			if (strcmp(what, "all") && strcmp(what, c->name))
				continue;
			c->why = NULL;
			c->error = c->hold(c);
			found++;
		}
	}
	/* Old tables of the hash table go after a grace period. */
	rcu_barrier();
	return found ? 0 : -ENOENT;
}

static int command(void *arg)
{
	struct ct_command *cmd = arg;
	int nr;

	if (!strcmp(cmd->verb, "hold"))
		return hold(cmd->what);
	if (!strcmp(cmd->verb, "drop"))
		return ct_drop(cmd->what) ? 0 : -ENOENT;
	if (!strcmp(cmd->verb, "thin")) {
		nr = ct_thin(cmd->what);
		return nr ? 0 : -ENOENT;
	}
	if (!strcmp(cmd->verb, "churn") && !strcmp(cmd->what, "start"))
		return ct_churn_start();
	if (!strcmp(cmd->verb, "churn") && !strcmp(cmd->what, "stop"))
		return ct_churn_stop();
	if (!strcmp(cmd->verb, "misuse"))
		return strcmp(cmd->what, "put") ? ct_misuse() : ct_misuse_put();
	if (!strcmp(cmd->verb, "half"))
		return strcmp(cmd->what, "on") ? ct_half_off() : ct_half_on();
	if (!strcmp(cmd->verb, "reserve"))
		return strcmp(cmd->what, "on") ? ct_reserve_off() : ct_reserve_on();
	if (!strcmp(cmd->verb, "refuse"))
		return ct_refuse(cmd->what);
	if (!strcmp(cmd->verb, "contents"))
		return ct_contents(cmd->what);
	return -EINVAL;
}

static int run(struct ct_command *cmd)
{
	int err;

	if (!strcmp(cmd->verb, "cpu")) {
		int cpu;

		err = kstrtoint(cmd->what, 0, &cpu);
		if (err)
			return err;
		if (cpu < -1 || (cpu >= 0 && !cpu_online(cpu)))
			return -ENODEV;
		ct_cpu = cpu;
		return 0;
	}
	if (ct_cpu < 0)
		return command(cmd);
	return smp_call_on_cpu(ct_cpu, command, cmd, false);
}

static ssize_t run_write(struct file *file, const char __user *buf,
			 size_t len, loff_t *pos)
{
	struct ct_command cmd;
	char text[64];
	char *next = text;
	ssize_t ret;

	if (len >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, buf, len))
		return -EFAULT;
	text[len] = '\0';
	next = strim(text);
	cmd.verb = strsep(&next, " ");
	cmd.what = next ? skip_spaces(next) : "";

	mutex_lock(&ct_run_lock);
	ret = run(&cmd);
	mutex_unlock(&ct_run_lock);
	return ret ? ret : len;
}

static const struct file_operations run_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = run_write,
	.llseek = noop_llseek,
};

static int cases_show(struct seq_file *m, void *unused)
{
	struct ct_case *c;
	int i;

	mutex_lock(&ct_run_lock);
	for (i = 0; i < ARRAY_SIZE(ct_tables); i++)
		for (c = ct_tables[i]; c->name; c++)
			seq_printf(m, "%s %d %s\n", c->name, c->error,
				   c->why ?: "");
	mutex_unlock(&ct_run_lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(cases);

static int expect_show(struct seq_file *m, void *unused)
{
	return ct_ledger_show(m);
}
DEFINE_SHOW_ATTRIBUTE(expect);

static int churn_show(struct seq_file *m, void *unused)
{
	ct_churn_show(m);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(churn);

static int contents_show(struct seq_file *m, void *unused)
{
	mutex_lock(&ct_run_lock);
	ct_contents_show(m);
	mutex_unlock(&ct_run_lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(contents);

static int __init codetag_test_init(void)
{
	int err;

	err = ct_slab_cases_init();
	if (err)
		return err;
	err = ct_other_cases_init();
	if (err)
		goto slab;
	err = ct_odd_init();
	if (err)
		goto other;
	ct_dir = debugfs_create_dir("codetag_test", NULL);
	debugfs_create_file("run", 0200, ct_dir, NULL, &run_fops);
	debugfs_create_file("cases", 0400, ct_dir, NULL, &cases_fops);
	debugfs_create_file("expect", 0400, ct_dir, NULL, &expect_fops);
	debugfs_create_file("churn", 0400, ct_dir, NULL, &churn_fops);
	debugfs_create_file("contents", 0400, ct_dir, NULL, &contents_fops);
	return 0;

other:
	ct_other_cases_exit();
slab:
	ct_slab_cases_exit();
	return err;
}

static void __exit codetag_test_exit(void)
{
	debugfs_remove(ct_dir);
	ct_churn_stop();
	ct_ledger_forget();
	ct_contents_exit();
	ct_odd_exit();
	ct_other_cases_exit();
	ct_slab_cases_exit();
}

module_init(codetag_test_init);
module_exit(codetag_test_exit);

MODULE_DESCRIPTION("Known allocations for the self-tests of code tagging");
MODULE_LICENSE("GPL");
