/* SPDX-License-Identifier: GPL-2.0 */
/*
 * /sys/kernel/debug/codetag/audit: the kernel's recount, compared with its
 * counters.
 *
 *	mismatch: id N counted BYTES CALLS found BYTES CALLS file:line func:name
 *	audit: N tags, N pages, N objects, N mismatches
 */
#ifndef CODETAG_AUDIT_H
#define CODETAG_AUDIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mismatch {
	int64_t id;
	int64_t counted_bytes, counted_calls;
	int64_t found_bytes, found_calls;
	const char *tag;
};

struct audit {
	struct mismatch *mismatch;
	size_t count, room;
	bool finished;		/* the last line was there */
	int64_t tags, pages, objects, mismatches;	/* as it says */
	size_t bad_lines;
	char *text;
};

/* Takes over @text; @audit then always has to be freed. */
void audit_parse(struct audit *audit, char *text, size_t len);
void audit_free(struct audit *audit);

#endif
