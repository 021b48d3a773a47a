// SPDX-License-Identifier: GPL-2.0-only
/* codetag_live with the tag of the function that it replaces */
#define CODETAG_LIVE_TAG
#include "codetag_live.c"
