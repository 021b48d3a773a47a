// SPDX-License-Identifier: GPL-2.0-only
/*
 * /sys/kernel/debug/codetag/audit: are the counters right?
 *
 * Writing 1 to the file recounts the ids of all pages, slab and percpu objects, and
 * compares the result with the counters. Meanwhile no task may allocate or free memory: all
 * CPUs stop their work and count, piece by piece, until all memory is counted. The result
 * has the time that this took. An audit ends after codetag.audit_max_ms at the latest.
 * Reading shows the result of the last audit and stops no CPU.
 *
 * A task can be stopped between storing an id and counting it. So a mismatch is
 * reported only if several passes in a row find it. Mismatches that the last audit
 * reported are not checked so often again.
 */
#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/init.h>
#include <linux/jhash.h>
#include <linux/math64.h>
#include <linux/memory_hotplug.h>
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/nmi.h>
#include <linux/sched.h>
#include <linux/seq_buf.h>
#include <linux/sizes.h>
#include <linux/stop_machine.h>
#include <linux/timekeeping.h>
#include <linux/vmalloc.h>
#include "internal.h"
#include "recount.h"
#include "result.h"
#include "split.h"

#undef MODULE_PARAM_PREFIX
#define MODULE_PARAM_PREFIX "codetag."

#define AUDIT_PASSES	5
#define AUDIT_NR_IDS	(CODETAG_ID_MAX + 1)

/* Pages and ids in one piece of the work: milliseconds at most. */
#define PIECE_PAGES	(SZ_64M / PAGE_SIZE)
#define PIECE_IDS	1024
#define COUNTER_PIECES	(AUDIT_NR_IDS / PIECE_IDS)

/* Longest time for which everything may be stopped at once. */
static unsigned int audit_max_ms = 5000;
module_param_cb(audit_max_ms, &codetag_param_ops, &audit_max_ms, 0644);

/**
 * struct audit - one audit
 * @found:	results of a recount, by id
 * @counted:	the counters at the same moment, by id
 * @delta:	by id, how far they were apart in the pass before
 * @pages:	pages that were looked at
 * @objects:	slab and percpu objects that hold an id
 * @next_piece:	the next piece of work that nobody has taken
 * @nr_pieces:	how many there are
 * @begin:	time at which the pass began to stop everything, in ns
 * @gave_up:	some work was left when the time was over
 * @passes:	number of recounts done
 * @hash:	of all mismatches of the pass, 0 without any
 * @longest:	longest time that everything was stopped, in ns
 *
 * All CPUs work on it at once, so the sums are atomic.
 */
struct audit {
	struct codetag_found *found;
	struct codetag_sum *counted;
	struct codetag_held *delta;
	atomic_long_t pages;
	atomic_long_t objects;
	atomic_t next_piece;
	int nr_pieces;
	u64 begin;
	bool gave_up;
	unsigned int passes;
	u32 hash;
	u64 longest;
};

/* The hash of the mismatches that the last audit reported; audits run one at a time. */
static u32 known_hash;

/* ---- the work ---------------------------------------------------------------- */

static void audit_counters(struct audit *audit, unsigned int id, unsigned int end)
{
	for (; id < end; id += CODETAG_BLOCK_SIZE)
		alloc_tag_read_block(id, &audit->counted[id]);
}

/* The percpu allocator comes first, then the counters, then memory. */
static void audit_piece(struct audit *audit, struct codetag_recount *rc, unsigned long piece)
{
	if (!piece--)
		codetag_recount_percpu(rc);
	else if (piece < COUNTER_PIECES)
		audit_counters(audit, piece * PIECE_IDS, (piece + 1) * PIECE_IDS);
	else
		codetag_recount_pages(rc, (piece - COUNTER_PIECES) * PIECE_PAGES,
				      (piece - COUNTER_PIECES + 1) * PIECE_PAGES);
}

static bool time_is_over(const struct audit *audit)
{
	u64 now = ktime_get_mono_fast_ns();

	/* The clocks of two CPUs need not agree. */
	return (s64)(now - audit->begin) >= (s64)READ_ONCE(audit_max_ms) * NSEC_PER_MSEC;
}

/* The work of each CPU while the machine is stopped */
static int audit_stopped(void *data)
{
	struct audit *audit = data;
	struct codetag_recount rc = { .found = audit->found };
	int piece;

	while ((piece = atomic_inc_return(&audit->next_piece)) < audit->nr_pieces) {
		audit_piece(audit, &rc, piece);
		touch_nmi_watchdog();
		if (time_is_over(audit))
			break;
	}
	codetag_recount_flush(&rc);
	atomic_long_add(rc.pages, &audit->pages);
	atomic_long_add(rc.objects, &audit->objects);
	return 0;
}

static void audit_recount(struct audit *audit)
{
	struct zone *zone;
	unsigned long end = 0;
	u64 took;

	for_each_populated_zone(zone)
		end = max(end, zone_end_pfn(zone));

	memset(audit->found, 0, AUDIT_NR_IDS * sizeof(*audit->found));
	atomic_long_set(&audit->pages, 0);
	atomic_long_set(&audit->objects, 0);
	atomic_set(&audit->next_piece, -1);
	audit->nr_pieces = 1 + COUNTER_PIECES + DIV_ROUND_UP(end, PIECE_PAGES);
	audit->begin = ktime_get_mono_fast_ns();
	stop_machine_cpuslocked(audit_stopped, audit, cpu_online_mask);
	took = ktime_get_mono_fast_ns() - audit->begin;
	/* A CPU finishes a piece that it has begun. */
	audit->gave_up = atomic_read(&audit->next_piece) + 1 < audit->nr_pieces;

	audit->longest = max(audit->longest, took);
	audit->passes++;
}

/* Recount once more; returns whether there is a mismatch that needs another pass. */
static bool audit_pass(struct audit *audit)
{
	bool first = !audit->passes;
	unsigned int id;

	audit_recount(audit);
	audit->hash = 0;
	for (id = 1; id < AUDIT_NR_IDS; id++) {
		struct codetag_held *delta = &audit->delta[id];
		u64 bytes = audit->counted[id].bytes - atomic64_read(&audit->found[id].bytes);
		u32 calls = audit->counted[id].calls - atomic64_read(&audit->found[id].calls);

		if (!first && (delta->bytes != bytes || delta->calls != calls)) {
			bytes = 0;
			calls = 0;
		}
		delta->bytes = bytes;
		delta->calls = calls;
		if (bytes || calls)
			audit->hash = jhash(delta, sizeof(*delta), audit->hash ^ id) | 1;
	}
	return audit->hash && audit->hash != known_hash;
}

static int audit_run(struct audit *audit)
{
	int pass, ret = -ENOMEM;

	cpus_read_lock();
	get_online_mems();
	codetag_lock();
	if (codetag_recount_prepare()) {
		for (pass = 0; pass < AUDIT_PASSES; pass++) {
			if (!audit_pass(audit) || audit->gave_up)
				break;
			/* Let interrupted and preempted tasks continue. */
			msleep(10 << pass);
		}
		codetag_recount_done();
		ret = 0;
	}
	codetag_unlock();
	put_online_mems();
	cpus_read_unlock();
	return ret;
}

/* ---- the result -------------------------------------------------------------- */

static void print_mismatch(struct seq_buf *out, const struct audit *audit, u16 id)
{
	const struct codetag_sum *counted = &audit->counted[id];
	const struct codetag_found *found = &audit->found[id];
	const struct codetag *ct = codetag_from_id(id);

	seq_buf_printf(out, "mismatch: id %u counted %lld %u found %lld %lld ", id,
		       counted->bytes, counted->calls, (s64)atomic64_read(&found->bytes),
		       (s64)atomic64_read(&found->calls));
	if (ct && ct->function)
		seq_buf_printf(out, "%s:%u func:%s\n", ct->filename, ct->lineno, ct->function);
	else
		seq_buf_puts(out, "an id that no tag has\n");
}

static void print_result(struct seq_buf *out, const void *data)
{
	const struct audit *audit = data;
	unsigned long pages = atomic_long_read(&audit->pages);
	u64 us = div_u64(audit->longest, NSEC_PER_USEC);
	unsigned int id, tags = 0, mismatches = 0;

	codetag_lock();
	for (id = 1; id < AUDIT_NR_IDS && !audit->gave_up; id++) {
		tags += !!codetag_from_id(id);
		if (audit->delta[id].bytes || audit->delta[id].calls) {
			mismatches++;
			print_mismatch(out, audit, id);
		}
	}
	codetag_unlock();
	mismatches += codetag_contexts_check(out);

	seq_buf_printf(out, "# begun %llu s after boot\n", div_u64(audit->begin, NSEC_PER_SEC));
	seq_buf_printf(out, "stopped: %u times, %llu us at most, %llu us per GiB\n",
		       audit->passes, us, div64_u64(us * (SZ_1G / PAGE_SIZE), max(pages, 1UL)));
	if (audit->gave_up)
		seq_buf_printf(out, "gave up: %lu pages in codetag.audit_max_ms=%u\n", pages,
			       READ_ONCE(audit_max_ms));
	else
		seq_buf_printf(out, "audit: %u tags, %lu pages, %lu objects, %u mismatches\n",
			       tags, pages, atomic_long_read(&audit->objects), mismatches);
}

/* ---- the file ---------------------------------------------------------------- */

static int audit_start(struct codetag_result *result)
{
	struct audit audit = {
		.found = vcalloc(AUDIT_NR_IDS, sizeof(*audit.found)),
		.counted = vcalloc(AUDIT_NR_IDS, sizeof(*audit.counted)),
		.delta = vcalloc(AUDIT_NR_IDS, sizeof(*audit.delta)),
	};
	int ret = -ENOMEM;

	if (audit.found && audit.counted && audit.delta)
		ret = audit_run(&audit);
	if (!ret)
		ret = codetag_result_set(result, print_result, &audit);
	/* Remember only mismatches that a reader could have seen. */
	if (!ret && !audit.gave_up)
		known_hash = audit.hash;
	vfree(audit.found);
	vfree(audit.counted);
	vfree(audit.delta);
	return ret;
}

static struct codetag_result audit_result = {
	.name	= "audit",
	.work	= "audit",
	.run	= audit_start,
};

static int __init audit_init(void)
{
	codetag_result_create(&audit_result);
	return 0;
}
late_initcall(audit_init);
