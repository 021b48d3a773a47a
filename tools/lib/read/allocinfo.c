// SPDX-License-Identifier: GPL-2.0-only
#include "read/allocinfo.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "base/number.h"
#include "base/strmap.h"
#include "base/text.h"
#include "read/copies.h"
#include "read/input.h"
#include "read/other_stacks.h"
#include "read/profiling.h"
#include "read/vmallocinfo.h"

static const struct {
	const char *note;
	enum site_flag flag;
} known_notes[] = {
	{ "accurate:no", SITE_INACCURATE },
	{ "unloaded:yes", SITE_UNLOADED },
	{ "disabled:yes", SITE_DISABLED },
};

unsigned int site_flags(const char *notes)
{
	unsigned int flags = 0;

	while (*notes) {
		size_t len = strcspn(notes, " ");

		for (size_t i = 0; i < sizeof(known_notes) / sizeof(*known_notes); i++)
			if (len == strlen(known_notes[i].note) &&
			    !memcmp(notes, known_notes[i].note, len))
				flags |= known_notes[i].flag;
		notes += len;
		notes += strspn(notes, " ");
	}
	return flags;
}

const char *site_notes(unsigned int flags)
{
	static const char *const notes[] = {
		NULL,
		"accurate:no",
		"unloaded:yes",
		"accurate:no unloaded:yes",
		"disabled:yes",
		"accurate:no disabled:yes",
		"unloaded:yes disabled:yes",
		"accurate:no unloaded:yes disabled:yes",
	};

	return notes[flags & (SITE_INACCURATE | SITE_UNLOADED | SITE_DISABLED)];
}

static char *skip_blanks(char *s)
{
	return s + strspn(s, " ");
}

const char *site_path(const char *file)
{
	while (file[0] == '.' && file[1] == '/' && file[2])
		file += 2;
	return file;
}

const char *site_module(const char *module)
{
	return module && strcmp(module, "vmlinux") ? module : NULL;
}

static const char numbered[] = "a number too many: are the lines numbered?";

/* Splits "file:line" in place, from the right: a path may hold colons. */
static const char *parse_place(struct site *site, char *s)
{
	char *colon = strrchr(s, ':');
	size_t number = strspn(s, "0123456789");
	const char *digits;
	int64_t line;

	if (!colon || colon == s)
		return "no file:line";
	digits = colon + 1;
	if (*digits == '-' || !number_read(&digits, &line) || *digits ||
	    line < 0 || line > UINT32_MAX)
		return "the line number is not one";
	/* awk '{ print NR, $0 }' prints this: the size would be taken for the calls. */
	if (number && s[number] == ' ')
		return numbered;
	*colon = '\0';
	site->file = site_path(s);
	site->line = line;
	return NULL;
}

const char *site_parse(struct site *site, char *s, size_t len)
{
	static const char func_key[] = " func:";
	char *func, *end;

	/*
	 * Names go to terminals: nothing in them may be an escape sequence. A NUL, which would
	 * cut the line short, is replaced here as well.
	 */
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)s[i] < ' ' || s[i] == 0x7f)
			return "control character";

	func = strstr(s, func_key);
	if (!func)
		return "no func:";
	end = func;
	func += strlen(func_key);

	while (end > s && end[-1] == ' ')
		end--;
	*end = '\0';
	if (end > s && end[-1] == ']') {
		char *open = strstr(s, " [");

		if (!open || open + 2 == end - 1)
			return "the module has no name";
		end[-1] = '\0';
		*open = '\0';
		site->module = site_module(open + 2);
		/* The build of a module may have left blanks before "[". */
		while (open > s && open[-1] == ' ')
			*--open = '\0';
	}

	end = func + strcspn(func, " ");
	if (end == func)
		return "the function has no name";
	if (*end) {
		*end++ = '\0';
		end = skip_blanks(end);
		for (size_t n = strlen(end); n && end[n - 1] == ' '; )
			end[--n] = '\0';
		if (*end) {
			site->notes = end;
			site->flags = site_flags(end);
		}
	}
	site->func = func;
	return parse_place(site, s);
}

/*
 * The unit after the digits of a size: "1.9M" of numfmt, "38.4 MiB" of the kernel's log. *@off
 * is the largest rounding error: numfmt rounds up, the kernel to the nearest.
 */
static bool parse_unit(const char **s, const char *digits, int64_t *bytes, int64_t *off)
{
	static const char units[] = "BKMGTPE";
	const char *unit = *s;
	double number, ulp = 1;
	char *after, copy[32];
	size_t len;

	*off = 0;
	unit += strspn(unit, "0123456789.,");
	len = unit - digits;
	if (len >= sizeof(copy))
		return false;
	memcpy(copy, digits, len);
	copy[len] = '\0';
	for (char *c = copy; *c; c++)
		if (*c == ',')
			*c = '.';
	unit += unit[0] == ' ' && unit[1] && (strchr(units, unit[1]) || unit[1] == 'k');
	if (!*unit || (!strchr(units, *unit) && *unit != 'k'))
		return false;
	number = strtod(copy, &after);
	if (*after)
		return false;
	for (const char *c = strchr(copy, '.'); c && *++c; )
		ulp /= 10;
	if (*unit != 'B') {
		int power = *unit == 'k' ? 10 : 10 * (int)(strchr(units, *unit) - units);

		number = ldexp(number, power);
		ulp = ldexp(ulp, power);
		unit++;
		if (unit[0] == 'i' && unit[1] == 'B') {
			unit += 2;
			ulp /= 2;
		} else if (*unit == 'i' || *unit == 'B') {
			unit++;
		}
		if (!(fabs(number) < 9.2e18))
			return false;
		*bytes = (int64_t)number;
		*off = (int64_t)ulp;
	} else {
		unit++;
	}
	*s = unit;
	return true;
}

static const char header[] = "allocinfo - version: ";

/* Larger than any memory */
#define TOO_LARGE	(INT64_C(1) << 60)

/* Returns the error in the line, NULL if there is none. */
static const char *parse_row(struct site *site, char *line, size_t len, int64_t *off)
{
	const char *s = skip_blanks(line), *digits = s;
	char *tag;

	*off = 0;
	if (!number_read(&s, &site->bytes))
		return "no size";
	if ((*s != ' ' || strspn(s + 1, "BKMGTPE")) &&
	    !parse_unit(&s, digits, &site->bytes, off))
		return "the size is no number of bytes";
	if (site->bytes >= TOO_LARGE)
		return "the size is larger than any memory";
	if (*s != ' ')
		return "no calls";
	s += strspn(s, " ");
	if (*s == '#' || !strncmp(s, header, strlen(header)))
		return numbered;
	if (!number_read(&s, &site->calls))
		return "no calls";
	if (*s != ' ')
		return "no tag";
	tag = skip_blanks((char *)s);
	return site_parse(site, tag, len - (tag - line));
}

/* Of a later version nothing is known except that the format has changed. */
#define NEWEST_MAJOR 2

static bool parse_header(struct allocinfo *info, const char *line)
{
	int64_t major, minor = 0;

	if (strncmp(line, header, strlen(header)))
		return false;
	line += strlen(header);
	if (!number_read(&line, &major) || major < 0 || major > 999)
		return false;
	if (*line == '.') {
		line++;
		if (!number_read(&line, &minor) || minor < 0 || minor > 999)
			return false;
	}
	info->major = major;
	info->minor = minor;
	return true;
}

bool allocinfo_sorted(const struct allocinfo *info)
{
	const struct site *site = info->site;
	size_t up = 0, down = 0;

	for (size_t i = 1; i < info->count; i++) {
		up += site[i].bytes >= site[i - 1].bytes;
		down += site[i].bytes <= site[i - 1].bytes;
	}
	return up + 1 >= info->count || down + 1 >= info->count;
}

/* The smallest size of a list of the largest sites */
static int64_t find_floor(const struct allocinfo *info)
{
	const struct site *site = info->site;

	if (!allocinfo_sorted(info))
		return -1;
	return site[0].bytes < site[info->count - 1].bytes ? site[0].bytes :
	       site[info->count - 1].bytes;
}

/* The kernel begins its list with a header. */
void allocinfo_find_part(struct allocinfo *info)
{
	info->floor = -1;
	info->part = info->count && !info->areas && (info->from_log || !info->major);
	if (info->part)
		info->floor = find_floor(info);
}

/*
 * A function that is inlined has more than one row, and so has a module that was loaded again. But
 * where a third of the rows are of call sites that were there before, lists have been joined.
 */
static void find_repeated(struct allocinfo *info)
{
	struct strmap seen = { 0 };
	struct text key = { 0 };

	for (size_t i = 0; i < info->count; i++) {
		const struct site *site = &info->site[i];
		size_t known = seen.count;

		if (site->flags & SITE_UNLOADED)
			continue;
		text_clear(&key);
		text_printf(&key, "%s:%lld %s %s", site->file, (long long)site->line,
			    site->module ? site->module : "", site->func);
		info->repeated += strmap_add(&seen, key.s, key.len) < known;
	}
	if (info->areas || info->repeated < 2 || info->repeated * 3 < info->count)
		info->repeated = 0;
	text_free(&key);
	strmap_free(&seen);
}

static void add_row(struct allocinfo *info, char *line, size_t len, size_t number)
{
	struct site site = { 0 };
	int64_t off;
	const char *why = parse_row(&site, line, len, &off);

	if (why) {
		bad_lines_add(&info->bad, number, why);
		return;
	}
	GROW(info->site, info->count, info->room);
	info->site[info->count++] = site;
	info->rounded += off > 0;
	info->rounding = add64(info->rounding, off);
}

static bool same_module(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static void add_area(struct allocinfo *info, const struct vmalloc_area *area)
{
	const char *module = site_module(area->module);

	for (size_t i = 0; i < info->count; i++) {
		struct site *site = &info->site[i];

		if (!strcmp(site->func, area->caller) && same_module(site->module, module)) {
			site->bytes = add64(site->bytes, area->bytes);
			site->calls++;
			return;
		}
	}
	GROW(info->site, info->count, info->room);
	info->site[info->count++] = (struct site){
		.file = "vmallocinfo", .func = area->caller, .module = module,
		.bytes = area->bytes, .calls = 1,
	};
}

/* Returns false if it is no line of a vmallocinfo, which is then unchanged. */
static bool take_area(struct allocinfo *info, char *line)
{
	struct vmalloc_area area;

	if (!vmalloc_area_parse(&area, line))
		return false;
	info->areas = true;
	if (area.bytes)
		add_area(info, &area);
	else
		info->other_areas++;
	return true;
}

void allocinfo_parse(struct allocinfo *info, char *text, size_t len)
{
	char *at = text, *line;
	size_t line_len, number = 0;
	struct bad_lines others = { 0 };
	bool complete, in_list = false;
	int64_t time;

	*info = (struct allocinfo){ .text = text };
	while ((line = input_line(&at, text + len, &line_len, &complete))) {
		number++;
		if (!complete)
			info->bad.cut = number;
		in_list = isdigit((unsigned char)*skip_blanks(line));
		switch (copies_line(line, line_len, &time)) {
		case LINE_ROW:
			add_row(info, line, line_len, number);
			break;
		case LINE_HEADER:
			if (info->major)
				bad_lines_add(&info->bad, number, "another copy begins");
			else if (!parse_header(info, line))
				bad_lines_add(&info->bad, number, "its version is no number");
			break;
		case LINE_LOG_HEADER:
			info->from_log = true;
			info->was_off = strstr(line, "turned off");
			break;
		case LINE_BETWEEN:
		case LINE_COMMENT:
			break;
		case LINE_OTHER: {
			struct site site = { 0 };
			const char *why;

			if (complete && take_area(info, line))
				break;
			why = parse_row(&site, line, line_len, &time);
			bad_lines_add(&others, number, why ? why : "no size");
			break;
		}
		}
	}
	/* A log has other lines, too. */
	if (info->from_log) {
		if (!in_list)
			info->bad.cut = 0;
	} else if (others.count) {
		if (!info->bad.count || others.first < info->bad.first) {
			info->bad.first = others.first;
			info->bad.why = others.why;
		}
		info->bad.count += others.count;
	}
	allocinfo_find_part(info);
	find_repeated(info);
}

void allocinfo_complain(const char *path, int error)
{
	input_complain(path, error);
	if (error == ENOENT && !strcmp(path, ALLOCINFO_PATH))
		hint("This kernel has no allocation profiling (CONFIG_MEM_ALLOC_PROFILING),\n"
		     "or was booted with vm.mem_profiling=never.");
	errno = error;
}

bool allocinfo_read(struct allocinfo *info, const char *path)
{
	size_t len;
	char *text;

	if (!input_read_proc(path, "allocinfo", &text, &len)) {
		allocinfo_complain(path, errno);
		return false;
	}
	return allocinfo_take(info, text, len, path);
}

static bool is_allocinfo(struct allocinfo *info, size_t len, size_t lines, const char *path)
{
	profiling_mark(info, path);
	if (info->bad.count)
		info->bad.first += lines;
	if (info->bad.cut)
		info->bad.cut += lines;
	if (info->count || (info->major && !info->bad.count))
		return true;
	if (len >= 15 && !memcmp(info->text, "SQLite format 3", 15)) {
		warning("%s is not in the format of " ALLOCINFO_PATH, input_name(path));
		hint(strcmp(path, "-") ? "If it is a recording, this is its last snapshot: codetag replay %s --text -1" :
		     "Name the file: a database cannot be read from standard input.", path);
	} else if (info->from_log) {
		warning("%s: the kernel's list of allocations has no row", input_name(path));
	} else if (len) {
		warning("%s is not in the format of " ALLOCINFO_PATH ", line %zu: %s",
			input_name(path), info->bad.count ? info->bad.first : lines + 1,
			info->bad.count ? info->bad.why : "no size");
		if (other_stacks_are(info->text, len))
			hint("It has stacks: codetag contexts %s", path);
	} else {
		warning("%s is empty", input_name(path));
		hint("A copy of " ALLOCINFO_PATH " is empty if it was not made as root.");
	}
	allocinfo_free(info);
	errno = 0;
	return false;
}

bool allocinfo_take_copy(struct allocinfo *info, const char *text, size_t len, size_t lines,
			 const char *path)
{
	char *copy = xmalloc(len + 1);

	memcpy(copy, text, len);
	copy[len] = '\0';
	allocinfo_parse(info, copy, len);
	return is_allocinfo(info, len, lines, path);
}

bool allocinfo_take(struct allocinfo *info, char *text, size_t len, const char *path)
{
	const struct copy *last;
	struct copies copies;
	bool good;

	copies_find(&copies, text, len);
	last = &copies.copy[copies.count - 1];
	if (copies.count == 1) {
		allocinfo_parse(info, text, len);
		good = is_allocinfo(info, len, 0, path);
	} else {
		good = allocinfo_take_copy(info, text + last->start, last->len, last->line, path);
		free(text);
	}
	if (good)
		info->copies = copies.count;
	copies_free(&copies);
	return good;
}

bool allocinfo_complete(const struct allocinfo *info, const char *path)
{
	bool good = bad_lines_none(&info->bad, path);

	if (info->major > NEWEST_MAJOR)
		warning("%s: its version %u.%u is newer than this build, which takes it for %u.x",
			input_name(path), info->major, info->minor, NEWEST_MAJOR);
	if (info->copies > 1) {
		warning("%s has %zu copies of " ALLOCINFO_PATH ": this is the last one",
			input_name(path), info->copies);
		hint("One is chosen by its number: %s@1, %s@-1", path, path);
	}
	if (info->repeated) {
		warning("%s: %zu of its %zu rows are of call sites that are in earlier rows, too",
			input_name(path), info->repeated, info->count);
		hint("It looks like several lists in one file. Their sizes are added up: keep one of them.");
	}
	if (info->uncounted) {
		warning("%s: the allocations and frees of %zu of its %zu rows are missing", input_name(path),
			info->uncounted, info->uncounted_of);
		hint("The file of allocations and frees is cut, or of another kernel.");
	}
	return good && info->copies <= 1 && !info->repeated && !info->uncounted;
}

void allocinfo_free(struct allocinfo *info)
{
	free(info->site);
	free(info->text);
	arena_free(&info->strings);
	*info = (struct allocinfo){ 0 };
}

void site_name(const struct site *site, struct text *text)
{
	text_printf(text, "%s:%u%s%s%s func:%s", site->file, site->line, site->module ? " [" : "",
		    site->module ? site->module : "", site->module ? "]" : "", site->func);
}

bool site_same(const struct site *a, const struct site *b)
{
	return a->line == b->line && !strcmp(a->file, b->file) &&
	       !strcmp(a->func, b->func) && same_module(a->module, b->module);
}

bool site_reserved(const struct site *site)
{
	return !strcmp(site->file, "codetag");
}
