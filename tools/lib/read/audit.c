// SPDX-License-Identifier: GPL-2.0-only
#include "read/audit.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "read/input.h"

/*
 * Matches @s with @format: '#' is a number, any other character stands for itself. Returns the
 * rest of @s, NULL if it differs.
 */
static const char *scan(const char *s, const char *format, int64_t *numbers[])
{
	for (; *format; format++) {
		if (*format == '#') {
			if (!number_read(&s, *numbers++))
				return NULL;
		} else if (*s++ != *format) {
			return NULL;
		}
	}
	return s;
}

static bool printable(const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)s[i] < ' ' || s[i] == 0x7f)
			return false;
	return true;
}

static bool parse_mismatch(struct audit *audit, const char *line)
{
	struct mismatch m;
	int64_t *numbers[] = {
		&m.id, &m.counted_bytes, &m.counted_calls,
		&m.found_bytes, &m.found_calls,
	};

	m.tag = scan(line, "mismatch: id # counted # # found # # ", numbers);
	if (!m.tag)
		return false;
	GROW(audit->mismatch, audit->count, audit->room);
	audit->mismatch[audit->count++] = m;
	return true;
}

static bool parse_stopped(struct audit *audit, const char *line)
{
	int64_t *numbers[] = { &audit->passes, &audit->longest_us, &audit->us_per_gib };
	const char *rest = scan(line, "stopped: # times, # us at most, # us per GiB", numbers);

	if (!rest || *rest)
		return false;
	audit->timed = true;
	return true;
}

static bool parse_gave_up(struct audit *audit, const char *line)
{
	int64_t *numbers[] = { &audit->pages, &audit->max_ms };
	const char *rest = scan(line, "gave up: # pages in codetag.audit_max_ms=#", numbers);

	if (!rest || *rest)
		return false;
	audit->finished = audit->gave_up = true;
	return true;
}

static bool parse_summary(struct audit *audit, const char *line)
{
	int64_t *numbers[] = {
		&audit->tags, &audit->pages, &audit->objects, &audit->mismatches,
	};
	const char *rest = scan(line, "audit: # tags, # pages, # objects, # mismatches",
				numbers);

	audit->finished = rest && !*rest;
	return audit->finished;
}

/* Lines for people; one of them has a meaning. */
static bool parse_comment(struct audit *audit, const char *line)
{
	audit->none |= !strcmp(line, "# no audit has run");
	return line[0] == '#';
}

void audit_parse(struct audit *audit, char *text, size_t len)
{
	char *at = text, *line;
	size_t line_len;
	bool complete;

	*audit = (struct audit){ .text = text };
	while ((line = input_line(&at, text + len, &line_len, &complete))) {
		if (!line_len)
			continue;
		/* Nothing may follow the last line, which may not be cut. */
		if (audit->finished || !complete || !printable(line, line_len) ||
		    (!parse_comment(audit, line) && !parse_mismatch(audit, line) &&
		     !parse_stopped(audit, line) && !parse_gave_up(audit, line) &&
		     !parse_summary(audit, line)))
			audit->bad.count++;
	}
}

void audit_free(struct audit *audit)
{
	free(audit->mismatch);
	free(audit->text);
	*audit = (struct audit){ 0 };
}
