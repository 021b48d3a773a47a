// SPDX-License-Identifier: GPL-2.0-only
#include "where_live.h"

#include <ctype.h>
#include <curses.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "contexts_read.h"
#include "debugfs.h"
#include "live_contexts.h"
#include "output.h"
#include "screen.h"
#include "where_view.h"
#include "analysis/owners.h"
#include "base/message.h"
#include "base/number.h"
#include "read/control.h"
#include "read/input.h"

static const struct {
	const char *name, *what;
} keys[] = {
	{ "Enter", "open the row: its owners; of a call site: its callers" },
	{ "q, Escape", "back, and from the first screen out" },
	{ "Tab", "other owners: call sites, modules, processes, control groups, caches, areas" },
	{ "a", "the owners of everything, whatever kind it is" },
	{ "/", "show only lines with a text; empty: all" },
	{ "s A F", "sort by size, allocations, frees per second (codetag kernels)" },
	{ "d", "growth since the start, or since the last refresh" },
	{ "i", "where each number is from" },
	{ "x", "let the kernel count again which memory is pages (stops CPUs for moments)" },
	{ "p", "processes with their share of what is mapped (PSS), or anonymous memory" },
	{ "u", "human units or bytes" },
	{ "space", "freeze and go on" },
	{ "+ -", "refresh less and more often" },
	{ "up down pages", "scroll; Home and End" },
	{ "left right", "scroll sideways" },
	{ "h", "this help" },
};

/* The last row of KINDS opens BOOT; the others open one screen after the other. */
enum page { KINDS, OWNERS_OF, CALLERS, BOOT, INFO, HELP };

#define BOOT_ROW MEMORY_KINDS

/* Allocations and frees have columns of their own from this width on. */
#define RATES_WIDE 100

/* The lines below the headings; @id tells which row each of them shows. */
struct lines {
	struct line {
		char *text;
		size_t id;
	} *line;
	size_t count, room;
	struct text headings;
};

struct where_live {
	const struct host_options *options;
	double delay;
	bool human, frozen, since_last, pss;
	struct snapshot host;
	struct explanation start, last, now;
	int64_t start_time;
	/* Objects in slabinfo less those that the kernel counted, at that moment. */
	bool counted;
	int64_t slab_error;
	int64_t percpu_objects;

	enum page page, below;	/* the screen to which INFO and HELP return */
	enum memory_kind_id kind;	/* MEMORY_KINDS: all memory */
	enum owner_by by;
	enum order order;		/* of the owners */
	double seconds;			/* of the recent activity, 0: not known */
	struct owners owners;
	struct site site;		/* whose callers are shown, with its own names */
	bool split;			/* … by this command */
	struct lines lines;
	size_t first, cursor, sideways;
	char filter[64];
	char message[160];	/* until the next key */
	char note[160];		/* about the lines, made with them */
	const char *prompt;
};

static void add_line(struct where_live *live, struct text *text, size_t id)
{
	struct lines *lines = &live->lines;

	if (text->s && (!live->filter[0] || strcasestr(text->s, live->filter))) {
		GROW(lines->line, lines->count, lines->room);
		lines->line[lines->count++] = (struct line){ xstrdup(text->s), id };
	}
	text_clear(text);
}

static void clear_lines(struct lines *lines)
{
	for (size_t i = 0; i < lines->count; i++)
		free(lines->line[i].text);
	lines->count = 0;
	text_clear(&lines->headings);
}

static void list_kinds(struct where_live *live)
{
	struct where_view view = {
		.host = &live->host, .e = &live->now, .human = live->human,
		.before = live->since_last ? &live->last : &live->start,
		.before_ms = live->since_last ? 0 : live->host.time - live->start_time,
		/* The names of owners are shortened; everything else is scrolled sideways. */
		.width = COLS < 120 ? 119 : 0,
		.owners = COLS >= WHERE_TWO_OWNERS ? 2 : 1,
	};
	enum memory_kind_id order[MEMORY_KINDS];
	size_t count = where_order(&live->now, order);
	struct text text = { 0 };

	if (COLS >= 120 && !live->since_last)
		view.last = &live->last;
	where_headings(&view, &live->lines.headings);
	for (size_t i = 0; i < count; i++) {
		where_row(&view, order[i], &text);
		add_line(live, &text, order[i]);
	}
	if (live->now.boot) {
		where_boot_row(&view, &text);
		add_line(live, &text, BOOT_ROW);
	}
	text_free(&text);
}

static void add_boot_line(struct where_live *live, int64_t bytes, const char *what, const char *line)
{
	char size[SIZE_TEXT], share[SIZE_TEXT];
	struct text text = { 0 };

	text_printf(&text, "%15s  %6s  %-31s %s", size_format(size, bytes, live->human),
		    percent_format(share, percent(bytes, live->now.boot)), what, line);
	add_line(live, &text, 0);
	text_free(&text);
}

/* By line of code, or, if the kernel has no list of these, by the parts that are known. */
static void list_boot(struct where_live *live)
{
	const struct holders *lines = &live->host.machine.boot;

	text_printf(&live->lines.headings, "%15s  %6s  %-31s %s", "SIZE", "SHARE", "KEPT AT BOOT FOR",
		    lines->count ? "LINE" : "");
	for (size_t i = 0; i < lines->count; i++)
		add_boot_line(live, lines->holder[i].bytes,
			      boot_part_words(boot_part_of(lines->holder[i].name)),
			      lines->holder[i].name);
	for (unsigned int i = 0; !lines->count && i < BOOT_PARTS; i++)
		if (live->now.boot_part[i])
			add_boot_line(live, live->now.boot_part[i], boot_part_words(i), "");
	if (!lines->count)
		snprintf(live->note, sizeof(live->note), "The lines are known to root, on a kernel with codetag.");
}

static bool counted(const struct where_live *live)
{
	return live->seconds > 0 && owner_is_counted(live->by);
}

static void find_owners(struct where_live *live)
{
	owners_free(&live->owners);
	if (live->order != ORDER_SIZE && counted(live))
		owners_find_busy(&live->owners, &live->host, live->kind, live->by, live->order == ORDER_FREES);
	else
		owners_find(&live->owners, &live->host, live->kind, live->by);
}

/* On a narrow terminal the rates take the place of share and number, if the rows are sorted by them. */
static void list_owners(struct where_live *live)
{
	char size[SIZE_TEXT], share[SIZE_TEXT], allocs[RATE_TEXT], frees[RATE_TEXT];
	struct text text = { 0 };
	int64_t all = live->kind == MEMORY_KINDS ? live->now.used : live->now.kind[live->kind];
	bool rates = counted(live) && (live->order != ORDER_SIZE || COLS >= RATES_WIDE);
	bool usual = !rates || COLS >= RATES_WIDE;

	find_owners(live);
	text_printf(&live->lines.headings, "%15s", "SIZE");
	if (usual)
		text_printf(&live->lines.headings, "  %6s  %10s", "SHARE", "NUMBER");
	if (rates)
		text_printf(&live->lines.headings, "  %8s  %8s", "ALLOCS/S", "FREES/S");
	text_printf(&live->lines.headings, "  %s: %s (Tab: others)",
		    live->kind == MEMORY_KINDS ? "everything" : memory_kind(live->kind)->words,
		    owner_words(live->by));
	for (size_t i = 0; i < live->owners.count; i++) {
		const struct owner *owner = &live->owners.owner[i];

		text_printf(&text, "%s%14s", owner->ambiguous ? "~" : " ",
			    size_format(size, owner->bytes, live->human));
		if (usual)
			text_printf(&text, "  %6s  %10lld", percent_format(share, percent(owner->bytes, all)),
				    (long long)owner->count);
		if (rates)
			text_printf(&text, "  %8s  %8s", where_rate(allocs, &owner->recent, owner->recent.allocs,
							   live->seconds),
				    where_rate(frees, &owner->recent, owner->recent.frees, live->seconds));
		text_printf(&text, "  %s", owner->name);
		add_line(live, &text, i);
	}
	if (!live->owners.count && live->order != ORDER_SIZE && counted(live))
		snprintf(live->note, sizeof(live->note), "nothing was allocated or freed since the last refresh");
	else if (!live->owners.count)
		snprintf(live->note, sizeof(live->note), "%s of this are not known: Tab shows others",
			 owner_words(live->by));
	text_free(&text);
}

static void list_callers(struct where_live *live)
{
	struct text contexts = { 0 }, text = { 0 };
	char *copy;
	size_t len;

	if (!input_read(CONTEXTS_PATH, &copy, &len)) {
		snprintf(live->note, sizeof(live->note), "cannot read %s: %s", CONTEXTS_PATH,
			 strerror(errno));
		return;
	}
	if (!live_contexts(&contexts, copy, len, &live->site, live->human)) {
		snprintf(live->note, sizeof(live->note), "nothing was allocated there since it is split");
		return;
	}
	for (char *at = contexts.s, *end; *at; at = end + 1) {
		end = strchr(at, '\n');
		if (at == contexts.s) {
			text_add(&live->lines.headings, at, (size_t)(end - at));
			continue;
		}
		text_add(&text, at, (size_t)(end - at));
		add_line(live, &text, 0);
	}
	text_free(&contexts);
	text_free(&text);
}

static void list_info(struct where_live *live)
{
	struct text text = { 0 };

	text_puts(&live->lines.headings, "WHERE EACH NUMBER IS FROM");
	for (unsigned int i = 0; i < MEMORY_KINDS; i++) {
		text_printf(&text, "%-30s %s", memory_kind(i)->words, memory_kind(i)->source);
		add_line(live, &text, i);
	}
	text_free(&text);
}

static void list_help(struct where_live *live)
{
	struct text text = { 0 };

	text_puts(&live->lines.headings, "KEYS");
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		text_printf(&text, "%-14s %s", keys[i].name, keys[i].what);
		add_line(live, &text, i);
	}
	text_free(&text);
}

static void list(struct where_live *live)
{
	clear_lines(&live->lines);
	live->note[0] = '\0';
	switch (live->page) {
	case KINDS:
		list_kinds(live);
		break;
	case OWNERS_OF:
		list_owners(live);
		break;
	case CALLERS:
		list_callers(live);
		break;
	case BOOT:
		list_boot(live);
		break;
	case INFO:
		list_info(live);
		break;
	case HELP:
		list_help(live);
		break;
	}
}

/* Between two counts of the kernel, slabinfo gives the change of the objects in slabs. */
static void remember_count(struct where_live *live)
{
	struct machine *machine = &live->host.machine;
	int64_t slab = slabinfo_object_bytes(&machine->slabinfo), sites = 0;

	if (machine->charged.known) {
		live->counted = true;
		live->slab_error = sub64(slab, machine->charged.slab);
		live->percpu_objects = machine->charged.percpu;
		return;
	}
	if (!live->counted || !machine->slabinfo.count)
		return;
	for (size_t i = 0; i < live->host.info.count; i++)
		sites = add64(sites, live->host.info.site[i].bytes);
	machine->charged.slab = sub64(slab, live->slab_error);
	machine->charged.percpu = live->percpu_objects;
	machine->charged.pages = sub64(sub64(sites, machine->charged.slab), live->percpu_objects);
	machine->charged.known = true;
}

static bool refresh_host(struct where_live *live, bool recount)
{
	struct host_options options = *live->options;
	struct snapshot host;

	options.recount = recount;
	options.pss ^= live->pss;
	host_read_live(&host, &options);
	live->seconds = host_activity(&host, &live->host);
	snapshot_free(&live->host);
	live->host = host;
	remember_count(live);
	live->last = live->now;
	if (!explain(&live->now, &host.info, &live->host.machine))
		return false;
	list(live);
	return true;
}

static size_t draw_text(const char *text, size_t y)
{
	while (*text) {
		size_t len = strcspn(text, "\n");

		start_line((int)y++);
		put("%.*s", (int)len, text);
		text += len + (text[len] == '\n');
	}
	return y;
}

/* The lines at the bottom: the busiest line, unusual findings, and files that are missing. */
static void foot_text(const struct where_live *live, const struct where_view *view, struct text *foot)
{
	struct history history = {
		.at = &live->now, .count = 1, .first = &live->host, .last = &live->host,
	};
	struct text missing = { 0 };
	struct remarks remarks;

	unusual_find(&remarks, &history);
	text_clear(foot);
	if (live->page == KINDS)
		where_busiest(view, foot);
	if (live->seconds > 0)
		where_uncounted(&live->host, foot);
	missing_find(&missing, &live->now, &live->host);
	for (size_t i = 0; i < remarks.count; i++)
		where_wrap(foot, remarks.remark[i].text, COLS);
	if (!remarks.count)
		text_puts(foot, "Nothing is unusual.\n");
	if (missing.len) {
		missing.s[strcspn(missing.s, "\n")] = '\0';
		where_wrap(foot, missing.s, COLS);
	}
	remarks_free(&remarks);
	text_free(&missing);
}

static void draw_hints(const struct where_live *live)
{
	if (live->prompt) {
		put("show only lines with: %s", live->prompt);
	} else if (live->message[0] || live->note[0]) {
		attron(COLOR_PAIR(PAIR_MESSAGE));
		put("%s", live->message[0] ? live->message : live->note);
		attroff(COLOR_PAIR(PAIR_MESSAGE));
	} else {
		put("Enter opens, Tab other owners, / finds, h help, q %s%s%s%s",
		    live->page == KINDS ? "quits" : "goes back", live->frozen ? "  FROZEN" : "",
		    live->filter[0] ? "  only: " : "", live->filter);
	}
}

/* The headings in line @y, and @room lines below them. */
static void draw_lines(struct where_live *live, size_t y, size_t room)
{
	if (live->cursor >= live->lines.count)
		live->cursor = live->lines.count ? live->lines.count - 1 : 0;
	if (live->cursor < live->first)
		live->first = live->cursor;
	if (live->cursor >= live->first + room)
		live->first = live->cursor - room + 1;
	attron(A_REVERSE);
	start_line((int)y);
	put("%s", live->lines.headings.s && live->lines.headings.len > live->sideways ?
	    live->lines.headings.s + live->sideways : "");
	put("%*s", room_left(), "");
	attroff(A_REVERSE);
	for (size_t i = 0; i < room && live->first + i < live->lines.count; i++) {
		const char *text = live->lines.line[live->first + i].text;
		bool here = live->first + i == live->cursor;
		size_t len = strlen(text), skip = live->sideways < len ? live->sideways : len;

		attron(here ? A_REVERSE : 0);
		start_line((int)(y + 1 + i));
		put("%s", text + skip);
		if (here)
			put("%*s", room_left(), "");
		attroff(here ? A_REVERSE : 0);
	}
}

static void draw(struct where_live *live)
{
	struct where_view view = {
		.host = &live->host, .e = &live->now, .human = live->human, .width = COLS,
		.seconds = live->seconds,
	};
	struct text head = { 0 }, foot = { 0 };
	size_t y, room, foot_lines = 0;

	where_head(&view, &head);
	foot_text(live, &view, &foot);
	for (const char *s = foot.s; *s; s++)
		foot_lines += *s == '\n';

	erase();
	y = draw_text(head.s, 0);
	start_line((int)y);
	draw_hints(live);
	y++;
	room = (size_t)LINES > y + 1 + foot_lines ? (size_t)LINES - y - 1 - foot_lines : 1;
	draw_lines(live, y, room);
	if ((size_t)LINES > foot_lines)
		draw_text(foot.s, (size_t)LINES - foot_lines);
	if (live->prompt)
		move((int)y - 1, (int)strlen(live->prompt) + 22 < COLS ?
				 (int)strlen(live->prompt) + 22 : COLS - 1);
	refresh();
	text_free(&head);
	text_free(&foot);
}

static void to_top(struct where_live *live)
{
	live->first = live->cursor = live->sideways = 0;
}

#define ESCAPE 27

static void ask_filter(struct where_live *live)
{
	char text[sizeof(live->filter)] = "";
	size_t len = 0;
	int key;

	live->prompt = text;
	curs_set(1);
	timeout(-1);
	do {
		draw(live);
		key = getch();
		if (key == KEY_BACKSPACE || key == '\b' || key == 0x7f)
			len -= len > 0;
		else if (key >= ' ' && key <= '~' && len + 1 < sizeof(text))
			text[len++] = (char)key;
		text[len] = '\0';
	} while (key != '\n' && key != '\r' && key != KEY_ENTER && key != ESCAPE && key != ERR);
	curs_set(0);
	live->prompt = NULL;
	if (key != ESCAPE && key != ERR)
		memcpy(live->filter, text, sizeof(text));
	to_top(live);
	list(live);
}

/* Splits @site, or ends that; returns false and a message if the kernel refuses. */
static bool split_site(struct where_live *live, const char *action)
{
	struct debugfs_dir dir = DEBUGFS_DIR_INIT;
	struct control control;
	struct text text = { 0 };
	char *sites;
	size_t len;
	bool opened;
	int error;

	if (!input_read(DEBUGFS_DIR "/control", &sites, &len)) {
		snprintf(live->message, sizeof(live->message), "callers need a kernel with codetag, and root: "
			 "%s/control: %s", DEBUGFS_DIR, strerror(errno));
		return false;
	}
	control_parse(&control, sites, len);
	control_select_site(&control, &live->site);
	error = ENOENT;
	if (control.count && control_by_id(&control, action, &text))
		error = debugfs_write(&dir, "control", text.s, &opened);
	if (error)
		snprintf(live->message, sizeof(live->message), "it cannot be split: %s", strerror(error));
	text_free(&text);
	control_free(&control);
	return !error;
}

static bool is_split(struct where_live *live)
{
	struct text lines = { 0 };
	char *text;
	size_t len;
	bool is;

	if (!input_read(CONTEXTS_PATH, &text, &len))
		return false;
	is = live_contexts(&lines, text, len, &live->site, live->human);
	text_free(&lines);
	return is;
}

static void forget_site(struct where_live *live)
{
	free((char *)live->site.file);
	free((char *)live->site.func);
	free((char *)live->site.module);
	live->site = (struct site){ 0 };
}

static void open_callers(struct where_live *live)
{
	const struct site *site;

	if (!live->lines.count)
		return;
	site = live->owners.owner[live->lines.line[live->cursor].id].site;
	if (!site) {
		snprintf(live->message, sizeof(live->message), "only a call site has callers: Tab shows call sites");
		return;
	}
	forget_site(live);
	live->site = (struct site){
		.file = xstrdup(site->file), .func = xstrdup(site->func), .line = site->line,
		.module = site->module ? xstrdup(site->module) : NULL,
	};
	live->split = false;
	if (!is_split(live)) {
		int key;

		snprintf(live->message, sizeof(live->message), "Its new allocations can be counted by "
			 "stack while this is shown: y to do that");
		timeout(-1);
		draw(live);
		key = getch();
		live->message[0] = '\0';
		if (key != 'y' || !split_site(live, "keys=stack"))
			return;
		live->split = true;
	}
	live->page = CALLERS;
	to_top(live);
	list(live);
}

static void open_row(struct where_live *live)
{
	if (live->page == KINDS && live->lines.count &&
	    live->lines.line[live->cursor].id == BOOT_ROW) {
		live->page = BOOT;
		live->filter[0] = '\0';
		to_top(live);
		list(live);
	} else if (live->page == KINDS && live->lines.count) {
		live->kind = live->lines.line[live->cursor].id;
		live->by = owners_best(&live->host, live->kind);
		live->order = ORDER_SIZE;
		live->page = OWNERS_OF;
		live->filter[0] = '\0';
		to_top(live);
		list(live);
	} else if (live->page == OWNERS_OF) {
		open_callers(live);
	}
}

/* Returns false to quit. */
static bool go_back(struct where_live *live)
{
	if (live->filter[0] && (live->page <= OWNERS_OF || live->page == BOOT)) {
		live->filter[0] = '\0';
	} else if (live->page == KINDS) {
		return false;
	} else if (live->page >= INFO) {
		live->page = live->below;
	} else if (live->page == BOOT) {
		live->page = KINDS;
	} else {
		if (live->split)
			split_site(live, "keys=none");
		live->split = false;
		live->page--;
	}
	to_top(live);
	list(live);
	return true;
}

static void next_owners(struct where_live *live)
{
	if (live->page != OWNERS_OF)
		return;
	for (unsigned int i = 0; i < OWNERS; i++) {
		live->by = (live->by + 1) % OWNERS;
		to_top(live);
		list(live);
		if (live->owners.count)
			break;
	}
}

static void show_everything(struct where_live *live)
{
	live->kind = MEMORY_KINDS;
	live->by = OWNER_SITES;
	live->page = OWNERS_OF;
	to_top(live);
	list(live);
}

/* On the first screen, sorting by rates opens the owners of all memory. */
static void sort_by(struct where_live *live, enum order order)
{
	if (order != ORDER_SIZE && !live->seconds) {
		snprintf(live->message, sizeof(live->message),
			 live->host.counted ? "allocations and frees are known after the next refresh" :
			 "allocations and frees are not known: that needs root, and a kernel with codetag");
		return;
	}
	if (live->page == KINDS && order != ORDER_SIZE) {
		live->order = order;
		show_everything(live);
	} else if (live->page == OWNERS_OF && order != ORDER_SIZE && !owner_is_counted(live->by)) {
		snprintf(live->message, sizeof(live->message),
			 "only call sites and modules have allocations and frees: Tab shows them");
	} else if (live->page == OWNERS_OF) {
		live->order = order;
		to_top(live);
		list(live);
	}
}

static void show_below(struct where_live *live, enum page page)
{
	if (live->page < INFO)
		live->below = live->page;
	live->page = live->page == page ? live->below : page;
	live->filter[0] = '\0';
	to_top(live);
	list(live);
}

/* Returns false to quit. */
static bool handle_key(struct where_live *live, int key)
{
	live->message[0] = '\0';
	if (screen_moves(&live->cursor, key, LINES - 10))
		return true;
	switch (key) {
	case KEY_RIGHT:
		live->sideways += 8;
		break;
	case KEY_LEFT:
		live->sideways -= live->sideways < 8 ? live->sideways : 8;
		break;
	case 'q':
	case ESCAPE:
		return go_back(live);
	case '\n':
	case '\r':
	case KEY_ENTER:
		open_row(live);
		break;
	case '\t':
		next_owners(live);
		break;
	case 'a':
		live->order = ORDER_SIZE;
		show_everything(live);
		break;
	case 's':
		sort_by(live, ORDER_SIZE);
		break;
	case 'A':
		sort_by(live, ORDER_ALLOCS);
		break;
	case 'F':
		sort_by(live, ORDER_FREES);
		break;
	case '/':
		ask_filter(live);
		break;
	case 'd':
		live->since_last = !live->since_last;
		list(live);
		break;
	case 'i':
		show_below(live, INFO);
		break;
	case 'h':
	case '?':
		show_below(live, HELP);
		break;
	case 'x':
		refresh_host(live, true);
		break;
	case 'p':
		live->pss = !live->pss;
		refresh_host(live, false);
		break;
	case 'u':
		live->human = !live->human;
		list(live);
		break;
	case ' ':
		live->frozen = !live->frozen;
		break;
	case '+':
		live->delay = live->delay < 1800 ? live->delay * 2 : live->delay;
		break;
	case '-':
		live->delay = live->delay > 0.5 ? live->delay / 2 : live->delay;
		break;
	case KEY_RESIZE:
		list(live);
		break;
	}
	return true;
}

static void loop(struct where_live *live)
{
	int64_t due = screen_due(live->delay);

	for (;;) {
		int key;

		draw(live);
		key = screen_key(due, live->frozen);
		if (key != ERR && !handle_key(live, key))
			return;
		if (!live->frozen && screen_is_due(&due, live->delay))
			refresh_host(live, false);
		else if (key == ERR && live->frozen)
			return;	/* the terminal is gone */
	}
}

int where_live(const struct host_options *options, double delay, bool human)
{
	struct where_live live = { .options = options, .delay = delay, .human = human };
	const bool possible = screen_possible("Use 'codetag where --once'.");

	if (!possible)
		return STATUS_TROUBLE;
	host_read_live(&live.host, options);
	remember_count(&live);
	if (!explain(&live.now, &live.host.info, &live.host.machine)) {
		warning("cannot read /proc/meminfo");
		return STATUS_TROUBLE;
	}
	live.start = live.last = live.now;
	live.start_time = live.host.time;
	screen_start();
	list(&live);
	loop(&live);
	endwin();
	if (live.split)
		split_site(&live, "keys=none");
	clear_lines(&live.lines);
	free(live.lines.line);
	text_free(&live.lines.headings);
	owners_free(&live.owners);
	forget_site(&live);
	snapshot_free(&live.host);
	return STATUS_OK;
}
