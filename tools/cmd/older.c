// SPDX-License-Identifier: GPL-2.0-only
#include "older.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

#include "base/message.h"

/* The command must not have these options itself, unless @alone is set: a test checks that. */
static const struct {
	const char *command, *option, *now;
	bool alone;	/* the command has this option, with a value */
} options[] = {
	/* trace_analyze.py */
	{ "trace", "--file", "The log is an argument: codetag trace LOG", false },
	{ "trace", "--rings-file", "codetag chart --trace LOG --kernel BUILD -o rings.svg", false },
	{ "trace", "--rings-attr", "codetag chart --trace LOG --attr ATTR -o rings.svg", false },
	{ "trace", "--rings-show", "codetag chart --trace LOG -o rings.html", false },
	{ "trace", "--account-file", "The accounts are the output: codetag trace LOG >accounts", false },
	{ "trace", "--callers-file", "codetag trace LOG --callers FILE", false },
	{ "trace", "--stat", "The sums are above the table: codetag trace LOG", false },
	{ "trace", "--slab-stats", "codetag trace LOG --slab-account", false },
	{ "trace", "--slab-stat", "codetag trace LOG --slab-account", false },
	{ "chart", "--file", "codetag chart --trace LOG", false },
	{ "chart", "--rings-file", "codetag chart -o FILE.svg", false },
	{ "chart", "--rings-attr", "codetag chart --attr ATTR", false },
	{ "chart", "--rings-show", "codetag chart -o FILE.html", false },
	{ "static", "--kernel", "The build tree is an argument: codetag static BUILD", false },
	{ "static", "--order-by", "codetag static BUILD -s KEY", false },
	{ "static", "--rings-file", "codetag chart --attr static BUILD -o rings.svg", false },
	/* perf kmem */
	{ "trace", "--caller", "Callers are the rows; codetag trace --callers FILE lists them", false },
	{ "trace", "--slab", "Slab objects are counted unless --pages is given", false },
	{ "trace", "--page", "codetag trace LOG --pages", false },
	{ "trace", "--live", "codetag trace LOG -s current_dynamic", false },
	{ "trace", "--sort", "codetag trace LOG -s KEY, such as total_dynamic, alloc_count, total_waste", false },
	{ "trace", "--line", "codetag trace LOG -n N", false },
	{ "trace", "-l", "codetag trace LOG -n N", false },
	{ "trace", "--raw-ip", "Addresses stay as they are without --kernel BUILD", false },
	{ "trace", "--alloc", "Callers are the rows; objects are counted, and not listed", false },
	/* bcc memleak */
	{ "leaks", "--older", "codetag split QUERY stack age, then codetag contexts --min-age SEC", false },
	{ "leaks", "-o", "codetag split QUERY stack age, then codetag contexts --min-age SEC", false },
	{ "leaks", "--combined-only", "codetag leaks --stacks", false },
	{ "leaks", "--sample-rate", "Nothing is sampled: each allocation counts", false },
	{ "leaks", "--pid", "codetag split QUERY task stack, then codetag contexts --group task", false },
	{ "contexts", "--older", "codetag contexts --min-age SEC", false },
	{ "contexts", "--min-size", "codetag split QUERY size, then codetag contexts --group size", false },
	/* slabtop, showslab */
	{ "slabs", "--once", "Without --live the table is printed once", false },
	{ "slabs", "-o", "Without --live the table is printed once", true },
	/* page_owner_sort */
	{ "contexts", "--cull", "codetag contexts --group stack", false },
};

static const struct {
	const char *tool, *now;
} tools[] = {
	{ "slabtop", "codetag slabs --live" },
	{ "showslab", "codetag slabs" },
	{ "slabinfo", "codetag slabs" },
	{ "slab_account", "codetag trace LOG --slab-account, or codetag contexts --account" },
	{ "trace_analyze", "codetag trace, codetag static and codetag chart" },
	{ "trace_analyze.py", "codetag trace, codetag static and codetag chart" },
	{ "perf", "codetag trace, which reads the output of perf script" },
	{ "kmemtrace", "codetag trace" },
	{ "kmem", "codetag trace" },
	{ "mlt", "codetag contexts --stacks" },
	{ "memleak", "codetag leaks --stacks" },
	{ "kmemleak", "codetag leaks --stacks" },
	{ "page_owner", "codetag contexts --group stack" },
	{ "page_owner_sort", "codetag contexts --group stack" },
	{ "drgn", "codetag whose, codetag census and codetag report --image" },
	{ "crash", "codetag whose, codetag census and codetag report --image" },
	{ "alloctop", "codetag top" },
	{ "memstrack", "codetag top and codetag contexts --tree" },
	{ "free", "codetag where" },
	{ "meminfo", "codetag where" },
};

/*
 * Is it "--line", "--line=5", "-l" or "-l5"? With @alone the command has the option, too:
 * without a value it is the older tool's.
 */
static bool is_option(char *const *argv, const char *option, bool alone)
{
	size_t len = strlen(option);
	const char *rest = *argv + len;

	if (strncmp(*argv, option, len))
		return false;
	if (alone)
		return !*rest && (!argv[1] || *argv[1] == '-');
	return !*rest || (option[1] == '-' ? *rest == '=' : isdigit((unsigned char)*rest));
}

bool older_option(const char *command, char *const *argv)
{
	for (; *argv && strcmp(*argv, "--"); argv++) {
		for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++) {
			if (strcmp(options[i].command, command) ||
			    !is_option(argv, options[i].option, options[i].alone))
				continue;
			warning("%s%s is an option of another tool", options[i].option,
				options[i].alone ? " alone" : "");
			hint("%s", options[i].now);
			return true;
		}
	}
	return false;
}

bool older_tool(const char *name)
{
	for (size_t i = 0; i < sizeof(tools) / sizeof(*tools); i++) {
		if (strcasecmp(tools[i].tool, name))
			continue;
		warning("there is no command '%s'", name);
		hint("Instead: %s", tools[i].now);
		return true;
	}
	return false;
}
