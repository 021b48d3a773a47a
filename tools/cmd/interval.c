// SPDX-License-Identifier: GPL-2.0-only
#include "interval.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>

static volatile sig_atomic_t interrupted;

/* When interval_wait() wakes up. A signal that comes just before it sleeps puts it into the past. */
static struct timespec wake;

static void interrupt(int signal)
{
	(void)signal;
	interrupted = 1;
	wake.tv_sec = 0;
}

static void catch_one(int number)
{
	const struct sigaction action = { .sa_handler = interrupt };

	sigaction(number, &action, NULL);
}

/* It stays ignored if somebody, such as nohup, ignored it. */
static void catch_unless_ignored(int number)
{
	struct sigaction before;

	if (sigaction(number, NULL, &before) || before.sa_handler != SIG_IGN)
		catch_one(number);
}

void interrupt_catch(void)
{
	catch_one(SIGINT);
	catch_one(SIGTERM);
}

void interrupt_catch_all(void)
{
	interrupt_catch();
	catch_unless_ignored(SIGHUP);
	catch_unless_ignored(SIGQUIT);
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

bool interrupt_wait(int fd, double seconds)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	struct pollfd readable = { .fd = fd, .events = POLLIN };
	struct timespec limit = { 0 };
	sigset_t caught, before;
	int n = 0;

	if (isfinite(seconds))
		add_seconds(&limit, seconds);
	sigemptyset(&caught);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		sigaddset(&caught, numbers[i]);
	/* A signal between the test and the wait would be lost, so it is let in only by the wait. */
	sigprocmask(SIG_BLOCK, &caught, &before);
	if (!interrupted)
		n = ppoll(&readable, 1, isfinite(seconds) ? &limit : NULL, &before);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return n == 1;
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
	wake = *next;
	/* A handler that runs from here on changes the time; one before has set the flag. */
	atomic_signal_fence(memory_order_seq_cst);
	while (!interrupted &&
	       clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &wake, NULL) == EINTR)
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
