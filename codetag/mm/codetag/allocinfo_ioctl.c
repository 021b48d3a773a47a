// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ioctls of /proc/allocinfo, see include/uapi/linux/alloc_tag.h.
 *
 * Programs for Linux 7.3 can rely on the same behaviour: refused arguments and their
 * order, and the line at which ALLOCINFO_IOC_GET_NEXT continues after a failed call.
 */
#include <linux/ioctl.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include "allocinfo.h"

/* Programs for 32 bits have the same layout. */
static_assert(sizeof(struct allocinfo_tag) == 200);
static_assert(sizeof(struct allocinfo_tag_data) == 224);
static_assert(sizeof(struct allocinfo_filter) == 232);
static_assert(sizeof(struct allocinfo_get_at) == 464);

#define FILTER_BY_SIZE	(ALLOCINFO_FILTER_MASK_MIN_SIZE | ALLOCINFO_FILTER_MASK_MAX_SIZE)
#define FILTER_BY_SITE	(ALLOCINFO_FILTER_MASK_MODNAME | ALLOCINFO_FILTER_MASK_FUNCTION | \
			 ALLOCINFO_FILTER_MASK_FILENAME | ALLOCINFO_FILTER_MASK_LINENO)

/* ---- one line --------------------------------------------------------------- */

/* The end of a name, as much as fits, and its length. Calls would cost 40 instructions a record. */
static __always_inline const char *tail(const char *name, size_t *len)
{
	size_t all = strlen(name);

	*len = min(all, ALLOCINFO_STR_SIZE - 1UL);
	return name + all - *len;
}

/* A name that is not terminated matches nothing. */
static bool is_named(const char *name, const char *field)
{
	size_t len;

	return !strncmp(tail(name, &len), field, ALLOCINFO_STR_SIZE);
}

/**
 * allocinfo_filter_valid - does a filter make sense?
 * @filter: the filter
 *
 * Not static for the tests.
 *
 * Context: Any.
 * Return: false if it has unknown bits or an empty interval.
 */
bool allocinfo_filter_valid(const struct allocinfo_filter *filter)
{
	if (filter->mask & ~(u64)ALLOCINFO_FILTER_MASKS)
		return false;
	return (filter->mask & FILTER_BY_SIZE) != FILTER_BY_SIZE ||
	       filter->min_size <= filter->max_size;
}

/**
 * allocinfo_site_matches - does a call site match a filter, apart from its size?
 * @filter:	the filter
 * @info:	the call site, the counters are not looked at
 *
 * Not static for the tests.
 *
 * Context: Any, with @info valid.
 * Return: Whether it does.
 */
bool allocinfo_site_matches(const struct allocinfo_filter *filter, const struct codetag_info *info)
{
	const struct allocinfo_tag *fields = &filter->fields;
	const u64 mask = filter->mask;

	if (mask & ALLOCINFO_FILTER_MASK_LINENO && info->ct->lineno != fields->lineno)
		return false;
	if (mask & ALLOCINFO_FILTER_MASK_MODNAME &&
	    !is_named(info->modname ?: "", fields->modname))
		return false;
	if (mask & ALLOCINFO_FILTER_MASK_FUNCTION &&
	    !is_named(info->ct->function, fields->function))
		return false;
	if (mask & ALLOCINFO_FILTER_MASK_FILENAME &&
	    !is_named(info->ct->filename, fields->filename))
		return false;
	return !(mask & ALLOCINFO_FILTER_MASK_INACCURATE) ||
	       allocinfo_accurate(info) == !filter->inaccurate;
}

/**
 * allocinfo_size_matches - does the size of a call site match a filter?
 * @filter:	the filter
 * @info:	the call site, with its counters
 *
 * Not static for the tests.
 *
 * Context: Any.
 * Return: Whether it does.
 */
bool allocinfo_size_matches(const struct allocinfo_filter *filter, const struct codetag_info *info)
{
	const u64 bytes = info->bytes;

	if (filter->mask & ALLOCINFO_FILTER_MASK_MIN_SIZE && bytes < filter->min_size)
		return false;
	return !(filter->mask & ALLOCINFO_FILTER_MASK_MAX_SIZE) || bytes <= filter->max_size;
}

/* The field is all zeros. */
static void copy_tail(char *field, const char *name)
{
	size_t len;

	name = tail(name, &len);
	memcpy(field, name, len);
}

/**
 * allocinfo_fill - put a line in the form that user space gets
 * @data:	all of it is written
 * @info:	the line
 *
 * Not static for the tests.
 *
 * Context: Any, with @info valid.
 */
void allocinfo_fill(struct allocinfo_tag_data *data, const struct codetag_info *info)
{
	*data = (struct allocinfo_tag_data) {
		.tag.lineno = info->ct->lineno,
		.counter.bytes = info->bytes,
		.counter.calls = info->calls,
		.counter.accurate = allocinfo_accurate(info),
		.counter.pad[ALLOCINFO_PAD_UNLOADED] = info->unloaded,
	};
	if (info->modname)
		copy_tail(data->tag.modname, info->modname);
	copy_tail(data->tag.function, info->ct->function);
	copy_tail(data->tag.filename, info->ct->filename);
}

/* ---- going through them ------------------------------------------------------- */

/*
 * Find the line after @skip others, from the cursor's position on, and leave the cursor
 * behind it. Reading counters costs the most, because they are on each CPU. So those of
 * sites that the filter excludes, or of lines that are only counted, are not read.
 */
static int find(struct allocinfo_cursor *cursor, u64 skip, struct codetag_info *info)
{
	const struct allocinfo_filter *filter = &cursor->filter;
	const bool by_size = filter->mask & FILTER_BY_SIZE;
	/* Read the counters of neighbours along, if each line is needed and few are wanted. */
	struct codetag_sums *sums = NULL;

	cursor->sums.nr = 0;
	cursor->sums.may_sleep = true;
	for (; codetag_next_tag(&cursor->pos, info); cursor->pos++) {
		cond_resched();
		if (fatal_signal_pending(current))
			return -EINTR;
		if (!allocinfo_site_matches(filter, info))
			continue;
		if (!skip || by_size || info->unloaded) {
			if (!codetag_read(info, sums))
				continue;
			if (!allocinfo_size_matches(filter, info)) {
				if (!(filter->mask & FILTER_BY_SITE))
					sums = &cursor->sums;
				continue;
			}
		}
		if (!skip--) {
			cursor->pos++;
			return 0;
		}
	}
	return -ENOENT;
}

static long get_content_id(void __user *arg)
{
	struct allocinfo_content_id id;
	struct codetag_content content;

	codetag_lock();
	codetag_content(&content);
	codetag_unlock();
	id.id = content.id;
	return copy_to_user(arg, &id, sizeof(id)) ? -EFAULT : 0;
}

/*
 * A position beyond all lines changes nothing. One beyond those that the filter
 * wants leaves the filter, and the cursor at the end, unless it was at the
 * beginning.
 */
static long get_at(struct allocinfo_cursor *cursor, void __user *arg)
{
	struct codetag_content content;
	struct allocinfo_get_at at;
	struct codetag_info info;
	bool at_beginning;
	int err = -ENOENT;

	if (copy_from_user(&at, arg, sizeof(at)))
		return -EFAULT;
	if (!allocinfo_filter_valid(&at.filter))
		return -EINVAL;

	mutex_lock(&cursor->lock);
	codetag_lock();
	codetag_content(&content);
	if (at.pos < content.nr) {
		at_beginning = !cursor->pos;
		cursor->pos = 0;
		cursor->filter = at.filter;
		err = find(cursor, at.pos, &info);
		if (!err)
			allocinfo_fill(&at.data, &info);
		else if (at_beginning)
			cursor->pos = 0;
	}
	codetag_unlock();
	mutex_unlock(&cursor->lock);

	if (!err && copy_to_user(arg, &at, sizeof(at)))
		err = -EFAULT;
	return err;
}

/* Report the end once, then start from the beginning again. */
static long get_next(struct allocinfo_cursor *cursor, void __user *arg)
{
	struct allocinfo_tag_data data;
	struct codetag_info info;
	int err;

	mutex_lock(&cursor->lock);
	codetag_lock();
	err = find(cursor, 0, &info);
	if (!err)
		allocinfo_fill(&data, &info);
	else
		cursor->pos = 0;
	codetag_unlock();
	mutex_unlock(&cursor->lock);

	if (!err && copy_to_user(arg, &data, sizeof(data)))
		err = -EFAULT;
	return err;
}

/**
 * allocinfo_ioctl - an ioctl on /proc/allocinfo
 * @cursor:	where the ioctls on the open file are
 * @cmd:	which one
 * @arg:	its argument
 *
 * Context: Process.
 * Return: 0 or a negative error.
 */
long allocinfo_ioctl(struct allocinfo_cursor *cursor, unsigned int cmd, void __user *arg)
{
	switch (cmd) {
	case ALLOCINFO_IOC_CONTENT_ID:
		return get_content_id(arg);
	case ALLOCINFO_IOC_GET_AT:
		return get_at(cursor, arg);
	case ALLOCINFO_IOC_GET_NEXT:
		return get_next(cursor, arg);
	default:
		return -ENOIOCTLCMD;
	}
}
