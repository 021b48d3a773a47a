/* SPDX-License-Identifier: GPL-2.0-only */
/* Drawing on the whole terminal: lines are cut at its edges, and '>' marks the cut. */
#ifndef CODETAG_SCREEN_H
#define CODETAG_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PAIR_GROWN = 1, PAIR_SHRUNK, PAIR_MESSAGE };

/*
 * Returns false after a message if there is no terminal to draw on; @instead says what to do
 * instead.
 */
bool screen_possible(const char *instead);

/* endwin() undoes it. */
void screen_start(void);

/* The following text goes to line @y. */
void start_line(int y);
int room_left(void);

__attribute__((format(printf, 1, 2)))
void put(const char *fmt, ...);

/* @sign: growth gets a plus. */
void put_size(int width, int64_t value, bool human, bool sign);

/*
 * The time of the next refresh, in @delay seconds; whether it has come, and then the next one.
 */
int64_t screen_due(double delay);
bool screen_is_due(int64_t *due, double delay);

/* Waits for a key until @due, or for ever if @frozen. Returns ERR if the terminal is gone. */
int screen_key(int64_t due, bool frozen);

/*
 * Moves *@at, a line, if @key is one of the arrows up and down, k, j, Home, End, and pages of
 * @page lines. Returns false for all other keys. The caller knows the last line.
 */
bool screen_moves(size_t *at, int key, int page);

#endif
