// SPDX-License-Identifier: GPL-2.0-only
#include "read/profiling.h"

#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "base/strmap.h"
#include "base/text.h"
#include "read/control.h"
#include "read/input.h"

static const char *const machine_sites[] = {
	"/sys/kernel/debug/codetag/sites", "/sys/kernel/debug/codetag/control", NULL
};

static void mark(struct allocinfo *info, struct site *site)
{
	struct text notes = { 0 };

	if (site->flags & SITE_DISABLED)
		return;
	site->flags |= SITE_DISABLED;
	text_printf(&notes, "%s%s%s", site->notes ? site->notes : "", site->notes ? " " : "",
		    site_notes(SITE_DISABLED));
	site->notes = arena_copy(&info->strings, notes.s, notes.len);
	text_free(&notes);
}

/*
 * The memory of unloaded modules cannot grow in any case, and reserved rows are no call sites.
 */
static bool can_be_off(const struct site *site)
{
	return !site_reserved(site) && !(site->flags & SITE_UNLOADED);
}

static bool is_off(const char *sysctl)
{
	bool off;
	size_t len;
	char *text;

	if (!sysctl || !input_read_found(sysctl, &text, &len))
		return false;
	off = text[0] == '0';
	free(text);
	return off;
}

static void site_key(struct text *key, const struct site *site)
{
	text_clear(key);
	text_printf(key, "%s:%u [%s] %s", site->file, site->line,
		    site->module ? site->module : "", site->func);
}

static void mark_sites(struct allocinfo *info, struct control *control)
{
	struct strmap off = { 0 };
	struct text key = { 0 };

	for (size_t i = 0; i < control->count; i++) {
		if (control->site[i].profiled || !control->site[i].id)
			continue;
		site_key(&key, &control->site[i].site);
		strmap_add(&off, key.s, key.len);
	}
	for (size_t i = 0; i < info->count && off.count; i++) {
		site_key(&key, &info->site[i]);
		if (can_be_off(&info->site[i]) && strmap_find(&off, key.s, key.len) != STRMAP_NONE)
			mark(info, &info->site[i]);
	}
	text_free(&key);
	strmap_free(&off);
}

void profiling_mark_by(struct allocinfo *info, const char *sysctl, const char *const *sites)
{
	struct control control;
	size_t len;
	char *text;

	if (is_off(sysctl)) {
		info->all_off = true;
		for (size_t i = 0; i < info->count; i++)
			if (can_be_off(&info->site[i]))
				mark(info, &info->site[i]);
		return;
	}
	for (; sites && *sites; sites++) {
		if (!input_read_found(*sites, &text, &len))
			continue;
		control_parse(&control, text, len);
		mark_sites(info, &control);
		control_free(&control);
		return;
	}
}

void profiling_mark(struct allocinfo *info, const char *path)
{
	if (!strcmp(path, ALLOCINFO_PATH))
		profiling_mark_by(info, PROFILING_PATH, machine_sites);
}

void profiling_count(struct profiled *profiling, const struct allocinfo *info,
		     const struct query *query)
{
	*profiling = (struct profiled){ .all_off = info->all_off };
	for (size_t i = 0; i < info->count; i++) {
		const struct site *site = &info->site[i];

		if (!can_be_off(site) || !query_match(query, site))
			continue;
		profiling->chosen++;
		if (!(site->flags & SITE_DISABLED))
			continue;
		if (!profiling->off++)
			profiling->first = site;
	}
}

void profiling_complain(const struct profiled *profiling, bool recorded)
{
	const struct site *first = profiling->first;

	if (profiling->all_off) {
		warning("profiling is off: the numbers are old");
		hint("Turn it on: sysctl -w vm.mem_profiling=1");
		return;
	}
	if (profiling->off == profiling->chosen) {
		warning(recorded ? "profiling was off in some snapshots: their numbers are old" :
				   "none of these call sites is profiled: the numbers are old");
		hint("'codetag enable QUERY' turns them on, if vm.mem_profiling is 1.");
		return;
	}
	warning("%zu of %zu call sites %s: their numbers are old: %s:%u %s%s",
		profiling->off, profiling->chosen,
		recorded ? "were not profiled in some snapshots" : "are not profiled",
		first->file, first->line, first->func, profiling->off > 1 ? ", …" : "");
	hint("'codetag status' lists them, 'codetag enable QUERY' turns them on.");
}

bool profiling_complete(const struct allocinfo *info, const struct query *query)
{
	struct profiled profiling;

	profiling_count(&profiling, info, query);
	if (profiling.off)
		profiling_complain(&profiling, false);
	return !profiling.off;
}

bool profiling_complete_hosts(size_t off, size_t hosts, const char *first)
{
	if (!off)
		return true;
	if (hosts == 1)
		warning("some call sites of %s are not profiled: their numbers are old", first);
	else
		warning("some call sites are not profiled on %zu of %zu hosts: their numbers are old: %s%s",
			off, hosts, first, off > 1 ? ", …" : "");
	hint("The report of such a host alone, without --group host, tells how many.");
	return false;
}
