/* SPDX-License-Identifier: GPL-2.0-only */
/* Call sites in the rows of databases: recordings and fleets. */
#ifndef CODETAG_RECORDING_SITE_ROW_H
#define CODETAG_RECORDING_SITE_ROW_H

#include <sqlite3.h>

#include "read/allocinfo.h"

/*
 * Adds the call site in the current row of @s to @info. Returns false if it lacks a file or a function.
 * The statement selects file, line, module, func, bytes, calls and notes first.
 */
bool site_row_add(struct allocinfo *info, sqlite3_stmt *s);

#endif
