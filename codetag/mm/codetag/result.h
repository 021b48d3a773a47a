/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Files whose text is the result of work that stops CPUs: a write of 1 does the work,
 * a read shows the last result. So a recursive grep in debugfs stops nobody.
 */
#ifndef _MM_CODETAG_RESULT_H
#define _MM_CODETAG_RESULT_H

#include <linux/mutex.h>

struct seq_buf;

/**
 * struct codetag_result - such a file
 * @name:	name of the file
 * @work:	name of the work, for messages
 * @run:	does the work and calls codetag_result_set(); 0 or a negative error
 * @lock:	one at a time works; protects @text
 * @text:	what a read shows, NULL before the first result
 */
struct codetag_result {
	const char *name;
	const char *work;
	int (*run)(struct codetag_result *result);
	struct mutex lock;	/* one at a time works */
	char *text;
};

int codetag_result_set(struct codetag_result *result,
		       void (*print)(struct seq_buf *out, const void *data), const void *data);
void codetag_result_create(struct codetag_result *result);

#endif /* _MM_CODETAG_RESULT_H */
