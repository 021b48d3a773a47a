// SPDX-License-Identifier: GPL-2.0-only
/*
 * To be preloaded into crash 8.0.2, which writes into allocations of 0 bytes: it does not know
 * the stacks of interrupts since Linux 6.2. Then it spoils its own heap, and may die.
 */
#include <stddef.h>

#define LARGEST_STACK 65536

void *__libc_malloc(size_t size);

void *malloc(size_t size)
{
	return __libc_malloc(size ? size : LARGEST_STACK);
}
