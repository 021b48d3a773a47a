// SPDX-License-Identifier: GPL-2.0
#include "read/allocinfo.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "base/number.h"
#include "read/input.h"
#include "read/profiling.h"

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

/* Splits "file:line" in place, from the right: a path may hold colons. */
static const char *parse_place(struct site *site, char *s)
{
	char *colon = strrchr(s, ':');
	const char *digits;
	int64_t line;

	if (!colon || colon == s)
		return "no file:line";
	digits = colon + 1;
	if (*digits == '-' || !number_read(&digits, &line) || *digits ||
	    line < 0 || line > UINT32_MAX)
		return "the line number is not one";
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
	 * Names go to terminals: nothing in them may be an escape sequence. A
	 * NUL, which would cut the line short, is caught here as well.
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
		/* The module's build may have left blanks before "[". */
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

/* Returns what is wrong with the line, NULL if nothing is. */
static const char *parse_row(struct site *site, char *line, size_t len)
{
	const char *s = skip_blanks(line);
	char *tag;

	if (!number_read(&s, &site->bytes))
		return "no size";
	if (*s != ' ')
		return "no calls";
	s += strspn(s, " ");
	if (!number_read(&s, &site->calls))
		return "no calls";
	if (*s != ' ')
		return "no tag";
	tag = skip_blanks((char *)s);
	return site_parse(site, tag, len - (tag - line));
}

/* What is known of later ones is that they were changed. */
#define NEWEST_MAJOR 2

static bool parse_header(struct allocinfo *info, const char *line)
{
	static const char key[] = "allocinfo - version: ";
	int64_t major, minor = 0;

	if (strncmp(line, key, strlen(key)))
		return false;
	line += strlen(key);
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

void allocinfo_parse(struct allocinfo *info, char *text, size_t len)
{
	char *at = text, *line;
	size_t line_len, number = 0;
	bool complete;

	*info = (struct allocinfo){ .text = text };
	while ((line = input_line(&at, text + len, &line_len, &complete))) {
		struct site site = { 0 };
		const char *why;

		number++;
		if (line_len && line[line_len - 1] == '\r')
			line[--line_len] = '\0';
		if (!complete)
			info->cut = true;
		if (line[0] == '#' || line_len == 0 || parse_header(info, line))
			continue;
		why = parse_row(&site, line, line_len);
		if (why) {
			if (!info->bad_lines++) {
				info->first_bad = number;
				info->why_bad = why;
			}
			continue;
		}
		GROW(info->site, info->count, info->room);
		info->site[info->count++] = site;
	}
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

bool allocinfo_take(struct allocinfo *info, char *text, size_t len, const char *path)
{
	allocinfo_parse(info, text, len);
	profiling_mark(info, path);
	if (info->count || (info->major && !info->bad_lines))
		return true;
	if (len)
		warning("%s is not in the format of " ALLOCINFO_PATH, input_name(path));
	else
		warning("%s is empty", input_name(path));
	if (len >= 15 && !memcmp(info->text, "SQLite format 3", 15))
		hint("If it is a recording, this is its last snapshot: "
		     "codetag replay %s --text -1", path);
	else if (!len)
		hint("A copy of " ALLOCINFO_PATH " is empty if it was not made as root.");
	allocinfo_free(info);
	errno = 0;
	return false;
}

bool allocinfo_complete(const struct allocinfo *info, const char *path)
{
	if (info->bad_lines)
		warning("%s: %zu of its lines not understood, the first is line %zu: %s",
			input_name(path), info->bad_lines, info->first_bad,
			info->why_bad);
	if (info->major > NEWEST_MAJOR)
		warning("%s: its version %u.%u is newer than this build, which takes it for %u.x",
			input_name(path), info->major, info->minor, NEWEST_MAJOR);
	if (info->cut)
		warning("%s ends within a line: was it cut?", input_name(path));
	return !info->bad_lines && !info->cut;
}

void allocinfo_free(struct allocinfo *info)
{
	free(info->site);
	free(info->text);
	arena_free(&info->strings);
	*info = (struct allocinfo){ 0 };
}

static bool same_module(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
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
