// SPDX-License-Identifier: GPL-2.0-only
#include "interval.h"

#include <errno.h>
#include <math.h>
#include <signal.h>

static volatile sig_atomic_t interrupted;

static void interrupt(int signal)
{
	(void)signal;
	interrupted = 1;
}

void interrupt_catch(void)
{
	struct sigaction action = { .sa_handler = interrupt };

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

void interrupt_catch_all(void)
{
	struct sigaction action = { .sa_handler = interrupt };

	interrupt_catch();
	if (signal(SIGHUP, SIG_IGN) != SIG_IGN)
		sigaction(SIGHUP, &action, NULL);
	if (signal(SIGQUIT, SIG_IGN) != SIG_IGN)
		sigaction(SIGQUIT, &action, NULL);
}

bool interrupt_caught(void)
{
	return interrupted;
}

void interval_start(struct interval *interval, double seconds)
{
	interrupt_catch();
	interval->seconds = seconds;
	clock_gettime(CLOCK_MONOTONIC, &interval->next);
}

static void add_seconds(struct timespec *time, double seconds)
{
	time_t whole = (time_t)seconds;

	time->tv_sec += whole;
	time->tv_nsec += (long)((seconds - (double)whole) * 1e9);
	if (time->tv_nsec >= 1000000000) {
		time->tv_nsec -= 1000000000;
		time->tv_sec++;
	}
}

bool interval_wait(struct interval *interval)
{
	struct timespec *next = &interval->next, now;
	double late;

	add_seconds(next, interval->seconds);
	clock_gettime(CLOCK_MONOTONIC, &now);
	late = (double)(now.tv_sec - next->tv_sec) + (double)(now.tv_nsec - next->tv_nsec) / 1e9;
	/* A process that was stopped has missed these beats. */
	if (late > 0)
		add_seconds(next, late - fmod(late, interval->seconds) + interval->seconds);
	while (!interrupted &&
	       clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, next, NULL) == EINTR)
		;
	return !interrupted;
}

int64_t wall_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

double steady_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}
