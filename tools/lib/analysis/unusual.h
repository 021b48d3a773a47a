/* SPDX-License-Identifier: GPL-2.0 */
/* What is unusual about the memory of a machine, in words. */
#ifndef CODETAG_UNUSUAL_H
#define CODETAG_UNUSUAL_H

#include "analysis/explain.h"
#include "base/text.h"
#include "source/source.h"

/* A machine over time; one moment is enough. */
struct history {
	const struct explanation *at;
	size_t count;
	int64_t ms;		/* from the first to the last */
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

/* Shares of the installed memory from which on it is unusual, in per cent. */
#define PINNED_PERCENT 10
#define UNACCOUNTED_PERCENT 1
#define GROWN_PERCENT 1

/* How often it must have grown, of all steps, and of how many at least. */
#define GROWN_STEPS_PERCENT 90
#define GROWN_STEPS 5

const char *unusual_name(enum unusual what);
void unusual_find(struct remarks *remarks, const struct history *history);
void remarks_free(struct remarks *remarks);

/* What is missing, and what that does: lines; "" if nothing is. */
void missing_find(struct text *lines, const struct explanation *e, const struct snapshot *host);

#endif
