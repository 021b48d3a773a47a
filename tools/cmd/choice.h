/* SPDX-License-Identifier: GPL-2.0-only */
/* The parts that commands about switched call sites share: their arguments are a query. */
#ifndef CODETAG_CHOICE_H
#define CODETAG_CHOICE_H

#include <argp.h>

#include "debugfs.h"
#include "output.h"
#include "base/text.h"
#include "read/query.h"

struct choice {
	struct debugfs_dir dir;
	struct text words;	/* the query as it was typed, "": none */
	struct query *query;
	struct output output;
};

#define CHOICE_INIT { .dir = DEBUGFS_DIR_INIT }

/* An argp child: its input is a struct choice. */
extern const struct argp choice_argp;

void choice_free(struct choice *choice);

#endif
