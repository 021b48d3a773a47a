// SPDX-License-Identifier: GPL-2.0-only
/* codetag sweep: let each allocation that a command makes fail once, and report the effects. */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include "arguments.h"
#include "command.h"
#include "complaints.h"
#include "debugfs.h"
#include "growth.h"
#include "interval.h"
#include "output.h"
#include "progress.h"
#include "sweep_results.h"
#include "trial.h"
#include "base/memory.h"
#include "base/message.h"
#include "base/number.h"
#include "base/outfile.h"
#include "read/allocinfo.h"
#include "read/control.h"
#include "read/profiling.h"
#include "read/query.h"

#define KMSG_PATH "/dev/kmsg"

/* No other program arms faults in this way. */
#define FAULT_OF_COMMAND "verbose=0 task-filter=1"
#define FAULT_OF_SCAN "fault probability=0 times=-1 " FAULT_OF_COMMAND

/* A call site to try, or several whose names are equal and that cannot be told apart. */
struct item {
	const struct site *site;
	const char *name;
	unsigned int copy;	/* which of the sites with this name; 0: all of them */
	int64_t passed;
};

struct items {
	struct item *item;
	size_t count, room;
};

struct sweep {
	struct debugfs_dir dir;
	struct output output;
	struct text words;		/* the query as it was typed */
	struct query *query;
	char **command;
	unsigned int nth, limit, repeat;
	double seconds;
	const char *allowed;		/* allowed exit statuses: "0,1"; NULL: all */
	const char *journal, *known, *junit;
	bool all, ktap, unpassed;

	struct remembered remembered;	/* before the first fault */
	struct armed_sites sites;	/* the chosen call sites */
	struct items items, others;	/* … at which the command allocates, and the rest of them */
	struct arena names;
	struct growth growth;
	struct sweep_results results;
	struct trial trial;
	int lock;			/* no two sweeps at once; -1: none */
	int log;			/* file descriptor of the kernel's log */
	bool log_lost;			/* records were overwritten before they could be read */
	struct text complaint;		/* the first complaint in it */
};

enum {
	KEY_NTH = 0x200, KEY_LIMIT, KEY_TIMEOUT, KEY_ALLOW, KEY_LEAKS, KEY_JOURNAL, KEY_KNOWN,
	KEY_KTAP, KEY_JUNIT, KEY_UNPASSED,
};

static const struct argp_option options[] = {
	{ "nth", KEY_NTH, "N", 0,
	  "Fail the first N allocations of each call site, one in each run (default: 1)", 1 },
	{ "limit", KEY_LIMIT, "N", 0, "Try the first N call sites only", 1 },
	{ "timeout", KEY_TIMEOUT, "SECONDS", 0,
	  "A run that takes longer hangs (default: 60)", 1 },
	{ "allow", KEY_ALLOW, "STATUS,…", 0,
	  "Exit statuses that are no finding, such as 0,1 (default: all)", 1 },
	{ "leaks", KEY_LEAKS, "N", 0,
	  "Call it a leak if memory grows in each of N runs (default: 5, 0: never)", 1 },
	{ "journal", KEY_JOURNAL, "FILE", 0,
	  "Keep the results in FILE, and after a crash go on from there", 2 },
	{ "known", KEY_KNOWN, "FILE", 0,
	  "Do not count findings that FILE has, the journal of another sweep", 2 },
	{ "all", 'a', NULL, 0, "List results that are no findings, too", 3 },
	{ "unpassed", KEY_UNPASSED, NULL, 0,
	  "List the chosen call sites that COMMAND has never passed, too", 3 },
	{ "ktap", KEY_KTAP, NULL, 0, "Print each result as KTAP when it is there", 3 },
	{ "junit", KEY_JUNIT, "FILE", 0, "Write the results to FILE, as JUnit's XML", 3 },
	{ "columns", 'o', "LIST", 0, "Columns: result, nth, name, details, known", 9 },
	{ 0 }
};

static const struct argp_child children[] = {
	{ &debugfs_dir_argp, 0, NULL, 8 },
	{ &output_sizeless_argp, 0, NULL, 9 },
	{ 0 }
};

/* "0,1,22" */
static bool statuses_valid(const char *s)
{
	int64_t status;

	do {
		if (!number_read(&s, &status) || status < 0 || status > 255)
			return false;
	} while (*s++ == ',');
	return !s[-1];
}

static bool status_allowed(const char *allowed, int status)
{
	int64_t next;

	if (!allowed)
		return true;
	do {
		if (number_read(&allowed, &next) && next == status)
			return true;
	} while (*allowed++ == ',');
	return false;
}

static void finish(struct sweep *sweep, struct argp_state *state)
{
	const struct conflict conflicts[] = {
		{ !sweep->command || !*sweep->command,
		  "the command is missing. It comes after the query and --", NULL },
		{ sweep->ktap && output_chosen(&sweep->output),
		  "--ktap replaces the table: --json, --columns and --noheadings go without it", NULL },
	};

	output_check_columns(&sweep->output, sweep_columns, SWEEP_COLUMNS, state);
	CHECK_CONFLICTS(conflicts, state);
	if (!sweep->words.len)
		text_clear(&sweep->words);
	sweep->query = argument_query(sweep->words.s, state);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct sweep *sweep = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &sweep->dir;
		state->child_inputs[1] = &sweep->output;
		return 0;
	case KEY_NTH:
		sweep->nth = (unsigned int)argument_number("--nth", arg, 1, 1000000, state);
		return 0;
	case KEY_LIMIT:
		sweep->limit = (unsigned int)argument_number("--limit", arg, 1, 1000000, state);
		return 0;
	case KEY_TIMEOUT:
		sweep->seconds = argument_seconds(arg, state);
		return 0;
	case KEY_ALLOW:
		if (!statuses_valid(arg))
			argp_error(state, "--allow takes numbers from 0 to 255 with commas, not '%s'", arg);
		sweep->allowed = arg;
		return 0;
	case KEY_LEAKS:
		sweep->repeat = (unsigned int)argument_number("--leaks", arg, 0, 1000, state);
		return 0;
	case KEY_JOURNAL:
		sweep->journal = arg;
		return 0;
	case KEY_KNOWN:
		sweep->known = arg;
		return 0;
	case 'a':
		sweep->all = true;
		return 0;
	case KEY_UNPASSED:
		sweep->unpassed = true;
		return 0;
	case KEY_KTAP:
		sweep->ktap = true;
		return 0;
	case KEY_JUNIT:
		sweep->junit = arg;
		return 0;
	case 'o':
		sweep->output.columns = arg;
		return 0;
	case ARGP_KEY_ARG:
		text_printf(&sweep->words, "%s%s", sweep->words.len ? " " : "", arg);
		return 0;
	case ARGP_KEY_END:
		finish(sweep, state);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp argp = {
	options, parse, "[QUERY…] -- COMMAND [ARGUMENT…]",
	"Tests error paths: runs COMMAND once to see at which of the chosen call sites it allocates. "
	"Then it runs COMMAND once more for each of them, and lets one allocation there fail. Only "
	"COMMAND and the processes that it starts are affected. The kernel needs "
	"CONFIG_CODETAG_FAULT_INJECTION."
	"\vFindings are complaints in the kernel's log, hangs, leaked memory, crashes of COMMAND, and "
	"exit statuses that --allow does not name. With --journal, crashes of the machine are "
	"findings, too. After a restart the same command line goes on where it was. COMMAND has to "
	"succeed without a fault and to end by itself; processes that it leaves running are killed. To "
	"look for leaks the kernel is made to drop its caches after each run. Use a machine that you "
	"can afford to lose.\n\n"
	"Examples:\n"
	"  codetag sweep file 'fs/ext4/*' -- ./mount-and-write.sh\n"
	"  codetag sweep --nth 3 --journal sweep.log module nf_tables -- nft -f rules\n"
	"  codetag sweep --allow 0,1 --ktap -- ip link add dummy0 type dummy\n\n"
	"Exit status: 0 nothing was found, 1 there are findings that are not known, 2 trouble.",
	children, NULL, NULL
};

/* ---- faults --------------------------------------------------------------------- */

static struct sweep *active;	/* The fault to remove, however the program ends */

/* The call sites of a module that was unloaded are gone; that is no error. */
static bool control(const struct sweep *sweep, const char *lines)
{
	bool opened;
	int error = debugfs_write(&sweep->dir, "control", lines, &opened);

	if (!error || (opened && error == ENOENT))
		return true;
	if (!opened)
		debugfs_dir_complain(&sweep->dir, "control", error);
	else if (error == EOPNOTSUPP)
		warning("this kernel is built without CONFIG_CODETAG_FAULT_INJECTION");
	else
		warning("cannot write to %s/control: %s", sweep->dir.path, strerror(error));
	return false;
}

static bool read_remembered(const struct sweep *sweep, struct remembered *remembered)
{
	size_t len;
	char *text;

	if (!debugfs_read(&sweep->dir, "queries", &text, &len))
		return false;
	remembered_parse(remembered, text, len);
	return true;
}

static bool was_remembered(const struct sweep *sweep, int64_t number)
{
	for (size_t i = 0; i < sweep->remembered.count; i++)
		if (sweep->remembered.query[i].number == number)
			return true;
	return false;
}

/* The kernel remembers queries about modules. */
static bool forget_faults(const struct sweep *sweep)
{
	struct remembered now;
	struct text text = { 0 };
	bool opened, good = read_remembered(sweep, &now);

	if (!good)
		return false;
	for (size_t i = 0; i < now.count; i++) {
		if (was_remembered(sweep, now.query[i].number) ||
		    !strstr(now.query[i].query, "fault"))
			continue;
		text_clear(&text);
		text_printf(&text, "remove %" PRId64 "\n", now.query[i].number);
		debugfs_write(&sweep->dir, "queries", text.s, &opened);
	}
	text_free(&text);
	remembered_free(&now);
	return true;
}

static bool disarm(const struct sweep *sweep)
{
	/* There are no other faults: that was checked at the start. */
	bool off = control(sweep, "fault=off\n");

	return forget_faults(sweep) && off;
}

static void disarm_at_exit(void)
{
	if (active)
		disarm(active);
	active = NULL;
}

static bool read_faults(const struct sweep *sweep, struct armed_sites *states)
{
	size_t len;
	char *text;

	if (!debugfs_read(&sweep->dir, "faults", &text, &len))
		return false;
	armed_sites_parse(states, FAULT_NUMBERS, text, len);
	return true;
}

/* The file system of the kernel's files has such locks, too. */
static bool lock(struct sweep *sweep)
{
	sweep->lock = open(sweep->dir.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (sweep->lock < 0) {
		debugfs_dir_complain(&sweep->dir, "faults", errno);
		return false;
	}
	if (flock(sweep->lock, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK) {
		warning("another sweep is running");
		return false;
	}
	return true;
}

/* The faults of a sweep that was killed: of its scan, or of the allocation that its journal names. */
static size_t count_left(const struct sweep *sweep)
{
	const char *begun = sweep->results.begun;
	struct text name = { 0 };
	struct control control;
	size_t len, n = 0;
	char *text;

	if (!debugfs_read(&sweep->dir, "control", &text, &len))
		return 0;
	control_parse(&control, text, len);
	for (size_t i = 0; i < control.count; i++) {
		const char *fault = control.site[i].fault;

		if (!fault || !text_ends_with(fault, FAULT_OF_COMMAND))
			continue;
		text_clear(&name);
		site_name(&control.site[i].site, &name);
		/* The name in the journal may have the number of a copy. */
		n += !strncmp(fault, "probability=0 ", strlen("probability=0 ")) ||
		     (begun && !strncmp(begun, name.s, name.len) &&
		      (!begun[name.len] || begun[name.len] == ' '));
	}
	control_free(&control);
	text_free(&name);
	return n;
}

static bool was_left(const struct sweep *sweep, const char *query)
{
	char fault[64];

	snprintf(fault, sizeof(fault), " fault nth=%u " FAULT_OF_COMMAND, sweep->results.begun_nth);
	return text_ends_with(query, " " FAULT_OF_SCAN) || (sweep->results.begun && text_ends_with(query, fault));
}

/* Removes what a sweep with the same journal has armed, which was killed in this boot. */
static bool remove_left(struct sweep *sweep, size_t armed)
{
	struct remembered *remembered = &sweep->remembered;
	const char *begun = sweep->results.begun;
	size_t kept = 0, queries;

	for (size_t i = 0; i < remembered->count; i++)
		if (!was_left(sweep, remembered->query[i].query))
			remembered->query[kept++] = remembered->query[i];
	queries = remembered->count - kept;
	/* disarm() removes the queries that are no longer among these. */
	remembered->count = kept;
	if (armed + queries)
		warning("the sweep of this journal was killed%s%s: its faults are removed",
			begun ? " at " : "", begun ? begun : "");
	return !(armed + queries) || disarm(sweep);
}

static bool nobody_else(struct sweep *sweep)
{
	struct armed_sites states;
	size_t armed = 0;

	if (!read_faults(sweep, &states))
		return false;
	for (size_t i = 0; i < states.count; i++)
		armed += !strcmp(states.site[i].state, "armed");
	armed_sites_free(&states);
	if (armed && !(sweep->results.resumed && count_left(sweep) == armed)) {
		warning("%zu call sites have a fault already", armed);
		hint("A sweep removes all faults. 'codetag fault --list' lists them, and "
		     "'codetag fault --off --all' removes them.");
		return false;
	}
	return read_remembered(sweep, &sweep->remembered) &&
	       (!sweep->results.resumed || remove_left(sweep, armed));
}

/* The id of the @number-th of the call sites with this name, 0 without one. */
static uint16_t id_of_copy(const struct sweep *sweep, const struct site *site, unsigned int number)
{
	struct control control;
	uint16_t id = 0;
	size_t len;
	char *text;

	if (!debugfs_read(&sweep->dir, "control", &text, &len))
		return 0;
	control_parse(&control, text, len);
	for (size_t i = 0; i < control.count; i++)
		if (site_same(&control.site[i].site, site) && !--number)
			id = control.site[i].id;
	control_free(&control);
	return id;
}

static bool arm(const struct sweep *sweep, const struct item *item, unsigned int nth)
{
	const struct site *site = item->site;
	uint16_t id = item->copy ? id_of_copy(sweep, site, item->copy) : 0;
	struct text text = { 0 };
	bool good;

	text_printf(&text, "file %s line %u func %s ", site->file, site->line, site->func);
	/*
	 * The kernel remembers a query that names a module, until the command loads it. By then the
	 * id may be another one, so the copies in a module that is not loaded fail together.
	 */
	if (id)
		text_printf(&text, "id %u ", id);
	else
		text_printf(&text, "module %s ", site->module ? site->module : "vmlinux");
	text_printf(&text, "fault nth=%u " FAULT_OF_COMMAND "\n", nth);
	good = control(sweep, text.s);
	text_free(&text);
	return good;
}

/* Whether an allocation has failed since arm(). */
static bool fault_struck(const struct sweep *sweep, bool *struck)
{
	struct armed_sites states;

	if (!read_faults(sweep, &states))
		return false;
	*struck = false;
	for (size_t i = 0; i < states.count; i++)
		*struck |= states.site[i].number[FAULT_FAILED] > 0;
	armed_sites_free(&states);
	return true;
}

/* ---- the kernel's log ----------------------------------------------------------- */

static bool open_log(struct sweep *sweep)
{
	sweep->log = open(KMSG_PATH, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (sweep->log >= 0 && lseek(sweep->log, 0, SEEK_END) >= 0)
		return true;
	warning("cannot read %s: %s", KMSG_PATH, strerror(errno));
	return false;
}

/* Afterwards complaint holds the first complaint since the last call, "" without one. */
static void read_log(struct sweep *sweep)
{
	char record[8192], *line;
	ssize_t n;

	text_clear(&sweep->complaint);
	/* One record a call: "6,339,5140900,-;message\n SUBSYSTEM=…\n" */
	while ((n = read(sweep->log, record, sizeof(record) - 1)) > 0 || (n < 0 && errno == EPIPE)) {
		sweep->log_lost |= n < 0;
		if (n < 0 || sweep->complaint.len)
			continue;
		record[n] = '\0';
		line = strchr(record, ';');
		line = line ? line + 1 : record;
		line[strcspn(line, "\n")] = '\0';
		if (!is_complaint(line))
			continue;
		text_clean(line);
		text_puts(&sweep->complaint, line);
	}
}

/* ---- runs ----------------------------------------------------------------------- */

static bool run(struct sweep *sweep)
{
	return trial_run(&sweep->trial, sweep->command, sweep->seconds);
}

/* A run without a fault, which has to succeed. */
static bool run_plain(struct sweep *sweep)
{
	const struct trial *trial = &sweep->trial;

	if (!run(sweep))
		return false;
	if (trial->hung)
		warning("%s takes more than %g seconds without a fault", sweep->command[0], sweep->seconds);
	else if (WIFSIGNALED(trial->status))
		warning("%s is ended by signal %d without a fault", sweep->command[0],
			WTERMSIG(trial->status));
	else if (trial->status)
		warning("%s ends with status %d without a fault%s%s", sweep->command[0],
			WEXITSTATUS(trial->status), trial->said.len ? ": " : "",
			trial->said.s ? trial->said.s : "");
	return !trial->hung && !trial->status;
}

/*
 * Arms each query by itself: the kernel takes all queries of a write or none, and one that selects
 * nothing is an error.
 */
static bool control_each(const struct sweep *sweep, char *lines)
{
	struct text one = { 0 };
	bool good = true;

	for (char *line = lines, *end; good && (end = strchr(line, '\n')); line = end + 1) {
		text_clear(&one);
		text_add(&one, line, (size_t)(end + 1 - line));
		good = control(sweep, one.s);
	}
	text_free(&one);
	return good;
}

/*
 * The number of site @row, among all with its name, if ids tell these apart; otherwise 0. @rows of
 * them were armed, and @before of these come before it. The kernel has them in the order in which
 * they were armed last: by query, those of a query in the order of the list.
 */
static unsigned int copy_of(const struct control *control, const struct query *query,
			    const struct site *row, size_t rows, size_t before)
{
	unsigned int all = 0, copy = 0;
	size_t chosen = 0;
	bool ids = true;

	for (size_t turn = 1; turn <= query_count(query); turn++) {
		all = 0;
		for (size_t i = 0; i < control->count; i++) {
			const struct control_site *site = &control->site[i];

			if (!site_same(&site->site, row))
				continue;
			all++;
			ids &= site->id != 0;
			if (query_last(query, &site->site, site->id) == turn && chosen++ == before)
				copy = all;
		}
	}
	return ids && all > 1 && chosen == rows ? copy : 0;
}

static void add_item(struct sweep *sweep, struct items *items, const struct armed_site *row,
		     unsigned int copy)
{
	struct text name = { 0 };

	site_name(&row->site, &name);
	if (copy > 1)
		text_printf(&name, " copy:%u", copy);
	GROW(items->item, items->count, items->room);
	items->item[items->count++] = (struct item){
		&row->site, arena_copy(&sweep->names, name.s, name.len), copy,
		row->number[FAULT_PASSED],
	};
	text_free(&name);
}

/* The rows of sites, each once. Those that cannot be told apart become one item. */
static bool list_items(struct sweep *sweep, struct items *items)
{
	const struct armed_sites *sites = &sweep->sites;
	struct {
		size_t rows, before, item;
	} *same = xcalloc(sites->count + 1, sizeof(*same));
	size_t *name_of = xcalloc(sites->count + 1, sizeof(*name_of)), len;
	struct control control = { 0 };
	struct strmap names = { 0 };
	struct text name = { 0 };
	bool good = true;
	char *text;

	for (size_t i = 0; i < sites->count; i++) {
		text_clear(&name);
		site_name(&sites->site[i].site, &name);
		name_of[i] = strmap_add(&names, name.s, name.len);
		same[name_of[i]].rows++;
	}
	if (names.count < sites->count || query_has_id(sweep->query)) {
		good = debugfs_read(&sweep->dir, "control", &text, &len);
		if (good)
			control_parse(&control, text, len);
	}
	for (size_t i = 0; good && i < sites->count; i++) {
		const struct armed_site *row = &sites->site[i];
		size_t before = same[name_of[i]].before++, *item = &same[name_of[i]].item;
		unsigned int copy = copy_of(&control, sweep->query, &row->site,
					    same[name_of[i]].rows, before);

		if (!copy && before) {
			if (row->number[FAULT_PASSED] > items->item[*item].passed)
				items->item[*item].passed = row->number[FAULT_PASSED];
			continue;
		}
		*item = items->count;
		add_item(sweep, items, row, copy);
	}
	control_free(&control);
	strmap_free(&names);
	text_free(&name);
	free(name_of);
	free(same);
	return good;
}

/* Finds the sites at which the command allocates. */
static bool scan(struct sweep *sweep)
{
	struct items all = { 0 }, *items;
	struct text lines = { 0 };
	bool good;

	query_with_action(sweep->query, FAULT_OF_SCAN, &lines);
	good = run_plain(sweep) && control_each(sweep, lines.s) && run_plain(sweep) &&
	       read_faults(sweep, &sweep->sites) && list_items(sweep, &all) && disarm(sweep);
	text_free(&lines);
	for (size_t i = 0; good && i < all.count; i++) {
		items = all.item[i].passed > 0 ? &sweep->items : &sweep->others;
		GROW(items->item, items->count, items->room);
		items->item[items->count++] = all.item[i];
	}
	free(all.item);
	if (!good)
		return false;
	sweep->results.passed = sweep->items.count;
	sweep->results.unpassed = sweep->others.count;
	if (!sweep->items.count) {
		warning("%s allocates at none of the chosen call sites", sweep->command[0]);
		hint("Allocations of the kernel's own threads on its behalf are not counted.");
	}
	if (sweep->limit && sweep->items.count > sweep->limit)
		sweep->items.count = sweep->limit;
	return sweep->items.count;
}

/* Measures how much memory varies without a fault. */
static bool measure_noise(struct sweep *sweep)
{
	if (!sweep->repeat)
		return true;
	if (!growth_measure(&sweep->growth))
		return false;
	for (unsigned int i = 0; i < sweep->repeat; i++) {
		if (!run_plain(sweep) || !growth_measure(&sweep->growth))
			return false;
		growth_is_noise(&sweep->growth);
	}
	return true;
}

/*
 * After a run in which something grew: repeats it until the result is certain. *@details
 * describes the leak, if there is one.
 */
static bool find_leak(struct sweep *sweep, const struct item *item, unsigned int nth,
		      struct text *details)
{
	unsigned int runs = 1;
	const char *name;
	int64_t bytes;
	bool struck;

	growth_begin(&sweep->growth);
	while (growth_add(&sweep->growth, runs)) {
		if (runs == sweep->repeat) {
			name = growth_leak(&sweep->growth, runs, &bytes);
			text_printf(details, "%" PRId64 " bytes each time at %s", bytes, name);
			return true;
		}
		if (!arm(sweep, item, nth) || !run(sweep) || !fault_struck(sweep, &struck) ||
		    !disarm(sweep) ||
		    (!sweep->trial.stuck && !growth_measure(&sweep->growth)))
			return false;
		/* A run that does not reach the allocation each time proves nothing. */
		if (!struck || sweep->trial.hung)
			return true;
		runs++;
	}
	return true;
}

static enum outcome judge(struct sweep *sweep, const struct trial *trial, const struct text *leak,
			  struct text *details)
{
	int status = trial->status;

	if (trial->hung) {
		text_printf(details, "more than %g seconds%s", sweep->seconds,
			    trial->stuck ? ", and cannot be killed" : "");
		return OUTCOME_HANG;
	}
	if (sweep->complaint.len) {
		text_puts(details, sweep->complaint.s);
		return OUTCOME_LOG;
	}
	if (leak->len) {
		text_puts(details, leak->s);
		return OUTCOME_LEAK;
	}
	if (WIFSIGNALED(status)) {
		text_printf(details, "%s", strsignal(WTERMSIG(status)));
		return OUTCOME_SIGNAL;
	}
	if (status)
		text_printf(details, "status %d%s%s", WEXITSTATUS(status), trial->said.len ? ": " : "",
			    trial->said.s ? trial->said.s : "");
	return status_allowed(sweep->allowed, WEXITSTATUS(status)) ? OUTCOME_OK : OUTCOME_STATUS;
}

/* Returns false if the sweep cannot go on. */
static bool try_one(struct sweep *sweep, const struct item *item, unsigned int nth)
{
	const char *name = item->name;
	struct text details = { 0 }, leak = { 0 };
	struct trial first;
	enum outcome outcome;
	bool struck = false, good;

	good = sweep_begin(&sweep->results, nth, name) && arm(sweep, item, nth) && run(sweep) &&
	       fault_struck(sweep, &struck) && disarm(sweep);
	/* More runs follow, to find a leak. */
	first = sweep->trial;
	sweep->trial.said = (struct text){ 0 };
	/* sync() would wait for a process that cannot be killed. */
	if (good && sweep->repeat && !first.stuck)
		good = growth_measure(&sweep->growth) &&
		       (!struck || first.hung || find_leak(sweep, item, nth, &leak));
	read_log(sweep);
	outcome = judge(sweep, &first, &leak, &details);
	if (outcome == OUTCOME_OK && !struck)
		outcome = OUTCOME_UNREACHED;
	if (!details.s)
		text_clear(&details);
	if (good)
		good = sweep_end(&sweep->results, outcome, nth, name, details.s);
	else
		sweep_cancel(&sweep->results, nth, name);
	if (good && sweep->ktap)
		sweep_ktap(&sweep->results, sweep->results.count - 1);
	if (good && (first.stuck || sweep->trial.stuck)) {
		warning("a process of %s cannot be killed: the sweep ends here", sweep->command[0]);
		good = false;
	}
	text_free(&details);
	text_free(&leak);
	trial_free(&first);
	return good;
}

/* The number of allocations of a site to try. */
static unsigned int tries(const struct sweep *sweep, const struct item *item)
{
	return item->passed < sweep->nth ? (unsigned int)item->passed : sweep->nth;
}

/* The number of allocations left to try. */
static size_t tries_left(const struct sweep *sweep)
{
	size_t n = 0;

	for (size_t i = 0; i < sweep->items.count; i++) {
		const struct item *item = &sweep->items.item[i];

		for (unsigned int nth = 1; nth <= tries(sweep, item); nth++)
			n += !sweep_is_done(&sweep->results, nth, item->name);
	}
	return n;
}

/* Adds the chosen call sites that the command has never passed. */
static void add_others(struct sweep *sweep)
{
	for (size_t i = 0; i < sweep->others.count; i++) {
		sweep_unpassed(&sweep->results, sweep->others.item[i].name);
		if (sweep->ktap)
			sweep_ktap(&sweep->results, sweep->results.count - 1);
	}
}

static bool try_all(struct sweep *sweep)
{
	struct progress progress = { .what = "allocations", .all = tries_left(sweep) };
	bool good = true;

	/* Discards complaints of earlier runs in the kernel's log. */
	read_log(sweep);
	if (sweep->ktap)
		printf("KTAP version 1\n1..%zu\n", sweep->results.count + progress.all +
		       (sweep->unpassed ? sweep->others.count : 0));
	fflush(stdout);
	for (size_t i = 0; i < sweep->results.count && sweep->ktap; i++)
		sweep_ktap(&sweep->results, i);
	for (size_t i = 0; good && !ferror(stdout) && i < sweep->items.count; i++) {
		const struct item *item = &sweep->items.item[i];

		for (unsigned int nth = 1; good && nth <= tries(sweep, item) && !ferror(stdout);
		     nth++) {
			if (sweep_is_done(&sweep->results, nth, item->name))
				continue;
			good = try_one(sweep, item, nth);
			progress_step(&progress);
		}
	}
	progress_end(&progress);
	if (sweep->unpassed)
		add_others(sweep);
	if (interrupt_caught())
		warning("interrupted%s", sweep->journal ? ": the same command line goes on from here" : "");
	return good;
}

/* Adds a blank and the word, in quotes as for a shell if it needs any. All stays in one line. */
static void add_word(struct text *text, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_@%+=:,./-";
	bool escapes = false;

	if (*word && !word[strspn(word, plain)]) {
		text_printf(text, " %s", word);
		return;
	}
	for (const char *c = word; *c; c++)
		escapes |= (unsigned char)*c < ' ' || strchr("\177'\\", *c);
	text_puts(text, escapes ? " $'" : " '");
	for (const char *c = word; *c; c++) {
		if ((unsigned char)*c < ' ' || *c == '\177')
			text_printf(text, "\\%03o", (unsigned char)*c);
		else
			text_printf(text, "%s%c", *c == '\'' || *c == '\\' ? "\\" : "", *c);
	}
	text_puts(text, "'");
}

static void add_number(struct text *head, const char *option, unsigned int number)
{
	if (number)
		text_printf(head, "\t%s %u", option, number);
	else
		text_printf(head, "\t%s none", option);
}

/* Everything that changes the results of a sweep, with tabs between. Two sweeps differ if this does. */
static void describe(const struct sweep *sweep, struct text *head)
{
	text_puts(head, "# codetag sweep");
	add_number(head, "--nth", sweep->nth);
	add_number(head, "--limit", sweep->limit);
	add_number(head, "--leaks", sweep->repeat);
	text_printf(head, "\t--timeout %g\t--allow %s\tquery", sweep->seconds,
		    sweep->allowed ? sweep->allowed : "all");
	add_word(head, sweep->words.s);
	text_puts(head, "\tcommand");
	for (char **word = sweep->command; *word; word++)
		add_word(head, *word);
}

static int report(struct sweep *sweep, bool good)
{
	if (sweep->output.json)
		sweep_json(&sweep->results, &sweep->output);
	else if (sweep->ktap)
		sweep_ktap_sum(&sweep->results);
	else
		sweep_table(&sweep->results, sweep->all, &sweep->output);
	if (sweep->junit)
		good &= sweep_junit(&sweep->results, sweep->junit);
	if (sweep->log_lost)
		warning("the kernel wrote more into its log than that keeps: complaints may be missing");
	if (!good)
		return STATUS_TROUBLE;
	return sweep_news(&sweep->results) ? STATUS_FOUND : STATUS_OK;
}

/* The memory of a call site that is not profiled is not known. */
static bool can_see_leaks(const struct sweep *sweep)
{
	struct allocinfo info;
	bool good;

	if (!sweep->repeat)
		return true;
	if (!allocinfo_read(&info, ALLOCINFO_PATH))
		return false;
	profiling_mark(&info, ALLOCINFO_PATH);
	good = profiling_complete(&info, NULL);
	allocinfo_free(&info);
	if (!good)
		hint("With --leaks 0 the sweep looks for no leaks.");
	return good;
}

/* Better now than after hours. */
static bool can_write_junit(const struct sweep *sweep)
{
	if (!sweep->junit || outfile_can_open(sweep->junit))
		return true;
	warning("cannot write %s: %s", sweep->junit, strerror(errno));
	return false;
}

static int sweep_run(struct sweep *sweep)
{
	struct text head = { 0 };
	bool good;

	interrupt_catch_all();
	/* If the reader of the results goes away, the sweep still has to remove its faults. */
	signal(SIGPIPE, SIG_IGN);
	if (!trial_prepare() || !open_log(sweep) || !lock(sweep) ||
	    (sweep->known && !sweep_known(&sweep->results, sweep->known)))
		return STATUS_TROUBLE;
	describe(sweep, &head);
	good = !sweep->journal || sweep_journal(&sweep->results, sweep->journal, head.s);
	text_free(&head);
	if (!good)
		return STATUS_TROUBLE;
	if (!nobody_else(sweep) || !can_see_leaks(sweep) || !can_write_junit(sweep)) {
		/* A sweep that never began has nothing to go on with. */
		if (sweep->journal && !sweep->results.resumed)
			unlink(sweep->journal);
		return STATUS_TROUBLE;
	}
	active = sweep;
	atexit(disarm_at_exit);
	if (!scan(sweep) || !measure_noise(sweep)) {
		if (interrupt_caught())
			warning("interrupted%s", sweep->results.resumed ? ": the same command line goes on from here" :
				" before the first allocation failed");
		return STATUS_TROUBLE;
	}
	good = try_all(sweep);
	disarm_at_exit();
	return report(sweep, good);
}

int cmd_sweep(int argc, char **argv)
{
	struct sweep sweep = {
		.dir = DEBUGFS_DIR_INIT, .nth = 1, .repeat = 5, .seconds = 60, .lock = -1, .log = -1,
		.results = SWEEP_RESULTS_INIT,
	};
	int status, words = 0;

	/* The words after it belong to the command. */
	while (words < argc && strcmp(argv[words], "--"))
		words++;
	if (words < argc)
		sweep.command = argv + words + 1;
	argp_parse(&argp, words, argv, 0, NULL, &sweep);
	status = sweep_run(&sweep);
	/* The exit handler would use memory that is gone. */
	disarm_at_exit();
	if (sweep.log >= 0)
		close(sweep.log);
	if (sweep.lock >= 0)
		close(sweep.lock);
	text_free(&sweep.words);
	text_free(&sweep.complaint);
	query_free(sweep.query);
	remembered_free(&sweep.remembered);
	armed_sites_free(&sweep.sites);
	free(sweep.items.item);
	free(sweep.others.item);
	arena_free(&sweep.names);
	growth_free(&sweep.growth);
	sweep_results_free(&sweep.results);
	trial_free(&sweep.trial);
	return status;
}
