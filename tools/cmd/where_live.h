/* SPDX-License-Identifier: GPL-2.0-only */
/* codetag where on the whole terminal: rows that open. */
#ifndef CODETAG_WHERE_LIVE_H
#define CODETAG_WHERE_LIVE_H

#include <stdbool.h>

#include "source/host.h"

/* Returns an exit status. @delay is in seconds. */
int where_live(const struct host_options *options, double delay, bool human);

#endif
