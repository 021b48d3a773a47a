// SPDX-License-Identifier: GPL-2.0
#include "trace/kmem_event.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
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
};

enum kmem_kind kmem_kind_of(const char *name, size_t len)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strlen(names[i].name) == len && !memcmp(names[i].name, name, len))
			return names[i].kind;
	return KMEM_NONE;
}

/* The word that ends before the ": " at @end. */
static const char *word_before(const char *line, const char *end, size_t *len)
{
	const char *start = end;

	while (start > line && start[-1] != ' ')
		start--;
	*len = end - start;
	return start;
}

/* What is before the CPU, without blanks around it, and "(811)" of a thread group behind. */
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

/* perf says "kmem:kmalloc". */
static void without_system(const char **name, size_t *len)
{
	const char *colon = memrchr(*name, ':', *len);

	if (colon) {
		*len -= colon + 1 - *name;
		*name = colon + 1;
	}
}

/* The last "[digits]" before @end: names of tasks may hold brackets, too. */
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
	return -1;
}

/*
 * Hexadecimal, with or without 0x. "(null)" and trace-cmd's "(nil)" are 0, a hidden
 * pointer is none.
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

static bool parse_number(const char *s, size_t len, int64_t *value)
{
	const char *end = s;

	return number_read(&end, value) && end == s + len;
}

enum { GOT_SITE = 1, GOT_PTR = 2, GOT_REQUESTED = 4, GOT_ALLOCATED = 8, GOT_ORDER = 16 };

static bool is_key(const char *s, size_t len, const char *key)
{
	return strlen(key) == len && !memcmp(s, key, len);
}

/* Returns which field it was, 0 for one that does not matter. */
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
		return parse_pointer(value, len, &event->ptr) ? GOT_PTR : 0;
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
			got |= parse_field(event, s, equals - s, equals + 1,
					   end - equals - 1);
		} else if (got == GOT_SITE && *s == '[' && end[-1] == ']') {
			event->module = s;
			event->module_len = end - s;
		}
		s = *end ? end + 1 : end;
	}
	if ((got & need) != need || event->requested < 0 || event->allocated < 0 ||
	    event->order < 0 || event->order > 30)
		event->kind = KMEM_BAD;
}

/* " => foo+0x33/0x80", or "\tffffffff8128e0a3 foo+0x33 ([kernel.kallsyms])" of perf. */
static bool parse_frame(struct kmem_event *event, const char *line)
{
	const char *s = line + strspn(line, " \t");
	size_t digits = strspn(s, "0123456789abcdef");

	if (!strncmp(s, "=> ", 3))
		s += 3;
	else if (s > line && digits >= 6 && s[digits] == ' ')
		s += digits + 1;
	else
		return false;
	event->kind = KMEM_FRAME;
	event->site = s;
	event->site_len = strcspn(s, "/ ");
	return event->site_len;
}

/* "… [001] d..2 12.345: mm_page_alloc: page=00000000c0ffee00 pfn=0x811 order=0 …" */
static bool parse_page(struct kmem_event *event, const char *line)
{
	const char *fields = strstr(line, " page="), *colon = fields, *name;
	size_t len;

	/* trace-cmd puts more blanks between them. */
	while (colon && colon > line && *colon == ' ')
		colon--;
	if (!fields || *colon != ':')
		return false;
	name = word_before(line, colon, &len);
	without_system(&name, &len);
	event->kind = kmem_kind_of(name, len);
	if (event->kind != KMEM_PAGE_ALLOC && event->kind != KMEM_PAGE_FREE) {
		event->kind = KMEM_NONE;
		return false;
	}
	event->cpu = find_cpu(event, line, name);
	parse_fields(event, fields + 1);
	return true;
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
		/* Without a number: some, nobody knows how many. */
		event->lost = (number_after(line, "[LOST ", &written) ||
			       number_after(line, "[", &written)) && written > 0 ?
			      (uint64_t)written : 1;
	}
}

void kmem_event_parse(struct kmem_event *event, const char *line)
{
	const char *site = strstr(line, "call_site="), *name;
	size_t len;

	*event = (struct kmem_event){ .cpu = -1 };
	if (line[0] == '#' || !site) {
		if (!parse_page(event, line) && !parse_frame(event, line) &&
		    !parse_stack(event, line))
			parse_other(event, line);
		return;
	}
	/* trace-cmd repeats the symbol: "kfree: (foo+0x33) call_site=…". */
	while (site > line && site[-1] == ' ')
		site--;
	if (site > line && site[-1] == ')') {
		while (site > line && *site != '(')
			site--;
		while (site > line && site[-1] == ' ')
			site--;
	}
	if (site == line || site[-1] != ':')
		return;
	name = word_before(line, site - 1, &len);
	without_system(&name, &len);
	event->kind = kmem_kind_of(name, len);
	if (event->kind == KMEM_NONE)
		return;
	event->cpu = find_cpu(event, line, name);
	parse_fields(event, strstr(site, "call_site="));
}

void kmem_event_print(void *stream, const struct kmem_event *event)
{
	static const char *const kinds[] = {
		[KMEM_MALLOC] = "kmalloc", [KMEM_CACHE_ALLOC] = "kmem_cache_alloc",
		[KMEM_FREE] = "kfree", [KMEM_CACHE_FREE] = "kmem_cache_free",
		[KMEM_PAGE_ALLOC] = "mm_page_alloc", [KMEM_PAGE_FREE] = "mm_page_free",
		[KMEM_BAD] = "kmalloc",		/* without its sizes it is bad */
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
		fprintf(stream, "page=0 pfn=%" PRIx64 " order=%" PRId64 " %.*s", event->ptr,
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
