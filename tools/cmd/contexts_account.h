/* SPDX-License-Identifier: GPL-2.0-only */
/* contexts --account: the table of slab_account, of a running kernel and without a trace. */
#ifndef CODETAG_CONTEXTS_ACCOUNT_H
#define CODETAG_CONTEXTS_ACCOUNT_H

#include "contexts_read.h"
#include "contexts_view.h"
#include "read/query.h"

struct contexts_account {
	const struct contexts_choice *choice;
	const struct query *query;
	const struct contexts_view *view;
	double delay;	/* seconds between readings, for rates; 0: one reading */
};

/* Returns an exit status. */
int contexts_account(const struct contexts_account *account);

#endif
