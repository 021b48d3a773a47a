/* SPDX-License-Identifier: GPL-2.0-only */
/* The owners of a kind of memory: codetag where opens a row to them. */
#ifndef CODETAG_OWNERS_H
#define CODETAG_OWNERS_H

#include "analysis/explain.h"
#include "source/source.h"

enum owner_by {
	OWNER_SITES, OWNER_MODULES, OWNER_PROCESSES, OWNER_CGROUPS, OWNER_CACHES, OWNER_AREAS,
	OWNERS
};

struct owner {
	const char *name;
	const struct site *site;	/* NULL: the owner is no call site */
	int64_t bytes, count;
	struct activity recent;	/* of call sites and modules */
	bool ambiguous;		/* may belong to another kind */
};

struct owners {
	enum owner_by by;
	struct owner *owner;	/* the largest or busiest first */
	size_t count, room;
	struct arena strings;
};

const char *owner_words(enum owner_by by);

/*
 * The owners of memory of the kind @id in @host, or of all memory if it is MEMORY_KINDS. They
 * point into @host. None: the owners are not known.
 */
void owners_find(struct owners *owners, const struct snapshot *host, enum memory_kind_id id,
		 enum owner_by by);

/*
 * The call sites or modules, as @by says, with allocations or frees since the reading before:
 * the one with most allocations first, or with most @frees.
 */
void owners_find_busy(struct owners *owners, const struct snapshot *host, enum memory_kind_id id,
		      enum owner_by by, bool frees);

/* Only these are counted by the kernel. */
bool owner_is_counted(enum owner_by by);

/* The sort of owner that tells most about a kind of memory, of those that @host has. */
enum owner_by owners_best(const struct snapshot *host, enum memory_kind_id id);

void owners_free(struct owners *owners);

#endif
