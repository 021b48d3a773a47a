/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * site.c: the id that the allocations of a site are charged to.
 */
#ifndef _MM_CODETAG_SITE_H
#define _MM_CODETAG_SITE_H

#include <linux/list.h>
#include "tags.h"

/* How the charging of a site is switched. */
enum codetag_charging {
	CODETAG_CHARGE_OFF,
	CODETAG_CHARGE_SITE,
	CODETAG_CHARGE_CONTEXTS,
};

bool codetag_profiled(const struct codetag_info *info);
void codetag_set_charging(const struct codetag_info *info, enum codetag_charging charging);

#ifdef CONFIG_CODETAG_CONTEXTS
extern struct list_head codetag_sites;

unsigned long codetag_context_lock(void);
void codetag_context_unlock(unsigned long flags);
bool codetag_context_locked(void);
struct codetag_site *codetag_site_by_id(u16 id);
bool codetag_site_split(struct codetag_site *new);
void codetag_site_unsplit(u16 id);
void codetag_site_free(struct codetag_site *site);
void codetag_site_release(u16 id, bool tag_gone);
void codetag_sites_going(const struct module *mod);
#else
static inline void codetag_site_free(struct codetag_site *site) {}
static inline void codetag_sites_going(const struct module *mod) {}
#endif

#endif /* _MM_CODETAG_SITE_H */
