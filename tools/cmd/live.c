// SPDX-License-Identifier: GPL-2.0
#include "live.h"

#include <curses.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "screen.h"
#include "base/message.h"
#include "base/number.h"

/* Lines above the table: summary, change, message, headings. */
#define HEAD 4

struct instant {
	struct allocinfo info;
	int64_t time;
	bool valid;
};

struct live {
	struct snapshots *from;
	struct selection *selection;
	bool human;
	double delay;
	bool frozen, help;
	struct instant now, before;
	struct groups groups;
	size_t first, cursor;	/* of the rows */
	size_t help_first;
	const char *prompt;	/* what has been typed so far; NULL: nothing is asked */
	char message[160];
	bool unread;		/* the message is why there was nothing to be read */
	struct site *site;	/* whose contexts are shown, with names of its own; NULL: none */
	struct text contexts;	/* … a line each */
	size_t context_first;
};

static const struct {
	int key;
	const char *name, *what;
} keys[] = {
	{ 's', "s c a n g", "sort by size, calls, average, name, growth" },
	{ '/', "/", "filter by a query, such as file fs/* module ext4" },
	{ 'b', "b", "group by site, func, file, dir, module, subsystem" },
	{ 'z', "z", "show also what holds nothing" },
	{ 't', "t", "profile the call site or no longer (codetag kernels)" },
	{ '\n', "Enter", "the contexts of a call site that is split, and back" },
	{ ' ', "space", "freeze and go on" },
	{ 'u', "u", "human units or bytes" },
	{ '+', "+ -", "refresh less and more often" },
	{ KEY_UP, "arrows, pages", "scroll; Home and End" },
	{ KEY_LEFT, "< >", "one snapshot back and forth (replay)" },
	{ 'h', "h", "this help" },
	{ 'q', "q", "quit" },
};

static void set_message(struct live *live, const char *text)
{
	snprintf(live->message, sizeof(live->message), "%s", text);
	live->unread = false;
}

/* The growth is since the last refresh, also of sites that are new or gone. */
static void regroup(struct live *live)
{
	struct selection *selection = live->selection;

	groups_free(&live->groups);
	live->groups = (struct groups){ .by = selection->by };
	if (live->before.valid)
		groups_add_before(&live->groups, &live->before.info,
				  selection->query);
	if (live->now.valid)
		groups_add(&live->groups, &live->now.info, selection->query);
	selection_apply(selection, &live->groups);
}

static void leave_contexts(struct live *live)
{
	if (!live->site)
		return;
	free((char *)live->site->file);
	free((char *)live->site->func);
	free((char *)live->site->module);
	free(live->site);
	text_free(&live->contexts);
	live->site = NULL;
}

static void read_contexts(struct live *live)
{
	const char *why;

	if (!live->site)
		return;
	text_clear(&live->contexts);
	why = live->from->contexts(live->from, live->site, live->human, &live->contexts);
	if (!why)
		return;
	set_message(live, why);
	leave_contexts(live);
}

/* The snapshot that the site is in goes while its contexts are shown. */
static void enter_contexts(struct live *live)
{
	enum group_by by = live->groups.by.by;
	const struct site *site;

	if (!live->from->contexts) {
		set_message(live, "only the running kernel has contexts, not a file");
	} else if (by != BY_SITE && by != BY_ROW) {
		set_message(live, "only single call sites have contexts: b until it is by site");
	} else if (live->cursor < live->groups.count) {
		site = live->groups.group[live->cursor].site;
		live->site = xcalloc(1, sizeof(*live->site));
		live->site->file = xstrdup(site->file);
		live->site->func = xstrdup(site->func);
		live->site->module = site->module ? xstrdup(site->module) : NULL;
		live->site->line = site->line;
		live->context_first = 0;
		read_contexts(live);
	}
}

static void take(struct live *live, int step)
{
	struct instant next = { .valid = true };
	const char *why;

	if (!live->from->read(live->from, step, &next.info, &next.time, &why)) {
		if (why)
			set_message(live, why);
		else
			set_message(live, step < 0 ? "this is the first snapshot" :
						     "this is the last snapshot");
		live->unread = true;
		if (live->from->recorded)
			live->frozen = true;
		return;
	}
	if (live->unread)
		set_message(live, "");
	if (live->before.valid)
		allocinfo_free(&live->before.info);
	live->before = live->now;
	live->now = next;
	if (live->now.info.bad_lines || live->now.info.cut)
		set_message(live, "some lines were not understood and are not shown");
	regroup(live);
	read_contexts(live);
}

static double elapsed(const struct live *live)
{
	return live->before.valid ?
		(double)(live->now.time - live->before.time) / 1000 : 0;
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
	if (len <= room) {
		put("%s", name);
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
	int size, change, calls, average, rate;	/* 0: there is no room for it */
};

#define LEAST_NAME 26
#define SHARE 6

static struct widths widths_of(const struct live *live)
{
	struct widths width = live->human ? (struct widths){ 7, 8, 8, 7, 8 } :
					    (struct widths){ 12, 12, 10, 8, 12 };
	int *const usual[] = { &width.change, &width.calls, &width.average, &width.rate };
	int *const growing[] = { &width.change, &width.rate, &width.calls, &width.average };
	int *const *less = live->selection->order == ORDER_GROWTH ? growing : usual;
	int room = COLS - width.size - 1 - SHARE - 1 - (COLS < 3 * LEAST_NAME ? COLS / 3 :
									       LEAST_NAME);

	for (size_t i = 0; i < sizeof(usual) / sizeof(*usual); i++) {
		room -= *less[i] + 1;
		if (room < 0)
			*less[i] = 0;
	}
	return width;
}

static void draw_row(const struct live *live, const struct group *group, int y)
{
	int64_t growth = sub64(group->now.bytes, group->before.bytes);
	struct widths width = widths_of(live);
	double seconds = elapsed(live);
	char share[SIZE_TEXT];
	chtype colour = 0;

	if (!live->before.valid)
		growth = 0;
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
	percent_format(share, percent(group->now.bytes, live->groups.now.bytes));
	put("%*s ", SHARE, share);
	put_name(live, group, room_left());
}

static void draw_headings(const struct live *live)
{
	struct widths width = widths_of(live);

	attron(A_REVERSE);
	start_line(HEAD - 1);
	put("%*s ", width.size, "SIZE");
	if (width.calls)
		put("%*s ", width.calls, "CALLS");
	if (width.average)
		put("%*s ", width.average, "AVG");
	if (width.change)
		put("%*s ", width.change, "CHANGE");
	if (width.rate)
		put("%*s ", width.rate, "PER SEC");
	put("%*s %-*s", SHARE, "SHARE", room_left(), "NAME");
	attroff(A_REVERSE);
}

static void draw_head(const struct live *live)
{
	static const char *const orders[] = {
		[ORDER_SIZE] = "size", [ORDER_CALLS] = "calls",
		[ORDER_AVERAGE] = "average", [ORDER_NAME] = "name",
		[ORDER_GROWTH] = "growth",
	};
	const struct groups *groups = &live->groups;
	char clock[32] = "", total[SIZE_TEXT];
	time_t seconds = live->now.time / 1000;
	struct tm tm;

	if (localtime_r(&seconds, &tm))
		strftime(clock, sizeof(clock), "%H:%M:%S", &tm);
	start_line(0);
	if (COLS >= 60)
		put("%.40s  ", live->from->title);
	put("%s%s  %zu sites hold %s in %" PRId64 " allocations", clock,
	    live->frozen ? "  FROZEN" : "", groups->now.rows,
	    size_format(total, groups->now.bytes, live->human), groups->now.calls);
	start_line(1);
	put("by %s, sorted by %s, every %.1f s", grouping_name(groups->by.by),
	    orders[live->selection->order], live->delay);
	if (live->selection->query_text.len)
		put(", filter: %.60s", live->selection->query_text.s);
	start_line(2);
	if (live->prompt) {
		/* The end of it, where letters go. */
		size_t len = strlen(live->prompt), shown = COLS > 10 ? COLS - 10 : 0;

		put("filter: %s", live->prompt + (len > shown ? len - shown : 0));
	} else if (live->message[0]) {
		attron(COLOR_PAIR(PAIR_MESSAGE));
		put("%s", live->message);
		attroff(COLOR_PAIR(PAIR_MESSAGE));
	} else {
		put(live->site ? "Enter goes back, q quit, h help" : "q quit, h help");
	}
}

/* Scrolled by the arrows where it does not fit. */
static void draw_help(struct live *live, size_t room)
{
	const size_t count = sizeof(keys) / sizeof(*keys);
	size_t last = count > room ? count - room : 0;

	if (live->help_first > last)
		live->help_first = last;
	for (size_t i = live->help_first; i < count; i++) {
		start_line(HEAD + (int)(i - live->help_first));
		put("  %-15s %s", keys[i].name, keys[i].what);
	}
}

/* The first line is of headings; scrolled like the help. */
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
		start_line(i ? HEAD + (int)(i - live->context_first) - 1 : HEAD - 1);
		put("%.*s", (int)len, line);
		if (!i)
			put("%*s", room_left(), "");
		attroff(i ? 0 : A_REVERSE);
	}
}

static void draw(struct live *live)
{
	size_t room = LINES > HEAD ? LINES - HEAD : 0;
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

			attron(here ? A_BOLD : 0);
			draw_row(live, &live->groups.group[live->first + i],
				 HEAD + (int)i);
			attroff(here ? A_BOLD : 0);
		}
	}
	if (live->prompt)
		move(2, (int)strlen(live->prompt) + 8 < COLS ? (int)strlen(live->prompt) + 8 :
							      COLS - 1);
	refresh();
}

#define ESCAPE 27
#define CTRL_U ('u' & 0x1f)

/* Reads a line; false if it was given up. */
static bool ask(struct live *live, char *text, size_t size)
{
	size_t len = 0;
	int key;

	text[0] = '\0';
	live->prompt = text;
	curs_set(1);
	timeout(-1);
	do {
		draw(live);
		key = getch();
		if (key == KEY_BACKSPACE || key == '\b' || key == 0x7f)
			len -= len > 0;
		else if (key == CTRL_U)
			len = 0;
		else if (key >= ' ' && key <= '~' && len + 1 < size)
			text[len++] = (char)key;
		text[len] = '\0';
	} while (key != '\n' && key != '\r' && key != KEY_ENTER && key != ESCAPE && key != ERR);
	curs_set(0);
	live->prompt = NULL;
	return key != ESCAPE && key != ERR;
}

/* Asks for a query, Escape leaves the one there is; a bad one changes nothing. */
static void ask_filter(struct live *live)
{
	struct query_error error;
	struct query *query;
	char text[256];

	live->message[0] = '\0';
	if (!ask(live, text, sizeof(text)))
		return;
	query = query_parse(text, &error);
	if (!query || query_has_id(query)) {
		snprintf(live->message, sizeof(live->message),
			 "bad query, at '%s': %s", query ? "id" : error.token,
			 query ? "this data has no ids" : error.why);
		query_free(query);
		return;
	}
	query_free(live->selection->query);
	live->selection->query = query;
	text_clear(&live->selection->query_text);
	text_puts(&live->selection->query_text, text);
	live->cursor = live->first = 0;
	regroup(live);
}

static void next_grouping(struct live *live)
{
	static const enum group_by next[] = {
		[BY_SITE] = BY_FUNC, [BY_PLACE] = BY_FUNC, [BY_ROW] = BY_SITE, [BY_FUNC] = BY_FILE,
		[BY_FILE] = BY_DIR, [BY_DIR] = BY_MODULE,
		[BY_MODULE] = BY_SUBSYSTEM, [BY_SUBSYSTEM] = BY_SITE,
	};

	live->selection->by.by = next[live->selection->by.by];
	live->cursor = live->first = 0;
	regroup(live);
}

static void toggle(struct live *live)
{
	enum group_by by = live->groups.by.by;

	if (!live->from->toggle)
		set_message(live, "only the running kernel can be switched, not a file");
	else if (by != BY_SITE && by != BY_ROW)
		set_message(live, "only single call sites can be switched: b until it is by site");
	else if (live->cursor < live->groups.count)
		set_message(live, live->from->toggle(live->from,
				live->groups.group[live->cursor].site));
}

static void sort_by(struct live *live, enum order order)
{
	live->selection->order = order;
	live->cursor = live->first = 0;
	regroup(live);
}

static void scroll_by(struct live *live, int rows)
{
	if (live->help) {
		if (rows > 0 || live->help_first)
			live->help_first += rows > 0 ? 1 : -1;
		return;
	}
	if (live->site) {
		if (rows > 0 || live->context_first)
			live->context_first += rows > 0 ? 1 : -1;
		return;
	}
	if (rows < 0 && live->cursor < (size_t)-rows)
		live->cursor = 0;
	else
		live->cursor += rows;
}

static void change_delay(struct live *live, double factor)
{
	double delay = live->delay * factor;

	if (delay >= 0.1 && delay <= 3600)
		live->delay = delay;
}

/* False to quit. */
static bool handle_key(struct live *live, int key)
{
	int page = LINES > HEAD + 1 ? LINES - HEAD - 1 : 1;

	live->message[0] = '\0';
	switch (key) {
	case 'q':
		return false;
	case 's':
		sort_by(live, ORDER_SIZE);
		break;
	case 'c':
		sort_by(live, ORDER_CALLS);
		break;
	case 'a':
		sort_by(live, ORDER_AVERAGE);
		break;
	case 'n':
		sort_by(live, ORDER_NAME);
		break;
	case 'g':
		sort_by(live, ORDER_GROWTH);
		break;
	case 'b':
		next_grouping(live);
		break;
	case 'z':
		live->selection->all = !live->selection->all;
		regroup(live);
		break;
	case 'u':
		live->human = !live->human;
		break;
	case 'h':
	case '?':
		live->help = !live->help;
		break;
	case 't':
		toggle(live);
		break;
	case '\n':
	case '\r':
	case KEY_ENTER:
		if (live->site)
			leave_contexts(live);
		else
			enter_contexts(live);
		break;
	case ' ':
	case 'f':
		live->frozen = !live->frozen;
		break;
	case '+':
		change_delay(live, 2);
		break;
	case '-':
		change_delay(live, 0.5);
		break;
	case '/':
		ask_filter(live);
		break;
	case '>':
	case KEY_RIGHT:
	case '<':
	case KEY_LEFT:
		if (live->from->recorded) {
			live->frozen = true;
			take(live, key == '>' || key == KEY_RIGHT ? 1 : -1);
		}
		break;
	case KEY_UP:
	case 'k':
		scroll_by(live, -1);
		break;
	case KEY_DOWN:
	case 'j':
		scroll_by(live, 1);
		break;
	case KEY_PPAGE:
		scroll_by(live, -page);
		break;
	case KEY_NPAGE:
		scroll_by(live, page);
		break;
	case KEY_HOME:
		live->cursor = 0;
		break;
	case KEY_END:
		live->cursor = live->groups.count;	/* draw() knows the last */
		break;
	}
	return true;
}

static void loop(struct live *live)
{
	int64_t due = screen_due(live->delay);

	for (;;) {
		int key;

		draw(live);
		key = screen_key(due, live->frozen);
		if (key != ERR && !handle_key(live, key))
			return;
		if (!live->frozen && screen_is_due(&due, live->delay))
			take(live, 1);
		else if (key == ERR && live->frozen)
			return;	/* the terminal is gone */
	}
}

int live_run(struct snapshots *from, struct selection *selection,
	     const struct output *output, double delay)
{
	struct live live = {
		.from = from,
		.selection = selection,
		.human = output_human(output),
		.delay = delay,
	};

	if (!screen_possible("Use 'codetag top --once' or 'codetag report'."))
		return STATUS_TROUBLE;
	take(&live, 0);
	if (!live.now.valid) {
		warning("%s", live.message);
		return STATUS_TROUBLE;
	}
	screen_start();
	loop(&live);
	endwin();
	leave_contexts(&live);
	groups_free(&live.groups);
	allocinfo_free(&live.now.info);
	if (live.before.valid)
		allocinfo_free(&live.before.info);
	return STATUS_OK;
}
