// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ids and their counters. Built-in tags have neighbouring ids. All others are given out in
 * blocks, and each block belongs to a range. This file handles ranges, not the tags in them.
 */
#define pr_fmt(fmt) "codetag: " fmt

#include <kunit/static_stub.h>
#include <linux/bitmap.h>
#include <linux/init.h>
#include <linux/nmi.h>
#include <linux/percpu.h>
#include <linux/printk.h>
#include "ids.h"
#include "parts.h"
#include "stats.h"

unsigned long codetag_builtin_end __ro_after_init = CODETAG_ID_FIRST;
unsigned long builtin_alloc_tag_counters_size __ro_after_init =
	CODETAG_ID_FIRST * sizeof(struct alloc_tag_counters);
unsigned long builtin_alloc_tag_sites_size __ro_after_init;

/* One above the highest id; codetag.max_ids= lowers it. */
u32 codetag_id_end __ro_after_init = CODETAG_ID_MAX + 1;

/*
 * Room for the counters of the reserved ids, which are the first elements of
 * builtin_alloc_tag_counters[]. The linker may place it anywhere in that array, since all
 * elements are alike.
 */
static struct alloc_tag_counters reserved_counters[CODETAG_ID_FIRST] __used
	__section(PER_CPU_BASE_SECTION "..alloc_tags");

/* How often a page or an object had an id that no tag has. */
atomic_long_t codetag_ids_damaged;

/* ---- long walks --------------------------------------------------------------- */

/**
 * codetag_rest - let other tasks run in the middle of a long walk
 * @steps: work since the last call: ids times CPUs, or sites times queries. Only the tests
 *	   read it; they check that it has a bound.
 *
 * Context: Process, with nothing held but mutexes and codetag_sem.
 */
void codetag_rest(unsigned long steps)
{
	KUNIT_STATIC_STUB_REDIRECT(codetag_rest, steps);
	cond_resched();
}

/* ---- blocks ------------------------------------------------------------------- */

#ifdef CONFIG_MODULES

/* The range of each block of ids. Written under codetag_sem. */
struct codetag_range *codetag_blocks[CODETAG_NR_BLOCKS];
DECLARE_BITMAP(codetag_blocks_used, CODETAG_NR_BLOCKS);

/*
 * Read without a lock: callers look up the id of charged memory, and a block does not
 * change while memory is charged to it.
 */
struct alloc_tag_counters __percpu *module_alloc_tag_counters[CODETAG_NR_BLOCKS];
u16 module_alloc_tag_sizes[CODETAG_NR_BLOCKS];

/**
 * codetag_range_of - find the range of an id
 * @id: an id that is not built in
 *
 * Context: As codetag_from_id().
 * Return: The range, NULL if the id belongs to none.
 */
struct codetag_range *codetag_range_of(unsigned int id)
{
	struct codetag_range *range = READ_ONCE(codetag_blocks[id >> CODETAG_BLOCK_SHIFT]);

	return range && id - range->first < range->nr ? range : NULL;
}

/**
 * codetag_range_from - find the next range
 * @id: where to look; on return the first id from there on that belongs to the range
 *
 * Context: With codetag_lock() held.
 * Return: The range, NULL if there is none.
 */
struct codetag_range *codetag_range_from(unsigned int *id)
{
	unsigned int block = *id >> CODETAG_BLOCK_SHIFT;
	struct codetag_range *range;

	for_each_set_bit_from(block, codetag_blocks_used, CODETAG_NR_BLOCKS) {
		*id = max(*id, block << CODETAG_BLOCK_SHIFT);
		range = codetag_blocks[block];
		if (range && *id - range->first < range->nr)
			return range;
	}
	return NULL;
}

/**
 * codetag_ids_find - find a free block of ids
 *
 * Context: With codetag_lock_all() held.
 * Return: The first id of the block, 0 if there is none.
 */
u16 codetag_ids_find(void)
{
	unsigned long end = codetag_id_end >> CODETAG_BLOCK_SHIFT;
	unsigned long block = find_first_zero_bit(codetag_blocks_used, end);

	return block < end ? block << CODETAG_BLOCK_SHIFT : 0;
}

/**
 * codetag_ids_publish - let allocations find the counters of a range
 * @range: the range, complete and in codetag_ranges
 *
 * Frees do not find those of traced sites by themselves, see traced.c.
 *
 * Context: With codetag_lock_all() held.
 */
void codetag_ids_publish(struct codetag_range *range)
{
	unsigned int block = range->first >> CODETAG_BLOCK_SHIFT;

	__set_bit(block, codetag_blocks_used);
	/* Reports find the range without a lock. */
	smp_store_release(&codetag_blocks[block], range);
	module_alloc_tag_counters[block] = range->counters - range->first;
	if (!range->block || !range->block->traced)
		module_alloc_tag_sizes[block] = range->nr * sizeof(*range->counters);
}

/**
 * codetag_ids_withdraw - undo codetag_ids_publish()
 * @range: the range; no memory is charged to its ids
 *
 * Context: With codetag_lock_all() held.
 */
void codetag_ids_withdraw(struct codetag_range *range)
{
	unsigned int block = range->first >> CODETAG_BLOCK_SHIFT;

	codetag_parts_forget(range->first, range->nr);
	module_alloc_tag_sizes[block] = 0;
	module_alloc_tag_counters[block] = NULL;
	WRITE_ONCE(codetag_blocks[block], NULL);
	__clear_bit(block, codetag_blocks_used);
}

#endif /* CONFIG_MODULES */

/* ---- counters ----------------------------------------------------------------- */

/**
 * codetag_counters_of - find the counters of an id
 * @id: an id that has counters
 *
 * Context: As alloc_tag_read().
 * Return: The counters.
 */
struct alloc_tag_counters __percpu *codetag_counters_of(u16 id)
{
	if (!IS_ENABLED(CONFIG_MODULES) || id < codetag_builtin_end)
		return builtin_alloc_tag_counters + id;

	return alloc_tag_module_counters(alloc_tag_offset(id));
}

/**
 * codetag_context_of - find the context that has an id
 * @id: an id that a page or object holds, so that it stays as it is
 *
 * Context: Any.
 * Return: The context, NULL if the id is that of a site.
 */
struct codetag_context *codetag_context_of(u16 id)
{
	const struct codetag_range *range = id < codetag_builtin_end ? NULL : codetag_range_of(id);

	return range && range->block ? &range->block->contexts[id - range->first] : NULL;
}

static u32 parts_of(u16 id)
{
	const struct codetag_context *ctx = codetag_context_of(id);
	u32 parts = 0;
	unsigned int cpu;

	if (!ctx)
		return codetag_parts(id);
	for (cpu = 0; cpu < nr_cpu_ids; cpu++)
		if (cpu_possible(cpu))
			parts += READ_ONCE(*per_cpu_ptr(ctx->parts, cpu));
	return parts;
}

/*
 * The bytes on another CPU, which may be adding to them. With 32 bits it stores one half after
 * the other, with interrupts disabled. Only an NMI, or a hypervisor that stops the CPU between
 * them, can make two reads return the same wrong number.
 */
static u64 bytes_of(const struct alloc_tag_counters *counter)
{
	u64 bytes = READ_ONCE(counter->bytes), again;

	while (!IS_ENABLED(CONFIG_64BIT) && (again = READ_ONCE(counter->bytes)) != bytes)
		bytes = again;
	return bytes;
}

/**
 * alloc_tag_read - sum up the counters of an id
 * @id: an id that has counters: reserved, built in, of a module or of a context
 *
 * Context: Any; the caller keeps the counters: codetag_lock() for a module's id,
 *	    codetag_lock() or codetag_context_pool.mutex for a context's.
 * Return: The sum over all possible CPUs, each read once, one after another.
 */
struct codetag_sum alloc_tag_read(u16 id)
{
	struct alloc_tag_counters __percpu *counters = codetag_counters_of(id);
	struct alloc_tag_counters *counter;
	u32 allocs = 0, frees = 0, parts;
	unsigned int cpu;
	u64 bytes = 0;

	/* for_each_possible_cpu() would call a function for each of them. */
	for (cpu = 0; cpu < nr_cpu_ids; cpu++) {
		if (!cpu_possible(cpu))
			continue;
		counter = per_cpu_ptr(counters, cpu);
		bytes += bytes_of(counter);
		allocs += READ_ONCE(counter->allocs);
		frees += READ_ONCE(counter->frees);
	}
	parts = parts_of(id);
	return (struct codetag_sum){
		.bytes = bytes, .allocs = allocs, .frees = frees, .parts = parts,
		.calls = allocs + parts - frees,
	};
}

/* Sum up the counters of @nr neighbouring ids from @id on, a CPU after the other. */
static void sum_up(u16 id, unsigned int nr, struct codetag_sum *sums)
{
	struct alloc_tag_counters __percpu *counters = codetag_counters_of(id);
	struct alloc_tag_counters *counter;
	struct codetag_sum *sum;
	unsigned int cpu;

	memset(sums, 0, nr * sizeof(*sums));
	for (cpu = 0; cpu < nr_cpu_ids; cpu++) {
		if (!cpu_possible(cpu))
			continue;
		counter = per_cpu_ptr(counters, cpu);
		for (sum = sums; sum < sums + nr; sum++, counter++) {
			sum->bytes += bytes_of(counter);
			sum->allocs += READ_ONCE(counter->allocs);
			sum->frees += READ_ONCE(counter->frees);
		}
	}
	for (sum = sums; sum < sums + nr; sum++) {
		sum->parts = parts_of(id + (sum - sums));
		sum->calls = sum->allocs + sum->parts - sum->frees;
	}
}

/*
 * Return the id behind the run of neighbouring counters that @id is in, or @id itself if
 * it has no counters.
 */
static unsigned int counters_end(unsigned int id)
{
	struct codetag_range *range;

	if (id < codetag_builtin_end)
		return codetag_builtin_end;

	range = codetag_range_of(id);
	return range ? range->first + range->nr : id;
}

/**
 * alloc_tag_read_block - sum up the counters of a block of ids
 * @first:	first id of the block, a multiple of CODETAG_BLOCK_SIZE
 * @sums:	filled in for all ids of the block; 0 for ids that no tag has
 *
 * Context: Any. For modules' ids, with codetag_lock() held.
 */
void alloc_tag_read_block(unsigned int first, struct codetag_sum *sums)
{
	/* A block never mixes built-in ids with those of a module. */
	unsigned int end = min(counters_end(first), first + CODETAG_BLOCK_SIZE);

	memset(sums, 0, CODETAG_BLOCK_SIZE * sizeof(*sums));
	if (end > first)
		sum_up(first, end - first, sums);
	if (first == CODETAG_ID_NONE)
		sums[0] = (struct codetag_sum){};
}

/**
 * codetag_read_ahead - like alloc_tag_read(), but sum up many ids at a time
 * @id:		an id that has counters
 * @sums:	see codetag_next()
 *
 * Context: Any, with codetag_lock() held. May sleep unless @sums has may_sleep false.
 * Return: The sum over all possible CPUs.
 */
struct codetag_sum codetag_read_ahead(u16 id, struct codetag_sums *sums)
{
	if (!sums)
		return alloc_tag_read(id);

	if (id - sums->first >= sums->nr) {
		sums->first = id;
		sums->nr = min_t(unsigned int, counters_end(id) - id, ARRAY_SIZE(sums->of));
		sum_up(id, sums->nr, sums->of);
		if (sums->may_sleep)
			codetag_rest(sums->nr * num_possible_cpus());
		else
			/* All ids of thousands of CPUs take seconds, maybe without interrupts. */
			touch_nmi_watchdog();
	}
	return sums->of[id - sums->first];
}

/**
 * alloc_tag_add_parts - add parts to the allocations of an id
 * @id:		the id, which has counters
 * @nr:		how many: an allocation that is split has one part already
 *
 * Without room for the parts they count as allocations. Contexts always have room.
 *
 * Context: Any; nobody else may free the memory.
 */
void alloc_tag_add_parts(u16 id, u32 nr)
{
	struct codetag_parts *first = codetag_parts_first(id);
	struct codetag_context *ctx;

	/* Ids of built-in code are never those of contexts. */
	if (likely(id < codetag_builtin_end && READ_ONCE(first->id) == id)) {
		atomic_add(nr, &first->nr);
	} else {
		ctx = codetag_context_of(id);
		if (ctx)
			this_cpu_add(*ctx->parts, nr);
		else if (nr && !codetag_parts_add(id, nr))
			alloc_tag_charge(id, 0, nr);
	}
	/* Before the bytes of some are uncharged, see codetag_id_holds_memory(). */
	smp_mb__after_atomic();
}

/**
 * codetag_id_holds_memory - is memory still charged to a retired id?
 * @id: an id that has counters and gets no new charges
 *
 * Without new charges the bytes only fall. While the loop runs, the true sum can therefore
 * only become smaller than the result, so a result of 0 is reliable. An uncharge changes the
 * bytes first and the frees last: one that is half done still shows as a call. Parts are
 * added to memory that is held only: there are no new ones once the bytes are 0.
 *
 * Context: The caller keeps the counters of the id.
 * Return: false if no memory is charged and no uncharge is in progress.
 */
bool codetag_id_holds_memory(u16 id)
{
	struct alloc_tag_counters __percpu *counters = codetag_counters_of(id);
	u64 bytes = 0;
	u32 calls;
	int cpu;

	for_each_possible_cpu(cpu)
		bytes += READ_ONCE(per_cpu_ptr(counters, cpu)->bytes);
	smp_rmb(); /* pairs with alloc_tag_uncharge(), which writes bytes before frees */
	calls = parts_of(id);
	for_each_possible_cpu(cpu) {
		calls += READ_ONCE(per_cpu_ptr(counters, cpu)->allocs);
		calls -= READ_ONCE(per_cpu_ptr(counters, cpu)->frees);
	}
	return bytes || calls;
}

/**
 * alloc_tag_damaged - report an id that no tag has
 * @id:		the id
 * @place:	its place: "page", "an object of" or "percpu"
 * @name:	the page, the cache or "chunk"
 *
 * A write beyond the last object of a slab hits the ids first. Such memory cannot be
 * uncharged, so it stays charged to its site.
 *
 * Context: Any.
 */
void alloc_tag_damaged(u16 id, const char *place, const char *name)
{
	atomic_long_inc(&codetag_ids_damaged);
	/* The freeing task may hold locks that a console takes. */
	printk_deferred_once(KERN_WARNING "codetag: %s %s: id %u belongs to no call site; it was overwritten, and the memory stays charged\n",
			     place, name, id);
}

/* ---- reports, boot ------------------------------------------------------------ */

/**
 * codetag_ids_fill_use - fill in how many ids there are
 * @use: filled in, except for the members about tags
 *
 * Context: Process, with codetag_lock() held.
 */
void codetag_ids_fill_use(struct codetag_id_use *use)
{
	use->builtin = codetag_builtin_end - CODETAG_ID_FIRST;
	use->damaged = atomic_long_read(&codetag_ids_damaged);
#ifdef CONFIG_MODULES
	use->tag_bytes += sizeof(codetag_blocks) + sizeof(codetag_blocks_used) +
			  sizeof(module_alloc_tag_counters) + sizeof(module_alloc_tag_sizes);
	use->free = (codetag_id_end >> CODETAG_BLOCK_SHIFT) -
		    bitmap_weight(codetag_blocks_used, codetag_id_end >> CODETAG_BLOCK_SHIFT);
	use->free <<= CODETAG_BLOCK_SHIFT;
#endif
}

static int __init codetag_max_ids_param(char *arg)
{
	unsigned int max;

	if (!arg || kstrtouint(arg, 0, &max) || max > CODETAG_ID_MAX - CODETAG_ID_FIRST + 1) {
		pr_warn("codetag.max_ids=%s: not a number from 0 to %u; ignored\n",
			arg ?: "", CODETAG_ID_MAX - CODETAG_ID_FIRST + 1);
		return 0;
	}
	codetag_id_end = CODETAG_ID_FIRST + max;
	return 0;
}
early_param("codetag.max_ids", codetag_max_ids_param);

/**
 * codetag_ids_builtin - set ids aside for built-in tags
 * @nr: the number of tags
 *
 * Context: Boot, before the first page or slab object is allocated.
 * Return: The number of tags that get an id.
 */
unsigned int __init codetag_ids_builtin(unsigned int nr)
{
	if (nr > codetag_id_end - CODETAG_ID_FIRST) {
		pr_warn("ids for only %u of the %u call sites of the kernel; the others are charged to codetag:%d func:not_representable%s\n",
			codetag_id_end - CODETAG_ID_FIRST, nr, CODETAG_ID_UNREPRESENTABLE,
			codetag_id_end <= CODETAG_ID_MAX ? ", raise codetag.max_ids" : "");
		nr = codetag_id_end - CODETAG_ID_FIRST;
	}
	codetag_builtin_end = CODETAG_ID_FIRST + nr;
	builtin_alloc_tag_counters_size = codetag_builtin_end * sizeof(struct alloc_tag_counters);
	builtin_alloc_tag_sites_size = nr * sizeof(struct alloc_tag_counters);
#ifdef CONFIG_MODULES
	bitmap_set(codetag_blocks_used, 0,
		   DIV_ROUND_UP(codetag_builtin_end, CODETAG_BLOCK_SIZE));
#endif
	return nr;
}
