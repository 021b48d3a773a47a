/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Files whose text is the result of work that takes long or stops CPUs: a write of 1, or of
 * what the work is to do, does it; a read shows the last result. So a recursive grep in
 * debugfs costs nothing.
 */
#ifndef _MM_CODETAG_RESULT_H
#define _MM_CODETAG_RESULT_H

#include <linux/mutex.h>

struct seq_buf;

/**
 * struct codetag_result - such a file
 * @name:	name of the file
 * @work:	name of the work, for messages
 * @usage:	what to write, for messages; NULL: 1
 * @run:	does the work and calls codetag_result_set(); 0 or a negative error
 * @lock:	one at a time works; protects @request and @text
 * @request:	what was written, without blanks around it
 * @text:	what a read shows, NULL before the first result
 */
struct codetag_result {
	const char *name;
	const char *work;
	const char *usage;
	int (*run)(struct codetag_result *result);
	struct mutex lock;	/* one at a time works */
	char request[128];
	char *text;
};

int codetag_result_set(struct codetag_result *result,
		       void (*print)(struct seq_buf *out, const void *data), const void *data);
void codetag_result_create(struct codetag_result *result);

#endif /* _MM_CODETAG_RESULT_H */
