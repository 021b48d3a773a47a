/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * ioctls of /proc/allocinfo: the lines of that file, one by one and chosen,
 * without their text. The ABI is that of Linux 7.3.
 */
#ifndef _UAPI_LINUX_ALLOC_TAG_H
#define _UAPI_LINUX_ALLOC_TAG_H

#include <linux/ioctl.h>
#include <linux/types.h>

/*
 * Room for a name. Of a longer one there are the last ALLOCINFO_STR_SIZE - 1
 * characters, for it is the ends in which long names differ.
 */
#define ALLOCINFO_STR_SIZE	64

/**
 * struct allocinfo_content_id - which lines there are
 * @id: another one after lines have come or gone
 */
struct allocinfo_content_id {
	__u64 id;
};

/**
 * struct allocinfo_tag - a call site
 * @modname:	its module, empty if it is built in
 * @function:	its function
 * @filename:	its source file
 * @lineno:	its line there
 *
 * Names are padded with zeros.
 */
struct allocinfo_tag {
	char modname[ALLOCINFO_STR_SIZE];
	char function[ALLOCINFO_STR_SIZE];
	char filename[ALLOCINFO_STR_SIZE];
	__u64 lineno;
};

/**
 * struct allocinfo_counter - what a call site holds
 * @bytes:	size of what it allocated and nobody has freed yet
 * @calls:	number of these allocations
 * @accurate:	0 if some of it is charged elsewhere ("accurate:no"), 1 if not
 * @pad:	0, but for pad[ALLOCINFO_PAD_UNLOADED]
 */
struct allocinfo_counter {
	__u64 bytes;
	__u64 calls;
	__u8 accurate;
	__u8 pad[7];
} __attribute__((aligned(8)));

/*
 * 1 if the module of the call site is unloaded ("unloaded:yes"). Linux 7.3 does
 * not list such call sites and has 0 here.
 */
#define ALLOCINFO_PAD_UNLOADED	6

/**
 * struct allocinfo_tag_data - a line of the file
 * @tag:	the call site
 * @counter:	what it holds
 */
struct allocinfo_tag_data {
	struct allocinfo_tag tag;
	struct allocinfo_counter counter;
};

/* By what lines can be chosen. */
enum {
	ALLOCINFO_FILTER_MODNAME,
	ALLOCINFO_FILTER_FUNCTION,
	ALLOCINFO_FILTER_FILENAME,
	ALLOCINFO_FILTER_LINENO,
	ALLOCINFO_FILTER_INACCURATE,
	ALLOCINFO_FILTER_MIN_SIZE,
	ALLOCINFO_FILTER_MAX_SIZE,
	__ALLOCINFO_FILTER_LAST = ALLOCINFO_FILTER_MAX_SIZE
};

#define ALLOCINFO_FILTER_MASK_MODNAME		(1 << ALLOCINFO_FILTER_MODNAME)
#define ALLOCINFO_FILTER_MASK_FUNCTION		(1 << ALLOCINFO_FILTER_FUNCTION)
#define ALLOCINFO_FILTER_MASK_FILENAME		(1 << ALLOCINFO_FILTER_FILENAME)
#define ALLOCINFO_FILTER_MASK_LINENO		(1 << ALLOCINFO_FILTER_LINENO)
#define ALLOCINFO_FILTER_MASK_INACCURATE	(1 << ALLOCINFO_FILTER_INACCURATE)
#define ALLOCINFO_FILTER_MASK_MIN_SIZE		(1 << ALLOCINFO_FILTER_MIN_SIZE)
#define ALLOCINFO_FILTER_MASK_MAX_SIZE		(1 << ALLOCINFO_FILTER_MAX_SIZE)

#define ALLOCINFO_FILTER_MASKS	((1 << (__ALLOCINFO_FILTER_LAST + 1)) - 1)

/**
 * struct allocinfo_filter - which lines are wanted
 * @mask:	ALLOCINFO_FILTER_MASK_* of what counts, 0: all lines are wanted
 * @fields:	the call site, each name as struct allocinfo_tag has it; an empty
 *		module name is that of built-in code
 * @min_size:	bytes that it holds at least
 * @max_size:	bytes that it holds at most
 * @inaccurate:	0: only lines that are accurate, otherwise only those that are not
 */
struct allocinfo_filter {
	__u64 mask;
	struct allocinfo_tag fields;
	__u64 min_size;
	__u64 max_size;
	__u64 inaccurate;
};

/**
 * struct allocinfo_get_at - a line by its number
 * @pos:	how many of the lines that the filter wants come before it
 * @filter:	which lines are wanted, also by the ALLOCINFO_IOC_GET_NEXT that follow
 * @data:	the line, on return
 */
struct allocinfo_get_at {
	__u64 pos;
	struct allocinfo_filter filter;
	struct allocinfo_tag_data data;
};

#define _ALLOCINFO_IOC_CONTENT_ID	0
#define _ALLOCINFO_IOC_GET_AT		1
#define _ALLOCINFO_IOC_GET_NEXT		2

#define ALLOCINFO_IOC_BASE		0xA6
#define ALLOCINFO_IOC_CONTENT_ID	_IOR(ALLOCINFO_IOC_BASE, _ALLOCINFO_IOC_CONTENT_ID, \
					     struct allocinfo_content_id)
#define ALLOCINFO_IOC_GET_AT		_IOWR(ALLOCINFO_IOC_BASE, _ALLOCINFO_IOC_GET_AT, \
					      struct allocinfo_get_at)
#define ALLOCINFO_IOC_GET_NEXT		_IOR(ALLOCINFO_IOC_BASE, _ALLOCINFO_IOC_GET_NEXT, \
					     struct allocinfo_tag_data)

#endif /* _UAPI_LINUX_ALLOC_TAG_H */
