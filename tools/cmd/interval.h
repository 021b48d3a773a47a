/* SPDX-License-Identifier: GPL-2.0 */
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

/* From now on SIGINT and SIGTERM only end what waits, such as read(). */
void interrupt_catch(void);

/* SIGHUP and SIGQUIT, too, unless they are ignored: where something in the kernel must be put back. */
void interrupt_catch_all(void);
bool interrupt_caught(void);

/* Catches them, too: they end interval_wait(). */
void interval_start(struct interval *interval, double seconds);

/* Sleeps until the next beat, which is not one that has passed; false after a signal. */
bool interval_wait(struct interval *interval);

/* Milliseconds since 1970. */
int64_t wall_clock(void);

#endif
