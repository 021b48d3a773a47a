// SPDX-License-Identifier: GPL-2.0-only
#include "sweep_results.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "complaints.h"
#include "sites_view.h"
#include "base/message.h"
#include "base/number.h"
#include "base/outfile.h"
#include "read/input.h"
#include "write/json.h"
#include "write/table.h"
#include "write/xml.h"

static const struct {
	const char *word;	/* names in the journal, tables and JSON */
	const char *text;	/* in the sum */
} outcomes[OUTCOMES] = {
	[OUTCOME_OK] = { "ok", "ok" },
	[OUTCOME_UNPASSED] = { "unpassed", "never passed" },
	[OUTCOME_UNREACHED] = { "unreached", "not reached" },
	[OUTCOME_STATUS] = { "status", "with a bad exit status" },
	[OUTCOME_SIGNAL] = { "signal", "ended by a signal" },
	[OUTCOME_LEAK] = { "leak", "leaks" },
	[OUTCOME_LOG] = { "log", "complaints of the kernel" },
	[OUTCOME_HANG] = { "hang", "hangs" },
	[OUTCOME_CRASH] = { "crash", "crashes of the machine" },
};

bool sweep_is_finding(const struct sweep_result *result)
{
	return result->outcome > OUTCOME_UNREACHED;
}

/* Known results are compared by this key, which leaves out details of the single run. */
static void add_key(struct text *key, enum outcome outcome, unsigned int nth, const char *site,
		    const char *details)
{
	text_clear(key);
	text_printf(key, "%s\t%u\t%s\t", outcomes[outcome].word, nth, site);
	if (outcome == OUTCOME_LOG || outcome == OUTCOME_LEAK)
		complaint_signature(details, key);
	else if (outcome == OUTCOME_SIGNAL)
		text_puts(key, details);
	else if (outcome == OUTCOME_STATUS)
		text_add(key, details, strcspn(details, ":"));
}

static bool is_known(const struct sweep_results *results, const struct sweep_result *result)
{
	const char *const details[] = { result->details, "" };
	struct text key = { 0 };
	bool known = false;

	for (int i = 0; i < 2 && !known; i++) {
		add_key(&key, result->outcome, result->nth, result->site, details[i]);
		known = strmap_find(&results->known, key.s, key.len) != STRMAP_NONE;
	}
	text_free(&key);
	return known;
}

static struct sweep_result *new_result(struct sweep_results *results, enum outcome outcome,
				       unsigned int nth, const char *site, const char *details)
{
	struct sweep_result *result;

	GROW(results->result, results->count, results->room);
	result = &results->result[results->count++];
	*result = (struct sweep_result){
		outcome, nth, arena_copy(&results->strings, site, strlen(site)),
		arena_copy(&results->strings, details, strlen(details)), false,
	};
	return result;
}

static void add(struct sweep_results *results, enum outcome outcome, unsigned int nth,
		const char *site, const char *details)
{
	struct sweep_result *result = new_result(results, outcome, nth, site, details);
	struct text key = { 0 };

	strmap_add(&results->tried, site, strlen(site));
	text_printf(&key, "%u\t%s", nth, site);
	strmap_add(&results->done, key.s, key.len);
	result->known = is_known(results, result);
	text_free(&key);
}

void sweep_unpassed(struct sweep_results *results, const char *site)
{
	new_result(results, OUTCOME_UNPASSED, 0, site, "");
}

/* ---- the journal ---------------------------------------------------------------- */

/* The kind of an entry that has no outcome. */
enum { BEGUN = OUTCOMES, CANCELLED };

struct entry {
	int outcome;
	unsigned int nth;
	const char *site, *details;
};

static bool parse_entry(char *line, struct entry *entry)
{
	char *word[4] = { line, NULL, NULL, NULL };
	const char *number;
	int64_t nth;

	for (int i = 1; i < 4 && (word[i] = strchr(word[i - 1], '\t')); i++)
		*word[i]++ = '\0';
	number = word[1];
	if (!word[2] || !*word[2] || !number_read(&number, &nth) || *number || nth < 1 ||
	    nth > UINT32_MAX)
		return false;
	text_clean(word[2]);
	if (word[3])
		text_clean(word[3]);
	*entry = (struct entry){ OUTCOME_OK, (unsigned int)nth, word[2], word[3] ? word[3] : "" };
	while (entry->outcome < OUTCOMES && strcmp(outcomes[entry->outcome].word, word[0]))
		entry->outcome++;
	if (!strcmp(word[0], "cancel"))
		entry->outcome = CANCELLED;
	return entry->outcome != BEGUN || !strcmp(word[0], "begin");
}

/* Calls @take with each entry. A last line without a newline is incomplete and left out. */
static bool parse_journal(struct sweep_results *results, char *text, size_t len, const char *path,
			  void (*take)(struct sweep_results *results, const struct entry *entry))
{
	char *at = text, *end = text + len, *line;
	struct bad_lines bad = { 0 };
	size_t number = 0, length;
	struct entry entry;
	bool complete;

	while ((line = input_line(&at, end, &length, &complete))) {
		number++;
		if (!complete || *line == '#' || !*line)
			continue;
		if (parse_entry(line, &entry))
			take(results, &entry);
		else
			bad_lines_add(&bad, number, "no result of a sweep");
	}
	return bad_lines_none(&bad, path);
}

static void take_known(struct sweep_results *results, const struct entry *entry)
{
	struct text key = { 0 };

	if (entry->outcome >= OUTCOMES)
		return;
	add_key(&key, entry->outcome, entry->nth, entry->site, entry->details);
	strmap_add(&results->known, key.s, key.len);
	text_free(&key);
}

bool sweep_known(struct sweep_results *results, const char *path)
{
	size_t len;
	char *text;
	bool good;

	if (!input_read(path, &text, &len)) {
		input_complain(path, errno);
		return false;
	}
	good = parse_journal(results, text, len, path, take_known);
	free(text);
	return good;
}

static bool append(struct sweep_results *results, const char *line)
{
	size_t len = strlen(line);

	ssize_t n = results->journal < 0 ? (ssize_t)len : write(results->journal, line, len);

	if (results->journal < 0 || (n == (ssize_t)len && !fdatasync(results->journal)))
		return true;
	if (n >= 0 && n < (ssize_t)len)
		errno = ENOSPC;
	warning("cannot write %s: %s", results->journal_path, strerror(errno));
	return false;
}

static void take_result(struct sweep_results *results, const struct entry *entry)
{
	if (entry->outcome < OUTCOMES)
		add(results, entry->outcome, entry->nth, entry->site, entry->details);
}

/* Was the last entry that began, and has no outcome, a crash or a sweep that was killed? */
static bool take_last(struct sweep_results *results, char *text, size_t len)
{
	char *at = text, *end = text + len, *line;
	struct entry entry = { 0 }, last = { 0 };
	size_t length;
	bool complete;

	while ((line = input_line(&at, end, &length, &complete)))
		if (complete && *line != '#' && parse_entry(line, &entry))
			last = entry;
	/*
	 * The machine is still up, so a sweep that was killed since it booted has crashed
	 * nothing.
	 */
	if (!last.site || last.outcome != BEGUN)
		return true;
	if (!strcmp(last.details, results->boot)) {
		results->begun = arena_copy(&results->strings, last.site, strlen(last.site));
		results->begun_nth = last.nth;
		return true;
	}
	return sweep_end(results, OUTCOME_CRASH, last.nth, last.site, "");
}

/* Compares the fields of the first lines, which it changes. */
static bool same_sweep(const char *path, char *there, char *here)
{
	char *theirs, *ours;

	do {
		theirs = strsep(&there, "\t");
		ours = strsep(&here, "\t");
	} while (theirs && ours && !strcmp(theirs, ours));
	if (!theirs && !ours)
		return true;
	if (theirs)
		text_clean(theirs);
	warning("%s is not the journal of this sweep: it has \"%s\", and this one \"%s\"", path,
		theirs ? theirs : "", ours ? ours : "");
	hint("Its first line has the options, the query and the command. Use the same ones, "
	     "name another file, or remove this one.");
	return false;
}

/* The results in it are from an earlier run of the same sweep. */
static bool resume(struct sweep_results *results, const char *head)
{
	char link[32], *text, *copy, *here;
	struct text there = { 0 };
	size_t len;
	bool good;

	/* The file that is open: another one can have its name by now. */
	snprintf(link, sizeof(link), "/proc/self/fd/%d", results->journal);
	if (!input_read_raw(link, &text, &len)) {
		input_complain(results->journal_path, errno);
		return false;
	}
	text_add(&there, text, strcspn(text, "\n"));
	here = xstrdup(head);
	good = same_sweep(results->journal_path, there.s, here);
	text_free(&there);
	free(here);
	if (!good) {
		free(text);
		return false;
	}
	results->resumed = true;
	/* The machine may have gone down in the middle of a line. */
	if (text[len - 1] != '\n' && !append(results, "\n")) {
		free(text);
		return false;
	}
	copy = xmalloc(len + 1);
	memcpy(copy, text, len + 1);
	good = parse_journal(results, text, len, results->journal_path, take_result) &&
	       take_last(results, copy, len);
	free(copy);
	free(text);
	return good;
}

bool sweep_journal(struct sweep_results *results, const char *path, const char *head)
{
	struct text line = { 0 };
	bool good;
	off_t len;

	results->journal_path = path;
	results->journal = outfile_append(path);
	len = results->journal < 0 ? -1 : lseek(results->journal, 0, SEEK_END);
	if (len < 0) {
		warning("cannot open %s: %s", path, strerror(errno));
		if (errno == EACCES)
			hint("It has to be an ordinary file of your own.");
		return false;
	}
	if (flock(results->journal, LOCK_EX | LOCK_NB)) {
		warning("another sweep writes to %s", path);
		return false;
	}
	host_boot_id(results->boot);
	if (len)
		return resume(results, head);
	text_printf(&line, "%s\n", head);
	good = append(results, line.s);
	text_free(&line);
	return good;
}

bool sweep_is_done(const struct sweep_results *results, unsigned int nth, const char *site)
{
	struct text key = { 0 };
	bool done;

	text_printf(&key, "%u\t%s", nth, site);
	done = strmap_find(&results->done, key.s, key.len) != STRMAP_NONE;
	text_free(&key);
	return done;
}

bool sweep_begin(struct sweep_results *results, unsigned int nth, const char *site)
{
	struct text line = { 0 };
	bool good;

	text_printf(&line, "begin\t%u\t%s\t%s\n", nth, site, results->boot);
	good = append(results, line.s);
	text_free(&line);
	return good;
}

bool sweep_cancel(struct sweep_results *results, unsigned int nth, const char *site)
{
	struct text line = { 0 };
	bool good;

	text_printf(&line, "cancel\t%u\t%s\n", nth, site);
	good = append(results, line.s);
	text_free(&line);
	return good;
}

bool sweep_end(struct sweep_results *results, enum outcome outcome, unsigned int nth,
	       const char *site, const char *details)
{
	struct text line = { 0 };
	bool good;

	add(results, outcome, nth, site, details);
	text_printf(&line, "%s\t%u\t%s\t%s\n", outcomes[outcome].word, nth, site, details);
	good = append(results, line.s);
	text_free(&line);
	return good;
}

/* ---- reports -------------------------------------------------------------------- */

size_t sweep_count(const struct sweep_results *results, enum outcome outcome)
{
	size_t n = 0;

	for (size_t i = 0; i < results->count; i++)
		n += results->result[i].outcome == outcome;
	return n;
}

size_t sweep_news(const struct sweep_results *results)
{
	size_t n = 0;

	for (size_t i = 0; i < results->count; i++)
		n += sweep_is_finding(&results->result[i]) && !results->result[i].known;
	return n;
}

static size_t count_known(const struct sweep_results *results)
{
	size_t n = 0;

	for (size_t i = 0; i < results->count; i++)
		n += sweep_is_finding(&results->result[i]) && results->result[i].known;
	return n;
}

static void print_sum(const struct sweep_results *results)
{
	size_t known = count_known(results);
	const char *separator = ": ";

	printf("%zu call sites passed, %zu never passed, %zu tried, %zu allocations made to fail",
	       results->passed, results->unpassed, results->tried.count,
	       results->count - sweep_count(results, OUTCOME_UNREACHED) -
	       sweep_count(results, OUTCOME_UNPASSED));
	for (enum outcome o = 0; o < OUTCOMES; o++) {
		size_t n = sweep_count(results, o);

		if (!n || o == OUTCOME_UNPASSED)
			continue;
		printf("%s%zu %s", separator, n, outcomes[o].text);
		separator = ", ";
	}
	if (known)
		printf("; %zu of these are known", known);
	putchar('\n');
}

void sweep_ktap_sum(const struct sweep_results *results)
{
	fputs("# ", stdout);
	print_sum(results);
}

void sweep_ktap(const struct sweep_results *results, size_t i)
{
	const struct sweep_result *result = &results->result[i];
	bool bad = sweep_is_finding(result);

	printf("%sok %zu %s", bad ? "not " : "", i + 1, result->site);
	if (result->nth)
		printf(", allocation %u", result->nth);
	if (result->outcome == OUTCOME_UNREACHED || result->outcome == OUTCOME_UNPASSED)
		printf(" # SKIP %s", outcomes[result->outcome].text);
	else if (bad && result->known)
		printf(" # TODO known: %s", outcomes[result->outcome].word);
	putchar('\n');
	if (bad)
		printf("# %s%s%s\n", outcomes[result->outcome].word, *result->details ? ": " : "",
		       result->details);
	fflush(stdout);
}

const struct table_column sweep_columns[SWEEP_COLUMNS] = {
	{ "RESULT", false, "result", false }, { "NTH", true, "nth", false },
	{ "NAME", false, "name", false }, { "DETAILS", false, "details", false },
	{ "KNOWN", false, "known", true },
};

void sweep_table(const struct sweep_results *results, bool all, const struct output *output)
{
	struct table_column columns[SWEEP_COLUMNS];
	struct table table = { .column = columns, .columns = SWEEP_COLUMNS };
	char number[SIZE_TEXT];

	memcpy(columns, sweep_columns, sizeof(columns));
	columns[SWEEP_COLUMNS - 1].more = !count_known(results);
	for (size_t i = 0; i < results->count; i++) {
		const struct sweep_result *result = &results->result[i];

		if (!all && !sweep_is_finding(result) && result->outcome != OUTCOME_UNPASSED)
			continue;
		table_cell(&table, outcomes[result->outcome].word);
		table_cell(&table, result->nth ? size_format(number, result->nth, false) : "");
		table_cell(&table, result->site);
		table_cell(&table, result->details);
		table_cell(&table, result->known ? "known" : "");
	}
	output_table(&table, output);
	if (!output->no_headings)
		print_sum(results);
}

void sweep_json(const struct sweep_results *results, const struct output *output)
{
	struct json json = { .out = stdout };

	json_object(&json, NULL);
	json_int(&json, "passed", (int64_t)results->passed);
	json_int(&json, "tried", (int64_t)results->tried.count);
	for (enum outcome o = 0; o < OUTCOMES; o++)
		json_int(&json, outcomes[o].word, o == OUTCOME_UNPASSED ? (int64_t)results->unpassed :
			 (int64_t)sweep_count(results, o));
	json_rows(&json, "rows", output->columns);
	for (size_t i = 0; i < results->count; i++) {
		const struct sweep_result *result = &results->result[i];

		json_object(&json, NULL);
		json_string(&json, "result", outcomes[result->outcome].word);
		json_int(&json, "nth", result->nth);
		json_string(&json, "name", result->site);
		json_string(&json, "details", result->details);
		json_bool(&json, "known", result->known);
		json_end_object(&json);
	}
	json_end_array(&json);
	json_end_object(&json);
}

static void add_case(struct text *xml, const struct sweep_result *result)
{
	text_puts(xml, "    <testcase classname=\"codetag sweep\" name=\"");
	xml_add(xml, result->site);
	if (result->nth)
		text_printf(xml, ", allocation %u", result->nth);
	text_puts(xml, "\"");
	if (result->outcome == OUTCOME_OK) {
		text_puts(xml, "/>\n");
		return;
	}
	text_puts(xml, ">\n      ");
	if (!sweep_is_finding(result) || result->known)
		text_printf(xml, "<skipped message=\"%s", result->known ? "known: " : "");
	else
		text_puts(xml, "<failure message=\"");
	xml_add(xml, outcomes[result->outcome].text);
	if (*result->details) {
		text_puts(xml, ": ");
		xml_add(xml, result->details);
	}
	text_puts(xml, "\"/>\n    </testcase>\n");
}

bool sweep_junit(const struct sweep_results *results, const char *path)
{
	size_t skipped = sweep_count(results, OUTCOME_UNREACHED) +
			 sweep_count(results, OUTCOME_UNPASSED) + count_known(results);
	struct text xml = { 0 };
	struct outfile file;
	bool good;

	text_printf(&xml, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
		    "  <testsuite name=\"codetag sweep\" tests=\"%zu\" failures=\"%zu\" skipped=\"%zu\">\n",
		    results->count, sweep_news(results), skipped);
	for (size_t i = 0; i < results->count; i++)
		add_case(&xml, &results->result[i]);
	text_puts(&xml, "  </testsuite>\n</testsuites>\n");
	good = outfile_open(&file, path);
	if (good) {
		fputs(xml.s, file.stream);
		good = outfile_end(&file, path, true);
	} else {
		warning("cannot write %s: %s", path, strerror(errno));
	}
	text_free(&xml);
	return good;
}

void sweep_results_free(struct sweep_results *results)
{
	if (results->journal >= 0)
		close(results->journal);
	strmap_free(&results->tried);
	strmap_free(&results->done);
	strmap_free(&results->known);
	arena_free(&results->strings);
	free(results->result);
}
