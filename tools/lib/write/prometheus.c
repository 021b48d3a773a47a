// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <string.h>

#include "base/number.h"
#include "write/export.h"

static void write_label(FILE *out, const char *name, const char *value)
{
	fprintf(out, "%s=\"", name);
	for (; *value; value++) {
		if (*value == '\\' || *value == '"')
			putc('\\', out);
		putc(*value, out);
	}
	putc('"', out);
}

static void write_labels(FILE *out, const struct groups *groups,
			 const struct group *group)
{
	char line[16];

	putc('{', out);
	if (groups->by.by == BY_SITE) {
		snprintf(line, sizeof(line), "%u", group->site->line);
		write_label(out, "file", group->site->file);
		putc(',', out);
		write_label(out, "line", line);
		putc(',', out);
		write_label(out, "module",
			    group->site->module ? group->site->module : "vmlinux");
		putc(',', out);
		write_label(out, "func", group->site->func);
	} else {
		write_label(out, grouping_name(groups->by.by), group->name);
	}
	putc('}', out);
}

static void write_head(FILE *out, const char *name, const char *help)
{
	fprintf(out, "# HELP %s %s\n# TYPE %s gauge\n", name, help, name);
}

static void write_one(FILE *out, const char *name, const char *help, int64_t value)
{
	write_head(out, name, help);
	fprintf(out, "%s %" PRId64 "\n", name, value);
}

void export_prometheus(struct export *export, FILE *out)
{
	const struct groups *groups = export->groups;
	struct sum others = groups->now;

	write_head(out, "codetag_allocated_bytes",
		   "Memory that a call site of the kernel holds.");
	for (size_t i = 0; i < export->count; i++) {
		fputs("codetag_allocated_bytes", out);
		write_labels(out, groups, &groups->group[i]);
		fprintf(out, " %" PRId64 "\n", groups->group[i].now.bytes);
		others.bytes = sub64(others.bytes, groups->group[i].now.bytes);
		others.calls = sub64(others.calls, groups->group[i].now.calls);
	}
	write_head(out, "codetag_allocations",
		   "Allocations of a call site that were not freed.");
	for (size_t i = 0; i < export->count; i++) {
		fputs("codetag_allocations", out);
		write_labels(out, groups, &groups->group[i]);
		fprintf(out, " %" PRId64 "\n", groups->group[i].now.calls);
	}
	write_one(out, "codetag_other_allocated_bytes",
		  "Memory of what is not listed one by one.", others.bytes);
	write_one(out, "codetag_other_allocations",
		  "Allocations of what is not listed one by one.", others.calls);
	write_one(out, "codetag_total_allocated_bytes",
		  "Memory of all call sites.", groups->now.bytes);
	write_one(out, "codetag_total_allocations",
		  "Allocations of all call sites.", groups->now.calls);
}
