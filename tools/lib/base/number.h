/* SPDX-License-Identifier: GPL-2.0-only */
/* Sums that cannot overflow, and numbers in text. */
#ifndef CODETAG_NUMBER_H
#define CODETAG_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Broken input can contain any number: sums stop at the ends of the range. */
int64_t add64(int64_t a, int64_t b);
int64_t sub64(int64_t a, int64_t b);
int64_t mul64(int64_t a, int64_t b);

/* The sum of growth and of shrinkage, and how many grew and shrank. */
struct movement {
	int64_t grown, shrunk;
	size_t grew, shrank;
};

void movement_add(struct movement *movement, int64_t before, int64_t now);

/*
 * Reads a decimal number at *@s and moves *@s behind it. The kernel prints a negative counter
 * with %llu as a value from 2^63 to 2^64-1, which is read as that negative number. Returns
 * false if there is no number or it is larger.
 */
bool number_read(const char **s, int64_t *value);

/* "4k", "1.5M", "2GiB", "100": sizes as users type them. */
bool size_parse(const char *s, int64_t *value);

/* "0.5", "10": must be more than 0. */
bool seconds_parse(const char *s, double *seconds);

#define SIZE_TEXT 24

/* Writes the digits of @value and a NUL; returns their number. */
size_t number_format(char out[SIZE_TEXT], int64_t value);

/* 1536 is "1.5K" if @human, else "1536"; returns @out. */
char *size_format(char out[SIZE_TEXT], int64_t value, bool human);

/* @part of @whole in per cent; 0 when @whole is. */
double percent(int64_t part, int64_t whole);

/* "64.0%"; returns @out. */
char *percent_format(char out[SIZE_TEXT], double value);

#endif
