/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The stack of an allocation, and what is left of it as text: for contexts.
 */
#ifndef _MM_CODETAG_CONTEXT_STACK_H
#define _MM_CODETAG_CONTEXT_STACK_H

#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/stacktrace.h>
#include <linux/thread_info.h>
#include <linux/types.h>
#include "context.h"
#include "helpers.h"

/*
 * Frames of the allocator, at most, and room for these and a stack. codetag_caller_value() does
 * not count them: it ends where the stack does.
 */
#define CODETAG_STACK_INNER	12
#define CODETAG_STACK_ENTRIES	(CODETAG_DEPTH_MAX + CODETAG_STACK_INNER)

/* ---- saved --------------------------------------------------------------------- */

/**
 * struct codetag_stack_walk - a stack that is being walked
 * @site:	call site of the allocation
 * @depth:	frames to save, the call of @site included
 * @pass_helpers: leave out helpers between that call and the first other function, and learn
 *		what codetag_caller_value() needs to know
 * @entries:	return addresses found, with those of the allocator
 * @nr:		their number
 * @at:		index of that call
 * @end:	number of addresses to find, 0 before the call is found
 */
struct codetag_stack_walk {
	const struct codetag_site *site;
	unsigned int depth;
	bool pass_helpers;
	unsigned long *entries;
	unsigned int nr;
	unsigned int at;
	unsigned int end;
};

bool codetag_stack_step(void *cookie, unsigned long entry);
unsigned int codetag_stack_search(struct codetag_site *site, unsigned int split_by,
				  unsigned long *entries, const unsigned long **stack);

/**
 * codetag_stack_save - the stack of the current allocation
 * @site:	its site
 * @split_by:	keys that the site is split by, with the number of frames, at most
 * @entries:	room for CODETAG_STACK_ENTRIES addresses
 * @stack:	on return where in @entries it begins, with the call site
 *
 * Inlined, and calls arch_stack_walk() directly: each further function is a frame to
 * unwind, which costs hundreds of instructions.
 *
 * Context: Any but NMI, with preemption disabled.
 * Return: How many frames it has.
 */
static __always_inline unsigned int codetag_stack_save(struct codetag_site *site,
						       unsigned int split_by,
						       unsigned long *entries,
						       const unsigned long **stack)
{
#if defined(CONFIG_STACKTRACE) && defined(CONFIG_ARCH_STACKWALK)
	struct codetag_stack_walk walk = {
		.site = site,
		.depth = split_by >> CODETAG_SPLIT_DEPTH,
		.pass_helpers = split_by & BIT(CODETAG_KEY_CALLER),
		.entries = entries,
	};

	arch_stack_walk(codetag_stack_step, &walk, current, NULL);
	/* The stack of an interrupt ends where the interrupt began. */
	if (!in_task())
		walk.nr = filter_irq_stacks(entries, walk.nr);
	if (likely(walk.end && walk.at < walk.nr)) {
		*stack = entries + walk.at;
		return walk.nr - walk.at;
	}
#endif
	return codetag_stack_search(site, split_by, entries, stack);
}

/* ---- the caller alone ---------------------------------------------------------- */

#ifdef CONFIG_CODETAG_CONTEXTS

/* Bits of a lookup key: the calls of its site and the addresses of code that it tells apart */
#define CODETAG_CALLER_BITS	40

/* A site that is split by this alone has contexts with a lookup key. */
#define CODETAG_SPLIT_BY_CALLER	\
	(BIT(CODETAG_KEY_CALLER) | CODETAG_DEPTH_CALLER << CODETAG_SPLIT_DEPTH)

/* The index of a known return address of a site's calls, CODETAG_SITE_CALLS if it is none */
static __always_inline unsigned int codetag_call_index(const struct codetag_site *site,
						       unsigned long entry)
{
	unsigned int i = 0;

	/* Most sites have one. */
	if (likely(READ_ONCE(site->calls[0]) == entry))
		return 0;
	while (++i < CODETAG_SITE_CALLS && READ_ONCE(site->calls[i]))
		if (READ_ONCE(site->calls[i]) == entry)
			return i;
	return CODETAG_SITE_CALLS;
}

/*
 * A call and a caller as the value of a lookup key: bit 63, and below CODETAG_LOOKUP_ID_SHIFT no
 * more than a size has. Those of nodes have all bits there.
 */
static_assert(CODETAG_SITE_CALLS <= 1 << (CODETAG_LOOKUP_ID_SHIFT - CODETAG_CALLER_BITS - 1));

static __always_inline u64 codetag_lookup_caller(unsigned int call, unsigned long caller)
{
	return BIT_ULL(63) | (u64)call << CODETAG_CALLER_BITS |
	       (caller & (BIT_ULL(CODETAG_CALLER_BITS) - 1));
}

#if defined(CODETAG_FRAMES_SIZED) || defined(CODETAG_FRAMES_LINKED)

/**
 * struct codetag_frame - a frame of the current stack
 * @at:		with CODETAG_FRAMES_SIZED the stack pointer of its function, else the address
 *		of the list's element for the function that this one called
 * @entry:	return address in its function
 */
struct codetag_frame {
	unsigned long at;
	unsigned long entry;
};

static __always_inline unsigned long codetag_frame_entry(unsigned long at)
{
	unsigned long entry = READ_ONCE_NOCHECK(*(unsigned long *)at);

#ifdef CONFIG_ARM64
	entry = ptrauth_strip_kernel_insn_pac(entry);
#endif
	return entry;
}

/*
 * Go to the caller's frame. @code is the word of codetag_code_table for this frame's return
 * address. Returns false if only the unwinder can go there.
 */
static __always_inline bool codetag_frame_up(struct codetag_frame *frame, unsigned long code)
{
	unsigned long at = frame->at;

	if (unlikely(!codetag_code_size(code)))
		return false;
#ifdef CODETAG_FRAMES_SIZED
	at += codetag_code_size(code) * sizeof(long);
#else
	at = READ_ONCE_NOCHECK(*(unsigned long *)at);
	if (unlikely(at <= frame->at || at % sizeof(long)))
		return false;
#endif
	/*
	 * Stay on the stack of a task, which is aligned to its size and has registers at its
	 * end. Those of interrupts need not be: there this leaves more to the unwinder. Sizes
	 * and links alone never lead out of a stack.
	 */
	if (unlikely((at ^ frame->at) & ~(THREAD_SIZE - 1UL)))
		return false;
	frame->at = at;
#ifdef CODETAG_FRAMES_SIZED
	frame->entry = codetag_frame_entry(at - sizeof(long));
#else
	frame->entry = codetag_frame_entry(at + sizeof(long));
#endif
	return true;
}

/**
 * codetag_caller_value - the caller of the current allocation, found without the unwinder
 * @site: the call site
 *
 * Inlined: the function that this is a part of must have the frame.
 *
 * Context: Any but NMI, with preemption disabled. Then the stack is that of the task or of
 *	    interrupts.
 * Return: See codetag_lookup_caller(); 0: the unwinder has to find it.
 */
static __always_inline u64 codetag_caller_value(const struct codetag_site *site)
{
	const unsigned long own = (unsigned long)__builtin_frame_address(0);
	struct codetag_frame frame = {
#ifdef CODETAG_FRAMES_SIZED
		.at = own + 2 * sizeof(long),
#else
		.at = own,
#endif
		.entry = codetag_frame_entry(own + sizeof(long)),
	};
	unsigned long code;
	unsigned int call;

	/* Up to the call of the site; the stack ends both loops */
	for (;;) {
		code = codetag_code_known(frame.entry);
		if (likely(code & CODETAG_CODE_CALL)) {
			call = codetag_call_index(site, frame.entry);
			if (likely(call < CODETAG_SITE_CALLS))
				break;
		}
		if (!codetag_frame_up(&frame, code))
			return 0;
	}

	/* From there to the first function that is no helper */
	while (codetag_frame_up(&frame, code)) {
		code = codetag_code_known(frame.entry);
		if (likely(code && !(code & CODETAG_CODE_HELPER)))
			return codetag_lookup_caller(call, frame.entry);
	}
	return 0;
}

#else

static inline u64 codetag_caller_value(const struct codetag_site *site)
{
	return 0;
}

#endif

/**
 * codetag_context_of_caller - find the context of an allocation by its caller alone
 * @site: the call site, which is CODETAG_SPLIT_BY_CALLER
 *
 * Inlined: see codetag_caller_value().
 *
 * Context: Any, with preemption disabled until the context is charged.
 * Return: The context; NULL if there is none yet, or if codetag_context_id() must look for it.
 */
static __always_inline struct codetag_context *
codetag_context_of_caller(const struct codetag_site *site)
{
	u64 caller = likely(!in_nmi()) ? codetag_caller_value(site) : 0;

	return caller ? codetag_context_find(site->lookup_key ^ caller) : NULL;
}

/**
 * codetag_context_here - find the context of the current allocation without a call
 * @nid:	node of the memory
 * @accounted:	whether it is accounted to a memory control group
 * @size:	requested bytes
 *
 * Inlined: see codetag_caller_value().
 *
 * Context: Any, with preemption disabled until the context is charged.
 * Return: The context; NULL if there is none yet, or if codetag_context_id() must look for it.
 */
static __always_inline struct codetag_context *codetag_context_here(int nid, bool accounted,
								    size_t size)
{
	struct codetag_site *site;
	unsigned int split_by = codetag_split_now(&alloc_tag_current()->ct, &site);

	if (split_by == CODETAG_SPLIT_BY_CALLER)
		return codetag_context_of_caller(site);
	return codetag_context_lookup_fast(site, split_by, nid, accounted, size);
}

#else /* CONFIG_CODETAG_CONTEXTS */

static inline struct codetag_context *codetag_context_here(int nid, bool accounted, size_t size)
{
	return NULL;
}

#endif /* CONFIG_CODETAG_CONTEXTS */

/* ---- as text ------------------------------------------------------------------- */

/**
 * struct codetag_stack_text - a stack as it is listed
 * @node:	in those that there are
 * @users:	contexts that have it
 * @bytes:	memory for all of this
 * @text:	a line for each frame
 */
struct codetag_stack_text {
	struct hlist_node node;
	unsigned int users;
	unsigned int bytes;
	char text[];
};

/* One frame as it is listed: a blank, at most this of the symbol, a newline. */
#define CODETAG_FRAME_TEXT	(KSYM_SYMBOL_LEN + 2)

unsigned int codetag_frame_text(char *s, unsigned long address);
struct codetag_stack_text *codetag_stack_text_get(const unsigned long *stack, unsigned int nr);
void codetag_stack_text_put(struct codetag_stack_text *text);
size_t codetag_stack_text_bytes(void);

#endif /* _MM_CODETAG_CONTEXT_STACK_H */
