/* SPDX-License-Identifier: GPL-2.0 */
/* The whole terminal: lines that end where the screen does. */
#ifndef CODETAG_SCREEN_H
#define CODETAG_SCREEN_H

#include <stdbool.h>
#include <stdint.h>

enum { PAIR_GROWN = 1, PAIR_SHRUNK, PAIR_MESSAGE };

/* False after a message if there is no terminal to draw on; @instead is what helps. */
bool screen_possible(const char *instead);

/* endwin() ends it. */
void screen_start(void);

/* What is put from now on is in line @y. */
void start_line(int y);
int room_left(void);

__attribute__((format(printf, 1, 2)))
void put(const char *fmt, ...);

/* @sign: growth has a plus. */
void put_size(int width, int64_t value, bool human, bool sign);

/* The time to refresh @delay seconds from now; whether it has come, and then the next. */
int64_t screen_due(double delay);
bool screen_is_due(int64_t *due, double delay);

/* Waits for a key until @due, or for ever if @frozen; then ERR: the terminal is gone. */
int screen_key(int64_t due, bool frozen);

#endif
