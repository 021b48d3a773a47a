// SPDX-License-Identifier: GPL-2.0-only
#include "live.h"

#include <curses.h>
#include <stdlib.h>
#include <string.h>

#include "live_view.h"
#include "screen.h"
#include "base/message.h"
#include "model/match.h"
#include "model/tree.h"
#include "read/activity.h"

static void set_message(struct live *live, const char *text)
{
	snprintf(live->message, sizeof(live->message), "%s", text);
	live->unread = false;
}

/*
 * The sites of the snapshot without those that contain others. The query can change, so the
 * former are a list of their own, which replaces the last one.
 */
static struct allocinfo shown(const struct live *live, const struct instant *instant,
			      struct site **list)
{
	struct allocinfo info = instant->info;

	free(*list);
	*list = xcalloc(info.count, sizeof(*info.site));
	if (info.count)
		memcpy(*list, info.site, info.count * sizeof(*info.site));
	info.site = *list;
	selection_take_out(live->selection, &info, NULL);
	return info;
}

static void instant_free(struct instant *instant)
{
	allocinfo_free(&instant->info);
	*instant = (struct instant){ 0 };
}

/* Adds a row for @node, and for the nodes below it. */
static void add_branch(struct live *live, const struct tree *now, const struct tree *before,
		       const struct tree_node *node, int depth)
{
	/* A group that is more than one line of code has no place and cannot be switched. */
	static const struct site none = { .file = "", .func = "" };
	const struct tree_node *was = before->count ? tree_find(before, node->path) : NULL;
	struct groups *groups = &live->groups;
	struct text label = { 0 };
	size_t name;

	if (!node->sum.bytes && !node->sum.calls && !live->selection->all)
		return;
	text_printf(&label, "%*s%s%s", 2 * depth, "", node->name, node->children ? "/" : "");
	name = strmap_add(&groups->names, label.s, label.len);
	GROW(groups->group, groups->count, groups->room);
	groups->group[groups->count++] = (struct group){
		.name = groups->names.entry[name].key,
		.site = &none, .now = node->sum, .before = was ? was->sum : (struct sum){ 0 },
	};
	text_free(&label);
	for (size_t i = 0; i < node->children; i++)
		add_branch(live, now, before, &now->node[node->child[i]], depth + 1);
}

static void group_tree(struct live *live)
{
	struct selection *selection = live->selection;
	struct tree now = { 0 }, before = { 0 };
	const struct instant *base = live_base(live);
	struct allocinfo info;

	groups_free(&live->groups);
	live->groups = (struct groups){ .by = { BY_DIR, 0 } };
	if (base->valid) {
		info = shown(live, base, &live->shown_before);
		tree_add_sites(&before, &info, selection->query);
	}
	if (live->now.valid) {
		info = shown(live, &live->now, &live->shown_now);
		tree_add_sites(&now, &info, selection->query);
	}
	tree_sort(&now, selection->order);
	if (now.count) {
		live->groups.now = now.node[0].sum;
		add_branch(live, &now, &before, &now.node[0], 0);
	}
	tree_free(&now);
	tree_free(&before);
}

/* Growth since the last refresh or the start, of new sites and of those that are gone, too. */
static void regroup(struct live *live)
{
	struct selection *selection = live->selection;
	struct allocinfo before = { 0 }, now = { 0 };
	const struct instant *base = live_base(live);

	live->profiling = (struct profiled){ 0 };
	if (live->now.valid)
		profiling_count(&live->profiling, &live->now.info, selection->query);
	if (live->tree) {
		group_tree(live);
		return;
	}
	groups_free(&live->groups);
	live->groups = (struct groups){ .by = selection->by };
	if (base->valid)
		before = shown(live, base, &live->shown_before);
	if (live->now.valid)
		now = shown(live, &live->now, &live->shown_now);
	live->joined = 0;
	if (selection->by.by == BY_ROW && base->valid && live->now.valid)
		live->joined = match_same_rows(&before, &now, live->from->recorded ? ROWS_RECORDED : ROWS_LIVE);
	if (base->valid)
		groups_add_before(&live->groups, &before, selection->query);
	groups_add(&live->groups, &now, selection->query);
	live->groups.seconds = live->before.valid ? llabs(live->now.time - live->before.time) / 1000.0 : 0;
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

/* The site's snapshot can be freed while its contexts are shown. */
static void enter_contexts(struct live *live)
{
	enum group_by by = live->groups.by.by;
	const struct site *site;

	if (!live->from->contexts) {
		set_message(live, "the running kernel and recordings have contexts, not a copy of allocinfo");
	} else if (by != BY_SITE && by != BY_ROW) {
		set_message(live, "contexts belong to call sites: press b until \"by site\"");
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

/* The one that the start counts from is kept. */
static void forget_before(struct live *live)
{
	if (live->before.first)
		live->start = live->before;
	else
		instant_free(&live->before);
	live->before = (struct instant){ 0 };
}

/* Changes since the start count from the present snapshot. */
static void start_again(struct live *live)
{
	instant_free(&live->start);
	instant_free(&live->before);
	live->now.first = true;
	live->since_start = true;
	regroup(live);
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
	next.first = !live->now.valid;
	forget_before(live);
	live->before = live->now;
	live->now = next;
	activity_between(&live->now.info, &live->before.info, !live->from->recorded ? ACTIVITY_LIVE :
			 step < 0 ? ACTIVITY_BACKWARDS : ACTIVITY_RECORDED);
	if (live->now.info.bad.count || live->now.info.bad.cut)
		set_message(live, "some lines were not understood and are not shown");
	regroup(live);
	if (live_missing(live))
		snprintf(live->message, sizeof(live->message), "%zu of %zu rows lack allocations and frees: %s",
			 live_missing(live), live->now.info.count,
			 live->from->recorded ? "not recorded" : "the file is cut, or of another kernel");
	read_contexts(live);
}

#define ESCAPE 27
#define CTRL_U ('u' & 0x1f)

/* Reads a line; false if the user gave it up. */
static bool ask(struct live *live, char *text, size_t size)
{
	size_t len = 0;
	int key;

	text[0] = '\0';
	live->prompt = text;
	curs_set(1);
	timeout(-1);
	do {
		live_draw(live);
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

/* Asks for a query. Escape keeps the present one; an invalid query changes nothing. */
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

	live->selection->by.by = live->tree ? BY_SITE : next[live->selection->by.by];
	live->tree = false;
	live->cursor = live->first = 0;
	regroup(live);
}

/* Asks for one key, y for yes; nothing is refreshed meanwhile. */
static bool agrees(struct live *live)
{
	int key;

	live->asks = true;
	live_draw(live);
	timeout(-1);
	key = getch();
	live->asks = false;
	live->message[0] = '\0';
	return key == 'y' || key == 'Y';
}

/*
 * A site that is not profiled cannot be seen to leak, so one key alone does not switch it off.
 */
static void toggle(struct live *live)
{
	enum group_by by = live->groups.by.by;
	const struct site *site;

	if (!live->from->toggle)
		set_message(live, "only the running kernel can be switched, not a file");
	else if (by != BY_SITE && by != BY_ROW)
		set_message(live, "only call sites can be switched: press b until \"by site\"");
	if (live->message[0] || live->cursor >= live->groups.count)
		return;
	site = live->groups.group[live->cursor].site;
	snprintf(live->message, sizeof(live->message), "switch profiling of %.60s:%u %.40s?",
		 site->file, site->line, site->func);
	if (agrees(live))
		set_message(live, live->from->toggle(live->from, site));
}

static void toggle_tree(struct live *live)
{
	live->tree = !live->tree;
	live->cursor = live->first = 0;
	regroup(live);
}

static void sort_by(struct live *live, enum order order)
{
	if (order_is_activity(order) && (live->tree || !activity_known(&live->now.info))) {
		set_message(live, live->tree ? "a tree is not sorted by these: t leaves it" :
			    "allocations and frees are not known here");
		return;
	}
	live->selection->order = order;
	live->cursor = live->first = 0;
	regroup(live);
}

/* The line that the keys move; live_draw() knows the last one. */
static size_t *scrolled(struct live *live)
{
	return live->help ? &live->help_first : live->site ? &live->context_first : &live->cursor;
}

static void change_delay(struct live *live, double factor)
{
	double delay = live->delay * factor;

	if (delay >= 0.1 && delay <= 3600)
		live->delay = delay;
}

/* The keys that sort. Returns false for all others. */
static bool sort_key(struct live *live, int key)
{
	switch (key) {
	case 's':
		sort_by(live, ORDER_SIZE);
		return true;
	case 'c':
		sort_by(live, ORDER_CALLS);
		return true;
	case 'a':
		sort_by(live, ORDER_AVERAGE);
		return true;
	case 'n':
		sort_by(live, ORDER_NAME);
		return true;
	case 'g':
		sort_by(live, ORDER_GROWTH);
		return true;
	case 'A':
		sort_by(live, ORDER_ALLOCS);
		return true;
	case 'F':
		sort_by(live, ORDER_FREES);
		return true;
	}
	return false;
}

/* One snapshot of a recording; without one the names are scrolled sideways. */
static void step(struct live *live, int by)
{
	if (live->from->recorded) {
		live->frozen = true;
		take(live, by);
	} else if (by > 0 || live->sideways) {
		live->sideways += 8 * by;
	}
}

/* Returns false to quit. */
static bool handle_key(struct live *live, int key)
{
	live->message[0] = '\0';
	if (sort_key(live, key) || screen_moves(scrolled(live), key, LINES - LIVE_HEAD - 1))
		return true;
	switch (key) {
	case 'q':
		return false;
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
		toggle_tree(live);
		break;
	case 'p':
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
	case 'd':
		live->since_start = !live->since_start;
		regroup(live);
		break;
	case '0':
		start_again(live);
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
		step(live, key == '>' || key == KEY_RIGHT ? 1 : -1);
		break;
	}
	return true;
}

static void loop(struct live *live)
{
	int64_t due = screen_due(live->delay);

	for (;;) {
		int key;

		live_draw(live);
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

	if (!screen_possible(from->recorded ? "Use 'codetag replay --list', or --text=N for snapshot N." :
			     "Use 'codetag top --once' or 'codetag report'."))
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
	instant_free(&live.now);
	instant_free(&live.before);
	instant_free(&live.start);
	free(live.shown_now);
	free(live.shown_before);
	return STATUS_OK;
}
