/* SPDX-License-Identifier: GPL-2.0-only */
/* Reading contexts, and the options that choose which ones. */
#ifndef CODETAG_CONTEXTS_READ_H
#define CODETAG_CONTEXTS_READ_H

#include <argp.h>
#include <stdbool.h>

#include "debugfs.h"
#include "model/callers.h"
#include "read/contexts.h"

#define CONTEXTS_PATH DEBUGFS_DIR "/contexts"

struct contexts_choice {
	struct debugfs_dir dir;
	const char *path;	/* the file; NULL: the one in the directory */
	int64_t min_age;	/* seconds */
	int64_t page_size;	/* 0: of this machine */
	bool used;		/* --contexts was given */
	bool given;		/* another option about contexts was given */
	struct helpers helpers;
};

#define CONTEXTS_CHOICE_INIT { .dir = DEBUGFS_DIR_INIT }

/* An argp child: its input is a struct contexts_choice. */
extern const struct argp contexts_choice_argp;

/*
 * The same with "--contexts[=FILE]", which sets .used: for commands that also read other
 * things.
 */
extern const struct argp contexts_instead_argp;

/* Returns false after a message. The caller calls contexts_complete() at the end. */
bool contexts_read(struct contexts *contexts, const struct contexts_choice *choice);

struct query;

/*
 * The same, and keeps only the contexts that @query selects. Stacks of other tools may have no
 * call site to select by.
 */
bool contexts_read_chosen(struct contexts *contexts, const struct contexts_choice *choice,
			  const struct query *query);

/* The name of the file in messages. */
const char *contexts_name(const struct contexts_choice *choice);

void contexts_choice_free(struct contexts_choice *choice);

#endif
