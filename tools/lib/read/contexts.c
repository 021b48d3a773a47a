// SPDX-License-Identifier: GPL-2.0-only
#include "read/contexts.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/message.h"
#include "base/number.h"
#include "base/text.h"
#include "read/input.h"
#include "read/other_stacks.h"

#define HEADER "# contexts - version: "
#define SITE "# site: "

/* Of a later version nothing is known except that the format has changed. */
#define NEWEST_MAJOR 1

/* Reads a number at *@s and the blank after it; moves *@s behind them. */
static bool take_number(char **s, int64_t *number)
{
	const char *at = *s + strspn(*s, " ");

	if (!number_read(&at, number) || *at != ' ')
		return false;
	*s = (char *)at + strspn(at, " ");
	return true;
}

/* Reads three numbers and a tag, and returns the rest of the line. */
static const char *parse_row(struct site *site, int64_t *third, char *line, char *end)
{
	if (!take_number(&line, &site->bytes))
		return "no size";
	if (!take_number(&line, &site->calls))
		return "no calls";
	if (!take_number(&line, third))
		return "no third number";
	return site_parse(site, line, end - line);
}

/* The kernel writes blanks and backslashes in values as octal numbers. */
static void decode(char *s)
{
	char *to = s;

	while (*s) {
		if (!strncmp(s, "\\040", 4) || !strncmp(s, "\\134", 4)) {
			*to++ = s[1] == '0' ? ' ' : '\\';
			s += 4;
		} else {
			*to++ = *s++;
		}
	}
	*to = '\0';
}

/* Cuts the next word off *@s; NULL at the end. */
static char *next_word(char **s)
{
	char *word = *s + strspn(*s, " ");
	size_t len = strcspn(word, " ");

	if (!len)
		return NULL;
	*s = word + len + (word[len] != '\0');
	word[len] = '\0';
	return word;
}

/* "key=value …". A word without '=' is a flag of the site, which site_parse() has read. */
static bool parse_values(struct contexts *contexts, struct context *context)
{
	char *notes = (char *)context->site.notes, *word;

	context->value = contexts->values;
	while (notes && (word = next_word(&notes))) {
		char *equals = strchr(word, '=');

		if (!equals)
			continue;
		if (equals == word)
			return false;
		*equals = '\0';
		decode(equals + 1);
		GROW(contexts->value, contexts->values, contexts->value_room);
		contexts->value[contexts->values++] =
			(struct context_value){ word, equals + 1 };
	}
	context->values = contexts->values - context->value;
	context->site.notes = NULL;
	return true;
}

static const char *add_context(struct contexts *contexts, char *line, char *end)
{
	struct context context = { .frame = contexts->frames };
	const char *why = parse_row(&context.site, &context.allocs, line, end);

	if (why)
		return why;
	if (!parse_values(contexts, &context)) {
		contexts->values = context.value;
		return "a value has no key";
	}
	GROW(contexts->context, contexts->count, contexts->room);
	contexts->context[contexts->count++] = context;
	return NULL;
}

/* "[unloaded:yes] keys=… [depth=N] max=N contexts=N" */
static bool parse_split(struct split_site *split)
{
	char *keys = (char *)split->site.notes, *contexts, *settings;
	const char *number;

	while (keys && strncmp(keys, "keys=", 5)) {
		keys = strchr(keys, ' ');
		keys = keys ? keys + 1 : NULL;
	}
	contexts = keys ? strstr(keys, " contexts=") : NULL;
	if (!contexts)
		return false;
	number = contexts + strlen(" contexts=");
	if (!number_read(&number, &split->contexts) || *number)
		return false;
	*contexts = '\0';
	settings = keys + strcspn(keys, " ");
	if (*settings) {
		*settings = '\0';
		split->settings = settings + 1;
	}
	split->keys = keys + 5;
	split->site.notes = NULL;
	return *split->keys != '\0';
}

static const char *add_split(struct contexts *contexts, char *line, char *end)
{
	struct split_site split = { 0 };
	const char *why = parse_row(&split.site, &split.lost, line, end);

	if (why)
		return why;
	if (!parse_split(&split))
		return "it does not say how the site is split";
	GROW(contexts->split, contexts->splits, contexts->split_room);
	contexts->split[contexts->splits++] = split;
	return NULL;
}

/*
 * Frames of one stack. No kernel saves as many, and processing a stack may take their square.
 */
#define MOST_FRAMES 1024

/* "function+0x1f/0x2c [module]", "[unknown]" or an address. */
static const char *add_frame(struct contexts *contexts, char *line, size_t len)
{
	struct frame frame = { .func = line };
	char *plus = strchr(line, '+'), *module = strchr(line, ' ');

	if (contexts->context[contexts->count - 1].frames == MOST_FRAMES)
		return "more frames than a stack has";
	if (module) {
		if (module[1] != '[' || line[len - 1] != ']' || len < (size_t)(module - line) + 4)
			return "not a frame";
		line[len - 1] = '\0';
		*module = '\0';
		frame.module = module + 2;
	}
	if (plus && plus > line && (!module || plus < module)) {
		*plus = '\0';
		frame.offset = plus + 1;
	}
	GROW(contexts->frame, contexts->frames, contexts->frame_room);
	contexts->frame[contexts->frames++] = frame;
	contexts->context[contexts->count - 1].frames++;
	return NULL;
}

static bool parse_header(struct contexts *contexts, const char *line)
{
	int64_t major, minor;

	if (strncmp(line, HEADER, strlen(HEADER)))
		return false;
	line += strlen(HEADER);
	if (!number_read(&line, &major) || major < 1 || major > 999 || *line++ != '.' ||
	    !number_read(&line, &minor) || minor < 0 || minor > 999)
		return false;
	contexts->major = major;
	contexts->minor = minor;
	return true;
}

/*
 * Numbers are right-aligned, so a single blank before a digit can begin a number or a frame;
 * "0x" is an address.
 */
bool contexts_is_frame(const char *line)
{
	return line[0] == ' ' && line[1] != ' ' &&
	       (line[1] < '0' || line[1] > '9' || line[2] == 'x');
}

/* The line that frames belong to. */
enum owner { NOBODY, CONTEXT, BAD_CONTEXT };

static const char *parse_line(struct contexts *contexts, char *line, size_t len,
			      enum owner *owner)
{
	const char *why;

	if (contexts_is_frame(line)) {
		if (*owner == CONTEXT)
			return add_frame(contexts, line + 1, len - 1);
		return *owner == NOBODY ? "a frame of no context" : NULL;
	}
	*owner = NOBODY;
	if (!strncmp(line, SITE, strlen(SITE)))
		/* One of the headings looks like a site's. */
		return line[strlen(SITE) + strspn(line + strlen(SITE), " ")] == '<' ? NULL :
		       add_split(contexts, line + strlen(SITE), line + len);
	if (line[0] == '#' || !len)
		return NULL;
	why = add_context(contexts, line, line + len);
	*owner = why ? BAD_CONTEXT : CONTEXT;
	return why;
}

void contexts_parse(struct contexts *contexts, char *text, size_t len)
{
	char *at = text, *line;
	size_t line_len, number = 0;
	enum owner owner = NOBODY;
	bool complete;

	*contexts = (struct contexts){ .text = text };
	while ((line = input_line(&at, text + len, &line_len, &complete))) {
		const char *why;

		number++;
		if (!complete) {
			contexts->bad.cut = number;
			break;
		}
		/*
		 * Users choose some names, such as those of tasks, and not every kernel escapes
		 * them.
		 */
		for (size_t i = 0; i < line_len; i++)
			if (!line[i])
				line[i] = '?';
		text_clean(line);
		line_len = strlen(line);
		if (parse_header(contexts, line))
			continue;
		why = parse_line(contexts, line, line_len, &owner);
		if (why)
			bad_lines_add(&contexts->bad, number, why);
	}
}

bool contexts_take(struct contexts *contexts, char *text, size_t len, const char *path,
		   int64_t page_size)
{
	if (len && strncmp(text, HEADER, strlen(HEADER)) && other_stacks_are(text, len)) {
		other_stacks_parse(contexts, text, len, page_size);
		return true;
	}
	contexts_parse(contexts, text, len);
	if (contexts->major)
		return true;
	if (len)
		warning("%s is not in the format of codetag's contexts", input_name(path));
	else
		warning("%s is empty", input_name(path));
	contexts_free(contexts);
	return false;
}

bool contexts_complete(const struct contexts *contexts, const char *path)
{
	if (contexts->major > NEWEST_MAJOR)
		warning("%s: its version %u.%u is newer than this build, which takes it for %u.x",
			input_name(path), contexts->major, contexts->minor, NEWEST_MAJOR);
	if (contexts->reports > 1)
		warning("%s has %zu reports: this is the last one, from line %zu on",
			input_name(path), contexts->reports, contexts->report_line);
	return bad_lines_none(&contexts->bad, path) && !contexts->incomplete;
}

const char *context_value(const struct contexts *contexts, const struct context *context,
			  const char *key)
{
	for (size_t i = context->value; i < context->value + context->values; i++)
		if (!strcmp(contexts->value[i].key, key))
			return contexts->value[i].value;
	return NULL;
}

bool context_age(const struct contexts *contexts, const struct context *context,
		 int64_t *from, int64_t *to)
{
	const char *age = context_value(contexts, context, "age");

	return age && number_read(&age, from) && *age++ == '-' && number_read(&age, to) &&
	       !*age && *from >= 0 && *from <= *to;
}

void contexts_free(struct contexts *contexts)
{
	free(contexts->split);
	free(contexts->context);
	free(contexts->value);
	free(contexts->frame);
	free(contexts->text);
	*contexts = (struct contexts){ 0 };
}
