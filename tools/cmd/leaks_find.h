/* SPDX-License-Identifier: GPL-2.0 */
/* Which of the groups that were watched are suspects. */
#ifndef CODETAG_LEAKS_FIND_H
#define CODETAG_LEAKS_FIND_H

#include "leaks_watch.h"

struct finding {
	const char *name;
	enum kind kind;
	bool suspect;
	bool stays;		/* it was told to go, and did not */
	struct trend trend;
	double now, calls_growth;
	double after;		/* what is left when caches were dropped, if they were */
};

/* Growth of a kind that is no leak by itself. */
struct apart {
	size_t groups;
	double growth;
	double left;		/* of the growth, when caches were dropped */
};

struct findings {
	struct finding *finding;
	size_t count, suspects;
	size_t tested;		/* groups of the kernel that rose enough to be looked at */
	size_t slow;		/* suspects but for the least rate */
	size_t gone;		/* suspects until caches were dropped */
	int64_t min_rate;	/* bytes a minute */
	struct apart apart[KINDS];
};

void leaks_find(struct findings *found, const struct watched *watched,
		const struct selection *selection, int64_t min_rate);
void findings_free(struct findings *found);

#endif
