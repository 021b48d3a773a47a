/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Allocation tags: charging memory to the call site that allocated it.
 *
 * alloc_hooks() wraps an allocation: it defines the tag of the call site and
 * makes it alloc_tag_current() for as long as the allocator runs. The
 * allocator takes the id from there, stores it with the page or object, and
 * adds to the id's counters. The free finds the id where it was stored and
 * takes away again what was added, whatever was switched in between.
 */
#ifndef _LINUX_ALLOC_TAG_H
#define _LINUX_ALLOC_TAG_H

#include <linux/atomic.h>
#include <linux/codetag.h>
#include <linux/irqflags.h>
#include <linux/percpu-defs.h>
#include <linux/smp.h>			/* generic per-CPU operations use it */
#include <linux/static_key.h>
#include <asm/barrier.h>
#include <asm/percpu.h>

/**
 * struct alloc_tag_counters - what a tag holds, on one CPU
 * @bytes:	allocated minus freed
 * @calls:	allocations minus frees
 *
 * Memory is freed on other CPUs than it was allocated on: only the sum over
 * all possible CPUs means anything. Unsigned wrap-around is intended.
 */
struct alloc_tag_counters {
	u64 bytes;
	u64 calls;
};

/**
 * struct alloc_tag - a call site that allocates
 * @ct:		the call site
 * @counters:	counters of the id that @ct has while that is not CODETAG_ID_NONE
 *
 * An array of these is what the section holds: the size is part of how an id
 * is turned into a tag.
 */
struct alloc_tag {
	struct codetag ct;
	struct alloc_tag_counters __percpu *counters;
};

static_assert(sizeof(struct alloc_tag) <= 32);

#ifdef CONFIG_MEM_ALLOC_PROFILING

/*
 * The counters of built-in tags are one per-CPU array with the id as its
 * index. Nothing sizes it but the linker: each tag that is linked into the
 * kernel adds an element, in no particular order.
 */
DECLARE_PER_CPU(struct alloc_tag_counters, builtin_alloc_tag_counters[]);

#ifdef MODULE
#define DEFINE_ALLOC_TAG_COUNTERS(_name)
#define ALLOC_TAG_INITIAL_COUNTERS	NULL	/* none of its code runs before it has some */
#else
#define DEFINE_ALLOC_TAG_COUNTERS(_name)					\
	static struct alloc_tag_counters _name __used				\
	__section(PER_CPU_BASE_SECTION "..alloc_tags")
#define ALLOC_TAG_INITIAL_COUNTERS	(&builtin_alloc_tag_counters[CT_INITIAL_ID])
#endif

#define DEFINE_ALLOC_TAG(_alloc_tag)						\
	DEFINE_ALLOC_TAG_COUNTERS(_alloc_tag##_counters);			\
	static struct alloc_tag _alloc_tag __used __aligned(8)			\
	__section("alloc_tags") = {						\
		.ct = CODE_TAG_INIT,						\
		.counters = ALLOC_TAG_INITIAL_COUNTERS,				\
	};

/* What alloc_tag_current() is wherever no alloc_hooks() is in progress. */
extern struct alloc_tag alloc_tag_untagged;

/*
 * New allocations are charged. Changes at run time.
 */
DECLARE_STATIC_KEY_MAYBE(CONFIG_MEM_ALLOC_PROFILING_ENABLED_BY_DEFAULT,
			 mem_alloc_profiling_key);

/*
 * Some page or object may hold an id: set before the first is charged, and
 * from then on for good.
 */
DECLARE_STATIC_KEY_MAYBE(CONFIG_MEM_ALLOC_PROFILING_ENABLED_BY_DEFAULT,
			 alloc_tag_refs_key);

static __always_inline bool mem_alloc_profiling_enabled(void)
{
	return static_branch_maybe(CONFIG_MEM_ALLOC_PROFILING_ENABLED_BY_DEFAULT,
				   &mem_alloc_profiling_key);
}

static __always_inline bool alloc_tag_refs_exist(void)
{
	return static_branch_maybe(CONFIG_MEM_ALLOC_PROFILING_ENABLED_BY_DEFAULT,
				   &alloc_tag_refs_key);
}

/* One above the highest id of built-in code, and the bytes of all their counters. */
extern unsigned long codetag_builtin_end;
extern unsigned long builtin_alloc_tag_counters_size;

/* Module ids come in blocks: a block belongs to one module. */
#define CODETAG_BLOCK_SHIFT	5
#define CODETAG_BLOCK_SIZE	(1 << CODETAG_BLOCK_SHIFT)
#define CODETAG_NR_BLOCKS	((CODETAG_ID_MAX + 1) >> CODETAG_BLOCK_SHIFT)

/* Bytes of the counters of one. */
#define CODETAG_BLOCK_BYTES	(CODETAG_BLOCK_SIZE * sizeof(struct alloc_tag_counters))

/*
 * By block: where the counters of id 0 would be if the array that holds the
 * block's began there, and how many bytes of the block's there are.
 */
extern struct alloc_tag_counters __percpu *module_alloc_tag_counters[];
extern u16 module_alloc_tag_sizes[];

/*
 * How far the counters of an id are from those of id 0. From there on nobody needs
 * the id itself, and its register is free.
 */
static __always_inline unsigned long alloc_tag_offset(unsigned long id)
{
	id *= sizeof(struct alloc_tag_counters);
	OPTIMIZER_HIDE_VAR(id);
	return id;
}

/*
 * Only the sum of all CPUs' counters means anything: it does not matter whose is added to.
 * To add to this CPU's a task has to be kept there, where that takes more than one
 * instruction, and then it is shorter to add with an atomic operation to those of
 * what was its CPU just before. Nothing else may write to them there.
 */
#define ALLOC_TAG_ANY_CPU							\
	(IS_ENABLED(CONFIG_ARM64) || (IS_ENABLED(CONFIG_RISCV) && IS_ENABLED(CONFIG_64BIT)))

/* Add to some CPU's counters. */
static __always_inline void alloc_tag_count(struct alloc_tag_counters __percpu *counters,
					    u64 bytes, u64 calls)
{
	if (ALLOC_TAG_ANY_CPU) {
		struct alloc_tag_counters *here = raw_cpu_ptr(counters);

		/* What returns something is done close to the CPU. */
		atomic64_fetch_add_relaxed(bytes, (atomic64_t *)&here->bytes);
		atomic64_fetch_add_relaxed(calls, (atomic64_t *)&here->calls);
	} else {
		this_cpu_add(counters->bytes, bytes);
		this_cpu_add(counters->calls, calls);
	}
}

/* A counter of a built-in id. */
#define alloc_tag_builtin_counter(_member, _offset)				\
	(*(u64 __percpu *)((void __percpu *)&builtin_alloc_tag_counters[0]._member + (_offset)))

/* The same for a built-in id: where it is one instruction, the array is a part of it. */
static __always_inline void alloc_tag_count_builtin(unsigned long offset, u64 bytes, u64 calls)
{
	if (ALLOC_TAG_ANY_CPU) {
		alloc_tag_count((void __percpu *)builtin_alloc_tag_counters + offset, bytes, calls);
	} else {
		this_cpu_add(alloc_tag_builtin_counter(bytes, offset), bytes);
		this_cpu_add(alloc_tag_builtin_counter(calls, offset), calls);
	}
}

/* The counters of a module's id. */
static __always_inline struct alloc_tag_counters __percpu *
alloc_tag_module_counters(unsigned long offset)
{
	return (void __percpu *)module_alloc_tag_counters[offset / CODETAG_BLOCK_BYTES] + offset;
}

/* Are there any, for an id that was found in a page or object and is not built-in? */
static __always_inline bool alloc_tag_has_module_counters(unsigned long offset)
{
	unsigned long block = offset / CODETAG_BLOCK_BYTES;

	return IS_ENABLED(CONFIG_MODULES) &&
	       likely(offset % CODETAG_BLOCK_BYTES < module_alloc_tag_sizes[block]);
}

/**
 * alloc_tag_charge - count memory that a page or object with this id holds
 * @id:		a tag's id, not CODETAG_ID_NONE
 * @bytes:	size of the memory
 * @calls:	number of allocations this is
 *
 * Context: Any, NMI where per-CPU operations are safe there. Never sleeps, fails or
 *	    allocates.
 */
static __always_inline void alloc_tag_charge(unsigned long id, size_t bytes, size_t calls)
{
	unsigned long offset = alloc_tag_offset(id);

	if (!IS_ENABLED(CONFIG_MODULES) || likely(offset < builtin_alloc_tag_counters_size))
		alloc_tag_count_builtin(offset, bytes, calls);
	else
		alloc_tag_count(alloc_tag_module_counters(offset), bytes, calls);
}

/**
 * alloc_tag_charge_site - count memory that a call site has allocated
 * @tag:	the call site, whose id was read, and was not CODETAG_ID_NONE
 * @bytes:	size of the memory
 * @calls:	number of allocations this is
 *
 * The same as alloc_tag_charge() with that id, but nothing has to be looked up.
 *
 * Context: As alloc_tag_charge().
 */
static __always_inline void alloc_tag_charge_site(const struct alloc_tag *tag, size_t bytes,
						  size_t calls)
{
	alloc_tag_count(tag->counters, bytes, calls);
}

/* Has an id that was found in a page or object got counters? */
static __always_inline bool alloc_tag_id_counted(unsigned long id)
{
	return likely(id < codetag_builtin_end) ||
	       alloc_tag_has_module_counters(alloc_tag_offset(id));
}

/**
 * alloc_tag_uncharge - the reverse of alloc_tag_charge()
 * @id:		the id the memory was charged to, as it was found with it
 * @bytes:	size of the memory
 * @calls:	number of allocations this is
 *
 * Bytes go first and calls last: who reads no bytes and after that no calls
 * of an id that nothing is charged to any more knows that no uncharge is left
 * half done.
 *
 * Context: Any, NMI where per-CPU operations are safe there. Never sleeps, fails or
 *	    allocates.
 * Return: false if no tag has the id, which somebody must have overwritten:
 *	   then nothing was done.
 */
static __always_inline bool __must_check
alloc_tag_uncharge(unsigned long id, size_t bytes, size_t calls)
{
	unsigned long offset = alloc_tag_offset(id);

	if (likely(offset < builtin_alloc_tag_counters_size))
		alloc_tag_count_builtin(offset, -(u64)bytes, -(u64)calls);
	else if (alloc_tag_has_module_counters(offset))
		alloc_tag_count(alloc_tag_module_counters(offset), -(u64)bytes, -(u64)calls);
	else
		return false;
	return true;
}

/* An id as wide as a register: where it is used as an index it need not be widened. */
static __always_inline unsigned long alloc_tag_wide_id(unsigned long id)
{
	OPTIMIZER_HIDE_VAR(id);
	return id;
}

/*
 * The id that what a call site allocates now is charged to. The site can be switched
 * at any moment: read it once. The current one is alloc_tag_current().
 */
#define alloc_tag_id(tag)	alloc_tag_wide_id(READ_ONCE((tag)->ct.id))

/*
 * Where there is no id: shall codetag_context_id() be asked for one? It has to be,
 * once the site has been split, for it is not split and switched at once.
 */
static __always_inline bool alloc_tag_split(const struct alloc_tag *tag)
{
	if (!IS_ENABLED(CONFIG_CODETAG_CONTEXTS))
		return false;
	smp_rmb(); /* pairs with codetag_set_charging() */
	/* Nothing but a bit of a byte: READ_ONCE() would take an instruction more. */
	return data_race(tag->ct.state) & CODETAG_SPLIT;
}

void alloc_tag_damaged(u16 id, const char *what, const char *name);
bool mem_alloc_profiling_permanently_disabled(void);
void alloc_tag_show_mem(void);

#define alloc_tag_record(p)	((p) = alloc_tag_current())

#else /* CONFIG_MEM_ALLOC_PROFILING */

#define DEFINE_ALLOC_TAG(_alloc_tag)
static inline bool mem_alloc_profiling_enabled(void) { return false; }
static inline bool mem_alloc_profiling_permanently_disabled(void) { return true; }
static inline void alloc_tag_show_mem(void) {}
#define alloc_tag_record(p)	do {} while (0)

#endif /* CONFIG_MEM_ALLOC_PROFILING */

#define alloc_hooks_tag(_tag, _do_alloc)				\
({									\
	struct alloc_tag * __maybe_unused _old = alloc_tag_save(_tag);	\
	typeof(_do_alloc) _res = _do_alloc;				\
	alloc_tag_restore(_tag, _old);					\
	_res;								\
})

#define alloc_hooks(_do_alloc)						\
({									\
	DEFINE_ALLOC_TAG(_alloc_tag);					\
	alloc_hooks_tag(&_alloc_tag, _do_alloc);			\
})

#endif /* _LINUX_ALLOC_TAG_H */
