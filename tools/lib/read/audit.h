/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * /sys/kernel/debug/codetag/audit: the kernel's recount, compared with its
 * counters.
 *
 *	mismatch: id N counted BYTES CALLS found BYTES CALLS file:line func:name
 *	stopped: N times, N us at most, N us per GiB
 *	audit: N tags, N pages, N objects, N mismatches
 *
 * or, instead of the last line, when it would have stopped everything for too long:
 *
 *	gave up: N pages in codetag.audit_max_ms=N
 *
 * The line before it is not in the files of older kernels. Before the first audit there is
 * only
 *
 *	# no audit has run
 */
#ifndef CODETAG_AUDIT_H
#define CODETAG_AUDIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "read/lines.h"

struct mismatch {
	int64_t id;
	int64_t counted_bytes, counted_calls;
	int64_t found_bytes, found_calls;
	const char *tag;
};

struct audit {
	struct mismatch *mismatch;
	size_t count, room;
	bool finished;		/* the last line exists */
	int64_t tags, pages, objects, mismatches;	/* as it says */
	bool none;		/* none has run */
	bool timed;		/* the next three are known */
	int64_t passes;		/* how often all CPUs were stopped */
	int64_t longest_us;	/* longest of these times, in microseconds */
	int64_t us_per_gib;	/* the same for each GiB of memory */
	bool gave_up;		/* it did not finish, so there is no result */
	int64_t max_ms;		/* the limit that stopped it, in milliseconds */
	struct bad_lines bad;
	char *text;
};

/* Takes over @text; afterwards @audit has to be freed in any case. */
void audit_parse(struct audit *audit, char *text, size_t len);
void audit_free(struct audit *audit);

#endif
