// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files whose text is the result of work that a write starts.
 */
#define pr_fmt(fmt) "codetag: " fmt

#include <linux/debugfs.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/printk.h>
#include <linux/seq_buf.h>
#include <linux/seq_file.h>
#include <linux/string.h>
#include "internal.h"
#include "result.h"

/**
 * codetag_result_set - keep a result as the text that a read shows
 * @result:	the file
 * @print:	prints the result; called again with a larger buffer if one was too small
 * @data:	for @print
 *
 * Context: Process, from run() of @result.
 * Return: 0, or -ENOMEM; then the result before stays.
 */
int codetag_result_set(struct codetag_result *result,
		       void (*print)(struct seq_buf *out, const void *data), const void *data)
{
	struct seq_buf out;
	size_t size;
	char *text;

	for (size = PAGE_SIZE; ; size *= 2) {
		text = kvmalloc(size, GFP_KERNEL);
		if (!text)
			return -ENOMEM;
		seq_buf_init(&out, text, size);
		print(&out, data);
		if (!seq_buf_has_overflowed(&out))
			break;
		kvfree(text);
	}
	seq_buf_str(&out);
	kvfree(result->text);
	result->text = text;
	return 0;
}

static ssize_t result_write(struct file *file, const char __user *buf, size_t len, loff_t *ppos)
{
	struct codetag_result *result = file_inode(file)->i_private;
	char request[sizeof(result->request)];
	int ret = codetag_may_change();
	char *words;

	if (ret)
		return ret;
	ret = codetag_copy_text(request, sizeof(request), buf, len);
	if (ret == -EFAULT)
		return ret;
	words = strim(request);
	if (ret || !*words || (!result->usage && strcmp(words, "1"))) {
		pr_warn_ratelimited("%s: '%*pE': write %s to start the %s\n", result->name,
				    (int)min_t(size_t, strlen(words), 32), words,
				    result->usage ?: "1", result->work);
		return -EINVAL;
	}

	if (mutex_lock_interruptible(&result->lock))
		return -ERESTARTSYS;
	strscpy(result->request, words);
	ret = result->run(result);
	mutex_unlock(&result->lock);
	return ret ?: len;
}

static int result_show(struct seq_file *m, void *v)
{
	struct codetag_result *result = m->private;

	if (mutex_lock_interruptible(&result->lock))
		return -ERESTARTSYS;
	if (result->text)
		seq_puts(m, result->text);
	else
		seq_printf(m, "# no %s has run\n# write %s to this file to start one\n",
			   result->work, result->usage ?: "1");
	mutex_unlock(&result->lock);
	return 0;
}

CODETAG_DEFINE_FILE(result, result_show, result_write);

/**
 * codetag_result_create - make the file of a result
 * @result: the file
 *
 * Context: Initcall.
 */
void __init codetag_result_create(struct codetag_result *result)
{
	mutex_init(&result->lock);
	if (!mem_alloc_profiling_permanently_disabled())
		debugfs_create_file(result->name, 0600, codetag_debugfs_dir(), result,
				    &result_fops);
}
