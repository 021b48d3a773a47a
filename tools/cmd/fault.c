// SPDX-License-Identifier: GPL-2.0-only
/* codetag fault: make the allocations of chosen call sites fail. */
#include <argp.h>

#include "armed.h"
#include "command.h"
#include "sites_view.h"
#include "read/control.h"

static const struct argp_option options[] = {
	{ "off", ARMED_OFF, NULL, 0, "Remove the faults of the chosen call sites", 1 },
	{ "list", ARMED_LIST, NULL, 0,
	  "List the faults there are and were, and how many allocations each made fail", 1 },
	{ "csv", ARMED_CSV, NULL, 0, "With --list: write CSV", 1 },
	{ "probability", ARMED_SETTING, "PERCENT", 0,
	  "Percentage of the remaining allocations that fail (default: 100)", 2 },
	{ "interval", ARMED_SETTING + 1, "N", 0, "Consider only every Nth allocation (default: 1)", 2 },
	{ "times", ARMED_SETTING + 2, "N", 0,
	  "Fail so often at each call site, 1 or more, -1 is for ever (default: 1)", 2 },
	{ "space", ARMED_SETTING + 3, "BYTES", 0,
	  "Let so many bytes be allocated first (default: 0)", 2 },
	{ "nth", ARMED_SETTING + 4, "N", 0,
	  "Fail the Nth allocation from now on, once; goes with --verbose and "
	  "--task-filter only", 2 },
	{ "verbose", ARMED_SETTING + 5, "LEVEL", 0,
	  "Messages of the kernel: 0 none, 1 a line, 2 the stack, too (default: 1)", 2 },
	{ "task-filter", ARMED_SETTING + 6, "0|1", 0,
	  "Only in tasks with 1 in /proc/PID/make-it-fail (default: 0)", 2 },
	{ 0 }
};

static const struct table_column columns[] = {
	[FAULT_PASSED] = { "PASSED", true, "passed", false },
	[FAULT_FAILED] = { "FAILED", true, "failed", false },
	[FAULT_SKIPPED] = { "SKIPPED", true, "skipped", false },
	[FAULT_NUMBERS] = { "STATE", false, "state", false },
	SITE_COLUMNS,
};

static const struct argp argp = {
	options, armed_parse, "QUERY…\n--all\n--list [QUERY…]",
	"Makes allocations fail at the chosen call sites, to test the code that deals "
	"with it: without settings the next one at each of them. The kernel needs "
	"CONFIG_CODETAG_FAULT_INJECTION."
	"\vOf the settings, --space comes first, then --interval and then --probability. The kernel "
	"remembers a query that names a module, and applies it whenever that module is loaded, see "
	"codetag remembered. The kernel's log reports each failure. The columns of --list are "
	"passed, failed, skipped, state, name, file, line, module and func.\n\n"
	"Examples:\n"
	"  codetag fault func ext4_alloc_inode\n"
	"  codetag fault --probability 10 --times -1 file 'fs/ext4/*'\n"
	"  codetag fault --nth 3 file fs/ext4/super.c line 1384\n"
	"  codetag fault --list\n"
	"  codetag fault --off --all\n\n"
	CHANGE_STATUS,
	armed_children, NULL, NULL
};

int cmd_fault(int argc, char **argv)
{
	static const struct armed_kind kind = {
		"fault", "faults", options, columns, sizeof(columns) / sizeof(*columns), FAULT_NUMBERS
	};

	return armed_run(&kind, &argp, argc, argv);
}
