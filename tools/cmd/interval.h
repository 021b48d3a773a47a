/* SPDX-License-Identifier: GPL-2.0-only */
/* A steady beat that ends when the user interrupts it. */
#ifndef CODETAG_INTERVAL_H
#define CODETAG_INTERVAL_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct interval {
	struct timespec next;
	double seconds;
};

/* From now on SIGINT and SIGTERM only interrupt a waiting call such as read(). */
void interrupt_catch(void);

/*
 * Catches SIGHUP and SIGQUIT, too, unless they are ignored: for commands that have to restore
 * something in the kernel.
 */
void interrupt_catch_all(void);
bool interrupt_caught(void);

/*
 * Waits at most @seconds, or for ever if these are INFINITY, until @fd can be read or has ended.
 * False if the time is over, and after a signal, also one that came before.
 */
bool interrupt_wait(int fd, double seconds);

/* Catches these signals, too: they end interval_wait(). */
void interval_start(struct interval *interval, double seconds);

/* Sleeps until the next beat and skips beats that have passed; false after a signal. */
bool interval_wait(struct interval *interval);

/* Milliseconds since 1970. */
int64_t wall_clock(void);

/* Seconds of a clock that nobody sets, to measure a time. */
double steady_clock(void);

#endif
