/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The results of failed allocations, and the journal that keeps them if the machine crashes:
 *
 *	# codetag sweep	--nth N	…	query 'QUERY'	command COMMAND ARGUMENT…
 *	begin	NTH	SITE	BOOT
 *	OUTCOME	NTH	SITE	DETAILS
 *	cancel	NTH	SITE
 *
 * with tabs between the words. The first line has all options that change results, and the words
 * of the command with quotes as for a shell. An entry that began under another boot id, and was neither
 * cancelled nor has an outcome, has crashed the machine.
 */
#ifndef CODETAG_SWEEP_RESULTS_H
#define CODETAG_SWEEP_RESULTS_H

#include <stdbool.h>
#include <stddef.h>

#include "output.h"
#include "base/strmap.h"
#include "base/text.h"
#include "source/host.h"

enum outcome {
	OUTCOME_OK,		/* the command coped with it, or failed as allowed */
	OUTCOME_UNPASSED,	/* no run without a fault has allocated there */
	OUTCOME_UNREACHED,	/* this time the command did not reach the allocation */
	OUTCOME_STATUS,		/* the command ended with a status that is not allowed … */
	OUTCOME_SIGNAL,		/* … or by a signal */
	OUTCOME_LEAK,		/* each time memory was lost */
	OUTCOME_LOG,		/* the kernel complained in its log */
	OUTCOME_HANG,		/* the command did not end in time */
	OUTCOME_CRASH,		/* the machine went down */
	OUTCOMES,
};

struct sweep_result {
	enum outcome outcome;
	unsigned int nth;
	const char *site;	/* its name */
	const char *details;	/* "" if the outcome says everything */
	bool known;		/* the list of known results has it */
};

struct sweep_results {
	struct sweep_result *result;
	size_t count, room;
	size_t passed, unpassed;	/* call sites at which the command allocates, and others */
	struct strmap tried;	/* call sites that have a result */
	struct strmap done;	/* "NTH\tSITE" of each result */
	struct strmap known;	/* "OUTCOME\tNTH\tSITE\tDETAILS", as far as these tell defects apart */
	struct arena strings;
	int journal;		/* file descriptor, -1: none */
	const char *journal_path;
	bool resumed;		/* the journal was there, and is of this sweep */
	const char *begun;	/* the site whose entry began in this boot and has no end; or NULL */
	unsigned int begun_nth;
	char boot[BOOT_ID];	/* without it a sweep that was killed would count as a crash */
};

#define SWEEP_RESULTS_INIT { .journal = -1 }

/*
 * Findings in @path, the journal of another sweep, are known. An entry without details stands for
 * any finding of its kind at the site. Returns false after a message.
 */
bool sweep_known(struct sweep_results *results, const char *path);

/*
 * Opens the journal and takes over the results in it. Its first line has to be @head, which has
 * no newline. Returns false after a message.
 */
bool sweep_journal(struct sweep_results *results, const char *path, const char *head);

bool sweep_is_done(const struct sweep_results *results, unsigned int nth, const char *site);

/*
 * Notes that an allocation is about to fail: if the machine goes down now, the journal shows
 * it. Returns false after a message.
 */
bool sweep_begin(struct sweep_results *results, unsigned int nth, const char *site);

/* Notes that the user has interrupted it. Returns false after a message. */
bool sweep_cancel(struct sweep_results *results, unsigned int nth, const char *site);

/* Notes the outcome. Returns false after a message if the journal cannot be written. */
bool sweep_end(struct sweep_results *results, enum outcome outcome, unsigned int nth,
	       const char *site, const char *details);

/* Adds a call site that the command has never passed; it stands in no journal. */
void sweep_unpassed(struct sweep_results *results, const char *site);

bool sweep_is_finding(const struct sweep_result *result);

/* The number of results with this outcome, and of findings that are not known. */
size_t sweep_count(const struct sweep_results *results, enum outcome outcome);
size_t sweep_news(const struct sweep_results *results);

/* A line of KTAP for result @i, and the sum of all as a comment. */
void sweep_ktap(const struct sweep_results *results, size_t i);
void sweep_ktap_sum(const struct sweep_results *results);

/* Prints the findings, or with @all everything, as a table; JSON has everything. */
extern const struct table_column sweep_columns[];
#define SWEEP_COLUMNS 5
void sweep_table(const struct sweep_results *results, bool all, const struct output *output);
void sweep_json(const struct sweep_results *results, const struct output *output);

/* A JUnit file; false after a message. */
bool sweep_junit(const struct sweep_results *results, const char *path);

void sweep_results_free(struct sweep_results *results);

#endif
