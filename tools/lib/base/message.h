/* SPDX-License-Identifier: GPL-2.0-only */
/* Messages for the user on standard error, and the exit statuses. */
#ifndef CODETAG_MESSAGE_H
#define CODETAG_MESSAGE_H

enum {
	STATUS_OK = 0,
	STATUS_FOUND = 1,	/* the answer is bad news: mismatches, leaks */
	STATUS_TROUBLE = 2,	/* usage, unreadable or malformed input */
};

/* "codetag report": how messages begin. Set once by main(). */
extern const char *message_name;

/* Flushes standard output. Returns the first error that was seen, or 0. */
int message_flush(void);
void warning(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void hint(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void die(const char *fmt, ...)
	__attribute__((format(printf, 1, 2), noreturn));

#endif
