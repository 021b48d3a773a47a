// SPDX-License-Identifier: GPL-2.0-only
#include "base/number.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int64_t add64(int64_t a, int64_t b)
{
	int64_t sum;

	if (__builtin_add_overflow(a, b, &sum))
		return b < 0 ? INT64_MIN : INT64_MAX;
	return sum;
}

int64_t sub64(int64_t a, int64_t b)
{
	int64_t difference;

	if (__builtin_sub_overflow(a, b, &difference))
		return b > 0 ? INT64_MIN : INT64_MAX;
	return difference;
}

int64_t mul64(int64_t a, int64_t b)
{
	int64_t product;

	if (__builtin_mul_overflow(a, b, &product))
		return (a < 0) == (b < 0) ? INT64_MAX : INT64_MIN;
	return product;
}

void movement_add(struct movement *movement, int64_t before, int64_t now)
{
	int64_t growth = sub64(now, before);

	if (growth > 0) {
		movement->grown = add64(movement->grown, growth);
		movement->grew++;
	} else if (growth < 0) {
		movement->shrunk = sub64(movement->shrunk, growth);
		movement->shrank++;
	}
}

bool number_read(const char **s, int64_t *value)
{
	const char *at = *s;
	bool negative = *at == '-';
	uint64_t number = 0;

	at += negative;
	if (!isdigit((unsigned char)*at))
		return false;
	for (; isdigit((unsigned char)*at); at++)
		if (__builtin_mul_overflow(number, 10, &number) ||
		    __builtin_add_overflow(number, (uint64_t)(*at - '0'), &number))
			return false;
	if (negative && number > (uint64_t)INT64_MAX + 1)
		return false;
	*value = (int64_t)(negative ? -number : number);
	*s = at;
	return true;
}

static const char prefixes[] = "KMGTPE";

bool size_parse(const char *s, int64_t *value)
{
	char *end;
	double number;

	if (!isdigit((unsigned char)*s))
		return false;
	errno = 0;
	number = strtod(s, &end);
	if (errno)
		return false;
	if (*end) {
		const char *prefix = strchr(prefixes, toupper((unsigned char)*end));

		if (prefix) {
			number = ldexp(number, 10 * (int)(prefix - prefixes + 1));
			end++;
			if (*end == 'i')
				end++;
		}
		if (*end == 'B')
			end++;
	}
	if (*end || !(number < 9.2e18))
		return false;
	*value = (int64_t)number;
	return true;
}

bool seconds_parse(const char *s, double *seconds)
{
	char *end;

	*seconds = strtod(s, &end);
	return end != s && !*end && *seconds > 0 && *seconds < 1e9;
}

/* Written by hand, because tables have hundreds of thousands of numbers. */
size_t number_format(char out[SIZE_TEXT], int64_t value)
{
	uint64_t left = value < 0 ? -(uint64_t)value : (uint64_t)value;
	char reversed[SIZE_TEXT];
	size_t digits = 0, len = 0;

	do
		reversed[digits++] = (char)('0' + left % 10);
	while (left /= 10);
	if (value < 0)
		out[len++] = '-';
	while (digits)
		out[len++] = reversed[--digits];
	out[len] = '\0';
	return len;
}

char *size_format(char out[SIZE_TEXT], int64_t value, bool human)
{
	double number = fabs((double)value);
	size_t i = 0;

	if (!human || number < 1024) {
		number_format(out, value);
		return out;
	}
	number /= 1024;
	/* 1023.95 would print as 1024.0: take the next prefix from there. */
	while (number >= 1023.95 && prefixes[i + 1]) {
		number /= 1024;
		i++;
	}
	snprintf(out, SIZE_TEXT, "%s%.1f%c", value < 0 ? "-" : "", number,
		 prefixes[i]);
	return out;
}

char *percent_format(char out[SIZE_TEXT], double value)
{
	int64_t tenths = fabs(value) < 1e15 ? llrint(value * 10) : 0;
	size_t len = 0;

	if (tenths < 0) {
		out[len++] = '-';
		tenths = -tenths;
	}
	len += number_format(out + len, tenths / 10);
	out[len++] = '.';
	out[len++] = (char)('0' + tenths % 10);
	out[len++] = '%';
	out[len] = '\0';
	return out;
}

double percent(int64_t part, int64_t whole)
{
	return part && whole ? 100.0 * (double)part / (double)whole : 0;
}
