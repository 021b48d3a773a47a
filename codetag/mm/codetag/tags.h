/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tags.c: the tags of the kernel and of its modules, and the lock that keeps them.
 */
#ifndef _MM_CODETAG_TAGS_H
#define _MM_CODETAG_TAGS_H

#include "ids.h"

struct codetag_block;

/* The tags of built-in code, from the linker. */
extern struct alloc_tag __start_alloc_tags[], __stop_alloc_tags[];

#ifdef CONFIG_MEM_ALLOC_PROFILING
extern u64 codetag_content_id;
#endif

/**
 * struct codetag_info - a tag as reports see it
 * @ct:		names and state of the site, valid until codetag_unlock()
 * @mod:	module of the site, NULL if it is built in or unloaded
 * @modname:	name of that module, NULL only if the site is built in
 * @id:		own id of the site, by which it is charged when it is profiled;
 *		CODETAG_ID_UNREPRESENTABLE when it has none of its own
 * @without_id:	the site has no id of its own
 * @unloaded:	the site's module is gone, its memory is not
 * @bytes:	bytes held, not below 0
 * @calls:	allocations held, not below 0
 * @sum:	the counters of the site and its contexts
 */
struct codetag_info {
	struct codetag *ct;
	struct module *mod;
	const char *modname;
	u16 id;
	bool without_id;
	bool unloaded;
	s64 bytes;
	u64 calls;
	struct codetag_sum sum;
};

typedef void codetag_site_fn(const struct codetag_info *info, void *data);

void codetag_lock(void);
bool codetag_trylock(void);
void codetag_unlock(void);
void codetag_lock_all(void);
void codetag_unlock_all(void);
bool codetag_next_tag(unsigned long *pos, struct codetag_info *info);
bool codetag_next_site(unsigned long *pos, struct codetag_info *info);
void codetag_with_sites_of(struct module *mod, codetag_site_fn *function, void *data);
u16 codetag_site_id(u16 id);
bool codetag_info_of(u16 id, struct codetag_info *info);
struct codetag *codetag_from_id(u16 id);
void codetag_reap(void);
void codetag_id_use(struct codetag_id_use *use);
void codetag_give_ids(void);
void codetag_tags_going(struct module *mod);
void codetag_set_state(struct codetag *ct, u8 bits);

#ifdef CONFIG_CODETAG_CONTEXTS
void codetag_pin(u16 id, bool pin);
bool codetag_block_add(struct codetag_block *block);
void codetag_block_remove(struct codetag_block *block);
struct codetag_block *codetag_block_next(unsigned int id);
#endif

#endif /* _MM_CODETAG_TAGS_H */
