/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * helpers.c: functions that allocate on behalf of others, and what is known of the code at a
 * return address.
 */
#ifndef _MM_CODETAG_HELPERS_H
#define _MM_CODETAG_HELPERS_H

#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/types.h>

/*
 * How to get from a frame of the stack to that of the caller, without the unwinder: by a size
 * that each place in the code has, or along a list of frames.
 */
#if defined(CONFIG_X86_64) && defined(CONFIG_UNWINDER_ORC)
#define CODETAG_FRAMES_SIZED	1
#elif defined(CONFIG_ARM64) || (defined(CONFIG_X86_64) && defined(CONFIG_UNWINDER_FRAME_POINTER))
#define CODETAG_FRAMES_LINKED	1
#endif

/*
 * One word says what is known of the code at a return address:
 *
 *	   63     62   61        48 47                               0
 *	+--------+------+------------+-----------------------------------+
 *	| helper | call | frame size | low bits of the return address    |
 *	+--------+------+------------+-----------------------------------+
 *
 * A call is one of a site that is split by its callers. The size of a frame is the distance of
 * the stack pointer of its function from that of the caller, in words. It is 0 if it is not
 * known or not constant, and 1 where frames are linked. The other bits of an address are the
 * same in all code. 32-bit kernels have only the highest bit, the helper.
 */
#define CODETAG_CODE_HELPER	BIT(BITS_PER_LONG - 1)
#define CODETAG_CODE_CALL	(BITS_PER_LONG == 64 ? BIT_ULL(62) : 0)
#define CODETAG_CODE_SIZE_SHIFT	48
#define CODETAG_CODE_SIZE_MAX	0x3fffU
#define CODETAG_CODE_OTHER_BITS	(BITS_PER_LONG == 64 ? 16 : 1)

/* The words by hash of the address, several to a hash. Written with codetag_context_lock held. */
#define CODETAG_CODE_BITS	10
#define CODETAG_CODE_WAYS	2
extern unsigned long codetag_code_table[1 << CODETAG_CODE_BITS][CODETAG_CODE_WAYS];

static __always_inline bool codetag_code_is_at(unsigned long code, unsigned long entry)
{
	return !((code ^ entry) << CODETAG_CODE_OTHER_BITS);
}

/* The low 12 bits of return addresses are evenly spread. On arm64 the lowest two are always 0. */
static __always_inline unsigned int codetag_code_hash(unsigned long entry)
{
	return entry >> 2 & (BIT(CODETAG_CODE_BITS) - 1);
}

/**
 * codetag_code_known - what is known of the code at a return address?
 * @entry: the address
 *
 * Context: Any, with preemption disabled.
 * Return: The word, see above; 0: nothing.
 */
static __always_inline unsigned long codetag_code_known(unsigned long entry)
{
	const unsigned long *set = codetag_code_table[codetag_code_hash(entry)];
	unsigned long code = READ_ONCE(set[0]);

	static_assert(CODETAG_CODE_WAYS == 2);
	if (likely(codetag_code_is_at(code, entry)))
		return code;
	code = READ_ONCE(set[1]);
	return likely(codetag_code_is_at(code, entry)) ? code : 0;
}

/* How far the caller's frame is, in words; 0: this is not known */
static __always_inline unsigned long codetag_code_size(unsigned long code)
{
#ifdef CONFIG_64BIT
	return code >> CODETAG_CODE_SIZE_SHIFT & CODETAG_CODE_SIZE_MAX;
#else
	return 0;
#endif
}

bool codetag_is_helper(unsigned long entry);
void codetag_code_is_call(unsigned long entry);
void codetag_helpers_forget(void);
int codetag_helpers_change(char *text);

#ifdef CONFIG_CODETAG_CONTEXTS
void codetag_helpers_boot(void);
#else
static inline void codetag_helpers_boot(void) {}
#endif

#endif /* _MM_CODETAG_HELPERS_H */
