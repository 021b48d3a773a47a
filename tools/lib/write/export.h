/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writes groups in the formats of other tools. Each format has a file of its own. All write the
 * first @count groups to a stream; the caller checks that for errors.
 */
#ifndef CODETAG_EXPORT_H
#define CODETAG_EXPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "analysis/explain.h"
#include "model/group.h"

struct export {
	const struct groups *groups;
	size_t count;		/* number of groups; the others are summed up or left out */
	bool calls;		/* weight of stacks: calls, not bytes */
	int64_t time_ns;	/* time, since 1970; 0: not known */
	const char *kernel;	/* release of the kernel; NULL: not known */
	const struct export_label {
		const char *name, *value;
	} *label;		/* labels for all series of Prometheus */
	size_t labels;
	const struct explanation *memory;	/* of the machine, NULL: not known */
	bool raw;		/* slab pages count in addition to their content */
	size_t not_profiled;	/* call sites of the groups, whose numbers are old */
	size_t left_out;	/* written: number of groups that the format cannot hold */
};

/* Flame graphs: "fs;ext4;super.c;ext4_alloc_inode:1384 32768". */
void export_folded(struct export *export, FILE *out);

/* https://www.speedscope.app/file-format-schema.json */
void export_speedscope(struct export *export, FILE *out);

/* gzip'd profile.proto of github.com/google/pprof */
void export_pprof(struct export *export, FILE *out);

/* Text format 0.0.4 for the textfile collector of the node_exporter. */
void export_prometheus(struct export *export, FILE *out);

/* The HELP and TYPE of a series; a label, after the name of a series or another label. */
void prometheus_head(FILE *out, const char *name, const char *help, const char *word);
void prometheus_label(FILE *out, bool *first, const char *name, const char *value);
/*
 * Whether series of call sites can have a label of this name themselves, so that a user cannot
 * add one. Series of other commands, such as those of caches, take no labels.
 */
bool prometheus_has_label(const char *name);

/* RFC 4180, one line a group. */
void export_csv(struct export *export, FILE *out);

/* A field of CSV, in quotes if necessary. */
void csv_text(FILE *out, const char *s);

#endif
