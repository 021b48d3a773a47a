// SPDX-License-Identifier: GPL-2.0
/*
 * Ids and their counters. The ids of built-in tags are one array. All others come in blocks,
 * and a block belongs to a range: this file knows ranges, but not the tags in them.
 */
#define pr_fmt(fmt) "codetag: " fmt

#include <kunit/static_stub.h>
#include <linux/bitmap.h>
#include <linux/init.h>
#include <linux/percpu.h>
#include <linux/printk.h>
#include "internal.h"

unsigned long codetag_builtin_end __ro_after_init = CODETAG_ID_FIRST;
unsigned long builtin_alloc_tag_counters_size __ro_after_init =
	CODETAG_ID_FIRST * sizeof(struct alloc_tag_counters);

/* One above the highest id that may be given out, codetag.max_ids= lowers it. */
static u32 codetag_id_end __ro_after_init = CODETAG_ID_MAX + 1;

/*
 * The counters of the reserved ids come first in builtin_alloc_tag_counters[],
 * or rather as many elements as there are reserved ids: all are the same.
 */
static struct alloc_tag_counters reserved_counters[CODETAG_ID_FIRST] __used
	__section(PER_CPU_BASE_SECTION "..alloc_tags");

/* Ids found in pages and objects that no tag has. */
static atomic_long_t codetag_ids_damaged;

/* ---- long walks --------------------------------------------------------------- */

/**
 * codetag_rest - a chance for others to run, in the middle of a long walk
 * @steps: what was looked at since the last one: ids times CPUs, or sites times queries;
 *	   for the tests, which see to it that there is a bound
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

/* The range that a block of ids belongs to. Written under codetag_sem. */
struct codetag_range *codetag_blocks[CODETAG_NR_BLOCKS];
static DECLARE_BITMAP(codetag_blocks_used, CODETAG_NR_BLOCKS);

/*
 * Read without a lock: an id that is looked up is that of charged memory, and the block
 * does not change while memory is charged to it.
 */
struct alloc_tag_counters __percpu *module_alloc_tag_counters[CODETAG_NR_BLOCKS];
u16 module_alloc_tag_sizes[CODETAG_NR_BLOCKS];

/**
 * codetag_range_of - the range that an id belongs to
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
 * codetag_range_from - the next range
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
 * @range: the range, complete but for its list
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
	module_alloc_tag_sizes[block] = range->nr * sizeof(*range->counters);
}

/**
 * codetag_ids_withdraw - the reverse of codetag_ids_publish()
 * @range: the range, none of whose ids holds memory
 *
 * Context: With codetag_lock_all() held.
 */
void codetag_ids_withdraw(struct codetag_range *range)
{
	unsigned int block = range->first >> CODETAG_BLOCK_SHIFT;

	module_alloc_tag_sizes[block] = 0;
	module_alloc_tag_counters[block] = NULL;
	WRITE_ONCE(codetag_blocks[block], NULL);
	__clear_bit(block, codetag_blocks_used);
}

#endif /* CONFIG_MODULES */

/* ---- counters ----------------------------------------------------------------- */

/**
 * codetag_counters_of - the counters of an id
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

/* Sum up the counters of @nr ids from @id on, which are next to each other. */
static void sum_up(u16 id, unsigned int nr, struct alloc_tag_counters *sums)
{
	struct alloc_tag_counters __percpu *counters = codetag_counters_of(id);
	struct alloc_tag_counters *counter, *sum;
	int cpu;

	memset(sums, 0, nr * sizeof(*sums));
	for_each_possible_cpu(cpu) {
		counter = per_cpu_ptr(counters, cpu);
		for (sum = sums; sum < sums + nr; sum++, counter++) {
			sum->bytes += READ_ONCE(counter->bytes);
			sum->calls += READ_ONCE(counter->calls);
		}
	}
}

/**
 * alloc_tag_read - sum up the counters of an id
 * @id: an id with counters: a reserved, a built-in or a module's id
 *
 * Context: Any. For a module's id, with codetag_lock() held.
 * Return: The sum over all possible CPUs, each read once, one after another.
 */
struct alloc_tag_counters alloc_tag_read(u16 id)
{
	struct alloc_tag_counters sum;

	sum_up(id, 1, &sum);
	return sum;
}

/*
 * Where the counters end that begin with @id's and are next to each other: no
 * higher than @id if it has none.
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
 * @sums:	filled in for all ids of the block, with 0 for those that no tag has
 *
 * Context: Any. For modules' ids, with codetag_lock() held.
 */
void alloc_tag_read_block(unsigned int first, struct alloc_tag_counters *sums)
{
	/* No block has built-in ids and a module's. */
	unsigned int end = min(counters_end(first), first + CODETAG_BLOCK_SIZE);

	memset(sums, 0, CODETAG_BLOCK_SIZE * sizeof(*sums));
	if (end > first)
		sum_up(first, end - first, sums);
}

/**
 * codetag_read_ahead - alloc_tag_read() by way of counters that are read together
 * @id:		like that of alloc_tag_read()
 * @sums:	see codetag_next()
 *
 * Context: Process, with codetag_lock() held.
 * Return: The sum over all possible CPUs.
 */
struct alloc_tag_counters codetag_read_ahead(u16 id, struct codetag_sums *sums)
{
	if (!sums)
		return alloc_tag_read(id);

	if (id - sums->first >= sums->nr) {
		sums->first = id;
		sums->nr = min_t(unsigned int, counters_end(id) - id, ARRAY_SIZE(sums->of));
		sum_up(id, sums->nr, sums->of);
		if (sums->may_sleep)
			codetag_rest(sums->nr * num_possible_cpus());
	}
	return sums->of[id - sums->first];
}

/**
 * codetag_id_holds_memory - is anything charged to an id that is not in use any more?
 * @id: an id with counters
 *
 * Nothing can be charged to an unloaded module's ids any more, so bytes only
 * become fewer. Each CPU's counter is then at least what it was when the last
 * one was read, and no bytes in all is the truth, whatever is freed meanwhile.
 * An uncharge that is half done still has its call.
 *
 * Context: With the id's counters known to stay.
 * Return: false if nothing is and nobody is about to take anything back.
 */
bool codetag_id_holds_memory(u16 id)
{
	struct alloc_tag_counters __percpu *counters = codetag_counters_of(id);
	u64 bytes = 0, calls = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		bytes += READ_ONCE(per_cpu_ptr(counters, cpu)->bytes);
	smp_rmb(); /* pairs with the order of the two in alloc_tag_uncharge() */
	for_each_possible_cpu(cpu)
		calls += READ_ONCE(per_cpu_ptr(counters, cpu)->calls);
	return bytes || calls;
}

/**
 * alloc_tag_damaged - an id was found that no tag has
 * @id:		the id
 * @what:	what held it: "page" or "object of"
 * @name:	which one
 *
 * A write beyond the last object of a slab hits the ids first. The memory can then not be
 * uncharged: it stays with its site.
 *
 * Context: Any.
 */
void alloc_tag_damaged(u16 id, const char *what, const char *name)
{
	atomic_long_inc(&codetag_ids_damaged);
	/* The freeing task may hold locks that a console takes. */
	printk_deferred_once(KERN_WARNING pr_fmt("%s %s: id %u of no call site, overwritten\n"),
			     what, name, id);
}

/* ---- reports, boot ------------------------------------------------------------ */

/**
 * codetag_ids_use - how many ids there are
 * @use: filled in but for what is known of tags
 *
 * Context: Process, with codetag_lock() held.
 */
void codetag_ids_use(struct codetag_id_use *use)
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
 * @nr: how many are wanted
 *
 * Context: Boot, before the first page or slab object is allocated.
 * Return: How many there are.
 */
unsigned int __init codetag_ids_builtin(unsigned int nr)
{
	if (nr > codetag_id_end - CODETAG_ID_FIRST) {
		pr_warn("ids for only %u of the %u call sites of the kernel\n",
			codetag_id_end - CODETAG_ID_FIRST, nr);
		nr = codetag_id_end - CODETAG_ID_FIRST;
	}
	codetag_builtin_end = CODETAG_ID_FIRST + nr;
	builtin_alloc_tag_counters_size = codetag_builtin_end * sizeof(struct alloc_tag_counters);
#ifdef CONFIG_MODULES
	bitmap_set(codetag_blocks_used, 0,
		   DIV_ROUND_UP(codetag_builtin_end, CODETAG_BLOCK_SIZE));
#endif
	return nr;
}
