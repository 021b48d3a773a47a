/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The ioctls of /proc/allocinfo, for the file itself and for tests.
 */
#ifndef _MM_CODETAG_ALLOCINFO_H
#define _MM_CODETAG_ALLOCINFO_H

#include <linux/mutex.h>
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

bool allocinfo_filter_valid(const struct allocinfo_filter *filter);
bool allocinfo_site_wanted(const struct allocinfo_filter *filter, const struct codetag_info *info);
bool allocinfo_size_wanted(const struct allocinfo_filter *filter, const struct codetag_info *info);
void allocinfo_fill(struct allocinfo_tag_data *data, const struct codetag_info *info);

/* Has the site got an id of its own, and do all of its pages hold it? */
static inline bool allocinfo_accurate(const struct codetag_info *info)
{
	return !info->without_id && !(info->ct->state & CODETAG_INACCURATE);
}

long allocinfo_ioctl(struct allocinfo_cursor *cursor, unsigned int cmd, void __user *arg);

#endif /* _MM_CODETAG_ALLOCINFO_H */
