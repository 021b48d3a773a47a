// SPDX-License-Identifier: GPL-2.0
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

/* "keys=stack depth=16 max=1024", up to what is no setting of keys. */
static char *cut_keys(struct control_site *site, char *s)
{
	char *end;

	if (strncmp(s, "keys=", 5))
		return s;
	site->keys = s + 5;
	end = strstr(s, " fault");
	if (!end)
		return s + strlen(s);
	*end = '\0';
	return end + 1;
}

/* "=p id 17 keys=size max=1024 fault times=1", what follows the tag. */
static bool parse_notes(struct control_site *site, char *s)
{
	int64_t id;
	char *word = next_word(&s);

	if (*word != '=' || !word[1])
		return false;
	site->profiled = strchr(word, 'p') != NULL;
	if (strcmp(next_word(&s), "id") || !parse_number(next_word(&s), &id) ||
	    id < 0 || id > UINT16_MAX)
		return false;
	site->id = id;
	s = cut_keys(site, s + strspn(s, " "));
	if (!*s)
		return true;
	if (strcmp(next_word(&s), "fault"))
		return false;
	site->fault = s;
	return true;
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

size_t control_profiled(const struct control *control)
{
	size_t count = 0;

	for (size_t i = 0; i < control->count; i++)
		count += control->site[i].profiled;
	return count;
}

size_t control_faults(const struct control *control)
{
	size_t count = 0;

	for (size_t i = 0; i < control->count; i++)
		count += control->site[i].fault != NULL;
	return count;
}

size_t control_split(const struct control *control)
{
	size_t count = 0;

	for (size_t i = 0; i < control->count; i++)
		count += control->site[i].keys != NULL;
	return count;
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

static bool parse_fault_line(struct fault_state *fault, char *s, char *end)
{
	*fault = (struct fault_state){ 0 };
	if (!parse_number(next_word(&s), &fault->passed) ||
	    !parse_number(next_word(&s), &fault->failed) ||
	    !parse_number(next_word(&s), &fault->skipped))
		return false;
	fault->state = next_word(&s);
	s += strspn(s, " ");
	return *fault->state && s < end && !site_parse(&fault->site, s, end - s);
}

void fault_states_parse(struct fault_states *states, char *text, size_t len)
{
	char *at = text, *line;
	size_t line_len;
	bool complete;

	*states = (struct fault_states){ .text = text };
	while ((line = input_line(&at, text + len, &line_len, &complete))) {
		struct fault_state fault;

		if (!line_len || line[0] == '#')
			continue;
		if (!complete || !parse_fault_line(&fault, line, line + line_len)) {
			states->bad.count++;
			continue;
		}
		GROW(states->fault, states->count, states->room);
		states->fault[states->count++] = fault;
	}
}

void fault_states_free(struct fault_states *states)
{
	free(states->fault);
	free(states->text);
	*states = (struct fault_states){ 0 };
}

static bool parse_remembered(struct remembered_query *query, char *line, size_t len)
{
	const char *s = line;

	for (size_t i = 0; i < len; i++)
		if (((unsigned char)line[i] < ' ' && line[i] != '\t') || line[i] == 0x7f)
			return false;
	if (!number_read(&s, &query->number) || query->number < 0 ||
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
		if (!parse_remembered(&query, line, line_len)) {
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
