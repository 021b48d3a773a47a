// SPDX-License-Identifier: GPL-2.0-only
#include "read/other_stacks.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/number.h"
#include "base/strmap.h"
#include "base/text.h"

#define PAGE "Page allocated via order "
#define LEAK " allocations from stack"
#define REPORT " stacks with outstanding allocations"
#define MOST_FRAMES 256

bool other_stacks_are(const char *text, size_t len)
{
	static const char *const words[] = { PAGE, LEAK, "nr_base_pages:", "stack_count:" };

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (memmem(text, len, words[i], strlen(words[i])))
			return true;
	return false;
}

/* The reader's state. */
struct record {
	bool open;
	bool bad;		/* and its error was noted */
	bool counted;		/* bytes and calls are known */
	size_t line;		/* number of the first line */
	int64_t bytes, calls;
	const char *task, *gfp;
	struct frame frame[MOST_FRAMES];
	size_t frames;
};

struct reading {
	struct contexts *contexts;
	struct strmap seen;	/* stacks with task and flags, by the number of their context */
	struct record record;
	int64_t times;		/* page_owner_sort: how often the next record occurred */
	int64_t page_size;
};

static void add_value(struct contexts *contexts, struct context *context, const char *key,
		      const char *value)
{
	if (!value)
		return;
	GROW(contexts->value, contexts->values, contexts->value_room);
	contexts->value[contexts->values++] = (struct context_value){ key, value };
	context->values++;
}

static size_t new_context(struct reading *r, const char *file)
{
	struct contexts *contexts = r->contexts;
	const struct record *record = &r->record;
	struct context context = {
		.site = { .file = file, .func = "alloc" },
		.value = contexts->values, .frame = contexts->frames, .frames = record->frames,
	};

	add_value(contexts, &context, "gfp", record->gfp);
	add_value(contexts, &context, "task", record->task);
	for (size_t i = 0; i < record->frames; i++) {
		GROW(contexts->frame, contexts->frames, contexts->frame_room);
		contexts->frame[contexts->frames++] = record->frame[i];
	}
	GROW(contexts->context, contexts->count, contexts->room);
	contexts->context[contexts->count] = context;
	return contexts->count++;
}

static void end_record(struct reading *r, const char *file)
{
	struct record *record = &r->record;
	struct text name = { 0 };
	const char *why = !record->frames ? "no stack" : !record->counted ? "no number of pages" :
								   NULL;
	size_t i;

	/* The end of a cut file is not an error of its own. */
	if (record->open && !record->bad && why && !r->contexts->bad.cut) {
		bad_lines_add(&r->contexts->bad, record->line, why);
	} else if (record->open && record->frames && record->calls) {
		text_printf(&name, "%s\n%s", record->task ? record->task : "",
			    record->gfp ? record->gfp : "");
		for (i = 0; i < record->frames; i++)
			text_printf(&name, "\n%s+%s %s", record->frame[i].func,
				    record->frame[i].offset ? record->frame[i].offset : "",
				    record->frame[i].module ? record->frame[i].module : "");
		i = strmap_add(&r->seen, name.s, name.len);
		if (i == r->contexts->count)
			i = new_context(r, file);
		r->contexts->context[i].site.bytes =
			add64(r->contexts->context[i].site.bytes, record->bytes);
		r->contexts->context[i].site.calls =
			add64(r->contexts->context[i].site.calls, record->calls);
		text_free(&name);
	}
	*record = (struct record){ 0 };
}

/*
 * "order 0, mask 0xcc0(GFP_KERNEL), pid 1, tgid 1 (init), ts 1 ns"; old kernels end before the
 * time.
 */
static const char *start_page(struct reading *r, char *line)
{
	const char *number = line;
	char *at, *end;
	int64_t order;

	if (!number_read(&number, &order) || order < 0 || order > 20)
		return "no order";
	r->record.counted = true;
	r->record.calls = r->times;
	r->record.bytes = mul64(mul64(r->page_size, (int64_t)1 << order), r->times);
	r->times = 1;
	at = strstr(line, "tgid ");
	at = at ? strchr(at, '(') : NULL;
	end = at ? strstr(at, "), ") : NULL;
	if (end) {
		*end = '\0';
		r->record.task = at + 1;
	}
	at = strstr(line, "mask ");
	at = at ? strchr(at, '(') : NULL;
	end = at ? strchr(at, ')') : NULL;
	if (end) {
		*end = '\0';
		r->record.gfp = at + 1;
	}
	return NULL;
}

/* "45 bytes in 3 allocations from stack" */
static const char *start_leak(struct reading *r, const char *line)
{
	struct record *record = &r->record;

	if (!number_read(&line, &record->bytes) || record->bytes < 0 ||
	    strncmp(line, " bytes in ", 10))
		return "no number of bytes";
	line += 10;
	if (!number_read(&line, &record->calls) || record->calls < 0)
		return "no number of allocations";
	record->counted = true;
	return NULL;
}

/* "0 [<ffffffff8128e0a3>] foo+0x33/0x80 [ext4]", of which only the function is required. */
static bool add_frame(struct record *record, char *s)
{
	struct frame frame = { 0 };
	char *end, *open;

	end = s + strspn(s, "0123456789");
	if (end > s && *end == ' ' && end - s < 4)
		s = end + 1;
	if (!strncmp(s, "[<", 2) && (end = strstr(s, ">]")))
		s = end + 2 + strspn(end + 2, " ");
	if (!strncmp(s, "0x", 2) && (end = strchr(s, ' ')))
		s = end + 1;
	if (!strncmp(s, "b'", 2)) {
		s += 2;
		end = strchr(s, '\'');
		if (end)
			memmove(end, end + 1, strlen(end));
	}
	open = strstr(s, " [");
	if (open) {
		*open = '\0';
		frame.module = open + 2;
		open[2 + strcspn(open + 2, "]")] = '\0';
		if (!strcmp(frame.module, "kernel"))
			frame.module = NULL;
	}
	if (!*s || strchr(s, ' ') || strchr(s, '=') || record->frames == MOST_FRAMES)
		return false;
	frame.func = s;
	end = strchr(s, '+');
	if (end && end > s) {
		*end = '\0';
		frame.offset = end + 1;
	}
	record->frame[record->frames++] = frame;
	return true;
}

/* show_stacks: "nr_base_pages: 12", before 6.11 "stack_count: 12" */
static const char *count_of(const char *line)
{
	return !strncmp(line, "nr_base_pages:", 14) ? line + 14 :
	       !strncmp(line, "stack_count:", 12) ? line + 12 : NULL;
}

static const char *count_behind(struct reading *r, const char *count)
{
	struct record *record = &r->record;

	count += strspn(count, " ");
	if (!number_read(&count, &record->calls) || record->calls < 0)
		return "no number of pages";
	record->counted = true;
	record->bytes = mul64(r->page_size, record->calls);
	return NULL;
}

static void start_record(struct reading *r, size_t number)
{
	r->record = (struct record){ .open = true, .line = number };
}

static void parse_line(struct reading *r, char *line, size_t number, const char **file)
{
	char *s = line + strspn(line, " \t"), *page = strstr(s, PAGE);
	const char *why = NULL, *times = s, *pages = count_of(s);
	int64_t count;

	if (page) {
		end_record(r, *file);
		start_record(r, number);
		*file = "page_owner";
		why = start_page(r, page + strlen(PAGE));
	} else if (strstr(s, LEAK)) {
		end_record(r, *file);
		start_record(r, number);
		*file = "memleak";
		why = start_leak(r, s);
	} else if (strstr(s, " times, ") && number_read(&times, &count) && count > 0) {
		r->times = count;
	} else if (pages) {
		*file = "page_owner";
		why = count_behind(r, pages);
		r->record.bad |= why != NULL;
		end_record(r, *file);
	} else if (!*s) {
		end_record(r, *file);
	} else if (s > line && add_frame(&r->record, s) && !r->record.open) {
		r->record.open = true;
		r->record.line = number;
	}
	if (why) {
		r->record.bad = true;
		bad_lines_add(&r->contexts->bad, number, why);
	}
}

static void restart(struct reading *r)
{
	struct contexts *contexts = r->contexts;

	contexts->count = contexts->values = contexts->frames = 0;
	strmap_free(&r->seen);
	r->seen = (struct strmap){ 0 };
	r->record = (struct record){ 0 };
}

void other_stacks_parse(struct contexts *contexts, char *text, size_t len, int64_t page_size)
{
	struct reading r = {
		.contexts = contexts, .times = 1,
		.page_size = page_size ? page_size : sysconf(_SC_PAGESIZE),
	};
	const char *file = "page_owner";
	char *at = text, *line;
	size_t line_len, number = 0;
	bool complete;

	*contexts = (struct contexts){ .text = text, .major = 1, .of_others = true };
	while ((line = input_line(&at, text + len, &line_len, &complete))) {
		number++;
		if (!complete) {
			contexts->bad.cut = number;
			break;
		}
		for (size_t i = 0; i < line_len; i++)
			if (!line[i])
				line[i] = '?';
		/* The stacks are indented by tabs. */
		for (char *s = line; *s == '\t'; s++)
			*s = ' ';
		text_clean(line);
		if (strstr(line, REPORT)) {
			restart(&r);
			contexts->reports++;
			contexts->report_line = number;
			continue;
		}
		parse_line(&r, line, number, &file);
	}
	end_record(&r, file);
	strmap_free(&r.seen);
}
