/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Benchmark of the kernel's allocators.
 *
 * A case allocates and frees in a loop and adds the ticks of the time-stamp
 * counter that passed to its sample. Under QEMU with -icount shift=0 a tick is
 * one executed instruction. On arm64 the counter counts slower, and nanoseconds
 * are what is added.
 */
#ifndef ALLOC_BENCH_H
#define ALLOC_BENCH_H

#include <linux/types.h>
#ifdef CONFIG_ARM64
#include <linux/time64.h>
#include <asm/arch_timer.h>
#endif

#define BENCH_BATCH	512

/**
 * struct bench_sample - what one run of a case took
 * @total:	ticks of all operations
 * @alloc:	of these, ticks of the allocations, where a case can tell
 * @ops:	pairs of an allocation and a free that were done
 */
struct bench_sample {
	u64 total;
	u64 alloc;
	u64 ops;
};

/**
 * struct bench_case - one case
 * @name:	what it is called in the results
 * @rounds:	how many times @run is to do its operations
 * @run:	does them; returns 0 or a negative error
 */
struct bench_case {
	const char *name;
	unsigned int rounds;
	int (*run)(struct bench_sample *s, unsigned int rounds);
};

extern const struct bench_case bench_page_cases[];
extern const struct bench_case bench_slab_cases[];
extern const struct bench_case bench_other_cases[];

/* Where the batches keep what they allocated. */
extern void *bench_objects[BENCH_BATCH];

extern struct kmem_cache *bench_cache_200;

int bench_hold_prepare(unsigned long count);
int bench_hold(const char *name, size_t size, unsigned long count);
void bench_release(void);

int bench_slab_init(void);
void bench_slab_exit(void);

#ifdef CONFIG_ARM64
static __always_inline u64 bench_now(void)
{
	u64 now;

	asm volatile("isb; mrs %0, cntvct_el0" : "=r" (now) : : "memory");
	return now * (NSEC_PER_SEC / arch_timer_get_cntfrq());
}
#else
static __always_inline u64 bench_now(void)
{
	u32 low, high;

	asm volatile("lfence; rdtsc" : "=a" (low), "=d" (high) : : "memory");
	return (u64)high << 32 | low;
}
#endif

/*
 * The body of a case: @_rounds times allocate and free one object, with every
 * pointer known to be used.
 */
#define BENCH_PAIRS(_s, _rounds, _alloc, _free)				\
({									\
	unsigned int _n = (_rounds);					\
	u64 _from = bench_now();					\
	int _ret = 0;							\
									\
	while (_n) {							\
		void *obj = (__force void *)(_alloc);			\
									\
		if (unlikely(!obj)) {					\
			_ret = -ENOMEM;					\
			break;						\
		}							\
		OPTIMIZER_HIDE_VAR(obj);				\
		_free;							\
		_n--;							\
	}								\
	(_s)->total += bench_now() - _from;				\
	(_s)->ops += (_rounds) - _n;					\
	_ret;								\
})

/* The same with BENCH_BATCH objects allocated before the first is freed. */
#define BENCH_BATCHES(_s, _rounds, _alloc, _free)			\
({									\
	unsigned int _n, _i, _got;					\
	int _ret = 0;							\
									\
	for (_n = 0; _n < (_rounds) && !_ret; _n++) {			\
		u64 _from = bench_now(), _half;				\
									\
		for (_got = 0; _got < BENCH_BATCH; _got++) {		\
			bench_objects[_got] = (__force void *)(_alloc);	\
			if (unlikely(!bench_objects[_got])) {		\
				_ret = -ENOMEM;				\
				break;					\
			}						\
		}							\
		_half = bench_now();					\
		for (_i = 0; _i < _got; _i++) {				\
			void *obj = bench_objects[_i];			\
									\
			_free;						\
		}							\
		(_s)->total += bench_now() - _from;			\
		(_s)->alloc += _half - _from;				\
		(_s)->ops += _got;					\
	}								\
	_ret;								\
})

#endif /* ALLOC_BENCH_H */
