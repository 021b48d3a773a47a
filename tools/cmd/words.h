/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Options that take one word of a list. The list stands in one table of C; the help and the
 * message about another word name its words, and the completion asks for that message.
 */
#ifndef CODETAG_WORDS_H
#define CODETAG_WORDS_H

#include <argp.h>
#include <stddef.h>

struct words {
	const char *const *first;	/* the first word … */
	size_t stride;			/* … and how many bytes after it the next one is */
	size_t count;
};

/* The strings .@member of the elements of @array; WORDS(array, ) are the elements themselves. */
#define WORDS(array, member)							\
	((struct words){ &(array)[0]member, sizeof(*(array)),			\
			 sizeof(array) / sizeof(*(array)) })

/* The index of the first @len bytes of @arg; @words.count if they are none of the words. */
size_t words_find(struct words words, const char *arg, size_t len);

/* Ends the program with the message "'x' is no sort key, there are: …" */
void words_refuse(struct words words, const char *arg, size_t len, const char *what,
		  struct argp_state *state);

/* The index of @arg; ends the program if it is none of the words. */
size_t argument_word(const char *arg, struct words words, const char *what,
		     struct argp_state *state);

/* For argp's help_filter: @text with all words, separated by @between, instead of its "%s". */
char *words_help(const char *text, struct words words, const char *between);

struct grouping;

/*
 * The words that --group takes: some of enum group_by, a bit each, and words of the command
 * itself.
 */
struct group_words {
	unsigned int mask;
	struct words more;
};

#define GROUPS_OF_SITES (BIT_OF(BY_HOST) - 1)
#define BIT_OF(by) (1U << (by))

/*
 * Sets @by and returns -1, or returns the index among the command's own words. Ends the program
 * if @arg is neither.
 */
int argument_group(struct grouping *by, const char *arg, struct group_words words,
		   struct argp_state *state);
char *group_help(const char *text, struct group_words words);

#endif
