// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"
#include "model/kind.h"
#include "read/activity.h"
#include "write/export.h"

/* The word for a group in the help of its series. */
static const char *const words[] = {
	[BY_SITE] = "call site",
	[BY_ROW] = "row",
	[BY_PLACE] = "function of a file",
	[BY_FUNC] = "function",
	[BY_FILE] = "file",
	[BY_DIR] = "directory",
	[BY_MODULE] = "module",
	[BY_SUBSYSTEM] = "subsystem",
	[BY_HOST] = "host",
};

enum own_label { LABEL_FILE, LABEL_LINE, LABEL_MODULE, LABEL_FUNC, LABEL_KIND, LABEL_RELEASE };

/* The labels of series beside the names of groupings */
static const char *const own_labels[] = {
	[LABEL_FILE] = "file",
	[LABEL_LINE] = "line",
	[LABEL_MODULE] = "module",
	[LABEL_FUNC] = "func",
	[LABEL_KIND] = "kind",
	[LABEL_RELEASE] = "release",
};

/* Whether the only label of a group is the name of its grouping */
static bool has_one_label(enum group_by by)
{
	return by != BY_SITE && by != BY_ROW && by != BY_PLACE;
}

bool prometheus_has_label(const char *name)
{
	for (size_t i = 0; i < sizeof(own_labels) / sizeof(*own_labels); i++)
		if (!strcmp(name, own_labels[i]))
			return true;
	/* The user names the host of a file by a label. */
	for (enum group_by by = 0; by < sizeof(words) / sizeof(*words); by++)
		if (by != BY_HOST && has_one_label(by) && !strcmp(name, grouping_name(by)))
			return true;
	return false;
}

/*
 * The format is UTF-8: other bytes, and those of unsafe characters, become "\xff". A backslash
 * that would be ambiguous is escaped in the same way, so that different names stay different.
 */
void prometheus_label(FILE *out, bool *first, const char *name, const char *value)
{
	fprintf(out, "%s%s=\"", *first ? "{" : ",", name);
	*first = false;
	while (*value) {
		size_t len = text_safe_length(value);

		if (*value == '\\' && value[1] == 'x')
			fputs("\\\\x5c", out);
		else if (*value == '\\' || *value == '"')
			fprintf(out, "\\%c", *value);
		else if (*value == '\n')
			fputs("\\n", out);
		else if (len)
			fwrite(value, 1, len, out);
		else
			fprintf(out, "\\\\x%02x", (unsigned char)*value);
		value += len ? len : 1;
	}
	putc('"', out);
}

static void put_own(FILE *out, bool *first, enum own_label label, const char *value)
{
	prometheus_label(out, first, own_labels[label], value);
}

static void write_group(FILE *out, bool *first, const struct groups *groups,
			const struct group *group)
{
	enum group_by by = groups->by.by;
	struct text line = { 0 };

	if (has_one_label(by)) {
		prometheus_label(out, first, grouping_name(by), group->name);
		return;
	}
	put_own(out, first, LABEL_FILE, group->site->file);
	if (by == BY_SITE) {
		text_printf(&line, "%u", group->site->line);
		/* In other kernels the call sites differ. */
		if (group->site->namesake)
			text_printf(&line, " (%u)", group->site->namesake);
		put_own(out, first, LABEL_LINE, line.s);
		text_free(&line);
	}
	put_own(out, first, LABEL_MODULE, group->site->module ? group->site->module : "vmlinux");
	put_own(out, first, LABEL_FUNC, group->site->func);
	put_own(out, first, LABEL_KIND, kind_word(site_kind(group->site)));
}

/* @group NULL: a series without a group; @kernel NULL: a series without a kernel. */
static void write_series(FILE *out, const struct export *export, const char *name,
			 const struct group *group, const char *kernel, int64_t value)
{
	bool first = true;

	fputs(name, out);
	for (size_t i = 0; i < export->labels; i++)
		prometheus_label(out, &first, export->label[i].name, export->label[i].value);
	if (group)
		write_group(out, &first, export->groups, group);
	if (kernel)
		put_own(out, &first, LABEL_RELEASE, kernel);
	fprintf(out, "%s %" PRId64 "\n", first ? "" : "}", value);
}

static void write_head(FILE *out, const char *name, const char *help, const char *of, const char *type)
{
	fprintf(out, "# HELP %s %s%s.\n# TYPE %s %s\n", name, help, of, name, type);
}

void prometheus_head(FILE *out, const char *name, const char *help, const char *of)
{
	write_head(out, name, help, of, "gauge");
}

static void write_one(FILE *out, const struct export *export, const char *name,
		      const char *help, int64_t value)
{
	prometheus_head(out, name, help, "");
	write_series(out, export, name, NULL, NULL, value);
}

/* A series for each kind, even if it is 0: a series that vanishes cannot be compared. */
static void write_kinds(FILE *out, const struct export *export, const char *name,
			const char *help, const int64_t *bytes)
{
	prometheus_head(out, name, help, "");
	for (unsigned int i = 0; i < MEMORY_KINDS; i++) {
		bool first = true;

		fputs(name, out);
		for (size_t k = 0; k < export->labels; k++)
			prometheus_label(out, &first, export->label[k].name, export->label[k].value);
		put_own(out, &first, LABEL_KIND, memory_kind(i)->name);
		fprintf(out, "} %" PRId64 "\n", bytes[i]);
	}
}

static void write_memory(FILE *out, const struct export *export)
{
	const struct explanation *e = export->memory;

	write_kinds(out, export, "codetag_memory_bytes",
		    "Used memory by its use, each byte once", e->kind);
	write_kinds(out, export, "codetag_memory_droppable_bytes",
		    "The part of it that the kernel can drop", e->droppable);
	write_one(out, export, "codetag_memory_installed_bytes", "Memory that is installed",
		  e->installed);
	write_one(out, export, "codetag_memory_boot_bytes", "The part of it that was kept at boot", e->boot);
	write_one(out, export, "codetag_memory_free_bytes",
		  "The part of it that is free, on the lists of CPUs, too", e->free + e->cpu_lists);
}

/* Sums are taken modulo 2^32, too, so that the wrap of one row is a wrap of its group. */
static void write_activity(FILE *out, const struct export *export, const char *word)
{
	static const struct {
		const char *name, *help;
		bool frees;
	} series[] = {
		{ "codetag_allocations_total",
		  "Allocations since boot, or since the module was loaded, modulo 2^32 (Prometheus takes a wrap "
		  "for a reset), of one ", false },
		{ "codetag_frees_total",
		  "Frees of the same time, modulo 2^32 (likewise), one for each part of a page that was split, of one ",
		  true },
	};

	for (size_t k = 0; k < sizeof(series) / sizeof(*series); k++) {
		write_head(out, series[k].name, series[k].help, word, "counter");
		for (size_t i = 0; i < export->count; i++) {
			const struct group *group = &export->groups->group[i];

			if (!activity_whole(&group->all))
				continue;
			write_series(out, export, series[k].name, group, NULL,
				     (uint32_t)(series[k].frees ? group->all.frees : group->all.allocs));
		}
	}
}

void export_prometheus(struct export *export, FILE *out)
{
	const struct groups *groups = export->groups;
	const char *word = words[groups->by.by];
	struct sum others = groups->now;

	prometheus_head(out, "codetag_allocated_bytes", "Memory that is held by one ", word);
	for (size_t i = 0; i < export->count; i++) {
		const struct sum *sum = &groups->group[i].now;

		write_series(out, export, "codetag_allocated_bytes", &groups->group[i], NULL,
			     sum->bytes);
		others.bytes = sub64(others.bytes, sum->bytes);
		others.calls = sub64(others.calls, sum->calls);
	}
	prometheus_head(out, "codetag_allocations", "Allocations that were not freed of one ", word);
	for (size_t i = 0; i < export->count; i++)
		write_series(out, export, "codetag_allocations", &groups->group[i], NULL,
			     groups->group[i].now.calls);
	if (groups->all.known)
		write_activity(out, export, word);
	write_one(out, export, "codetag_other_allocated_bytes",
		  "Memory of all series that are not listed", others.bytes);
	write_one(out, export, "codetag_other_allocations",
		  "Allocations of all series that are not listed", others.calls);
	write_one(out, export, "codetag_total_allocated_bytes",
		  export->raw ? "Memory of all call sites, slab pages and their content" :
				"Memory of all call sites, the content of slab pages once", groups->now.bytes);
	write_one(out, export, "codetag_total_allocations",
		  "Allocations of all call sites", groups->now.calls);
	if (groups->by.by != BY_HOST)
		write_one(out, export, "codetag_sites_not_profiled",
			  "Call sites whose numbers are old, because they are not profiled",
			  (int64_t)export->not_profiled);
	if (export->memory)
		write_memory(out, export);
	if (export->kernel) {
		prometheus_head(out, "codetag_kernel_info", "The release of the kernel, always 1", "");
		write_series(out, export, "codetag_kernel_info", NULL, export->kernel, 1);
	}
}
