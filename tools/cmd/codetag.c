// SPDX-License-Identifier: GPL-2.0-only
/* codetag: which lines of kernel code hold the memory. */
#include <argp.h>
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "older.h"
#include "base/memory.h"
#include "base/message.h"
#include "base/outfile.h"
#include "base/terminal.h"

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *summary;
} commands[] = {
	{ "where", cmd_where, "the use of all memory, and unusual growth" },
	{ "top", cmd_top, "the call sites that hold the most memory" },
	{ "report", cmd_report, "one snapshot: filtered, grouped, sorted" },
	{ "diff", cmd_diff, "growth between two snapshots" },
	{ "export", cmd_export, "for flame graphs, pprof, speedscope, Prometheus, CSV, JSON"
#ifdef HAVE_SQLITE
	  ", SQLite"
#endif
	},
	{ "merge", cmd_merge, "many hosts: sums, medians, the largest and the outliers" },
	{ "leaks", cmd_leaks, "call sites that grow steadily, and why that is suspicious" },
#ifdef HAVE_SQLITE
	{ "record", cmd_record, "snapshots over time into one file" },
	{ "replay", cmd_replay, "a recording as a table, or one of its snapshots" },
#endif
#if defined(HAVE_CAIRO) || defined(HAVE_D3)
	{ "chart", cmd_chart, "ring, treemap, bars, or areas over time, as SVG, PNG or page" },
#endif
	{ "trace", cmd_trace, "allocations by caller, from an ftrace log; or of chosen call sites" },
	{ "slabs", cmd_slabs, "the slab caches and how well they are used" },
#ifdef HAVE_ELF
	{ "static", cmd_static, "the size of the code and data of a built kernel" },
#endif
	{ "status", cmd_status, "which call sites are profiled, split, traced, made to fail or guarded" },
	{ "enable", cmd_enable, "count the allocations of chosen call sites" },
	{ "disable", cmd_disable, "stop counting chosen call sites" },
	{ "split", cmd_split, "count chosen call sites by stack, age, size, task …" },
	{ "contexts", cmd_contexts, "memory of split call sites, by stack, age, size, task …" },
	{ "fault", cmd_fault, "make allocations of chosen call sites fail" },
	{ "guard", cmd_guard, "find wrong accesses to objects of chosen call sites" },
	{ "sweep", cmd_sweep, "fail each allocation of a command once, and report leaks, hangs and crashes" },
	{ "remembered", cmd_remembered, "the queries that wait for modules" },
	{ "reset", cmd_reset, "put back all that enable, disable, split, fault, guard and trace have changed" },
	{ "stats", cmd_stats, "the profiler's own state, limits and cost" },
	{ "audit", cmd_audit, "let the kernel recount every page and object" },
	{ "whose", cmd_whose, "the object at an address, and its call site" },
	{ "census", cmd_census, "all memory by node, zone, order, cache, control group …" },
	{ "graph", cmd_graph, "the memory that each object of an image keeps" },
	{ "holders", cmd_holders, "which memory of an image points to objects" },
	{ "lost", cmd_lost, "objects in an image that no pointer leads to" },
};

/* The features that need a library which this build lacks. */
static const struct {
	const char *name, *library;
} left_out[] = {
#ifndef HAVE_SQLITE
	{ "record", "sqlite3" }, { "replay", "sqlite3" },
#endif
#if !defined(HAVE_CAIRO) && !defined(HAVE_D3)
	{ "chart", "cairo or d3" },
#endif
#ifndef HAVE_ELF
	{ "static", "libelf" },
#endif
	{ NULL, NULL }
};

const char *argp_program_version = "codetag " CODETAG_VERSION "\nFeatures: " CODETAG_FEATURES;

static void usage(FILE *out)
{
	fputs("Usage: codetag COMMAND [OPTION…] [ARGUMENT…]\n"
	      "Shows which lines of kernel code hold the memory of a machine.\n\n"
	      "Commands:\n", out);
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		fprintf(out, "  %-11s %s\n", commands[i].name,
			commands[i].summary);
	fputs("\nOn a terminal 'codetag' alone is 'codetag where'.\n"
	      "\nOptions:\n"
	      "  --help     this text; after a command, its options\n"
	      "  --version  version and the features compiled in\n\n"
	      "Examples:\n"
	      "  codetag where\n"
	      "  codetag top --once -n 15\n"
	      "  codetag report --group dir:2\n"
	      "  codetag report saved.txt file 'fs/*' module ext4\n\n"
	      "Exit status: 0 success, 1 the answer is bad news (see the command), 2 trouble.\n",
	      out);
}

/* Has the reader of the output closed it? A write may have failed long ago, unnoticed. */
static bool reader_gone(void)
{
	struct pollfd output = { .fd = STDOUT_FILENO, .events = POLLOUT };

	return poll(&output, 1, 0) == 1 && output.revents & POLLERR;
}

/* Failing to write the output is a failure like any other. */
static void check_stdout(void)
{
	int error = message_flush();

	if (error || ferror(stdout)) {
		if (error == EPIPE || reader_gone())
			_exit(STATUS_TROUBLE);
		fprintf(stderr, "%s: cannot write the output: %s\n",
			message_name, strerror(error ? error : outfile_error(stdout)));
		_exit(STATUS_TROUBLE);
	}
}

static int run(const struct command *command, int argc, char **argv)
{
	size_t room = strlen(command->name) + sizeof("codetag ");
	char *name = xmalloc(room);
	int status;

	snprintf(name, room, "codetag %s", command->name);
	message_name = name;
	argv[0] = name;
	status = older_option(command->name, argv) ? STATUS_TROUBLE : command->run(argc, argv);
	message_name = "codetag";
	free(name);
	return status;
}

int main(int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : "";

	atexit(check_stdout);
	terminal_guard();
	argp_err_exit_status = STATUS_TROUBLE;

	if (!strcmp(word, "help") && argc > 2) {
		static char help[] = "--help";

		word = argv[1] = argv[2];
		argv[2] = help;
		argc = 3;
	}
	if (!strcmp(word, "--help") || !strcmp(word, "-?") || !strcmp(word, "-h") ||
	    !strcmp(word, "help")) {
		usage(stdout);
		return STATUS_OK;
	}
	if (!strcmp(word, "--version") || !strcmp(word, "-V")) {
		puts(argp_program_version);
		return STATUS_OK;
	}
#ifdef HAVE_NCURSES
	static char where[] = "where";
	char *alone[] = { argv[0], where, NULL };

	if (argc == 1 && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO)) {
		argv = alone;
		argc = 2;
		word = where;
	}
#endif
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		if (!strcmp(word, commands[i].name))
			return run(&commands[i], argc - 1, argv + 1);
	for (size_t i = 0; i < sizeof(left_out) / sizeof(*left_out); i++) {
		if (left_out[i].name && !strcmp(word, left_out[i].name)) {
			warning("this build has no '%s': it was made without %s", word,
				left_out[i].library);
			return STATUS_TROUBLE;
		}
	}
	if (older_tool(word))
		return STATUS_TROUBLE;
	if (*word)
		warning("there is no command '%s'", word);
	else
		warning("a command is missing");
	hint("Try 'codetag --help'.");
	return STATUS_TROUBLE;
}
