// SPDX-License-Identifier: GPL-2.0-only
/*
 * Everything that is neither pages nor slab, and the loop without any
 * allocation that shows what the measurement itself costs.
 */
#include <linux/percpu.h>
#include <linux/slab.h>
#include <linux/stacktrace.h>
#include <linux/vmalloc.h>
#include "alloc_bench.h"

static int empty(struct bench_sample *s, unsigned int rounds)
{
	return BENCH_PAIRS(s, rounds, s, barrier());
}

static int vmalloc_16k(struct bench_sample *s, unsigned int rounds)
{
	return BENCH_PAIRS(s, rounds, vmalloc(16384), vfree(obj));
}

static int kvmalloc_64k(struct bench_sample *s, unsigned int rounds)
{
	return BENCH_PAIRS(s, rounds, kvmalloc(65536, GFP_KERNEL), kvfree(obj));
}

/*
 * The cost of a percpu allocation depends on the holes that it finds on its way, so others fill
 * these first. It also depends on how far the search then has to go, which the size of the
 * kernel's own per-CPU variables changes. So each sample fills a little more, and the samples
 * of a case are spread over a page.
 */
#define PERCPU_FILL	512
#define PERCPU_SPREAD	16

static int percpu(struct bench_sample *s, unsigned int rounds, size_t size)
{
	static unsigned int sample;
	unsigned int fills = PERCPU_FILL +
			     sample++ % PERCPU_SPREAD * (PAGE_SIZE / PERCPU_SPREAD / size);
	void __percpu **fill = kcalloc(fills, sizeof(*fill), GFP_KERNEL);
	int err = fill ? 0 : -ENOMEM;
	unsigned int i;

	for (i = 0; !err && i < fills; i++) {
		fill[i] = __alloc_percpu(size, 8);
		err = fill[i] ? 0 : -ENOMEM;
	}
	if (!err)
		err = BENCH_PAIRS(s, rounds, __alloc_percpu(size, 8),
				  free_percpu((void __percpu *)obj));
	for (i = 0; fill && i < fills; i++)
		free_percpu(fill[i]);
	kfree(fill);
	return err;
}

static int percpu_8(struct bench_sample *s, unsigned int rounds)
{
	return percpu(s, rounds, 8);
}

static int percpu_256(struct bench_sample *s, unsigned int rounds)
{
	return percpu(s, rounds, 256);
}

#ifdef CONFIG_STACKTRACE

/* So many functions deeper. */
static noinline unsigned int save_stack(unsigned long *entries, unsigned int depth,
					unsigned int deeper)
{
	unsigned int nr;

	if (deeper)
		nr = save_stack(entries, depth, deeper - 1);
	else
		nr = stack_trace_save(entries, depth, 0);
	OPTIMIZER_HIDE_VAR(nr);
	return nr;
}

static int stack_trace(struct bench_sample *s, unsigned int rounds, unsigned int depth,
		       unsigned int deeper)
{
	unsigned long entries[16];

	return BENCH_PAIRS(s, rounds, save_stack(entries, depth, deeper) ? entries : NULL,
			   barrier());
}

/* The cost of any tool that wants to know the callers of an allocation */
static int stack_trace_8(struct bench_sample *s, unsigned int rounds)
{
	return stack_trace(s, rounds, 8, 0);
}

/* The same from where the slab allocator charges an object. */
static int stack_trace_12(struct bench_sample *s, unsigned int rounds)
{
	return stack_trace(s, rounds, 12, 3);
}

#endif

const struct bench_case bench_other_cases[] = {
	{ "empty",		1000,	empty },
	{ "vmalloc-16k",	200,	vmalloc_16k },
	{ "kvmalloc-64k",	200,	kvmalloc_64k },
	{ "percpu-8",		500,	percpu_8 },
	{ "percpu-256",		500,	percpu_256 },
#ifdef CONFIG_STACKTRACE
	{ "stack-trace-8",	500,	stack_trace_8 },
	{ "stack-trace-12",	500,	stack_trace_12 },
#endif
	{ }
};
