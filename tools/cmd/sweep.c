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
#include <sys/wait.h>
#include <unistd.h>

#include "arguments.h"
#include "command.h"
#include "debugfs.h"
#include "growth.h"
#include "interval.h"
#include "output.h"
#include "progress.h"
#include "sweep_results.h"
#include "trial.h"
#include "base/message.h"
#include "base/number.h"
#include "read/control.h"
#include "read/query.h"

#define KMSG_PATH "/dev/kmsg"

/* No other program arms faults in this way. */
#define FAULT_OF_COMMAND "verbose=0 task-filter=1"

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
	bool all, ktap;

	struct remembered remembered;	/* before the first fault */
	struct armed_sites sites;	/* the sites at which the command allocates */
	struct growth growth;
	struct sweep_results results;
	struct trial trial;
	int log;			/* file descriptor of the kernel's log */
	bool log_lost;			/* records were overwritten before they could be read */
	struct text complaint;		/* the first complaint in it */
};

enum {
	KEY_NTH = 0x200, KEY_LIMIT, KEY_TIMEOUT, KEY_ALLOW, KEY_LEAKS, KEY_JOURNAL, KEY_KNOWN,
	KEY_KTAP, KEY_JUNIT,
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
	{ "ktap", KEY_KTAP, NULL, 0, "Print each result as KTAP when it is there", 3 },
	{ "junit", KEY_JUNIT, "FILE", 0, "Write the results to FILE, as JUnit's XML", 3 },
	{ "columns", 'o', "LIST", 0, "Columns: result, nth, name, details, known", 9 },
	{ 0 }
};

static const struct argp_child children[] = {
	{ &debugfs_dir_argp, 0, NULL, 8 },
	{ &output_argp, 0, NULL, 9 },
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
		{ sweep->ktap && (sweep->output.json || sweep->output.columns),
		  "--ktap replaces the table: it goes with neither --json nor --columns", NULL },
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

static bool nobody_else(struct sweep *sweep)
{
	struct armed_sites states;
	size_t armed = 0;

	if (!read_faults(sweep, &states))
		return false;
	for (size_t i = 0; i < states.count; i++)
		armed += !strcmp(states.site[i].state, "armed");
	armed_sites_free(&states);
	if (armed) {
		warning("%zu call sites have a fault already", armed);
		hint("A sweep removes all faults. 'codetag fault --list' lists them, and "
		     "'codetag fault --off --all' removes them.");
		return false;
	}
	return read_remembered(sweep, &sweep->remembered);
}

static bool arm(const struct sweep *sweep, const struct site *site, unsigned int nth)
{
	struct text text = { 0 };
	bool good;

	text_printf(&text, "file %s line %u func %s module %s fault nth=%u " FAULT_OF_COMMAND "\n",
		    site->file, site->line, site->func, site->module ? site->module : "vmlinux", nth);
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

static const char *const complaints[] = {
	"BUG: ", "WARNING: ", "Oops: ", "general protection fault", "Kernel panic", "kernel BUG at",
	"KASAN: ", "UBSAN: ", "KCSAN: ", "KMSAN: ", "INFO: task ", "INFO: rcu", "refcount_t: ",
	"list_add corruption", "list_del corruption", "unreferenced object", "Bad page state",
	"inconsistent lock state", "possible circular locking", "possible recursive locking",
};

static bool is_complaint(const char *line)
{
	for (size_t i = 0; i < sizeof(complaints) / sizeof(*complaints); i++)
		if (strstr(line, complaints[i]))
			return true;
	return false;
}

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

/* Finds the sites at which the command allocates. */
static bool scan(struct sweep *sweep)
{
	struct armed_sites *sites = &sweep->sites;
	struct text lines = { 0 };
	size_t kept = 0;
	bool good;

	query_with_action(sweep->query, "fault probability=0 times=-1 " FAULT_OF_COMMAND, &lines);
	good = run_plain(sweep) && control_each(sweep, lines.s) && run_plain(sweep) &&
	       read_faults(sweep, sites);
	text_free(&lines);
	if (!good || !disarm(sweep))
		return false;
	for (size_t i = 0; i < sites->count; i++)
		if (sites->site[i].number[FAULT_PASSED] > 0)
			sites->site[kept++] = sites->site[i];
	sites->count = kept;
	sweep->results.passed = kept;
	if (sweep->limit && sites->count > sweep->limit)
		sites->count = sweep->limit;
	if (!kept) {
		warning("%s allocates at none of the chosen call sites", sweep->command[0]);
		hint("Allocations of the kernel's own threads on its behalf are not counted.");
	}
	return kept;
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
static bool find_leak(struct sweep *sweep, const struct site *site, unsigned int nth,
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
		if (!arm(sweep, site, nth) || !run(sweep) || !fault_struck(sweep, &struck) ||
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
static bool try_one(struct sweep *sweep, const struct site *site, unsigned int nth, const char *name)
{
	struct text details = { 0 }, leak = { 0 };
	struct trial first;
	enum outcome outcome;
	bool struck = false, good;

	good = sweep_begin(&sweep->results, nth, name) && arm(sweep, site, nth) && run(sweep) &&
	       fault_struck(sweep, &struck) && disarm(sweep);
	/* More runs follow, to find a leak. */
	first = sweep->trial;
	sweep->trial.said = (struct text){ 0 };
	/* sync() would wait for a process that cannot be killed. */
	if (good && sweep->repeat && !first.stuck)
		good = growth_measure(&sweep->growth) &&
		       (!struck || first.hung || find_leak(sweep, site, nth, &leak));
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
static unsigned int tries(const struct sweep *sweep, const struct armed_site *site)
{
	int64_t passed = site->number[FAULT_PASSED];

	return passed < sweep->nth ? (unsigned int)passed : sweep->nth;
}

/* The number of allocations left to try. */
static size_t tries_left(const struct sweep *sweep)
{
	struct text name = { 0 };
	size_t n = 0;

	for (size_t i = 0; i < sweep->sites.count; i++) {
		text_clear(&name);
		site_name(&sweep->sites.site[i].site, &name);
		for (unsigned int nth = 1; nth <= tries(sweep, &sweep->sites.site[i]); nth++)
			n += !sweep_is_done(&sweep->results, nth, name.s);
	}
	text_free(&name);
	return n;
}

static bool try_all(struct sweep *sweep)
{
	struct progress progress = { .what = "allocations", .all = tries_left(sweep) };
	struct text name = { 0 };
	bool good = true;

	/* Discards complaints of earlier runs in the kernel's log. */
	read_log(sweep);
	if (sweep->ktap)
		printf("KTAP version 1\n1..%zu\n", sweep->results.count + progress.all);
	fflush(stdout);
	for (size_t i = 0; i < sweep->results.count && sweep->ktap; i++)
		sweep_ktap(&sweep->results, i);
	for (size_t i = 0; good && !ferror(stdout) && i < sweep->sites.count; i++) {
		const struct armed_site *site = &sweep->sites.site[i];

		text_clear(&name);
		site_name(&site->site, &name);
		for (unsigned int nth = 1; good && nth <= tries(sweep, site) && !ferror(stdout);
		     nth++) {
			if (sweep_is_done(&sweep->results, nth, name.s))
				continue;
			good = try_one(sweep, &site->site, nth, name.s);
			progress_step(&progress);
		}
	}
	progress_end(&progress);
	text_free(&name);
	if (interrupt_caught())
		warning("interrupted%s", sweep->journal ? ": the same command line goes on from here" : "");
	return good;
}

/* Distinguishes one sweep from another. */
static void describe(const struct sweep *sweep, struct text *head)
{
	text_printf(head, "# codetag sweep\t%s\t", sweep->words.s);
	for (char **word = sweep->command; *word; word++)
		text_printf(head, "%s%s", word == sweep->command ? "" : " ", *word);
	for (char *c = head->s; (c = strchr(c, '\n')); )
		*c = ' ';
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

static int sweep_run(struct sweep *sweep)
{
	struct text head = { 0 };
	bool good;

	interrupt_catch_all();
	/* If the reader of the results goes away, the sweep still has to remove its faults. */
	signal(SIGPIPE, SIG_IGN);
	if (!trial_prepare() || !open_log(sweep) || !nobody_else(sweep) ||
	    (sweep->known && !sweep_known(&sweep->results, sweep->known)))
		return STATUS_TROUBLE;
	describe(sweep, &head);
	good = !sweep->journal || sweep_journal(&sweep->results, sweep->journal, head.s);
	text_free(&head);
	if (!good)
		return STATUS_TROUBLE;
	active = sweep;
	atexit(disarm_at_exit);
	if (!scan(sweep) || !measure_noise(sweep))
		return STATUS_TROUBLE;
	good = try_all(sweep);
	disarm_at_exit();
	return report(sweep, good);
}

int cmd_sweep(int argc, char **argv)
{
	struct sweep sweep = {
		.dir = DEBUGFS_DIR_INIT, .nth = 1, .repeat = 5, .seconds = 60, .log = -1,
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
	text_free(&sweep.words);
	text_free(&sweep.complaint);
	query_free(sweep.query);
	remembered_free(&sweep.remembered);
	armed_sites_free(&sweep.sites);
	growth_free(&sweep.growth);
	sweep_results_free(&sweep.results);
	trial_free(&sweep.trial);
	return status;
}
