/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory that lines of code take from memblock during boot.
 *
 * Each memblock call below records its line in codetag_boot_site. mm/codetag/boot.c keeps the
 * list of ranges and lines until memblock gives the rest to the page allocator. From then on,
 * /sys/kernel/debug/codetag/boot shows the memory of that list that was never freed.
 */
#ifndef _LINUX_CODETAG_BOOT_H
#define _LINUX_CODETAG_BOOT_H

#include <linux/types.h>

/**
 * struct codetag_boot_site - a line that takes memory from memblock
 * @file:	file of the line
 * @func:	function of the line
 * @line:	the line
 * @hash:	it takes a large hash table
 */
struct codetag_boot_site {
	const char *file;
	const char *func;
	unsigned int line;
	bool hash;
};

/*
 * The line that is being served, NULL for none. It has no lock: one CPU alone boots as
 * long as memblock is in use.
 */
extern const struct codetag_boot_site *codetag_boot_site;

void codetag_boot_taken(phys_addr_t base, phys_addr_t size);
void codetag_boot_given(phys_addr_t base, phys_addr_t size);
void codetag_boot_keep(void);

/* A function that calls another one of these is charged to its own caller. */
#define __codetag_boot_hooks(_do_take, _hash)					\
({										\
	static const struct codetag_boot_site _boot_site = {			\
		.file = __FILE__, .func = __func__, .line = __LINE__, .hash = _hash, \
	};									\
	const struct codetag_boot_site *_boot_outer = codetag_boot_site;	\
	typeof(_do_take) _boot_ret;						\
										\
	if (!_boot_outer)							\
		codetag_boot_site = &_boot_site;				\
	_boot_ret = _do_take;							\
	codetag_boot_site = _boot_outer;					\
	_boot_ret;								\
})

#define codetag_boot_hooks(_do_take) __codetag_boot_hooks(_do_take, false)

/*
 * memblock.c defines most of these functions. A version of Linux may lack some of them. The last
 * two allocate for their callers, so the callers are listed.
 */
#ifndef CODETAG_BOOT_UNHOOKED
#define memblock_reserve(args...) codetag_boot_hooks(memblock_reserve(args))
#define memblock_reserve_kern(args...) codetag_boot_hooks(memblock_reserve_kern(args))
#define __memblock_reserve(args...) codetag_boot_hooks(__memblock_reserve(args))
#define memblock_phys_alloc(args...) codetag_boot_hooks(memblock_phys_alloc(args))
#define memblock_phys_alloc_range(args...) codetag_boot_hooks(memblock_phys_alloc_range(args))
#define memblock_phys_alloc_try_nid(args...) codetag_boot_hooks(memblock_phys_alloc_try_nid(args))
#define memblock_alloc_range_nid(args...) codetag_boot_hooks(memblock_alloc_range_nid(args))
#define memblock_alloc_exact_nid_raw(args...) codetag_boot_hooks(memblock_alloc_exact_nid_raw(args))
#define memblock_alloc_try_nid_raw(args...) codetag_boot_hooks(memblock_alloc_try_nid_raw(args))
#define memblock_alloc_try_nid(args...) codetag_boot_hooks(memblock_alloc_try_nid(args))
#define memblock_alloc(args...) codetag_boot_hooks(memblock_alloc(args))
#define memblock_alloc_raw(args...) codetag_boot_hooks(memblock_alloc_raw(args))
#define memblock_alloc_from(args...) codetag_boot_hooks(memblock_alloc_from(args))
#define memblock_alloc_low(args...) codetag_boot_hooks(memblock_alloc_low(args))
#define memblock_alloc_node(args...) codetag_boot_hooks(memblock_alloc_node(args))
#define memblock_alloc_hugetlb(args...) codetag_boot_hooks(memblock_alloc_hugetlb(args))
#define __memblock_alloc_or_panic(args...) codetag_boot_hooks(__memblock_alloc_or_panic(args))
#define vmemmap_populate_basepages(args...) codetag_boot_hooks(vmemmap_populate_basepages(args))
#ifdef alloc_large_system_hash	/* has a call site */
#define alloc_large_system_hash_noprof(args...) \
	__codetag_boot_hooks(alloc_large_system_hash_noprof(args), true)
#else
#define alloc_large_system_hash(args...) \
	__codetag_boot_hooks(alloc_large_system_hash(args), true)
#endif
#endif

#endif /* _LINUX_CODETAG_BOOT_H */
