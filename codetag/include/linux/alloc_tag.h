/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Allocation tags: charging memory to the call site that allocated it.
 *
 * alloc_hooks() wraps an allocation: it defines the tag of the call site and
 * makes it alloc_tag_current() for as long as the allocator runs. The
 * allocator takes the id from there, stores it with the page or object, and
 * adds to the id's counters. The free finds the id where it was stored. A free
 * subtracts what its allocation added, whatever was switched in between.
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
 * struct alloc_tag_counters - the counters of a tag on one CPU
 * @bytes:	allocated minus freed
 * @allocs:	allocations
 * @frees:	frees; the parts of a page that was split are freed one by one
 *
 * Memory is often freed on another CPU. Only the sum over all possible CPUs has
 * a meaning; unsigned wrap-around is intended.
 */
struct alloc_tag_counters {
	u64 bytes;
	u32 allocs;
	u32 frees;
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
 * index. The linker sizes the array: each built-in tag adds one element, in
 * any order.
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

/* alloc_tag_current() outside of alloc_hooks() */
extern struct alloc_tag alloc_tag_untagged;

/* New allocations are charged. Changes at run time. */
DECLARE_STATIC_KEY_MAYBE(CONFIG_MEM_ALLOC_PROFILING_ENABLED_BY_DEFAULT,
			 mem_alloc_profiling_key);

/* Pages or objects may hold ids. Set before the first charge, never cleared. */
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

/* One above the highest id of built-in code, and the bytes of all their counters */
extern unsigned long codetag_builtin_end;
extern unsigned long builtin_alloc_tag_counters_size;

/* The same bytes without those of ids below CODETAG_ID_FIRST */
extern unsigned long builtin_alloc_tag_sites_size;

/* Module ids come in blocks: a block belongs to one module. */
#define CODETAG_BLOCK_SHIFT	5
#define CODETAG_BLOCK_SIZE	(1 << CODETAG_BLOCK_SHIFT)
#define CODETAG_NR_BLOCKS	((CODETAG_ID_MAX + 1) >> CODETAG_BLOCK_SHIFT)

/* Bytes of the counters of a block */
#define CODETAG_BLOCK_BYTES	(CODETAG_BLOCK_SIZE * sizeof(struct alloc_tag_counters))

/*
 * For each block: the address that the counters of id 0 would have in the array of the
 * block's counters; the size of that array in bytes.
 */
extern struct alloc_tag_counters __percpu *module_alloc_tag_counters[];
extern u16 module_alloc_tag_sizes[];

/*
 * Offset of the counters of an id from those of id 0. From there on nothing needs the
 * id itself, and its register is free.
 */
static __always_inline unsigned long alloc_tag_offset(unsigned long id)
{
	id *= sizeof(struct alloc_tag_counters);
	OPTIMIZER_HIDE_VAR(id);
	return id;
}

/*
 * Only the sum over all CPUs has a meaning, so any CPU's counters will do. Where a per-CPU
 * addition takes several instructions, the task would have to stay on its CPU for them. An
 * atomic addition to the counters of the CPU that it ran on just before is shorter. There
 * all code that writes to the counters must use atomic operations.
 */
#define ALLOC_TAG_ANY_CPU							\
	(IS_ENABLED(CONFIG_ARM64) || (IS_ENABLED(CONFIG_RISCV) && IS_ENABLED(CONFIG_64BIT)))

/* Add to some CPU's counters; @free is a constant. */
static __always_inline void alloc_tag_count(struct alloc_tag_counters __percpu *counters,
					    u64 bytes, u32 calls, bool free)
{
	if (ALLOC_TAG_ANY_CPU) {
		struct alloc_tag_counters *here = raw_cpu_ptr(counters);

		/*
		 * An operation that returns the old value is executed close to the CPU.
		 * alloc_tag_uncharge() explains the order of the two counters of a free.
		 */
		atomic64_fetch_add_relaxed(bytes, (atomic64_t *)&here->bytes);
		if (free)
			atomic_fetch_add_release(calls, (atomic_t *)&here->frees);
		else
			atomic_fetch_add_relaxed(calls, (atomic_t *)&here->allocs);
	} else {
		this_cpu_add(counters->bytes, bytes);
		if (free)
			this_cpu_add(counters->frees, calls);
		else
			this_cpu_add(counters->allocs, calls);
	}
}

/* A counter of a built-in id; @_offset is from the counters of the id @_first, a constant. */
#define alloc_tag_builtin_counter(_type, _member, _first, _offset)		\
	(*(_type __percpu *)((void __percpu *)&builtin_alloc_tag_counters[_first]._member + \
			     (_offset)))

/* The same for a built-in id. Where one instruction adds, it contains the array's address. */
static __always_inline void alloc_tag_count_builtin(unsigned int first, unsigned long offset,
						    u64 bytes, u32 calls, bool free)
{
	if (ALLOC_TAG_ANY_CPU) {
		alloc_tag_count((void __percpu *)&builtin_alloc_tag_counters[first] + offset,
				bytes, calls, free);
		return;
	}
	this_cpu_add(alloc_tag_builtin_counter(u64, bytes, first, offset), bytes);
	if (free)
		this_cpu_add(alloc_tag_builtin_counter(u32, frees, first, offset), calls);
	else
		this_cpu_add(alloc_tag_builtin_counter(u32, allocs, first, offset), calls);
}

/* The counters of a module's id */
static __always_inline struct alloc_tag_counters __percpu *
alloc_tag_module_counters(unsigned long offset)
{
	return (void __percpu *)module_alloc_tag_counters[offset / CODETAG_BLOCK_BYTES] + offset;
}

/* Has an id of a page or object that is not built-in got counters? */
static __always_inline bool alloc_tag_has_module_counters(unsigned long offset)
{
	unsigned long block = offset / CODETAG_BLOCK_BYTES;

	return IS_ENABLED(CONFIG_MODULES) &&
	       likely(offset % CODETAG_BLOCK_BYTES < module_alloc_tag_sizes[block]);
}

/**
 * alloc_tag_charge - count an allocation whose page or object holds this id
 * @id:		a tag's id, not CODETAG_ID_NONE
 * @bytes:	size of the memory
 * @allocs:	number of allocations
 *
 * Context: Any, NMI where per-CPU operations are safe there. Never sleeps, fails or
 *	    allocates.
 */
static __always_inline void alloc_tag_charge(unsigned long id, size_t bytes, u32 allocs)
{
	unsigned long offset = alloc_tag_offset(id);

	if (!IS_ENABLED(CONFIG_MODULES) || likely(offset < builtin_alloc_tag_counters_size))
		alloc_tag_count_builtin(0, offset, bytes, allocs, false);
	else
		alloc_tag_count(alloc_tag_module_counters(offset), bytes, allocs, false);
}

/**
 * alloc_tag_charge_site - count an allocation of a call site
 * @tag:	the call site, whose id was read, and was not CODETAG_ID_NONE
 * @bytes:	size of the memory
 * @allocs:	number of allocations
 *
 * The same as alloc_tag_charge() with that id, but without a lookup.
 *
 * Context: As alloc_tag_charge().
 */
static __always_inline void alloc_tag_charge_site(const struct alloc_tag *tag, size_t bytes,
						  u32 allocs)
{
	alloc_tag_count(tag->counters, bytes, allocs, false);
}

/* Has an id of a page or object got counters? */
static __always_inline bool alloc_tag_id_counted(unsigned long id)
{
	return likely(id < codetag_builtin_end) ||
	       alloc_tag_has_module_counters(alloc_tag_offset(id));
}

/**
 * alloc_tag_uncharge - undo alloc_tag_charge()
 * @id:		the id that the page or object holds
 * @bytes:	size of the memory
 * @frees:	number of frees
 *
 * The bytes change first and the frees last. Code that reads the counters of an id
 * without new charges relies on it: once it has read no bytes, and after that no
 * allocations held, no uncharge is in progress.
 *
 * Context: Any, NMI where per-CPU operations are safe there. Never sleeps, fails or
 *	    allocates.
 * Return: false if no tag has the id: it was overwritten, and nothing was counted.
 */
static __always_inline bool __must_check
alloc_tag_uncharge(unsigned long id, size_t bytes, u32 frees)
{
	unsigned long offset = alloc_tag_offset(id);

	if (likely(offset < builtin_alloc_tag_counters_size))
		alloc_tag_count_builtin(0, offset, -(u64)bytes, frees, true);
	else if (alloc_tag_has_module_counters(offset))
		alloc_tag_count(alloc_tag_module_counters(offset), -(u64)bytes, frees, true);
	else
		return false;
	return true;
}

/* An id as wide as a register, which an index need not widen */
static __always_inline unsigned long alloc_tag_wide_id(unsigned long id)
{
	OPTIMIZER_HIDE_VAR(id);
	return id;
}

/*
 * The id that new allocations of a call site are charged to. Read it once: it can change
 * at any moment. The site of the running allocation is alloc_tag_current().
 */
#define alloc_tag_id(tag)	alloc_tag_wide_id(READ_ONCE((tag)->ct.id))

/*
 * For a site without an id: has it been split? Then codetag_context_id() gives the id. The
 * bit is never cleared, because a site is not split and switched in one step.
 */
static __always_inline bool alloc_tag_split(const struct alloc_tag *tag)
{
	if (!IS_ENABLED(CONFIG_CODETAG_CONTEXTS))
		return false;
	smp_rmb(); /* pairs with codetag_set_charging() */
	/* It reads one bit of a byte: READ_ONCE() would take an instruction more. */
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
