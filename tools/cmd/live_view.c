// SPDX-License-Identifier: GPL-2.0-only
#include "live_view.h"

#include <curses.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "screen.h"
#include "base/number.h"
#include "read/activity.h"

static const struct {
	const char *name, *what;
} keys[] = {
	{ "s c a n g", "sort by size, calls, average, name, growth" },
	{ "A F", "sort by allocations, frees per second (codetag kernels)" },
	{ "/", "filter by a query, such as file fs/* module ext4" },
	{ "b", "group by site, func, file, dir, module, subsystem" },
	{ "z", "also show rows that hold nothing" },
	{ "t", "tree of directories and files, and back" },
	{ "p", "profile the call site or no longer: asks (codetag kernels)" },
	{ "Enter", "the contexts of a call site that is split, and back" },
	{ "d", "changes since the last refresh, or since the start" },
	{ "0", "start again: changes since the start count from now" },
	{ "space", "freeze and go on" },
	{ "u", "human units or bytes" },
	{ "+ -", "refresh less and more often" },
	{ "up down pages", "scroll; Home and End" },
	{ "left right", "scroll the names sideways; in replay the same as < >" },
	{ "< >", "one snapshot back and forth (replay)" },
	{ "h", "this help" },
	{ "q", "quit" },
};

const struct instant *live_base(const struct live *live)
{
	return live->since_start && live->start.valid ? &live->start : &live->before;
}

static double elapsed(const struct live *live)
{
	const struct instant *base = live_base(live);

	return base->valid ? (double)(live->now.time - base->time) / 1000 : 0;
}

/*
 * Where a site does not fit, its directories go first. Whatever else does not
 * fit: the end of a path tells more than its start.
 */
static void put_name(const struct live *live, const struct group *group, int room)
{
	const struct site *site = group->site;
	const char *name = group->name, *slash = strrchr(site->file, '/');
	bool one = live->groups.by.by == BY_SITE || live->groups.by.by == BY_ROW;
	int len = (int)strlen(name);
	char text[256];

	if (room < 2)
		return;
	if (live->sideways) {
		put("<%s", name + (live->sideways < len ? live->sideways : len));
	} else if (len <= room) {
		put("%s", name);
	} else if (live->tree) {
		put("%.*s>", room - 1, name);
	} else if (one) {
		snprintf(text, sizeof(text), "%s:%u%s%s%s %s",
			 slash ? slash + 1 : site->file, site->line,
			 site->module ? " [" : "", site->module ? site->module : "",
			 site->module ? "]" : "", site->func);
		put("%s", text);
	} else {
		put("<%s", name + len - room + 1);
	}
}

struct widths {
	/* 0: the line has no space for it */
	int size, change, calls, average, rate, allocs, frees;
};

#define LEAST_NAME 26
#define SHARE 6

/* A number a second, as wide as 99 millions. */
#define PER_SECOND 8

static struct widths widths_of(const struct live *live)
{
	struct widths width = live->human ? (struct widths){ 7, 8, 8, 7, 8, PER_SECOND, PER_SECOND } :
					    (struct widths){ 12, 12, 10, 8, 12, PER_SECOND, PER_SECOND };
	enum order order = live->selection->order;
	int *const usual[] = { &width.change, &width.calls, &width.average, &width.rate,
			       &width.allocs, &width.frees };
	int *const growing[] = { &width.change, &width.rate, &width.calls, &width.average,
				 &width.allocs, &width.frees };
	int *const active[] = { &width.allocs, &width.frees, &width.change, &width.calls,
				&width.average, &width.rate };
	int *const *less = order == ORDER_GROWTH ? growing : order_is_activity(order) ? active : usual;
	int room = COLS - width.size - 1 - SHARE - 1 - (COLS < 3 * LEAST_NAME ? COLS / 3 :
									       LEAST_NAME);

	if (!live->groups.all.known)
		width.allocs = width.frees = 0;
	for (size_t i = 0; i < sizeof(usual) / sizeof(*usual); i++) {
		if (!*less[i])
			continue;
		room -= *less[i] + 1;
		if (room < 0)
			*less[i] = 0;
	}
	return width;
}

size_t live_missing(const struct live *live)
{
	return live->groups.all.known ? activity_missing(&live->now.info, false) : 0;
}

/* Rates need two readings. */
static void put_rate(int width, const struct activity *activity, int64_t count, double seconds)
{
	if (activity_whole(activity) && seconds > 0)
		put_size(width, (int64_t)((double)count / seconds + 0.5), false, false);
	else
		put("%*s ", width, ACTIVITY_MISSING);
}

static void draw_row(const struct live *live, const struct group *group, int y)
{
	int64_t growth = live_base(live)->valid ? group_growth(group) : 0;
	struct widths width = widths_of(live);
	double seconds = elapsed(live);
	char share[SIZE_TEXT];
	chtype colour = 0;

	if (growth)
		colour = COLOR_PAIR(growth > 0 ? PAIR_GROWN : PAIR_SHRUNK);
	start_line(y);
	put_size(width.size, group->now.bytes, live->human, false);
	if (width.calls)
		put_size(width.calls, group->now.calls, false, false);
	if (width.average)
		put_size(width.average, sum_average(&group->now), live->human, false);
	attron(colour);
	if (width.change)
		put_size(width.change, growth, live->human, true);
	if (width.rate)
		put_size(width.rate, seconds != 0 ? (int64_t)((double)growth / seconds) : 0,
			 live->human, true);
	attroff(colour);
	if (width.allocs)
		put_rate(width.allocs, &group->recent, group->recent.allocs, live->groups.seconds);
	if (width.frees)
		put_rate(width.frees, &group->recent, group->recent.frees, live->groups.seconds);
	percent_format(share, percent(group->now.bytes, live->groups.now.bytes));
	put("%*s ", SHARE, share);
	put_name(live, group, room_left());
}

static void draw_headings(const struct live *live)
{
	struct widths width = widths_of(live);

	attron(A_REVERSE);
	start_line(LIVE_HEAD - 1);
	if (live->help) {
		put("%-*s", room_left(), "  KEYS");
		attroff(A_REVERSE);
		return;
	}
	put("%*s ", width.size, "SIZE");
	if (width.calls)
		put("%*s ", width.calls, "CALLS");
	if (width.average)
		put("%*s ", width.average, "AVG");
	if (width.change)
		put("%*s ", width.change, "CHANGE");
	if (width.rate)
		put("%*s ", width.rate, "PER SEC");
	if (width.allocs)
		put("%*s ", width.allocs, "ALLOCS/S");
	if (width.frees)
		put("%*s ", width.frees, "FREES/S");
	put("%*s %-*s", SHARE, "SHARE", room_left(), "NAME");
	attroff(A_REVERSE);
}

#define CLOCK_TEXT 32

static void clock_format(char *clock, int64_t time)
{
	time_t seconds = time / 1000;
	struct tm tm;

	*clock = '\0';
	if (localtime_r(&seconds, &tm))
		strftime(clock, CLOCK_TEXT, "%H:%M:%S", &tm);
}

static void draw_head(const struct live *live)
{
	static const char *const orders[] = {
		[ORDER_SIZE] = "size", [ORDER_CALLS] = "calls",
		[ORDER_AVERAGE] = "average", [ORDER_NAME] = "name",
		[ORDER_GROWTH] = "growth", [ORDER_ALLOCS] = "allocations",
		[ORDER_FREES] = "frees",
	};
	const struct groups *groups = &live->groups;
	char clock[CLOCK_TEXT], total[SIZE_TEXT];

	clock_format(clock, live->now.time);
	start_line(0);
	if (COLS >= 60)
		put("%.40s  ", live->from->title);
	put("%s%s  %zu sites hold %s in %" PRId64 " allocations", clock,
	    live->frozen ? "  FROZEN" : "", groups->now.rows,
	    size_format(total, groups->now.bytes, live->human), groups->now.calls);
	start_line(1);
	if (live->profiling.off) {
		attron(COLOR_PAIR(PAIR_MESSAGE));
		if (live->profiling.off == live->profiling.chosen)
			put("PROFILING IS OFF, old numbers  ");
		else
			put("%zu NOT PROFILED  ", live->profiling.off);
		attroff(COLOR_PAIR(PAIR_MESSAGE));
	}
	if (live_missing(live)) {
		attron(COLOR_PAIR(PAIR_MESSAGE));
		put("%zu NOT COUNTED  ", live_missing(live));
		attroff(COLOR_PAIR(PAIR_MESSAGE));
	}
	put("by %s, sorted by %s, every %.1f s", live->tree ? "tree" : grouping_name(groups->by.by),
	    orders[live->selection->order], live->delay);
	if (order_is_activity(live->selection->order) && groups->seconds > 0)
		put(", rates over %.1f s", groups->seconds);
	if (live->joined)
		put(", %zu sites with rows summed", live->joined);
	if (live->since_start) {
		clock_format(clock, live_base(live)->valid ? live_base(live)->time : live->now.time);
		put(", changes since %s", clock);
	}
	if (live->selection->query_text.len)
		put(", filter: %.60s", live->selection->query_text.s);
	start_line(2);
	if (live->prompt) {
		/* The end of a text where letters are typed. */
		size_t len = strlen(live->prompt), shown = COLS > 10 ? COLS - 10 : 0;

		put("filter: %s", live->prompt + (len > shown ? len - shown : 0));
	} else if (live->message[0]) {
		attron(COLOR_PAIR(PAIR_MESSAGE));
		put("%s%s", live->message, live->asks ? " y/n" : "");
		attroff(COLOR_PAIR(PAIR_MESSAGE));
	} else {
		put(live->site ? "Enter goes back, q quit, h help" : "q quit, h help");
	}
}

/* Scrolled by the arrow keys if it does not fit. */
static void draw_help(struct live *live, size_t room)
{
	const size_t count = sizeof(keys) / sizeof(*keys);
	size_t last = count > room ? count - room : 0;

	if (live->help_first > last)
		live->help_first = last;
	for (size_t i = live->help_first; i < count; i++) {
		start_line(LIVE_HEAD + (int)(i - live->help_first));
		put("  %-15s %s", keys[i].name, keys[i].what);
	}
}

/* The first line has the headings; scrolled like the help. */
static void draw_contexts(struct live *live, size_t room)
{
	const char *line = live->contexts.s;
	size_t count = 0, last, i = 0;

	for (const char *s = line; *s; s++)
		count += *s == '\n';
	last = count > room + 1 ? count - room - 1 : 0;
	if (live->context_first > last)
		live->context_first = last;
	for (; *line; line = strchr(line, '\n') + 1, i++) {
		size_t len = strcspn(line, "\n");

		if (i && (i <= live->context_first || i - live->context_first > room))
			continue;
		attron(i ? 0 : A_REVERSE);
		start_line(i ? LIVE_HEAD + (int)(i - live->context_first) - 1 : LIVE_HEAD - 1);
		put("%.*s", (int)len, line);
		if (!i)
			put("%*s", room_left(), "");
		attroff(i ? 0 : A_REVERSE);
	}
}

void live_draw(struct live *live)
{
	size_t room = LINES > LIVE_HEAD ? LINES - LIVE_HEAD : 0;
	size_t count = live->groups.count;

	if (live->selection->top && live->selection->top < count)
		count = live->selection->top;
	if (live->cursor >= count)
		live->cursor = count ? count - 1 : 0;
	if (live->cursor < live->first)
		live->first = live->cursor;
	if (room && live->cursor >= live->first + room)
		live->first = live->cursor - room + 1;

	erase();
	draw_head(live);
	if (!live->site || live->help)
		draw_headings(live);
	if (live->help) {
		draw_help(live, room);
	} else if (live->site) {
		draw_contexts(live, room);
	} else {
		for (size_t i = 0; i < room && live->first + i < count; i++) {
			bool here = live->first + i == live->cursor;

			attron(here ? A_REVERSE : 0);
			draw_row(live, &live->groups.group[live->first + i],
				 LIVE_HEAD + (int)i);
			if (here)
				put("%*s", room_left(), "");
			attroff(here ? A_REVERSE : 0);
		}
	}
	if (live->prompt)
		move(2, (int)strlen(live->prompt) + 8 < COLS ? (int)strlen(live->prompt) + 8 :
							      COLS - 1);
	refresh();
}
