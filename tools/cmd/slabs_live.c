// SPDX-License-Identifier: GPL-2.0-only
#include "slabs_live.h"

#include <ctype.h>
#include <curses.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "command.h"
#include "screen.h"
#include "base/message.h"
#include "base/number.h"
#include "read/input.h"

/* Lines above the table: four of sums, one for a message or the sort key, and the headings. */
#define HEAD 6

struct slabs_screen {
	const char *path;
	struct slab_choice *choice;
	bool human, help;
	size_t first;		/* the top row */
	struct slabinfo now, before;
	char why[160];		/* why the last reading failed; "": it did not */
};

static const struct {
	char key;
	const char *heading, *what;
	int width;		/* number of the sorted column, 0: none */
} keys[] = {
	{ 'o', "OBJS", "objects there is room for", 9 },
	{ 'a', "ACTIVE", "objects in use", 9 },
	{ 'u', "USE", "use", 6 },
	{ 's', "OBJ SIZE", "size of an object", 8 },
	{ 'l', "SLABS", "slabs", 7 },
	{ 'b', "OBJ/SLAB", "objects per slab", 8 },
	{ 'c', "CACHE SIZE", "size of the cache", 11 },
	{ 'p', NULL, "pages per slab", 0 },
	{ 'v', NULL, "active slabs", 0 },
	{ 'n', "NAME", "name", 0 },
};

/* If the next reading fails, the last one stays. */
static void take(struct slabs_screen *s)
{
	struct slabinfo next;

	if (!slabinfo_read(&next, s->path)) {
		snprintf(s->why, sizeof(s->why), "cannot read %s: %s", s->path,
			 strerror(errno));
		return;
	}
	if (!next.count || next.bad.count || next.bad.cut) {
		snprintf(s->why, sizeof(s->why), "%s is not in the format of /proc/slabinfo",
			 s->path);
		slabinfo_free(&next);
		return;
	}
	s->why[0] = '\0';
	slabinfo_free(&s->before);
	s->before = s->now;
	s->now = next;
	slab_rank(&s->now, s->choice);
}

static void draw_sums(const struct slabs_screen *s)
{
	char used[SIZE_TEXT], size[SIZE_TEXT], min[SIZE_TEXT], avg[SIZE_TEXT], max[SIZE_TEXT];
	struct slab_totals t;

	slab_add_up(&t, &s->now, s->choice->page_size);
	start_line(0);
	put("objects: %" PRId64 " of %" PRId64 " in use (%.1f%%)", t.active, t.objects,
	    percent(t.active, t.objects));
	start_line(1);
	put("slabs: %" PRId64 " of %" PRId64 " in use (%.1f%%); caches: %" PRId64 " of %zu",
	    t.active_slabs, t.slabs, percent(t.active_slabs, t.slabs), t.active_caches,
	    s->now.count);
	start_line(2);
	put("size: %s of %s in use (%.1f%%)", size_format(used, t.used, s->human),
	    size_format(size, t.size, s->human), percent(t.used, t.size));
	start_line(3);
	put("object size: %s min, %s avg, %s max", size_format(min, t.min, s->human),
	    size_format(avg, t.avg, s->human), size_format(max, t.max, s->human));
}

static void draw_cell(const struct slabs_screen *s, const struct slab_cache *c, size_t column)
{
	const int64_t number[] = {
		['o'] = c->objects, ['a'] = c->active, ['s'] = c->object_size,
		['l'] = c->slabs, ['b'] = c->objects_per_slab,
		['c'] = slab_size(c, s->choice->page_size),
	};
	char key = keys[column].key, text[SIZE_TEXT];

	if (key == 'u')
		put("%*s ", keys[column].width, percent_format(text, slab_use(c)));
	else
		put_size(keys[column].width, number[(int)key],
			 s->human && (key == 's' || key == 'c'), false);
}

static void draw_row(const struct slabs_screen *s, const struct slab_cache *c, int y)
{
	int64_t growth = slab_growth(c, &s->before, s->choice->page_size);
	chtype colour = growth ? COLOR_PAIR(growth > 0 ? PAIR_GROWN : PAIR_SHRUNK) : 0;

	start_line(y);
	attron(colour);
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (keys[i].width)
			draw_cell(s, c, i);
	attroff(colour);
	put("%s", c->name);
}

static void draw_headings(const struct slabs_screen *s)
{
	const char *by = "";

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (keys[i].key == s->choice->key)
			by = keys[i].what;
	start_line(HEAD - 2);
	if (s->why[0]) {
		attron(COLOR_PAIR(PAIR_MESSAGE));
		put("%s", s->why);
		attroff(COLOR_PAIR(PAIR_MESSAGE));
	} else {
		put("sorted by %s; q quit, h help", by);
	}
	attron(A_REVERSE);
	start_line(HEAD - 1);
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (keys[i].width)
			put("%*s ", keys[i].width, keys[i].heading);
	put("%-*s", room_left(), "NAME");
	attroff(A_REVERSE);
}

static void draw_help(void)
{
	static const char *const others[][2] = {
		{ "space", "refresh now" }, { "arrows", "scroll" },
		{ "h", "this help" }, { "q", "quit" },
	};
	int y = HEAD;

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		start_line(y++);
		put("  %-8s %s", others[i][0], others[i][1]);
	}
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		start_line(y++);
		put("  %-8c sort by %s", keys[i].key, keys[i].what);
	}
}

static void draw(struct slabs_screen *s)
{
	size_t room = LINES > HEAD ? LINES - HEAD : 0;
	size_t last = s->now.count > room ? s->now.count - room : 0;

	if (s->first > last)
		s->first = last;
	erase();
	draw_sums(s);
	draw_headings(s);
	if (s->help)
		draw_help();
	for (size_t i = 0; !s->help && i < room && s->first + i < s->now.count; i++)
		draw_row(s, &s->now.cache[s->first + i], HEAD + (int)i);
	refresh();
}

/* Returns false to quit. The letters are those of slabtop; upper case works, too. */
static bool handle_key(struct slabs_screen *s, int key)
{
	if (screen_moves(&s->first, key, LINES - HEAD - 1))
		return true;
	if (key == ' ')
		take(s);
	if (key < 0 || key > 0x7f)
		return true;
	key = tolower(key);
	if (key == 'q')
		return false;
	if (key == 'h' || key == '?') {
		s->help = !s->help;
	} else if (slab_key(key)) {
		s->choice->key = (char)key;
		s->first = 0;
		slab_rank(&s->now, s->choice);
	}
	return true;
}

int slabs_live(const char *path, struct slab_choice *choice, const struct output *output,
	       double delay)
{
	struct slabs_screen s = {
		.path = path, .choice = choice, .human = output_human(output),
	};
	int64_t due = screen_due(delay);
	int key;

	if (!screen_possible("Without --live, the caches are printed once."))
		return STATUS_TROUBLE;
	take(&s);
	if (s.why[0]) {
		warning("%s", s.why);
		return STATUS_TROUBLE;
	}
	screen_start();
	do {
		draw(&s);
		key = screen_key(due, false);
		if (screen_is_due(&due, delay))
			take(&s);
	} while (key == ERR || handle_key(&s, key));
	endwin();
	slabinfo_free(&s.now);
	slabinfo_free(&s.before);
	return STATUS_OK;
}
