// SPDX-License-Identifier: GPL-2.0-only
#include "trace/kmem_event.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"

static const struct {
	const char *name;
	enum kmem_kind kind;
} names[] = {
	{ "kmalloc", KMEM_MALLOC },
	{ "kmalloc_node", KMEM_MALLOC },
	{ "kmem_cache_alloc", KMEM_CACHE_ALLOC },
	{ "kmem_cache_alloc_node", KMEM_CACHE_ALLOC },
	{ "kfree", KMEM_FREE },
	{ "kmem_cache_free", KMEM_CACHE_FREE },
	{ "mm_page_alloc", KMEM_PAGE_ALLOC },
	{ "mm_page_free", KMEM_PAGE_FREE },
	/* Before 3.3. Today mm_page_free_batched is a second event for the same free. */
	{ "mm_page_free_direct", KMEM_PAGE_FREE },
	{ "mm_pagevec_free", KMEM_PAGE_FREE },
};

enum kmem_kind kmem_kind_of(const char *name, size_t len)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strlen(names[i].name) == len && !memcmp(names[i].name, name, len))
			return names[i].kind;
	return KMEM_NONE;
}

/*
 * The text before the CPU without blanks around it, and without the "(811)" of a thread group.
 */
static void find_task(struct kmem_event *event, const char *line, const char *end)
{
	while (*line == ' ')
		line++;
	while (end > line && end[-1] == ' ')
		end--;
	if (end > line && end[-1] == ')') {
		const char *open = end;

		while (open > line && *open != '(')
			open--;
		end = open;
		while (end > line && end[-1] == ' ')
			end--;
	}
	event->task = line;
	event->task_len = end - line;
}

/*
 * "sh-50 1d..2" of the option latency-format: after the task come the digits of the CPU and
 * letters for its state.
 */
static int find_latency_cpu(struct kmem_event *event, const char *line, const char *end)
{
	for (const char *s = line; s < end; s++) {
		const char *word = s, *task = s;
		int cpu = 0;

		if (!isdigit((unsigned char)*s) || s == line || s[-1] != ' ')
			continue;
		while (word < end && word - s < 4 && isdigit((unsigned char)*word))
			cpu = cpu * 10 + *word++ - '0';
		if (word - s > 4 || strspn(word, ".dDnNpPbBhHsSzZxXA#L0123456789abcdef") < 4 ||
		    !strchr(".dDXbB", *word) || word[strcspn(word, " ")] != ' ')
			continue;
		while (task > line && task[-1] == ' ')
			task--;
		while (task > line && isdigit((unsigned char)task[-1]))
			task--;
		if (task == line || task[-1] != '-')
			continue;
		find_task(event, line, s);
		return cpu;
	}
	return -1;
}

/* The last "[digits]" before @end: the name of a task may contain brackets, too. */
static int find_cpu(struct kmem_event *event, const char *line, const char *end)
{
	for (const char *s = end; s > line; s--) {
		const char *digits = s;
		int cpu = 0;

		if (*s != ']')
			continue;
		while (digits > line && isdigit((unsigned char)digits[-1]))
			digits--;
		if (digits == s || digits == line || digits[-1] != '[' || s - digits > 5)
			continue;
		find_task(event, line, digits - 1);
		for (; digits < s; digits++)
			cpu = cpu * 10 + *digits - '0';
		return cpu;
	}
	return find_latency_cpu(event, line, end);
}

/*
 * Hexadecimal, with or without 0x. "(null)" and trace-cmd's "(nil)" are 0; a hidden pointer is
 * invalid.
 */
static bool parse_pointer(const char *s, size_t len, uint64_t *ptr)
{
	*ptr = 0;
	if ((len == 6 && !memcmp(s, "(null)", 6)) ||
	    (len == 5 && !memcmp(s, "(nil)", 5)))
		return true;
	if (len > 2 && s[0] == '0' && s[1] == 'x') {
		s += 2;
		len -= 2;
	}
	if (!len || len > 16)
		return false;
	for (; len; s++, len--) {
		if (!isxdigit((unsigned char)*s))
			return false;
		*ptr = *ptr << 4 | (uint64_t)(isdigit((unsigned char)*s) ? *s - '0' :
						(*s | 0x20) - 'a' + 10);
	}
	return true;
}

/* Kernels before 5.13 print the number of a page in decimal. */
static bool parse_pfn(const char *s, size_t len, uint64_t *pfn)
{
	char copy[24], *end;

	if (len > 2 && s[0] == '0' && s[1] == 'x')
		return parse_pointer(s, len, pfn);
	if (!len || len >= sizeof(copy) || !isdigit((unsigned char)*s))
		return false;
	memcpy(copy, s, len);
	copy[len] = '\0';
	*pfn = strtoull(copy, &end, 10);
	return !*end;
}

/* An option of the trace can make numbers hexadecimal. */
static bool parse_number(const char *s, size_t len, int64_t *value)
{
	const char *end = s;
	uint64_t hex;

	if (len > 2 && s[0] == '0' && s[1] == 'x') {
		if (!parse_pointer(s, len, &hex) || hex > INT64_MAX)
			return false;
		*value = (int64_t)hex;
		return true;
	}
	return number_read(&end, value) && end == s + len;
}

enum { GOT_SITE = 1, GOT_PTR = 2, GOT_REQUESTED = 4, GOT_ALLOCATED = 8, GOT_ORDER = 16 };

static bool is_key(const char *s, size_t len, const char *key)
{
	return strlen(key) == len && !memcmp(s, key, len);
}

/* Returns the field that it was, 0 for one that is not needed. */
static unsigned int parse_field(struct kmem_event *event, const char *key,
				size_t key_len, const char *value, size_t len)
{
	if (is_key(key, key_len, "call_site")) {
		const char *slash = memchr(value, '/', len);

		event->site = value;
		event->site_len = slash ? (size_t)(slash - value) : len;
		return event->site_len ? GOT_SITE : 0;
	}
	if (is_key(key, key_len, "ptr"))
		return parse_pointer(value, len, &event->ptr) ? GOT_PTR : 0;
	if (is_key(key, key_len, "bytes_req"))
		return parse_number(value, len, &event->requested) ? GOT_REQUESTED : 0;
	if (is_key(key, key_len, "bytes_alloc"))
		return parse_number(value, len, &event->allocated) ? GOT_ALLOCATED : 0;
	if (is_key(key, key_len, "order"))
		return parse_number(value, len, &event->order) ? GOT_ORDER : 0;
	if (is_key(key, key_len, "pfn"))
		return parse_pfn(value, len, &event->ptr) ? GOT_PTR : 0;
	if (is_key(key, key_len, "gfp_flags") && event->kind == KMEM_PAGE_ALLOC) {
		event->site = key;
		event->site_len = value + len - key;
	}
	if (is_key(key, key_len, "name")) {
		event->cache = value;
		event->cache_len = len;
	}
	return 0;
}

static const char *what_lacks(unsigned int lacks)
{
	return lacks & GOT_PTR ? "no pointer" : lacks & GOT_ORDER ? "no order" :
	       lacks & GOT_SITE ? "no call site" : "no number of bytes";
}

static void parse_fields(struct kmem_event *event, const char *s)
{
	unsigned int got = 0, need = GOT_SITE | GOT_PTR;

	if (event->kind == KMEM_MALLOC || event->kind == KMEM_CACHE_ALLOC)
		need |= GOT_REQUESTED | GOT_ALLOCATED;
	else if (event->kind == KMEM_PAGE_ALLOC || event->kind == KMEM_PAGE_FREE)
		need = GOT_PTR | GOT_ORDER;
	while (*s) {
		const char *end = strchrnul(s, ' ');
		const char *equals = memchr(s, '=', end - s);

		if (equals) {
			const char *value = equals + 1;

			/* Kernels up to 5.1 pad "(null)" to the width of a pointer. */
			if (value == end && !strncmp(value + strspn(value, " "), "(null)", 6)) {
				value += strspn(value, " ");
				end = value + 6;
			}
			got |= parse_field(event, s, equals - s, value, end - value);
		} else if (got == GOT_SITE && *s == '[' && end[-1] == ']') {
			event->module = s;
			event->module_len = end - s;
		}
		s = *end ? end + 1 : end;
	}
	if ((got & need) != need) {
		event->kind = KMEM_BAD;
		event->why = what_lacks(need & ~got);
	} else if (event->requested < 0 || event->allocated < 0 || event->order < 0 ||
		   event->order > 30) {
		event->kind = KMEM_BAD;
		event->why = "a number is out of range";
	}
}

/*
 * " => foo+0x33/0x80", or "\tffffffff8128e0a3 foo+0x33 ([kernel.kallsyms])" of perf, where
 * short addresses are those of a kernel that perf has not relocated.
 */
static bool parse_frame(struct kmem_event *event, const char *line)
{
	const char *s = line + strspn(line, " \t");
	size_t digits = strspn(s, "0123456789abcdef"), len = strlen(s);

	if (!strncmp(s, "=> ", 3))
		s += 3;
	else if (s > line && s[digits] == ' ' &&
		 (digits >= 6 || (digits && s[len - 1] == ')' && strstr(s, " ("))))
		s += digits + 1;
	else
		return false;
	event->kind = KMEM_FRAME;
	event->site = s;
	event->site_len = strcspn(s, "/ ");
	if (!strncmp(s, "[unknown] ", 10))
		event->site_len = 0;
	return event->site_len || *s == '[';
}

/*
 * The beginning of the fields of an event: after "kmalloc:", or perf's "kmem:kmalloc:"; NULL if
 * there is no event of interest. The end of a task's name can look like an event, but is not
 * preceded by a blank.
 */
static const char *find_event(struct kmem_event *event, const char *line, const char **name)
{
	for (const char *colon = line; (colon = strchr(colon, ':')); colon++) {
		const char *start = colon;

		if (colon[1] != ' ' && colon[1])
			continue;
		while (start > line && start[-1] != ' ' && start[-1] != ':')
			start--;
		event->kind = kmem_kind_of(start, colon - start);
		if (event->kind == KMEM_NONE)
			continue;
		while (start > line && start[-1] != ' ')
			start--;
		*name = start;
		return colon + 1;
	}
	return NULL;
}

/*
 * trace-cmd puts "(foo+0x33)" in front of the fields. Where it could not make sense of the format,
 * that is the only name of the call site: "(foo+0x33) [FAILED TO PARSE] call_site=0xffff…".
 */
static void find_symbol(struct kmem_event *event, const char *fields)
{
	const char *end;

	fields += strspn(fields, " ");
	end = *fields == '(' ? strchr(fields, ')') : NULL;
	if (!end || end == fields + 1 || strncmp(end + 1, " [FAILED TO PARSE]", 18))
		return;
	event->site = fields + 1;
	event->site_len = end - fields - 1;
}

/* "… [001] d..2 12.345: <stack trace>", by trace-cmd "kernel_stack: <stack trace >" */
static bool parse_stack(struct kmem_event *event, const char *line)
{
	const char *head = strstr(line, "<stack trace");

	if (!head)
		return false;
	event->kind = KMEM_STACK;
	event->cpu = find_cpu(event, line, head);
	return true;
}

static bool number_after(const char *s, const char *key, int64_t *value)
{
	s = strstr(s, key);
	if (!s)
		return false;
	s += strlen(key);
	return number_read(&s, value);
}

static void parse_other(struct kmem_event *event, const char *line)
{
	int64_t kept, written;

	if (line[0] == '#') {
		const char *slash = strstr(line, "entries-in-buffer/entries-written: ");

		if (!slash)
			return;
		slash += strlen("entries-in-buffer/entries-written: ");
		if (number_read(&slash, &kept) && *slash++ == '/' &&
		    number_read(&slash, &written) && written > kept) {
			event->kind = KMEM_OVERWRITTEN;
			event->lost = written - kept;
		}
		return;
	}
	/* "CPU:1 [LOST 17 EVENTS]", trace-cmd: "CPU:1 [17 EVENTS DROPPED]" */
	if ((strstr(line, "[LOST ") && strstr(line, "EVENTS]")) ||
	    strstr(line, "EVENTS DROPPED]")) {
		event->kind = KMEM_LOST;
		/* Without a number: the count is not known. */
		event->lost = (number_after(line, "[LOST ", &written) ||
			       number_after(line, "[", &written)) && written > 0 ?
			      (uint64_t)written : 1;
	}
}

/*
 * "… d..1. 12.345678: kmalloc: …": the word before @name. The times of some clocks have no
 * point.
 */
static double find_time(const char *line, const char *name)
{
	const char *end = name, *start;
	char *behind;
	double time;

	while (end > line && end[-1] == ' ')
		end--;
	if (end == line || *--end != ':')
		return -1;
	for (start = end; start > line && (isdigit((unsigned char)start[-1]) || start[-1] == '.'); )
		start--;
	if (!memchr(start, '.', end - start))
		return -1;
	time = strtod(start, &behind);
	return behind == end ? time : -1;
}

void kmem_event_parse(struct kmem_event *event, const char *line)
{
	const char *fields, *name;

	*event = (struct kmem_event){ .cpu = -1, .time = -1 };
	fields = line[0] == '#' ? NULL : find_event(event, line, &name);
	if (!fields) {
		if (!parse_frame(event, line) && !parse_stack(event, line))
			parse_other(event, line);
		return;
	}
	event->cpu = find_cpu(event, line, name);
	event->time = find_time(line, name);
	parse_fields(event, fields);
	find_symbol(event, fields);
}

void kmem_event_print(void *stream, const struct kmem_event *event)
{
	static const char *const kinds[] = {
		[KMEM_MALLOC] = "kmalloc", [KMEM_CACHE_ALLOC] = "kmem_cache_alloc",
		[KMEM_FREE] = "kfree", [KMEM_CACHE_FREE] = "kmem_cache_free",
		[KMEM_PAGE_ALLOC] = "mm_page_alloc", [KMEM_PAGE_FREE] = "mm_page_free",
		[KMEM_BAD] = "kmalloc",		/* an event without its sizes is not understood */
	};
	const char *site = event->site ? event->site : "";

	if (event->kind == KMEM_LOST)
		fprintf(stream, "[LOST %" PRIu64 " EVENTS]\n", event->lost);
	if (event->kind == KMEM_STACK)
		fprintf(stream, " [%03d] <stack trace>\n", event->cpu);
	if (event->kind == KMEM_FRAME)
		fprintf(stream, " => %.*s\n", (int)event->site_len, site);
	if (event->kind >= sizeof(kinds) / sizeof(*kinds) || !kinds[event->kind])
		return;
	fprintf(stream, "%.*s [%03d] %s: ", (int)event->task_len,
		event->task ? event->task : "", event->cpu, kinds[event->kind]);
	if (event->kind == KMEM_PAGE_ALLOC || event->kind == KMEM_PAGE_FREE)
		fprintf(stream, "page=0 pfn=0x%" PRIx64 " order=%" PRId64 " %.*s", event->ptr,
			event->order, (int)event->site_len, site);
	else
		fprintf(stream, "call_site=%.*s ptr=%" PRIx64, (int)event->site_len, site,
			event->ptr);
	if (event->kind == KMEM_MALLOC || event->kind == KMEM_CACHE_ALLOC)
		fprintf(stream, " bytes_req=%" PRId64 " bytes_alloc=%" PRId64,
			event->requested, event->allocated);
	if (event->cache)
		fprintf(stream, " name=%.*s", (int)event->cache_len, event->cache);
	putc('\n', stream);
}

/* Does a line begin as a trace, or a part of one, does? */
static bool is_head(const char *line)
{
	static const char *const heads[] = {
		"# tracer: ", "# captured on", "# ====", "cpus=", "CPU:", "Dumping ftrace buffer",
		"(ftrace buffer empty)",
	};

	line += strspn(line, " ");
	for (size_t i = 0; i < sizeof(heads) / sizeof(*heads); i++)
		if (!strncmp(line, heads[i], strlen(heads[i])))
			return true;
	return false;
}

/* "sh-4  [000] …": the processor */
static bool has_cpu(const char *line)
{
	for (const char *open = line; (open = strstr(open, " [")); open++) {
		size_t digits = strspn(open + 2, "0123456789");

		if (digits >= 3 && !strncmp(open + 2 + digits, "] ", 2))
			return true;
	}
	return false;
}

/* "12.345678: ", or "1234us : " with a mark of the delay behind the unit */
static bool has_time(const char *line)
{
	for (const char *colon = line; (colon = strstr(colon, ": ")); colon++) {
		const char *time = colon;
		size_t digits = 0;

		while (time > line && strchr(" +!#*@$", time[-1]))
			time--;
		if (time - line > 2 && !strncmp(time - 2, "us", 2) && isdigit((unsigned char)time[-3]))
			return true;
		for (time = colon; time > line && isdigit((unsigned char)time[-1]); time--)
			digits++;
		if (digits >= 6 && time - line > 1 && time[-1] == '.' && isdigit((unsigned char)time[-2]))
			return true;
	}
	return false;
}

bool kmem_event_like(const char *line)
{
	return is_head(line) || has_cpu(line) || has_time(line);
}
