/* SPDX-License-Identifier: GPL-2.0-only */
/* A fleet in an SQLite file: codetag-record(5) describes the tables. */
#ifndef CODETAG_FLEET_DB_H
#define CODETAG_FLEET_DB_H

#include "model/fleet.h"
#include "source/source.h"

struct fleet_db;

/* Whether the SQLite file @path is a fleet. */
bool fleet_db_is(const char *path);

/* Has to be closed even if fleet_db_error() says that it failed. */
struct fleet_db *fleet_db_open(const char *path);
const char *fleet_db_error(const struct fleet_db *db);	/* NULL: no failure */
void fleet_db_close(struct fleet_db *db);

/* Reads the next host; false at the end and on failure. */
bool fleet_db_next(struct fleet_db *db, struct snapshot *snapshot);

/* Writes to @path, an empty file that this process has created. */
struct fleet_db *fleet_db_create(const char *path);

/* Writes a fleet by site, with the distribution of each; @least as in model/spread.h. */
bool fleet_db_write(struct fleet_db *db, const struct fleet *fleet, int64_t least);

#endif
