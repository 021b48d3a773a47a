// SPDX-License-Identifier: GPL-2.0-only
#include "screen.h"

#include <curses.h>
#include <locale.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "output.h"
#include "base/message.h"
#include "base/number.h"
#include "base/terminal.h"
#include "base/text.h"

bool screen_possible(const char *instead)
{
	const char *term = getenv("TERM");

	if (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && term && *term &&
	    strcmp(term, "dumb"))
		return true;
	warning("this is not a terminal that a table can be drawn on");
	hint("%s", instead);
	return false;
}

void screen_start(void)
{
	setlocale(LC_ALL, "");
	terminal_release();
	/* initscr() would end the program by itself. */
	if (!newterm(NULL, stdout, stdin)) {
		warning("the terminal '%s' is not known here", getenv("TERM"));
		hint("The variable TERM names it. Others are: xterm, vt100, linux.");
		exit(STATUS_TROUBLE);
	}
	set_escdelay(50);	/* ms within which all bytes of an escape sequence arrive */
	cbreak();
	noecho();
	keypad(stdscr, TRUE);
	curs_set(0);
	if (output_colour() && has_colors()) {
		start_color();
		use_default_colors();
		init_pair(PAIR_GROWN, COLOR_RED, -1);
		init_pair(PAIR_SHRUNK, COLOR_GREEN, -1);
		init_pair(PAIR_MESSAGE, COLOR_YELLOW, -1);
	}
}

static struct {
	int y, used;
} line;

void start_line(int y)
{
	line.y = y;
	line.used = 0;
}

int room_left(void)
{
	return line.y < LINES && line.used < COLS ? COLS - line.used : 0;
}

void put(const char *fmt, ...)
{
	char text[512];
	va_list args;
	int room = room_left();
	size_t fits = (size_t)room;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	text_clean(text);
	if (room)
		mvaddnstr(line.y, line.used, text, room);
	if (strlen(text) > fits && text[fits + strspn(text + fits, " ")] && line.y < LINES)
		mvaddch(line.y, COLS - 1, '>');
	line.used += (int)strlen(text);
}

void put_size(int width, int64_t value, bool human, bool sign)
{
	char text[SIZE_TEXT + 1] = "+";
	bool plus = sign && value > 0;

	size_format(text + plus, value, human);
	put("%*s ", width, text);
}

static int64_t clock_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t screen_due(double delay)
{
	return clock_ms() + (int64_t)(delay * 1000);
}

bool screen_moves(size_t *at, int key, int page)
{
	size_t lines = page > 1 ? (size_t)page : 1;

	switch (key) {
	case KEY_UP:
	case 'k':
		*at -= *at > 0;
		return true;
	case KEY_DOWN:
	case 'j':
		++*at;
		return true;
	case KEY_PPAGE:
		*at -= *at < lines ? *at : lines;
		return true;
	case KEY_NPAGE:
		*at += lines;
		return true;
	case KEY_HOME:
		*at = 0;
		return true;
	case KEY_END:
		*at = SIZE_MAX / 2;
		return true;
	}
	return false;
}

int screen_key(int64_t due, bool frozen)
{
	int64_t left = due - clock_ms();

	timeout(frozen ? -1 : left < 0 ? 0 : (int)left);
	return getch();
}

bool screen_is_due(int64_t *due, double delay)
{
	bool now = clock_ms() >= *due;

	/* A changed delay counts from the last refresh. */
	if (now || *due > screen_due(delay))
		*due = screen_due(delay);
	return now;
}
