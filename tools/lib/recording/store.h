/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The database of a recording, for the files of this directory: recording.c opens and closes
 * it, recording_write.c adds to it, recording_load.c and recording_gauges.c read from it.
 */
#ifndef CODETAG_RECORDING_STORE_H
#define CODETAG_RECORDING_STORE_H

#include <sqlite3.h>
#include <stddef.h>

#include "base/database.h"
#include "base/strmap.h"
#include "recording/recording.h"

#define STORE_FORMAT "1"

extern const char store_meta_schema[], store_schema[], store_contexts_schema[], store_activity_schema[];

/* In the text of contexts: "=17" stands for the frames of stack 17. */
#define STACK_MARK '='

enum statement {
	ADD_SNAPSHOT, ADD_SITE, ADD_ROW, ADD_GAUGE, ADD_SAMPLE, ADD_ACTIVITY, LOAD, STATEMENTS
};

/* The last stored state of a row, indexed by the number of its site. */
struct state {
	int64_t bytes, calls;
	struct activity activity;
	char *notes;
	bool present;
	size_t seen;	/* the last snapshot that had it */
};

/* The last stored value of a gauge, indexed by its number. */
struct sample {
	int64_t value;
	int64_t seen;	/* the last snapshot that had it */
};

struct recording {
	sqlite3 *db;
	int lock;	/* file descriptor of the writer, else -1 */
	char *created;	/* the path, if the file is new and still empty */
	sqlite3_stmt *statement[STATEMENTS];
	char *error;
	const char *hint;
	char *kernel;
	struct snapshot_head {
		int64_t id, time;
		unsigned int major, minor;
		int64_t boot;	/* 0: not known */
		size_t since;	/* the first snapshot of that boot, as an index */
	} *snapshot;
	size_t count, room;

	/* For writing; the index is the id minus 1. */
	struct strmap sites, gauges;
	struct state *state;
	size_t state_room;
	struct sample *sample;
	size_t sample_room;
};

/* The columns of a slab cache that are recorded, each as a gauge. */
struct store_column {
	const char *name;
	size_t offset;	/* offset in struct slab_cache */
	bool counts;	/* has a sum */
};

#define SLAB_COLUMNS 7

extern const struct store_column slab_columns[SLAB_COLUMNS];
int64_t *slab_column(const struct slab_cache *cache, size_t column);

/* The sources of gauges. */
#define SLABS "slabinfo"
#define PAGES "zoneinfo"
#define PROCESSES "process"
#define BOOT "boot"
#define MACHINE "machine"
#define BOOT_NUMBER "boot"

extern const char store_damaged[];

/* Both return false; recording_error() reports the first failure. */
bool store_fail(struct recording *rec);
bool store_fail_with(struct recording *rec, const char *why);

bool store_run(struct recording *rec, const char *text);

/* Runs a bound statement that returns nothing. */
bool store_step(struct recording *rec, enum statement i);
void store_bind_text(sqlite3_stmt *s, int i, const char *text);
sqlite3_stmt *store_query(struct recording *rec, const char *text);

/* Ends a query; @result is the result of its last step. */
bool store_query_end(struct recording *rec, sqlite3_stmt *s, int result);
bool store_has_contexts(struct recording *rec);
bool store_has_activity(struct recording *rec);

/* The index of the first snapshot of boot number @boot, if snapshot @i is of it. */
size_t store_since(const struct recording *rec, size_t i, int64_t boot);

struct recording *store_new(void);
bool store_open(struct recording *rec, const char *path, enum database_use use);
bool store_open_existing(struct recording *rec, const char *path, enum database_use use);
bool store_prepare(struct recording *rec);

#endif
