/* SPDX-License-Identifier: GPL-2.0-only */
/* Output to a terminal: names come from files and from users, and must not control it. */
#ifndef CODETAG_TERMINAL_H
#define CODETAG_TERMINAL_H

/*
 * From now on standard output, if it is a terminal, and standard error get line breaks, tabs,
 * bold, text that text_safe_length() considers safe, and '?' for anything else.
 */
void terminal_guard(void);

/* The original standard output, for a library that controls the terminal. */
void terminal_release(void);

#endif
