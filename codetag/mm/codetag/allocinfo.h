/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * allocinfo.c: files that have a line for each tag. allocinfo_ioctl.c: the ioctls of
 * /proc/allocinfo.
 */
#ifndef _MM_CODETAG_ALLOCINFO_H
#define _MM_CODETAG_ALLOCINFO_H

#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <uapi/linux/alloc_tag.h>
#include "totals.h"

/**
 * struct allocinfo_cursor - where the ioctls on an open file are
 * @lock:	one ioctl at a time
 * @pos:	where to go on, see codetag_next(); 0 for the beginning
 * @filter:	what is looked for
 * @sums:	counters that are read ahead during one ioctl
 */
struct allocinfo_cursor {
	struct mutex lock; /* for the rest of it, not for the text */
	unsigned long pos;
	struct allocinfo_filter filter;
	struct codetag_sums sums;
};

/**
 * struct allocinfo_iter - the state of an open file: text and ioctls have separate positions
 * @info:	the tag of the last line
 * @sums:	counters that are read ahead for the text
 * @cursor:	for the ioctls
 */
struct allocinfo_iter {
	struct codetag_info info;
	struct codetag_sums sums;
	struct allocinfo_cursor cursor;
};

void *allocinfo_start(struct seq_file *m, loff_t *pos);
void *allocinfo_next(struct seq_file *m, void *v, loff_t *pos);
void allocinfo_stop(struct seq_file *m, void *v);
void allocinfo_show_notes(struct seq_file *m, const struct codetag_info *info);

/* A line with these numbers. One call: a call for each part would cost a tenth of the work. */
#define allocinfo_show_line(_m, _info, _format, ...)				\
do {										\
	const struct codetag *_ct = (_info)->ct;				\
										\
	if ((_info)->modname)							\
		seq_printf(_m, _format " %s:%u [%s] func:%s", __VA_ARGS__,	\
			   _ct->filename, _ct->lineno, (_info)->modname,	\
			   _ct->function);					\
	else									\
		seq_printf(_m, _format " %s:%u func:%s", __VA_ARGS__,		\
			   _ct->filename, _ct->lineno, _ct->function);		\
	allocinfo_show_notes(_m, _info);					\
} while (0)

bool allocinfo_filter_valid(const struct allocinfo_filter *filter);
bool allocinfo_site_matches(const struct allocinfo_filter *filter, const struct codetag_info *info);
bool allocinfo_size_matches(const struct allocinfo_filter *filter, const struct codetag_info *info);
void allocinfo_fill(struct allocinfo_tag_data *data, const struct codetag_info *info);

/* Has the site got an id of its own, and do all of its pages hold it? */
static inline bool allocinfo_accurate(const struct codetag_info *info)
{
	return !info->without_id && !(info->ct->state & CODETAG_INACCURATE);
}

long allocinfo_ioctl(struct allocinfo_cursor *cursor, unsigned int cmd, void __user *arg);

#endif /* _MM_CODETAG_ALLOCINFO_H */
