/* SPDX-License-Identifier: GPL-2.0-only */
/* Which of the groups that were watched are suspects. */
#ifndef CODETAG_LEAKS_FIND_H
#define CODETAG_LEAKS_FIND_H

#include "leaks_watch.h"

struct finding {
	const char *name;
	enum kind kind;
	bool suspect;
	bool stays;		/* the kernel was told to drop it, and did not */
	struct trend trend;
	double now, calls_growth;
	double after;		/* bytes left after caches were dropped, if they were */
};

/* Growth of a kind that is no leak by itself. */
struct apart {
	size_t groups;
	double growth;
	double left;		/* the part of the growth that was left after caches were dropped */
};

struct findings {
	struct finding *finding;
	size_t count, suspects;
	size_t tested;		/* groups of the kernel that grew enough to be tested */
	size_t slow;		/* groups that only --min-rate keeps from being suspects */
	size_t gone;		/* suspects until caches were dropped */
	int64_t min_rate;	/* bytes per minute */
	struct apart apart[KINDS];
};

void leaks_find(struct findings *found, const struct watched *watched,
		const struct selection *selection, int64_t min_rate);
void findings_free(struct findings *found);

#endif
