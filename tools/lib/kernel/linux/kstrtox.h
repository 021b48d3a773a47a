/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Numbers as the kernel reads them: the whole text has to be one, without blanks and without a
 * sign except '+'; base 0 accepts 0x and 0.
 */
#ifndef _LINUX_KSTRTOX_H
#define _LINUX_KSTRTOX_H

#include <errno.h>
#include <limits.h>

/* 16 if it is not a digit */
static inline unsigned int kstrto_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10U : 16;
}

static inline int kstrtoul(const char *s, unsigned int base, unsigned long *result)
{
	unsigned long number = 0;

	s += *s == '+';
	if (!base)
		base = *s != '0' ? 10 : (s[1] | 0x20) == 'x' && kstrto_digit(s[2]) < 16 ? 16 : 8;
	if (base == 16 && *s == '0' && (s[1] | 0x20) == 'x')
		s += 2;
	if (kstrto_digit(*s) >= base)
		return -EINVAL;
	for (; kstrto_digit(*s) < base; s++)
		if (__builtin_mul_overflow(number, base, &number) ||
		    __builtin_add_overflow(number, kstrto_digit(*s), &number))
			return -ERANGE;
	s += *s == '\n';
	if (*s)
		return -EINVAL;
	*result = number;
	return 0;
}

static inline int kstrtouint(const char *s, unsigned int base, unsigned int *result)
{
	unsigned long number;
	int err = kstrtoul(s, base, &number);

	if (err)
		return err;
	if (number > UINT_MAX)
		return -ERANGE;
	*result = number;
	return 0;
}

#endif
