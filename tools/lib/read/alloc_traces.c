// SPDX-License-Identifier: GPL-2.0-only
#include "read/alloc_traces.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "base/text.h"

/* Returns the error in the line, NULL if there is none. */
static const char *parse_trace(struct alloc_trace *trace, char *line)
{
	const char *s = line + strspn(line, " ");
	char *site, *end, *slash;

	if (!number_read(&s, &trace->objects) || trace->objects < 0)
		return "no number of objects";
	if (*s != ' ' || !s[strspn(s, " ")])
		return "no call site";
	site = (char *)s + strspn(s, " ");
	end = site + strcspn(site, " ");
	/* The size of the function is dropped, its module is kept. */
	slash = memchr(site, '/', end - site);
	trace->site = site;
	if (!strncmp(end, " [", 2) && strchr(end, ']')) {
		char *module = end + 1, *bracket = strchr(end, ']') + 1;

		*bracket = '\0';
		if (slash) {
			slash[0] = ' ';
			memmove(slash + 1, module, strlen(module) + 1);
		}
	} else {
		*(slash ? slash : end) = '\0';
	}
	text_clean(site);
	return NULL;
}

void alloc_traces_parse(struct alloc_traces *traces, char *text, size_t len)
{
	char *at = text, *line;
	size_t line_len, number = 0;
	bool complete;

	*traces = (struct alloc_traces){ .text = text };
	while ((line = input_line(&at, text + len, &line_len, &complete))) {
		struct alloc_trace trace;
		const char *why;

		number++;
		/* Lines of its stack: the first function already identifies the caller. */
		if (!line_len || *line == '\t' || !strcmp(line, "No data"))
			continue;
		if (!complete) {
			traces->bad.cut = number;
			break;
		}
		why = parse_trace(&trace, line);
		if (why) {
			bad_lines_add(&traces->bad, number, why);
			continue;
		}
		GROW(traces->trace, traces->count, traces->room);
		traces->trace[traces->count++] = trace;
	}
}

void alloc_traces_free(struct alloc_traces *traces)
{
	free(traces->trace);
	free(traces->text);
	*traces = (struct alloc_traces){ 0 };
}
