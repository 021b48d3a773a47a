// SPDX-License-Identifier: GPL-2.0-only
/*
 * The query language: query.h describes it.
 *
 * The parser takes the text word by word. It ends each with a NUL byte in
 * place. So the globs of a query can stay where they are, and the code
 * below works on strings.
 */
#include <linux/array_size.h>
#include <linux/bits.h>
#include <linux/codetag.h>
#include <linux/errno.h>
#include <linux/kstrtox.h>
#include <linux/limits.h>
#include <linux/parser.h>
#include <linux/string.h>
#include "query.h"

enum term { TERM_FILE, TERM_FUNC, TERM_MODULE, TERM_SUBSYSTEM, TERM_LINE, TERM_ID, NR_TERMS };

/**
 * struct parser - where the parser is in a text
 * @text:	the text, with a NUL byte after it
 * @len:	bytes of @text
 * @pos:	what comes next
 * @ended:	@pos is behind the separator that ended the query
 * @terms:	the terms found in the query without "not", a bit each
 * @nots:	how many of each kind are there with "not"
 * @settings:	the fault settings found, a bit each
 * @err:	to be filled in
 */
struct parser {
	char *text;
	size_t len;
	size_t pos;
	bool ended;
	unsigned long terms;
	unsigned int nots[NR_TERMS];
	unsigned long settings;
	struct codetag_query_error *err;
};

/**
 * struct word - a word of a text
 * @s:		the word, without quotes
 * @len:	bytes of @s
 * @start:	where it begins in the text, with its quote
 * @end:	where it ends in the text, with its quote
 */
struct word {
	char *s;
	size_t len;
	size_t start;
	size_t end;
};

static int bad_word(struct parser *p, const struct word *word, const char *why)
{
	char *token = p->err->token;
	size_t len = word->len;

	memset(token, 0, sizeof(p->err->token));
	if (len >= sizeof(p->err->token)) {
		len = sizeof(p->err->token) - strlen("...") - 1;
		memcpy(token + len, "...", strlen("..."));
	}
	while (len--)
		token[len] = word->s[len] >= ' ' && word->s[len] <= '~' ? word->s[len] : '?';
	p->err->position = word->start;
	p->err->why = why;
	return -EINVAL;
}

/*
 * Not isspace(): that one takes a byte of UTF-8 for a blank, and other control characters, which
 * must not be printed. A line may end with '\r' and '\n'.
 */
static bool is_blank(const struct parser *p, size_t at)
{
	char c = p->text[at];

	return c == ' ' || c == '\t' ||
	       (c == '\r' && (at + 1 == p->len || p->text[at + 1] == '\n'));
}

static bool is_separator(char c)
{
	return c == ';' || c == '\n';
}

static bool is_delimiter(const struct parser *p, size_t at)
{
	return is_blank(p, at) || is_separator(p->text[at]);
}

static void skip_blanks(struct parser *p)
{
	while (p->pos < p->len && is_blank(p, p->pos))
		p->pos++;
	if (p->pos == p->len || p->text[p->pos] != '#')
		return;
	/* A NUL byte is wrong in a comment, too. */
	while (p->pos < p->len && p->text[p->pos] && p->text[p->pos] != '\n')
		p->pos++;
}

/* Queries are printed as they were written. */
static bool has_control_character(const struct word *word)
{
	size_t i;

	for (i = 0; i < word->len; i++)
		if (((unsigned char)word->s[i] < ' ' && word->s[i] != '\t') || word->s[i] == 0x7f)
			return true;
	return false;
}

/* Returns 1 with the next word of the query, 0 when it has no more. */
static int next_word(struct parser *p, struct word *word)
{
	size_t end;

	if (p->ended)
		return 0;
	skip_blanks(p);
	if (p->pos == p->len)
		return 0;
	if (is_separator(p->text[p->pos])) {
		p->pos++;
		return 0;
	}

	word->start = p->pos;
	word->s = p->text + p->pos;
	end = p->pos;
	if (p->text[end] == '"') {
		word->s++;
		do {
			end++;
		} while (end < p->len && p->text[end] != '"' && p->text[end] != '\n');
		word->len = p->text + end - word->s;
		if (end == p->len || p->text[end] != '"')
			return bad_word(p, word, "the quote is not closed");
		end++;
		if (end < p->len && !is_delimiter(p, end))
			return bad_word(p, word, "there is more right after the quote");
	} else {
		while (end < p->len && !is_delimiter(p, end))
			end++;
		word->len = p->text + end - word->s;
	}
	if (memchr(word->s, '\0', word->len))
		return bad_word(p, word, "there is a NUL byte in it");
	if (has_control_character(word))
		return bad_word(p, word, "there is a control character in it");
	if (word->len > CODETAG_QUERY_WORD_MAX)
		return bad_word(p, word, "longer than 255 bytes");

	/* The separator that may be overwritten here is not looked at again. */
	word->end = end;
	p->pos = end;
	if (end < p->len) {
		p->ended = is_separator(p->text[end]);
		p->pos++;
	}
	word->s[word->len] = '\0';
	return 1;
}

/*
 * match_wildcard() is not sure what to make of "**" at the end of a pattern.
 * It means the same as "*".
 */
static void squeeze_stars(char *glob)
{
	char *to = glob;

	for (; *glob; glob++)
		if (*glob != '*' || glob[1] != '*')
			*to++ = *glob;
	*to = '\0';
}

static int parse_glob(struct parser *p, const struct word *value, const char **glob)
{
	char *s = value->s;

	squeeze_stars(s);
	*glob = s;
	return *s ? 0 : bad_word(p, value, "the value is empty");
}

static int parse_file(struct parser *p, struct word *value, const char **glob)
{
	/* The name of the same file as a compiler, or find, prints it */
	while (!strncmp(value->s, "./", 2)) {
		value->s += 2;
		value->len -= 2;
	}
	return parse_glob(p, value, glob);
}

static int parse_module(struct parser *p, const struct word *value, const char **glob)
{
	char *s;

	/* As in modprobe: the name of the file may have '-' where the module's has '_'. */
	for (s = value->s; *s; s++)
		if (*s == '-')
			*s = '_';
	return parse_glob(p, value, glob);
}

/* N, N-M, N- or -M */
static int parse_lines(struct parser *p, const struct word *value, struct codetag_terms *terms)
{
	char *dash = strchr(value->s, '-');
	int ret = 0;

	if (dash)
		*dash = '\0';
	terms->first_line = 0;
	terms->last_line = UINT_MAX;
	/* A lone dash is as bad as no number. */
	if (!dash || dash > value->s || !dash[1])
		ret = kstrtouint(value->s, 0, &terms->first_line);
	if (!ret && !dash)
		terms->last_line = terms->first_line;
	if (!ret && dash && dash[1])
		ret = kstrtouint(dash + 1, 0, &terms->last_line);
	if (dash)
		*dash = '-';

	if (ret == -ERANGE)
		return bad_word(p, value, "out of range, a line is at most 4294967295");
	if (ret)
		return bad_word(p, value, "not a line or a range of lines (N, N-M, N-, -M)");
	if (terms->first_line > terms->last_line)
		return bad_word(p, value, "the range ends before it begins");
	return 0;
}

static int parse_id(struct parser *p, const struct word *value, struct codetag_terms *terms)
{
	int ret = kstrtouint(value->s, 0, &terms->id);

	if (ret == -ERANGE || (!ret && terms->id > CODETAG_ID_MAX))
		return bad_word(p, value, "out of range, an id is at most 65535");
	if (ret)
		return bad_word(p, value, "not an id");
	terms->by_id = true;
	return 0;
}

static const char * const term_names[NR_TERMS] = {
	[TERM_FILE] = "file",
	[TERM_FUNC] = "func",
	[TERM_MODULE] = "module",
	[TERM_SUBSYSTEM] = "subsystem",
	[TERM_LINE] = "line",
	[TERM_ID] = "id",
};

static int parse_term(struct parser *p, const struct word *word, struct codetag_query *q)
{
	bool negated = !strcmp(word->s, "not");
	struct codetag_terms *terms = &q->all;
	struct word key = *word, value;
	int term, ret;

	if (negated) {
		ret = next_word(p, &key);
		if (ret < 0)
			return ret;
		if (!ret)
			return bad_word(p, word, "a term is missing after not");
	}

	term = match_string(term_names, ARRAY_SIZE(term_names), key.s);
	if (term < 0)
		return bad_word(p, &key, negated ?
				"only file, func, module, subsystem, line and id can follow not" :
				"neither a keyword (file, func, module, subsystem, line, id, not) nor an action (=p, +p, -p, =_, fault, guard, trace, keys=)");
	if (negated && p->nots[term] == CODETAG_QUERY_NOTS)
		return bad_word(p, &key, "given more than 8 times with not");
	if (!negated && p->terms & BIT(term))
		return bad_word(p, &key, "given twice");
	if (negated)
		terms = &q->none[p->nots[term]++];
	else
		p->terms |= BIT(term);

	ret = next_word(p, &value);
	if (ret < 0)
		return ret;
	if (!ret)
		return bad_word(p, &key, "a value is missing");
	q->end = value.end;

	switch (term) {
	case TERM_FILE:
		return parse_file(p, &value, &terms->file);
	case TERM_FUNC:
		return parse_glob(p, &value, &terms->func);
	case TERM_MODULE:
		return parse_module(p, &value, &terms->module);
	case TERM_SUBSYSTEM:
		return parse_glob(p, &value, &terms->subsystem);
	case TERM_LINE:
		return parse_lines(p, &value, terms);
	default:
		return parse_id(p, &value, terms);
	}
}

static int parse_flags(struct parser *p, const struct word *word, struct codetag_query *q)
{
	const char *letter;

	q->action = *word->s == '=' ? CODETAG_ACTION_SET :
		    *word->s == '+' ? CODETAG_ACTION_ADD : CODETAG_ACTION_REMOVE;
	if (!strcmp(word->s, "=_"))
		return 0;
	if (!word->s[1])
		return bad_word(p, word, "no flags, there are: p, and =_ for none");
	for (letter = word->s + 1; *letter; letter++) {
		if (*letter != 'p')
			return bad_word(p, word, "an unknown flag, there are: p, and =_ for none");
		if (q->flags & CODETAG_FLAG_PROFILE)
			return bad_word(p, word, "a flag is given twice");
		q->flags |= CODETAG_FLAG_PROFILE;
	}
	return 0;
}

enum setting {
	SETTING_PROBABILITY,
	SETTING_INTERVAL,
	SETTING_TIMES,
	SETTING_SPACE,
	SETTING_VERBOSE,
	SETTING_TASK_FILTER,
	SETTING_STACKTRACE_DEPTH,
	SETTING_REQUIRE_START,
	SETTING_REQUIRE_END,
	SETTING_REJECT_START,
	SETTING_REJECT_END,
	SETTING_NTH,
};

/* Settings that can stand beside "nth" */
#define SETTINGS_OF_NTH	(BIT(SETTING_NTH) | BIT(SETTING_VERBOSE) | BIT(SETTING_TASK_FILTER))

/* The longest list of callers that the kernel's fault injection looks at */
#define MAX_DEPTH	32

static const struct {
	const char *name;
	unsigned long min;
	unsigned long max;
	const char *range;	/* @min and @max in words */
} settings[] = {
	[SETTING_PROBABILITY] = { "probability", 0, 100, "must be a number from 0 to 100" },
	[SETTING_INTERVAL] = { "interval", 1, INT_MAX, "must be a number from 1 to 2147483647" },
	[SETTING_TIMES] = { "times", 0, INT_MAX, "must be a number from 0 to 2147483647, or -1" },
	[SETTING_SPACE] = { "space", 0, INT_MAX, "must be a number from 0 to 2147483647" },
	[SETTING_VERBOSE] = { "verbose", 0, 2, "must be 0, 1 or 2" },
	[SETTING_TASK_FILTER] = { "task-filter", 0, 1, "must be 0 or 1" },
	[SETTING_STACKTRACE_DEPTH] = { "stacktrace-depth", 0, MAX_DEPTH,
				       "must be a number from 0 to 32" },
	[SETTING_REQUIRE_START] = { "require-start", 0, ULONG_MAX, "must be an address" },
	[SETTING_REQUIRE_END] = { "require-end", 0, ULONG_MAX, "must be an address" },
	[SETTING_REJECT_START] = { "reject-start", 0, ULONG_MAX, "must be an address" },
	[SETTING_REJECT_END] = { "reject-end", 0, ULONG_MAX, "must be an address" },
	[SETTING_NTH] = { "nth", 1, INT_MAX, "must be a number from 1 to 2147483647" },
};

/* Returns ARRAY_SIZE(settings) if there is no setting of this name. */
static unsigned int find_setting(const char *name, size_t len)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(settings); i++)
		if (strlen(settings[i].name) == len && !memcmp(settings[i].name, name, len))
			break;
	return i;
}

static int parse_setting(struct parser *p, const struct word *word,
			 struct codetag_fault_settings *fault)
{
	const char *value = strchr(word->s, '=');
	unsigned long number;
	unsigned int i;

	i = value ? find_setting(word->s, value - word->s) : ARRAY_SIZE(settings);
	if (i == ARRAY_SIZE(settings))
		return bad_word(p, word,
				"not a fault setting (probability=, interval=, times=, space=, verbose=, task-filter=, stacktrace-depth=, require-start=, require-end=, reject-start=, reject-end=, nth=)");
	if (p->settings & BIT(i))
		return bad_word(p, word, "given twice");
	p->settings |= BIT(i);
	if (p->settings & BIT(SETTING_NTH) && p->settings & ~SETTINGS_OF_NTH)
		return bad_word(p, word, "only verbose and task-filter go together with nth");

	value++;
	if (i == SETTING_TIMES && !strcmp(value, "-1")) {
		fault->times = -1;
		return 0;
	}
	if (kstrtoul(value, 0, &number) || number < settings[i].min || number > settings[i].max)
		return bad_word(p, word, settings[i].range);

	switch (i) {
	case SETTING_PROBABILITY:
		fault->probability = number;
		break;
	case SETTING_INTERVAL:
		fault->interval = number;
		break;
	case SETTING_TIMES:
		fault->times = number;
		break;
	case SETTING_SPACE:
		fault->space = number;
		break;
	case SETTING_VERBOSE:
		fault->verbose = number;
		break;
	case SETTING_TASK_FILTER:
		fault->task_filter = number;
		break;
	case SETTING_STACKTRACE_DEPTH:
		fault->stacktrace_depth = number;
		break;
	case SETTING_REQUIRE_START:
		fault->require_start = number;
		break;
	case SETTING_REQUIRE_END:
		fault->require_end = number;
		break;
	case SETTING_REJECT_START:
		fault->reject_start = number;
		break;
	case SETTING_REJECT_END:
		fault->reject_end = number;
		break;
	case SETTING_NTH:
		fault->nth = number;
		break;
	}
	return 0;
}

#define KEY_NAME(id, word, ...) word,
#define KEY_IN_LIST(id, word, ...) word ", "

const char * const codetag_key_names[CODETAG_NR_KEYS] = { CODETAG_KEY_LIST(KEY_NAME) };

static int parse_keys(struct parser *p, const struct word *word, struct codetag_query *q)
{
	const char *key = word->s + strlen("keys=");
	unsigned int i;
	size_t len;

	q->action = CODETAG_ACTION_KEYS;
	if (!strcmp(key, "none"))
		return 0;
	do {
		len = strcspn(key, ",");
		for (i = 0; i < CODETAG_NR_KEYS; i++)
			if (strlen(codetag_key_names[i]) == len &&
			    !memcmp(codetag_key_names[i], key, len))
				break;
		if (i == CODETAG_NR_KEYS)
			return bad_word(p, word,
					"an unknown key, there are: " CODETAG_KEY_LIST(KEY_IN_LIST)
					"and keys=none for none");
		if (q->keys.mask & BIT(i))
			return bad_word(p, word, "a key is given twice");
		q->keys.mask |= BIT(i);
		key += len;
	} while (*key++);
	return 0;
}

/* The options after the keys: depth=N and max=N */
static int parse_keys_setting(struct parser *p, const struct word *word,
			      struct codetag_keys *keys)
{
	bool depth = !strncmp(word->s, "depth=", strlen("depth="));
	unsigned int number;

	if (!keys->mask)
		return bad_word(p, word, "the query ends with its action");
	if (!depth && strncmp(word->s, "max=", strlen("max=")))
		return bad_word(p, word, "not a setting of keys (depth=, max=)");
	if (p->settings & BIT(depth))
		return bad_word(p, word, "given twice");
	p->settings |= BIT(depth);
	if (depth && !(keys->mask & CODETAG_FRAME_KEYS))
		return bad_word(p, word, "only the keys stack and caller have a depth");
	if (kstrtouint(strchr(word->s, '=') + 1, 0, &number) || !number ||
	    number > (depth ? CODETAG_DEPTH_MAX : CODETAG_ID_MAX))
		return bad_word(p, word, depth ? "must be a number from 1 to 32" :
						 "must be a number from 1 to 65535");
	*(depth ? &keys->depth : &keys->max) = number;
	return 0;
}

/* The option of a guard: rate=N */
static int parse_rate(struct parser *p, const struct word *word, unsigned long *rate)
{
	if (strncmp(word->s, "rate=", strlen("rate=")))
		return bad_word(p, word, "not a setting of guard (rate=)");
	if (p->settings)
		return bad_word(p, word, "given twice");
	p->settings = 1;
	if (kstrtoul(word->s + strlen("rate="), 0, rate) || !*rate || *rate > INT_MAX)
		return bad_word(p, word, "must be a number from 1 to 2147483647");
	return 0;
}

/* "fault" or "fault=off", the same with guard and trace: the first action, or the one after it */
static int parse_armed(struct parser *p, const struct word *word, enum codetag_action action,
		       const char *why, struct codetag_query *q)
{
	const char *value = strchr(word->s, '=');

	if (value && strcmp(value, "=off"))
		return bad_word(p, word, why);
	q->action = value ? action + 1 : action;
	return 0;
}

/* Is a word the name of an action, alone or with a value? */
static bool names(const struct word *word, const char *action)
{
	size_t len = strlen(action);

	return !strncmp(word->s, action, len) && (!word->s[len] || word->s[len] == '=');
}

static int parse_word(struct parser *p, const struct word *word, struct codetag_query *q)
{
	if (q->action == CODETAG_ACTION_FAULT)
		return parse_setting(p, word, &q->fault);
	if (q->action == CODETAG_ACTION_GUARD)
		return parse_rate(p, word, &q->rate);
	if (q->action == CODETAG_ACTION_KEYS)
		return parse_keys_setting(p, word, &q->keys);
	if (q->action != CODETAG_ACTION_NONE)
		return bad_word(p, word, "the query ends with its action");
	q->action_start = word->start;
	if (*word->s == '=' || *word->s == '+' || *word->s == '-')
		return parse_flags(p, word, q);
	if (names(word, "fault"))
		return parse_armed(p, word, CODETAG_ACTION_FAULT, "must be fault or fault=off", q);
	if (names(word, "guard"))
		return parse_armed(p, word, CODETAG_ACTION_GUARD, "must be guard or guard=off", q);
	if (names(word, "trace"))
		return parse_armed(p, word, CODETAG_ACTION_TRACE, "must be trace or trace=off", q);
	if (!strncmp(word->s, "keys=", strlen("keys=")))
		return parse_keys(p, word, q);
	return parse_term(p, word, q);
}

/**
 * codetag_query_parse - parse the next query of a text
 * @text:	the text, with a NUL byte after it. The words of the query are
 *		ended by NUL bytes in place, and globs simplified.
 * @len:	bytes of @text. A NUL byte among them is an error.
 * @pos:	where to go on: 0 for the first query, then what the last call
 *		left here. Not changed on error.
 * @q:		the query; valid as long as @text is
 * @err:	the error, filled in on error only
 *
 * Blank queries and comments are skipped. A query without terms means all
 * sites; one without an action is left to the caller.
 *
 * Context: Any.
 * Return: 1 with the query in @q, 0 when there are no more, -EINVAL on error.
 */
int codetag_query_parse(char *text, size_t len, size_t *pos, struct codetag_query *q,
			struct codetag_query_error *err)
{
	struct parser p = { .text = text, .len = len, .pos = *pos, .err = err };
	struct word word;
	unsigned int i;
	int ret;

	do {
		ret = next_word(&p, &word);
	} while (!ret && p.pos < len);
	if (ret < 0)
		return ret;
	if (!ret) {
		*pos = len;
		return 0;
	}

	*q = (struct codetag_query) {
		.all.last_line = UINT_MAX,
		.fault = {
			.probability = 100,
			.interval = 1,
			.times = 1,
			.verbose = 1,
			.stacktrace_depth = MAX_DEPTH,
			.require_end = ULONG_MAX,
		},
		.rate = 1,
		.keys.max = CODETAG_SITE_CONTEXTS,
		.start = word.start,
	};
	for (i = 0; i < CODETAG_QUERY_NOTS; i++)
		q->none[i].first_line = UINT_MAX;
	do {
		q->end = word.end;
		ret = parse_word(&p, &word, q) ?: next_word(&p, &word);
	} while (ret > 0);
	if (ret < 0)
		return ret;
	if (q->action == CODETAG_ACTION_NONE)
		q->action_start = q->end;
	if (q->keys.mask && !q->keys.depth)
		q->keys.depth = q->keys.mask & BIT(CODETAG_KEY_STACK) ? CODETAG_DEPTH_STACK :
									CODETAG_DEPTH_CALLER;
	*pos = p.pos;
	return 1;
}

/* "slub.c" and "mm/slub.c" both choose mm/slub.c, "lub.c" does not. */
static bool file_matches(const char *glob, const char *path)
{
	while (!match_wildcard(glob, path)) {
		path = strchr(path, '/');
		if (!path)
			return false;
		path++;
	}
	return true;
}

static bool module_matches(const char *glob, const char *modname, bool builtin)
{
	return (builtin && match_wildcard(glob, "vmlinux")) ||
	       (modname && match_wildcard(glob, modname));
}

static bool subsystem_matches(const char *glob, const char *path, const char *modname)
{
	char name[CODETAG_SUBSYSTEM_MAX + 1];

	while (!strncmp(path, "./", 2))
		path += 2;
	codetag_subsystem(name, path, modname);
	return match_wildcard(glob, name);
}

static bool line_matches(const struct codetag_terms *terms, const struct codetag *ct)
{
	return terms->first_line <= ct->lineno && ct->lineno <= terms->last_line;
}

static bool excludes(const struct codetag_terms *none, const struct codetag *ct, u16 id,
		     const char *modname, bool builtin)
{
	return (none->by_id && none->id == id) ||
	       line_matches(none, ct) ||
	       (none->func && match_wildcard(none->func, ct->function)) ||
	       (none->module && module_matches(none->module, modname, builtin)) ||
	       (none->subsystem && subsystem_matches(none->subsystem, ct->filename, modname)) ||
	       (none->file && file_matches(none->file, ct->filename));
}

/**
 * codetag_query_matches - does a query choose a call site?
 * @q:		the query
 * @ct:		the site
 * @id:		the site's own id, CODETAG_ID_NONE if it has none
 * @modname:	the site's module; for built-in code the module that it could be built as,
 *		or NULL if that is not known
 * @builtin:	the site is in the kernel proper: "vmlinux" is its module, too
 *
 * Context: Any.
 * Return: true if all terms of the query match, and none of those with "not".
 */
bool codetag_query_matches(const struct codetag_query *q, const struct codetag *ct,
			   u16 id, const char *modname, bool builtin)
{
	const struct codetag_terms *all = &q->all;
	unsigned int i;

	for (i = 0; i < CODETAG_QUERY_NOTS; i++)
		if (excludes(&q->none[i], ct, id, modname, builtin))
			return false;
	return (!all->by_id || all->id == id) &&
	       line_matches(all, ct) &&
	       /* Remembered queries name a module, and seldom the one that is loaded. */
	       (!all->module || module_matches(all->module, modname, builtin)) &&
	       (!all->func || match_wildcard(all->func, ct->function)) &&
	       (!all->subsystem || subsystem_matches(all->subsystem, ct->filename, modname)) &&
	       (!all->file || file_matches(all->file, ct->filename));
}

/**
 * codetag_query_names_module - does a query have a module term that a loadable module can match?
 * @q:		the query
 *
 * A query whose module term is not just "vmlinux" may mean a module that is
 * not loaded yet. So may one that says only which modules it does not mean.
 *
 * Context: Any.
 * Return: true if it has.
 */
bool codetag_query_names_module(const struct codetag_query *q)
{
	/* The first of each kind is in the first element. */
	return q->all.module ? strcmp(q->all.module, "vmlinux") : !!q->none[0].module;
}
