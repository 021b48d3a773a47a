// SPDX-License-Identifier: GPL-2.0-only
#include "read/allocinfo_ioctl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <uapi/linux/alloc_tag.h>
#include <unistd.h>

/* A name that fills its field may be the end of a longer one. */
#define WHOLE_NAME	(ALLOCINFO_STR_SIZE - 2)

/* Only the text, in its first line, has the version of the lines. */
static void read_version(struct allocinfo *info, int fd)
{
	char head[64];
	ssize_t len = read(fd, head, sizeof(head) - 1);

	head[len > 0 ? len : 0] = '\0';
	head[strcspn(head, "\n")] = '\0';
	allocinfo_parse(info, xstrdup(head), strlen(head));
	info->bad.cut = 0;
}

static bool want(struct allocinfo_filter *filter, unsigned int bit, char *field, const char *name)
{
	if (!name)
		return true;
	if (strlen(name) > WHOLE_NAME)
		return false;
	filter->mask |= bit;
	memcpy(field, name, strlen(name) + 1);
	return true;
}

/* NULL if there is none. */
static const char *copy_name(struct allocinfo *info, const char *name)
{
	return *name ? arena_copy(&info->strings, name, strlen(name)) : NULL;
}

static bool whole(const char *field)
{
	return strnlen(field, ALLOCINFO_STR_SIZE) <= WHOLE_NAME;
}

/* Returns false if that cannot be the whole line. */
static bool add(struct allocinfo *info, const struct allocinfo_tag_data *data)
{
	const struct allocinfo_counter *counter = &data->counter;
	const struct allocinfo_tag *tag = &data->tag;
	struct site site = {
		.line = tag->lineno,
		.flags = (counter->accurate ? 0 : SITE_INACCURATE) |
			 (counter->pad[ALLOCINFO_PAD_UNLOADED] ? SITE_UNLOADED : 0),
		.bytes = (int64_t)counter->bytes,
		.calls = (int64_t)counter->calls,
	};

	if (!whole(tag->modname) || !whole(tag->function) || !whole(tag->filename) ||
	    !*tag->function || !*tag->filename)
		return false;
	site.module = copy_name(info, tag->modname);
	site.func = copy_name(info, tag->function);
	site.file = copy_name(info, site_path(tag->filename));
	site.notes = site_notes(site.flags);
	GROW(info->site, info->count, info->room);
	info->site[info->count++] = site;
	return true;
}

static bool read_sites(struct allocinfo *info, int fd, struct allocinfo_get_at *at)
{
	int failed = ioctl(fd, ALLOCINFO_IOC_GET_AT, at);

	while (!failed && add(info, &at->data))
		failed = ioctl(fd, ALLOCINFO_IOC_GET_NEXT, &at->data);
	return failed && errno == ENOENT;
}

bool allocinfo_read_some(struct allocinfo *info, const char *func, const char *module)
{
	struct allocinfo_get_at at = { 0 };
	struct allocinfo_filter *filter = &at.filter;
	bool good;
	int fd;

	if (!want(filter, ALLOCINFO_FILTER_MASK_FUNCTION, filter->fields.function, func) ||
	    !want(filter, ALLOCINFO_FILTER_MASK_MODNAME, filter->fields.modname, module))
		return false;
	fd = open(ALLOCINFO_PATH, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	read_version(info, fd);
	good = info->major && read_sites(info, fd, &at);
	if (!good)
		allocinfo_free(info);
	close(fd);
	return good;
}
