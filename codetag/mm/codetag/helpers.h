/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * helpers.c: functions that allocate on behalf of others.
 */
#ifndef _MM_CODETAG_HELPERS_H
#define _MM_CODETAG_HELPERS_H

#include <linux/types.h>

bool codetag_is_helper(unsigned long entry);
void codetag_helpers_forget(void);
int codetag_helpers_change(char *text);

#endif /* _MM_CODETAG_HELPERS_H */
