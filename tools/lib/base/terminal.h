/* SPDX-License-Identifier: GPL-2.0 */
/* What a terminal gets: names come from files and from users, and must not command it. */
#ifndef CODETAG_TERMINAL_H
#define CODETAG_TERMINAL_H

/*
 * From now on standard output, if it is a terminal, and standard error get line breaks, tabs,
 * bold and text that text_safe_length() knows as safe, and a '?' for the rest.
 */
void terminal_guard(void);

/* Standard output as it was: for a library that commands the terminal. */
void terminal_release(void);

#endif
