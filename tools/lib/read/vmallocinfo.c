// SPDX-License-Identifier: GPL-2.0-only
#include "read/vmallocinfo.h"

#include <string.h>

#include "base/number.h"

/* "0x…-0x…": digits, or the text that stands for them where addresses are hidden. */
static const char *skip_range(const char *s)
{
	const char *end = s + strcspn(s, " "), *dash = strchr(s, '-');

	return !strncmp(s, "0x", 2) && dash && dash < end && !strncmp(dash, "-0x", 3) ? end : NULL;
}

/* @size may include the guard page. */
static int64_t bytes_of(int64_t size, int64_t pages)
{
	int64_t page = size / (pages + 1);

	return size % (pages + 1) || page & (page - 1) ? size : page * pages;
}

bool vmalloc_area_parse(struct vmalloc_area *area, char *line)
{
	const char *s = skip_range(line), *number;
	char *caller, *pages, *end;
	int64_t size;

	*area = (struct vmalloc_area){ 0 };
	if (!s)
		return false;
	s += strspn(s, " ");
	if (!number_read(&s, &size) || size <= 0 || (*s && *s != ' '))
		return false;
	caller = (char *)s + strspn(s, " ");
	pages = strstr(caller, " pages=");
	if (!pages || !strstr(pages, " vmalloc"))
		return true;
	number = pages + strlen(" pages=");
	if (!number_read(&number, &area->pages) || area->pages <= 0 || area->pages > size)
		return true;
	area->bytes = bytes_of(size, area->pages);
	area->caller = caller;
	*pages = '\0';
	end = caller + strcspn(caller, "+ ");
	caller = strchr(end, '[');
	if (caller) {
		area->module = caller + 1;
		caller[strcspn(caller, "]")] = '\0';
	}
	*end = '\0';
	return true;
}
