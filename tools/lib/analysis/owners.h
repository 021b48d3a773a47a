/* SPDX-License-Identifier: GPL-2.0 */
/* Who holds the memory of a kind: what a row of codetag where opens to. */
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
	const struct site *site;	/* NULL: it is none */
	int64_t bytes, count;
	bool ambiguous;		/* may be of another kind */
};

struct owners {
	enum owner_by by;
	struct owner *owner;	/* the largest first */
	size_t count, room;
	struct arena strings;
};

const char *owner_words(enum owner_by by);

/*
 * The owners in @host of what is of the kind @id, or of everything if it is MEMORY_KINDS.
 * Points into @host. None: that is not known.
 */
void owners_find(struct owners *owners, const struct snapshot *host, enum memory_kind_id id,
		 enum owner_by by);

/* What tells most of a kind of memory, of what there is in @host. */
enum owner_by owners_best(const struct snapshot *host, enum memory_kind_id id);

void owners_free(struct owners *owners);

#endif
