/* SPDX-License-Identifier: GPL-2.0-only */
/* Unusual findings about the memory of a machine, in words. */
#ifndef CODETAG_UNUSUAL_H
#define CODETAG_UNUSUAL_H

#include "analysis/explain.h"
#include "base/text.h"
#include "source/source.h"

/* The history of a machine; one snapshot is enough. */
struct history {
	const struct explanation *at;
	size_t count;
	int64_t ms;		/* growth from the first snapshot to the last */
	const struct snapshot *first, *last;
};

enum unusual { UNUSUAL_PINNED, UNUSUAL_GROWN, UNUSUAL_UNACCOUNTED, UNUSUALS };

struct remarks {
	struct remark {
		enum unusual what;
		enum memory_kind_id kind;
		char *text;
	} remark[UNUSUALS];
	size_t count;
};

/* Shares of the installed memory, in per cent, above which a finding is unusual. */
#define PINNED_PERCENT 10
#define UNACCOUNTED_PERCENT 1
#define GROWN_PERCENT 1

/* The share of steps in which a kind has to grow, and the least number of steps. */
#define GROWN_STEPS_PERCENT 90
#define GROWN_STEPS 5

const char *unusual_name(enum unusual what);
void unusual_find(struct remarks *remarks, const struct history *history);

/* Whether the memory of a kind grew steadily from the first snapshot to the last one. */
bool unusual_grew(const struct history *history, enum memory_kind_id kind);

void remarks_free(struct remarks *remarks);

/* The files that are missing, and the consequences, in lines; "" if nothing is missing. */
void missing_find(struct text *lines, const struct explanation *e, const struct snapshot *host);

#endif
