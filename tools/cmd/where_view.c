// SPDX-License-Identifier: GPL-2.0-only
#include "where_view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analysis/owners.h"
#include "base/number.h"
#include "read/activity.h"
#include "write/table.h"

/* Owners are shortened where they have to fit, and printed in full elsewhere. */
#define WIDE 120

static const char *const profiling_words[] = {
	[PROFILING_UNKNOWN] = "",
	[PROFILING_NONE] = "  no profiler",
	[PROFILING_OFF] = "  profiling off",
	[PROFILING_ON] = "  profiling on",
};

void where_cut(struct text *line, int width)
{
	size_t kept = 0;
	int columns = 0;

	if (!line->s || width <= 0 || display_width(line->s) <= (size_t)width)
		return;
	while (columns < width - 1) {
		size_t len = utf8_length(line->s + kept);

		kept += len ? len : 1;
		columns++;
	}
	line->len = kept;
	line->s[kept] = '\0';
	text_puts(line, ">");
}

void where_wrap(struct text *lines, const char *text, int width)
{
	while (*text) {
		size_t len = strlen(text), cut = len;

		if (width > 0 && len > (size_t)width) {
			cut = (size_t)width;
			while (cut && text[cut] != ' ')
				cut--;
			/* A name that is longer than the line is not broken. */
			if (!cut)
				cut = strcspn(text, " ");
		}
		text_add(lines, text, cut);
		text_puts(lines, "\n");
		text += cut;
		text += strspn(text, " ");
	}
}

static void add_size(struct text *line, const struct where_view *view, int width, int64_t bytes,
		     bool sign)
{
	char text[SIZE_TEXT + 1] = "+";
	bool plus = sign && bytes > 0;

	size_format(text + plus, bytes, view->human);
	text_printf(line, "%*s", width, text);
}

void where_head(const struct where_view *view, struct text *lines)
{
	const struct explanation *e = view->e;
	const struct snapshot *host = view->host;
	struct text line = { 0 };
	char clock[32] = "", size[SIZE_TEXT];
	time_t seconds = host->time / 1000;
	struct tm tm;

	if (host->time && localtime_r(&seconds, &tm))
		strftime(clock, sizeof(clock), "  %F %T", &tm);
	text_printf(&line, "codetag where  %s  %s%s%s", host->host ? host->host : "",
		    host->kernel ? host->kernel : "kernel not known",
		    profiling_words[host->machine.profiling], clock);
	text_clean(line.s);
	where_cut(&line, view->width);
	text_printf(lines, "%s\n", line.s);

	text_clear(&line);
	text_printf(&line, "%s ", size_format(size, e->installed, view->human));
	if (e->installed_known)
		text_printf(&line, "installed = %s at boot + ", size_format(size, e->boot, view->human));
	else
		text_puts(&line, "for all but the boot = ");
	text_printf(&line, "%s used", size_format(size, e->used, view->human));
	text_printf(&line, " + %s free", size_format(size, e->free, view->human));
	if (e->cpu_lists_known)
		text_printf(&line, " + %s on CPU lists", size_format(size, e->cpu_lists, view->human));
	where_wrap(lines, line.s, view->width);

	text_clear(&line);
	text_printf(&line, "used = %s processes", size_format(size, e->kind[MEMORY_PROCESSES], view->human));
	text_printf(&line, " + %s can be dropped", size_format(size, explain_droppable(e), view->human));
	text_printf(&line, " + %s kernel", size_format(size, explain_pinned(e), view->human));
	text_printf(&line, " + %s other",
		    size_format(size, e->used - e->kind[MEMORY_PROCESSES] - explain_droppable(e) -
				      explain_pinned(e), view->human));
	where_wrap(lines, line.s, view->width);
	text_free(&line);
}

#define COLUMN_WIDTH(view) ((view)->human ? 7 : 15)

/* "23 h", "5 min" */
static const char *period(char out[16], double seconds)
{
	double hours = seconds / 3600;

	if (hours >= 48)
		snprintf(out, 16, "%.0f d", hours / 24);
	else if (hours >= 1)
		snprintf(out, 16, "%.0f h", hours);
	else if (seconds >= 60)
		snprintf(out, 16, "%.0f min", seconds / 60);
	else
		snprintf(out, 16, seconds < 2 ? "%.1f s" : "%.0f s", seconds);
	return out;
}

void where_headings(const struct where_view *view, struct text *line)
{
	char change[24] = "CHANGE", time[16];

	text_printf(line, "%*s  %6s", COLUMN_WIDTH(view), "USED", "SHARE");
	if (view->before) {
		if (view->before_ms > 0)
			snprintf(change, sizeof(change), "in %s",
				 period(time, (double)view->before_ms / 1000));
		text_printf(line, "  %*s", COLUMN_WIDTH(view) + 1, change);
	}
	if (view->last)
		text_printf(line, "  %*s", COLUMN_WIDTH(view) + 1, "LAST");
	text_printf(line, "  %-31s %s", "WHAT", "LARGEST OWNER");
	where_cut(line, view->width);
}

/* "rx.c:412 [foo] foo_rx_alloc" */
static void short_site(struct text *name, const struct site *site)
{
	const char *slash = strrchr(site->file, '/');

	text_printf(name, "%s:%u", slash ? slash + 1 : site->file, site->line);
	if (site->module)
		text_printf(name, " [%s]", site->module);
	text_printf(name, " %s", site->func);
}

static void add_name(struct text *line, const struct where_view *view, const struct owner *owner)
{
	if (owner->site && view->width && view->width < WIDE)
		short_site(line, owner->site);
	else
		text_puts(line, owner->name);
}

static void add_owner(struct text *line, const struct where_view *view, const struct owner *owner)
{
	char size[SIZE_TEXT];

	add_name(line, view, owner);
	text_printf(line, " %s%s", owner->ambiguous ? "~" : "",
		    size_format(size, owner->bytes, view->human));
}

static void add_owners(struct text *line, const struct where_view *view, enum memory_kind_id id)
{
	enum owner_by by = owners_best(view->host, id);
	/* Names of processes are short. */
	size_t most = by == OWNER_PROCESSES ? 3 : view->owners ? view->owners : 1;
	struct owners owners;

	owners_find(&owners, view->host, id, by);
	for (size_t i = 0; i < owners.count && i < most; i++) {
		if (i)
			text_puts(line, ", ");
		add_owner(line, view, &owners.owner[i]);
	}
	owners_free(&owners);
}

const char *where_rate(char out[RATE_TEXT], const struct activity *activity, int64_t count,
		       double seconds)
{
	double rate = seconds > 0 ? (double)count / seconds : 0;

	if (!activity_whole(activity))
		return ACTIVITY_MISSING;
	snprintf(out, RATE_TEXT, rate && rate < 9.95 ? "%.1f" : "%.0f", rate);
	return out;
}

void where_uncounted(const struct snapshot *host, struct text *lines)
{
	size_t count = activity_missing(&host->info, true);

	if (count)
		text_printf(lines, "Call sites whose allocations and frees are missing: %zu.\n", count);
}

void where_busiest(const struct where_view *view, struct text *lines)
{
	char time[16], allocs[RATE_TEXT], frees[RATE_TEXT];
	struct text line = { 0 };
	struct owners owners;

	if (!(view->seconds > 0))
		return;
	owners_find_busy(&owners, view->host, MEMORY_KINDS, OWNER_SITES, false);
	if (owners.count) {
		const struct owner *owner = &owners.owner[0];

		text_printf(&line, "Busiest over %s: ", period(time, view->seconds));
		add_name(&line, view, owner);
		text_printf(&line, ", %s allocs/s, %s frees/s",
			    where_rate(allocs, &owner->recent, owner->recent.allocs, view->seconds),
			    where_rate(frees, &owner->recent, owner->recent.frees, view->seconds));
		text_clean(line.s);
		where_wrap(lines, line.s, view->width);
	}
	text_free(&line);
	owners_free(&owners);
}

/* "<-23h ": it has grown steadily for so long. */
static void add_age(struct text *line, double seconds)
{
	char time[16];

	period(time, seconds);
	text_puts(line, "<-");
	for (const char *s = time; *s; s++)
		if (*s != ' ')
			text_add(line, s, 1);
	text_puts(line, " ");
}

void where_row(const struct where_view *view, enum memory_kind_id id, struct text *line)
{
	const struct explanation *e = view->e;
	const struct memory_kind *kind = memory_kind(id);
	char share[SIZE_TEXT], what[48];

	add_size(line, view, COLUMN_WIDTH(view), e->kind[id], false);
	text_printf(line, "  %6s", percent_format(share, percent(e->kind[id], e->used)));
	if (view->before) {
		text_puts(line, "  ");
		add_size(line, view, COLUMN_WIDTH(view) + 1,
			 sub64(e->kind[id], view->before->kind[id]), true);
	}
	if (view->last) {
		text_puts(line, "  ");
		add_size(line, view, COLUMN_WIDTH(view) + 1,
			 sub64(e->kind[id], view->last->kind[id]), true);
	}
	snprintf(what, sizeof(what), "%s%s%s", kind->words, e->at_most[id] ? ", at most" : "",
		 !e->droppable[id] ? "" :
		 e->droppable[id] == e->kind[id] ? " (drop)" : " (part: drop)");
	text_printf(line, "  %-31s ", what);
	if (view->history && unusual_grew(view->history, id))
		add_age(line, (double)view->history->ms / 1000);
	add_owners(line, view, id);
	while (line->len && line->s[line->len - 1] == ' ')
		line->s[--line->len] = '\0';
	text_clean(line->s);
	where_cut(line, view->width);
}

void where_boot_row(const struct where_view *view, struct text *line)
{
	const struct explanation *e = view->e;
	const struct holders *lines = &view->host->machine.boot;
	char size[SIZE_TEXT];

	add_size(line, view, COLUMN_WIDTH(view), e->boot, false);
	text_printf(line, "  %6s", "");
	if (view->before) {
		text_puts(line, "  ");
		add_size(line, view, COLUMN_WIDTH(view) + 1, sub64(e->boot, view->before->boot), true);
	}
	if (view->last) {
		text_puts(line, "  ");
		add_size(line, view, COLUMN_WIDTH(view) + 1, sub64(e->boot, view->last->boot), true);
	}
	text_printf(line, "  %-31s ", "kept at boot, beside used");
	if (lines->count) {
		const char *name = lines->holder[0].name;
		const char *slash = view->width && view->width < WIDE ? strrchr(name, '/') : NULL;

		text_printf(line, "%s %s", slash ? slash + 1 : name,
			    size_format(size, lines->holder[0].bytes, view->human));
	} else {
		enum boot_part most = 0;

		for (unsigned int i = 0; i < BOOT_REST; i++)
			if (e->boot_part[i] > e->boot_part[most])
				most = i;
		if (e->boot_part[most])
			text_printf(line, "%s %s", boot_part_words(most),
				    size_format(size, e->boot_part[most], view->human));
	}
	while (line->s[line->len - 1] == ' ')
		line->s[--line->len] = '\0';
	text_clean(line->s);
	where_cut(line, view->width);
}

size_t where_order(const struct explanation *e, enum memory_kind_id order[MEMORY_KINDS])
{
	size_t count = 0;

	for (unsigned int i = 0; i < MEMORY_KINDS; i++) {
		size_t at = count;

		if (!e->kind[i] && i != MEMORY_UNACCOUNTED)
			continue;
		while (i != MEMORY_UNACCOUNTED && at && e->kind[order[at - 1]] < e->kind[i]) {
			order[at] = order[at - 1];
			at--;
		}
		order[at] = i;
		count++;
	}
	return count;
}
