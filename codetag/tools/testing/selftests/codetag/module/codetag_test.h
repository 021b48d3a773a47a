/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The ledger of the code tagging self-tests.
 *
 * A case allocates at lines marked with ct_site() and puts what it got into
 * the ledger with one of the ct_keep functions. The ledger knows, for every
 * marked line, how many bytes and calls /proc/allocinfo has to show; the shell
 * reads it from debugfs and compares. Freeing goes through the ledger as well.
 */
#ifndef _CODETAG_TEST_H
#define _CODETAG_TEST_H

#include <linux/list.h>
#include <linux/slab.h>
#include <linux/types.h>

/* A row holds objects of at most so many different slab caches. */
#define CT_ROW_CACHES	4

/* Longest name of a slab cache that the ledger keeps. */
#define CT_CACHE_NAME	32

/* Most objects that one item of the ledger holds, for the bulk interfaces. */
#define CT_VEC		64

struct ct_item;

/**
 * struct ct_where - one line that allocates
 * @group: name of the case, with which its memory is dropped
 * @module: name of the module, or "-" for a line of the kernel itself
 * @file: file name as the compiler saw it, or "-" when only @func is known
 * @func: function
 * @line: line, 0 when only @func is known
 * @gen: generation of the module, see ct_generation()
 */
struct ct_where {
	const char *group;
	const char *module;
	const char *file;
	const char *func;
	unsigned int line;
	unsigned int gen;
};

struct ct_row;

typedef void (*ct_free_t)(struct ct_item *item);

/**
 * struct ct_item - something that was allocated and will be freed
 * @list: all items, the latest first
 * @row: the line to which it is charged
 * @free: frees it
 * @ptr: the memory
 * @arg: what @free needs to know: an order, a size, a cache
 * @nr: number of valid entries in @vec
 * @vec: pointers, for the bulk interfaces
 * @bytes: bytes that are not slab objects
 * @calls: calls
 * @cache: slab cache of the objects, "" when there are none
 * @objects: number of objects of @cache
 * @whole: not to be freed by ct_thin()
 */
struct ct_item {
	struct list_head list;
	struct ct_row *row;
	ct_free_t free;
	void *ptr;
	unsigned long arg;
	unsigned int nr;
	void **vec;
	long bytes;
	long calls;
	char cache[CT_CACHE_NAME];
	long objects;
	bool whole;
};

struct ct_case {
	const char *name;
	int (*hold)(struct ct_case *c);
	/* The row of the last ct_site(). */
	struct ct_row *row;
	/* Result of the last hold, and why it was not possible. */
	int error;
	const char *why;
};

/* ledger.c */
struct ct_row *ct_row(const struct ct_where *where);
struct ct_item *ct_keep(struct ct_row *row, ct_free_t free, void *ptr,
			unsigned long arg, long bytes, long calls);
struct ct_item *ct_keep_slab(struct ct_row *row, ct_free_t free, void *ptr,
			     unsigned long arg, const char *cache);
struct ct_item *ct_keep_vec(struct ct_row *row, ct_free_t free, void **vec,
			    unsigned int nr, unsigned long arg,
			    const char *cache);
void ct_charge(struct ct_item *item, long bytes, long calls,
	       const char *cache, long objects);
unsigned int ct_generation(const char *module);
void ct_unloaded(const char *module, unsigned int gen);
const char *ct_kmalloc_cache(size_t size);
const char *ct_kmalloc_cg_cache(size_t size);
long ct_percpu_bytes(size_t size);

int ct_drop(const char *group);
int ct_thin(const char *group);
int ct_ledger_show(struct seq_file *m);
void ct_ledger_forget(void);
bool ct_ledger_empty(void);

/* free.c */
void ct_free_kfree(struct ct_item *item);
void ct_free_kvfree(struct ct_item *item);
void ct_free_vfree(struct ct_item *item);
void ct_free_percpu(struct ct_item *item);
void ct_free_pages(struct ct_item *item);
void ct_free_address(struct ct_item *item);
void ct_free_exact(struct ct_item *item);
void ct_free_put_page(struct ct_item *item);
void ct_free_contig(struct ct_item *item);
void ct_free_contig_frozen(struct ct_item *item);
void ct_free_cache(struct ct_item *item);
void ct_free_cache_bulk(struct ct_item *item);
void ct_free_kfree_bulk(struct ct_item *item);
void ct_free_kfree_nolock(struct ct_item *item);
void ct_free_kfree_rcu(struct ct_item *item);
void ct_free_kfree_rcu_sleep(struct ct_item *item);
void ct_free_kvfree_rcu_sleep(struct ct_item *item);
void ct_free_mempool_object(struct ct_item *item);
void ct_free_mempool(struct ct_item *item);
void *ct_buffer(size_t size);

/* churn.c */
int ct_churn_start(void);
int ct_churn_stop(void);
void ct_churn_show(struct seq_file *m);

/* contents.c */
int ct_contents(const char *step);
void ct_contents_show(struct seq_file *m);
void ct_contents_exit(void);

/* odd.c */
int ct_misuse(void);
int ct_misuse_put(void);
int ct_half_on(void);
int ct_half_off(void);
int ct_reserve_on(void);
int ct_reserve_off(void);
int ct_refuse(const char *name);
int ct_odd_init(void);
void ct_odd_exit(void);

/* cases_page.c, cases_slab.c, cases_other.c */
extern struct ct_case ct_page_cases[];
extern struct ct_case ct_slab_cases[];
extern struct ct_case ct_other_cases[];
int ct_slab_cases_init(void);
void ct_slab_cases_exit(void);
int ct_other_cases_init(void);
void ct_other_cases_exit(void);

#define CT_WHERE(_group, _gen)						\
	(&(struct ct_where) {						\
		.group = (_group), .module = KBUILD_MODNAME,		\
		.file = __FILE__, .func = __func__,			\
		.line = __LINE__, .gen = (_gen),			\
	})

/* The number of objects. Some kernels return it, others only whether all were allocated. */
#define ct_alloc_bulk(cache, gfp, nr, vec)				\
({									\
	int _nr = (nr);							\
	__auto_type _got = kmem_cache_alloc_bulk(cache, gfp, _nr, vec);	\
									\
	__same_type(_got, bool) && _got ? _nr : _got;			\
})

/* One allocation, on one source line, whose row becomes that of the case. */
#define ct_site(c, call)						\
({									\
	struct ct_case *_c = (c);					\
	_c->row = ct_row(CT_WHERE(_c->name, 0));			\
	(call);								\
})

#endif /* _CODETAG_TEST_H */
