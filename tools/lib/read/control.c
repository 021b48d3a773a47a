// SPDX-License-Identifier: GPL-2.0-only
#include "read/control.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "codetag/query.h"
#include "read/input.h"

/* Cuts the first word off *@s, which is "" when there are no more. */
static char *next_word(char **s)
{
	char *word = *s + strspn(*s, " ");
	size_t len = strcspn(word, " ");

	*s = word + len + (word[len] != '\0');
	word[len] = '\0';
	return word;
}

static bool parse_number(const char *word, int64_t *number)
{
	return number_read(&word, number) && !*word;
}

/* Ends @s before the word @word, and returns what follows that; NULL if it has no such word. */
static char *cut_off(char *s, const char *word)
{
	size_t len = strlen(word);

	for (char *at = s; (at = strstr(at, word)); at += len) {
		if ((at > s && at[-1] != ' ') || (at[len] && at[len] != ' '))
			continue;
		at[at > s ? -1 : 0] = '\0';
		return at + len + strspn(at + len, " ");
	}
	return NULL;
}

static bool parse_guard(struct control_site *site, const char *s)
{
	if (!s)
		return true;
	return !strncmp(s, "rate=", strlen("rate=")) &&
	       parse_number(s + strlen("rate="), &site->guard) && site->guard > 0;
}

/* "=p id 17 keys=size max=1024 fault times=1 guard rate=100 trace", what follows the tag. */
static bool parse_notes(struct control_site *site, char *s)
{
	int64_t id;
	char *word = next_word(&s);
	const char *guard, *trace;

	if (*word != '=' || !word[1])
		return false;
	site->profiled = strchr(word, 'p') != NULL;
	if (strcmp(next_word(&s), "id") || !parse_number(next_word(&s), &id) ||
	    id < 0 || id > UINT16_MAX)
		return false;
	site->id = id;
	s += strspn(s, " ");
	trace = cut_off(s, "trace");
	if (trace && *trace)
		return false;
	site->traced = trace;
	guard = cut_off(s, "guard");
	site->fault = cut_off(s, "fault");
	if (!strncmp(s, "keys=", strlen("keys=")))
		site->keys = s + strlen("keys=");
	else if (*s)
		return false;
	return parse_guard(site, guard);
}

static bool parse_control_line(struct control_site *site, char *line, size_t len)
{
	*site = (struct control_site){ 0 };
	if (site_parse(&site->site, line, len) || !site->site.notes ||
	    !parse_notes(site, (char *)site->site.notes))
		return false;
	site->site.notes = NULL;
	site->site.flags = site->profiled ? 0 : SITE_DISABLED;
	return true;
}

void control_parse(struct control *control, char *text, size_t len)
{
	char *at = text, *line;
	size_t line_len;
	bool complete;

	*control = (struct control){ .text = text };
	while ((line = input_line(&at, text + len, &line_len, &complete))) {
		struct control_site site;

		if (!line_len || line[0] == '#')
			continue;
		if (!complete || !parse_control_line(&site, line, line_len)) {
			control->bad.count++;
			continue;
		}
		GROW(control->site, control->count, control->room);
		control->site[control->count++] = site;
	}
}

void control_from_allocinfo(struct control *control, const struct allocinfo *info)
{
	*control = (struct control){ .bad = info->bad };
	for (size_t i = 0; i < info->count; i++) {
		if (site_reserved(&info->site[i]))
			continue;
		GROW(control->site, control->count, control->room);
		control->site[control->count++] = (struct control_site){
			.site = info->site[i],
			.profiled = !(info->site[i].flags & SITE_DISABLED),
		};
	}
}

void control_select(struct control *control, const struct query *query)
{
	size_t kept = 0;

	for (size_t i = 0; i < control->count; i++)
		if (query_match_id(query, &control->site[i].site, control->site[i].id))
			control->site[kept++] = control->site[i];
	control->count = kept;
}

struct control_counts control_count(const struct control *control)
{
	struct control_counts counts = { 0 };

	for (size_t i = 0; i < control->count; i++) {
		const struct control_site *site = &control->site[i];

		counts.profiled += site->profiled;
		counts.split += site->keys != NULL;
		counts.faults += site->fault != NULL;
		counts.guards += site->guard != 0;
		counts.traced += site->traced;
	}
	return counts;
}

void control_select_site(struct control *control, const struct site *site)
{
	size_t kept = 0;

	for (size_t i = 0; i < control->count; i++)
		if (site_same(&control->site[i].site, site))
			control->site[kept++] = control->site[i];
	control->count = kept;
}

/* A query that names a module would be remembered, one with an id is not. */
bool control_by_id(const struct control *control, const char *action, struct text *text)
{
	text_clear(text);
	for (size_t i = 0; i < control->count; i++) {
		if (!control->site[i].id) {
			text_clear(text);
			return false;
		}
		text_printf(text, "id %u %s\n", control->site[i].id, action);
	}
	return true;
}

bool control_action_check(const char *action, struct query_error *error)
{
	struct codetag_query_error bad = { .why = "more than one action", .token = ";" };
	struct codetag_query query;
	size_t at = 0, len = strlen(action);
	char *text = xstrdup(action);
	bool good;

	good = codetag_query_parse(text, len, &at, &query, &bad) > 0 &&
	       codetag_query_parse(text, len, &at, &query, &bad) == 0;
	if (!good) {
		error->why = bad.why;
		error->at = bad.position;
		memcpy(error->token, bad.token, sizeof(error->token));
	}
	free(text);
	return good;
}

void control_free(struct control *control)
{
	free(control->site);
	free(control->text);
	*control = (struct control){ 0 };
}

static bool parse_armed_line(struct armed_site *site, unsigned int numbers, char *s, char *end)
{
	*site = (struct armed_site){ 0 };
	for (unsigned int i = 0; i < numbers; i++)
		if (!parse_number(next_word(&s), &site->number[i]))
			return false;
	site->state = next_word(&s);
	s += strspn(s, " ");
	return *site->state && s < end && !site_parse(&site->site, s, end - s);
}

void armed_sites_parse(struct armed_sites *sites, unsigned int numbers, char *text, size_t len)
{
	char *at = text, *line;
	size_t line_len;
	bool complete;

	*sites = (struct armed_sites){ .text = text };
	while ((line = input_line(&at, text + len, &line_len, &complete))) {
		struct armed_site site;

		if (!line_len || line[0] == '#')
			continue;
		if (!complete || !parse_armed_line(&site, numbers, line, line + line_len)) {
			sites->bad.count++;
			continue;
		}
		GROW(sites->site, sites->count, sites->room);
		sites->site[sites->count++] = site;
	}
}

void armed_sites_free(struct armed_sites *sites)
{
	free(sites->site);
	free(sites->text);
	*sites = (struct armed_sites){ 0 };
}

static bool printable(const char *line, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (((unsigned char)line[i] < ' ' && line[i] != '\t') || line[i] == 0x7f)
			return false;
	return true;
}

static bool parse_remembered(struct remembered_query *query, char *line, size_t len)
{
	const char *s = line;

	if (!printable(line, len) || !number_read(&s, &query->number) || query->number < 0 ||
	    strncmp(s, ": ", 2))
		return false;
	query->query = s + 2;
	return true;
}

void remembered_parse(struct remembered *remembered, char *text, size_t len)
{
	char *at = text, *line;
	size_t line_len;
	bool complete;

	*remembered = (struct remembered){ .text = text };
	while ((line = input_line(&at, text + len, &line_len, &complete))) {
		struct remembered_query query;

		if (!line_len)
			continue;
		/* The end of a query can be missing. */
		if (!complete || !parse_remembered(&query, line, line_len)) {
			remembered->bad.count++;
			continue;
		}
		GROW(remembered->query, remembered->count, remembered->room);
		remembered->query[remembered->count++] = query;
	}
}

void remembered_free(struct remembered *remembered)
{
	free(remembered->query);
	free(remembered->text);
	*remembered = (struct remembered){ 0 };
}

/* "SECONDS PID TASK QUERY" */
static bool parse_applied(struct applied_query *query, char *line, size_t len)
{
	const char *s = line;
	char *end;

	if (!printable(line, len) || !number_read(&s, &query->seconds) || *s++ != ' ' ||
	    !number_read(&s, &query->pid) || *s++ != ' ')
		return false;
	end = strchr(s, ' ');
	if (!end || end == s || query->seconds < 0 || query->pid < 0)
		return false;
	*end = '\0';
	query->task = s;
	query->query = end + 1;
	return true;
}

void applied_parse(struct applied *applied, char *text, size_t len)
{
	static const char forgotten[] = "# forgotten: ";
	char *at = text, *line;
	size_t line_len;
	bool complete;

	*applied = (struct applied){ .text = text };
	while ((line = input_line(&at, text + len, &line_len, &complete))) {
		struct applied_query query;
		const char *s = line + sizeof(forgotten) - 1;

		if (!strncmp(line, forgotten, sizeof(forgotten) - 1) && number_read(&s, &applied->forgotten))
			continue;
		if (!line_len || *line == '#')
			continue;
		if (!parse_applied(&query, line, line_len)) {
			applied->bad.count++;
			continue;
		}
		GROW(applied->query, applied->count, applied->room);
		applied->query[applied->count++] = query;
	}
}

void applied_free(struct applied *applied)
{
	free(applied->query);
	free(applied->text);
	*applied = (struct applied){ 0 };
}
