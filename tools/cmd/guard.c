// SPDX-License-Identifier: GPL-2.0-only
/* codetag guard: let KFENCE take objects of chosen call sites, and keep their freed pages. */
#include <argp.h>

#include "armed.h"
#include "command.h"
#include "sites_view.h"
#include "read/control.h"

static const struct argp_option options[] = {
	{ "off", ARMED_OFF, NULL, 0, "Remove the guards of the chosen call sites", 1 },
	{ "list", ARMED_LIST, NULL, 0,
	  "List the guards, and how many objects and pages they took", 1 },
	{ "csv", ARMED_CSV, NULL, 0, "With --list: write CSV", 1 },
	{ "rate", ARMED_SETTING, "N", 0, "Take every Nth object or allocation of pages (default: 1)", 2 },
	{ 0 }
};

static const struct table_column columns[] = {
	[GUARD_PASSED] = { "PASSED", true, "passed", false },
	[GUARD_GUARDED] = { "GUARDED", true, "guarded", false },
	[GUARD_MISSED] = { "MISSED", true, "missed", false },
	[GUARD_RATE] = { "RATE", true, "rate", false },
	[GUARD_NUMBERS] = { "STATE", false, "state", false },
	SITE_COLUMNS,
};

static const struct argp argp = {
	options, armed_parse, "QUERY…\n--all\n--list [QUERY…]",
	"Guards the slab objects and pages of the chosen call sites. The kernel's log reports an access to "
	"such an object after its free at once. It reports a write beyond the end when the object "
	"is freed, or at once if the write leaves the page. The kernel needs CONFIG_CODETAG_GUARD."
	"\vKFENCE takes the guarded objects, up to the size of a page; it need not be sampling. "
	"Its pool has CONFIG_KFENCE_NUM_OBJECTS objects (255 by default). While the pool is "
	"used up, objects are not guarded and count as missed: choose few call sites, or a "
	"larger rate. Of pages, every Nth allocation is kept for at most 30 seconds when it is "
	"freed. An access to it is reported, on x86 and arm64 at once. The kernel remembers a query that names a module, and applies it whenever "
	"that module is loaded, see codetag remembered. The columns of --list are passed, guarded, "
	"missed, rate, state, name, file, line, module and func.\n\n"
	"Examples:\n"
	"  codetag guard func ext4_alloc_inode\n"
	"  codetag guard --rate 100 file 'net/sctp/*'\n"
	"  codetag guard --list\n"
	"  codetag guard --off --all\n\n"
	CHANGE_STATUS,
	armed_children, NULL, NULL
};

int cmd_guard(int argc, char **argv)
{
	static const struct armed_kind kind = {
		"guard", "guards", options, columns, sizeof(columns) / sizeof(*columns), GUARD_NUMBERS
	};

	return armed_run(&kind, &argp, argc, argv);
}
