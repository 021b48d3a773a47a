// SPDX-License-Identifier: GPL-2.0
#include "older.h"

#include <stddef.h>
#include <string.h>

#include "base/message.h"

/* None of the options is one of the command: the tests compare both. */
static const struct {
	const char *command, *option, *now;
} options[] = {
	/* trace_analyze.py */
	{ "trace", "--file", "The log is an argument: codetag trace LOG" },
	{ "trace", "--rings-file", "codetag chart --trace LOG --kernel BUILD -o rings.svg" },
	{ "trace", "--rings-attr", "codetag chart --trace LOG --attr ATTR -o rings.svg" },
	{ "trace", "--rings-show", "codetag chart --trace LOG -o rings.html" },
	{ "trace", "--account-file", "The accounts are the output: codetag trace LOG >accounts" },
	{ "trace", "--callers-file", "codetag trace LOG --callers FILE" },
	{ "chart", "--file", "codetag chart --trace LOG" },
	{ "chart", "--rings-file", "codetag chart -o FILE.svg" },
	{ "chart", "--rings-attr", "codetag chart --attr ATTR" },
	{ "chart", "--rings-show", "codetag chart -o FILE.html" },
	{ "static", "--kernel", "The build tree is an argument: codetag static BUILD" },
	{ "static", "--rings-file", "codetag chart --attr static BUILD -o rings.svg" },
	/* perf kmem */
	{ "trace", "--caller", "Callers are the rows; codetag trace --callers FILE lists them" },
	{ "trace", "--slab", "Slab objects are counted unless --pages is given" },
	{ "trace", "--page", "codetag trace LOG --pages" },
	{ "trace", "--live", "codetag trace LOG -s current_dynamic" },
	{ "trace", "--sort", "codetag trace LOG -s KEY, such as total_dynamic, alloc_count, total_waste" },
	{ "trace", "--line", "codetag trace LOG -n N" },
	{ "trace", "--raw-ip", "Addresses stay as they are without --kernel BUILD" },
	{ "trace", "--alloc", "Callers are the rows; objects are counted, and not listed" },
	/* bcc memleak */
	{ "leaks", "--older", "codetag split QUERY stack age, then codetag contexts --min-age SEC" },
	{ "leaks", "--combined-only", "codetag leaks --stacks" },
	{ "leaks", "--sample-rate", "Nothing is sampled: each allocation counts" },
	{ "leaks", "--pid", "codetag split QUERY task stack, then codetag contexts --group task" },
	{ "contexts", "--older", "codetag contexts --min-age SEC" },
	{ "contexts", "--min-size", "codetag split QUERY size, then codetag contexts --group size" },
	/* slabtop, showslab */
	{ "slabs", "--once", "Without --live the table is printed once" },
	/* page_owner_sort */
	{ "contexts", "--cull", "codetag contexts --group stack" },
};

static const struct {
	const char *tool, *now;
} tools[] = {
	{ "slabtop", "codetag slabs --live" },
	{ "showslab", "codetag slabs" },
	{ "slabinfo", "codetag slabs" },
	{ "slab_account", "codetag trace LOG --slab-account, or codetag contexts --account" },
	{ "trace_analyze", "codetag trace, codetag static and codetag chart" },
	{ "kmemtrace", "codetag trace" },
	{ "kmem", "codetag trace" },
	{ "mlt", "codetag contexts --stacks" },
	{ "memleak", "codetag leaks --stacks" },
	{ "kmemleak", "codetag leaks --stacks" },
	{ "page_owner", "codetag contexts --stacks" },
	{ "alloctop", "codetag top" },
	{ "memstrack", "codetag top and codetag contexts --tree" },
	{ "free", "codetag where" },
	{ "meminfo", "codetag where" },
};

bool older_option(const char *command, char *const *argv)
{
	for (; *argv && strcmp(*argv, "--"); argv++) {
		for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++) {
			size_t len = strlen(options[i].option);

			if (strcmp(options[i].command, command) ||
			    strncmp(*argv, options[i].option, len) ||
			    ((*argv)[len] && (*argv)[len] != '='))
				continue;
			warning("%s is an option of another tool", options[i].option);
			hint("%s", options[i].now);
			return true;
		}
	}
	return false;
}

bool older_tool(const char *name)
{
	for (size_t i = 0; i < sizeof(tools) / sizeof(*tools); i++) {
		if (strcmp(tools[i].tool, name))
			continue;
		warning("there is no command '%s'", name);
		hint("Instead: %s", tools[i].now);
		return true;
	}
	return false;
}
