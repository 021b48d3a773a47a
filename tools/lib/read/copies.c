// SPDX-License-Identifier: GPL-2.0-only
#include "read/copies.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "base/number.h"

static bool is_digit(char c)
{
	return isdigit((unsigned char)c);
}

/* Number and unit: "4096", "-8192", "1.9M", "38.4 MiB"; NULL if there is none. */
static const char *skip_size(const char *s, const char *end)
{
	const char *start;

	s += s < end && *s == '-';
	start = s;
	while (s < end && (is_digit(*s) || *s == '.' || *s == ','))
		s++;
	if (s == start)
		return NULL;
	if (s + 1 < end && *s == ' ' && isalpha((unsigned char)s[1]))
		s++;
	while (s < end && isalpha((unsigned char)*s))
		s++;
	return s < end && *s == ' ' ? s : NULL;
}

static bool is_row(const char *line, size_t len)
{
	const char *end = line + len, *s = line;

	while (s < end && *s == ' ')
		s++;
	s = skip_size(s, end);
	while (s && s < end && *s == ' ')
		s++;
	if (s && s < end && *s == '-')
		s++;
	if (!s || s == end || !is_digit(*s))
		return false;
	return memmem(s, end - s, " func:", 6) != NULL;
}

/* ---- times ---------------------------------------------------------------------------- */

/* From 2001 to 2100, in seconds. */
static bool is_epoch(int64_t seconds)
{
	return seconds > 1000000000 && seconds < 4102444800;
}

/* "UTC", "Z", "+0100": whether @tm is of no local time, and *@offset seconds before UTC. */
static bool find_zone(const char *s, int64_t *offset)
{
	*offset = 0;
	s += strspn(s, " ");
	if (!strncmp(s, "UTC", 3) || !strncmp(s, "GMT", 3) || *s == 'Z')
		return true;
	if ((*s == '+' || *s == '-') && is_digit(s[1]) && is_digit(s[2])) {
		const char *minutes = s + 3 + (s[3] == ':');

		*offset = ((s[1] - '0') * 10 + s[2] - '0') * 3600;
		if (is_digit(minutes[0]) && is_digit(minutes[1]))
			*offset += ((minutes[0] - '0') * 10 + minutes[1] - '0') * 60;
		if (*s == '-')
			*offset = -*offset;
		return true;
	}
	return false;
}

static int64_t to_ms(struct tm *tm, const char *rest)
{
	int64_t offset, seconds;
	bool utc = find_zone(rest, &offset) || strstr(rest, " UTC") || strstr(rest, " GMT");

	tm->tm_isdst = -1;
	seconds = utc ? timegm(tm) - offset : mktime(tm);
	return is_epoch(seconds) ? seconds * 1000 : 0;
}

/* The output of date, in its usual formats and by itself. */
static int64_t parse_date(const char *s)
{
	static const char *const formats[] = {
		"%a %b %d %H:%M:%S %Y", "%a %d %b %Y %I:%M:%S %p", "%a %d %b %Y %H:%M:%S",
		"%a, %d %b %Y %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S",
		"%Y/%m/%d %H:%M:%S", "%Y-%m-%d %H:%M", "%Y%m%d-%H%M%S", "%d.%m.%Y %H:%M:%S",
	};

	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
		struct tm tm = { 0 };
		const char *rest = strptime(s, formats[i], &tm);

		if (rest && strlen(rest) < 16)
			return to_ms(&tm, rest);
	}
	return 0;
}

/* "Wed Nov 25 12:00:00 UTC 2026": the zone is in the way of strptime(). */
static int64_t parse_date_with_zone(const char *s)
{
	struct tm tm = { 0 };
	const char *rest = strptime(s, "%a %b %d %H:%M:%S", &tm), *year;

	if (!rest || *rest != ' ')
		return 0;
	year = strrchr(rest, ' ');
	if (!year || year == rest || !strptime(year + 1, "%Y", &tm))
		return 0;
	return to_ms(&tm, rest);
}

static int64_t parse_time(const char *line, size_t len)
{
	static const char frame[] = " \t-=#*:[]";
	char copy[80];
	const char *s = copy;
	int64_t number, time;

	if (len >= sizeof(copy))
		return 0;
	memcpy(copy, line, len);
	copy[len] = '\0';
	while (len && strchr(frame, copy[len - 1]))
		copy[--len] = '\0';
	s += strspn(s, frame);
	if (!strncasecmp(s, "date", 4) || !strncasecmp(s, "time", 4))
		s += 4 + strspn(s + 4, frame);
	time = parse_date_with_zone(s);
	if (!time)
		time = parse_date(s);
	if (!time && number_read(&s, &number) && (!*s || *s == '.') && is_epoch(number))
		time = number * 1000;
	return time;
}

/* @count digits at *@s, and what may stand between them and the next ones. */
static bool take_digits(const char **s, int count, int *value)
{
	*value = 0;
	for (int i = 0; i < count; i++, (*s)++) {
		if (!is_digit(**s))
			return false;
		*value = *value * 10 + **s - '0';
	}
	*s += **s && strchr("-_:.T ", **s) != NULL;
	return true;
}

static int64_t date_at(const char *s)
{
	struct tm tm = { 0 };
	int year, month, day;

	if (!take_digits(&s, 4, &year) || year < 2001 || year > 2099 ||
	    !take_digits(&s, 2, &month) || !take_digits(&s, 2, &day) || month < 1 ||
	    month > 12 || day < 1 || day > 31)
		return 0;
	tm.tm_year = year - 1900;
	tm.tm_mon = month - 1;
	tm.tm_mday = day;
	if (take_digits(&s, 2, &tm.tm_hour) && take_digits(&s, 2, &tm.tm_min) &&
	    !take_digits(&s, 2, &tm.tm_sec))
		tm.tm_sec = 0;
	return tm.tm_hour < 24 && tm.tm_min < 60 && tm.tm_sec < 61 ?
	       to_ms(&tm, s[-1] == '.' || s[-1] == '-' ? "" : s) : 0;
}

int64_t copies_time_of_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	for (const char *s = slash ? slash + 1 : path; *s; s++) {
		const char *end = s;
		int64_t seconds, time;

		if (!is_digit(*s) || (s > path && is_digit(s[-1])))
			continue;
		time = date_at(s);
		if (!time && number_read(&end, &seconds) && is_epoch(seconds))
			time = seconds * 1000;
		if (time)
			return time;
	}
	return 0;
}

/* ---- copies ----------------------------------------------------------------------------- */

enum copies_line copies_line(const char *line, size_t len, int64_t *time)
{
	static const char header[] = "allocinfo - version: ", log[] = "Memory allocations";

	*time = 0;
	if (len && line[len - 1] == '\r')
		len--;
	if (!len)
		return LINE_COMMENT;
	if (*line == ' ' || is_digit(*line) || *line == '-') {
		if (is_row(line, len))
			return LINE_ROW;
	}
	if (len >= strlen(header) && !memcmp(line, header, strlen(header)))
		return LINE_HEADER;
	if (len >= strlen(log) && !memcmp(line, log, strlen(log)) &&
	    (line[strlen(log)] == ':' || line[strlen(log)] == ' '))
		return LINE_LOG_HEADER;
	*time = parse_time(line, len);
	if (*time || memmem(line, len, "/proc/allocinfo", 15) ||
	    (len > 8 && !memcmp(line, "==> ", 4)))
		return LINE_BETWEEN;
	return *line == '#' ? LINE_COMMENT : LINE_OTHER;
}

static struct copy *begin(struct copies *copies, size_t start, size_t line, int64_t time)
{
	struct copy *copy;

	GROW(copies->copy, copies->count, copies->room);
	copy = &copies->copy[copies->count++];
	/* The first copy begins with the text. */
	*copy = (struct copy){ copies->count > 1 ? start : 0, 0, copies->count > 1 ? line : 0, time };
	return copy;
}

void copies_find(struct copies *copies, const char *text, size_t len)
{
	const char *at = text, *end = text + len;
	bool closed = true, rows = false;
	int64_t time = 0;

	*copies = (struct copies){ 0 };
	for (size_t number = 0; at < end; number++) {
		const char *newline = memchr(at, '\n', end - at);
		size_t bytes = (newline ? newline : end) - at;
		int64_t told;

		switch (copies_line(at, bytes, &told)) {
		case LINE_ROW:
			if (closed)
				begin(copies, at - text, number, time);
			closed = false;
			rows = true;
			break;
		case LINE_HEADER:
		case LINE_LOG_HEADER:
			/* A header without rows is no copy, except one that a sort has put last. */
			if (!copies->count || rows)
				begin(copies, at - text, number, time);
			else if (time)
				copies->copy[copies->count - 1].time = time;
			closed = rows = false;
			break;
		case LINE_BETWEEN:
			if (told)
				time = told;
			if (rows)
				closed = true;
			break;
		case LINE_COMMENT:
		case LINE_OTHER:
			break;
		}
		at += bytes + (newline != NULL);
	}
	/* "sort -rg" leaves the header behind the rows. */
	if (copies->count > 1 && !rows)
		copies->count--;
	if (!copies->count)
		begin(copies, 0, 0, time);
	for (size_t i = 0; i < copies->count; i++)
		copies->copy[i].len = (i + 1 < copies->count ? copies->copy[i + 1].start : len) -
				      copies->copy[i].start;
}

void copies_free(struct copies *copies)
{
	free(copies->copy);
	*copies = (struct copies){ 0 };
}
