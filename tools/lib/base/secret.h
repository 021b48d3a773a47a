/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Random numbers of this run, for hash tables. Keys come from files that other users made. With
 * these numbers nobody can choose many keys that collide.
 */
#ifndef CODETAG_SECRET_H
#define CODETAG_SECRET_H

#include <stddef.h>
#include <stdint.h>

#define SECRETS 4

/* Odd numbers that stay the same for the whole run. */
const uint64_t *secrets(void);

/* The slot, of @slots (a power of two above 1), for a sum of products with secrets(). */
static inline size_t secret_slot(uint64_t sum, size_t slots)
{
	return (size_t)(sum >> (64 - __builtin_ctzll(slots)));
}

#endif
