/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * totals.c: the memory of a site and its contexts together, for reports.
 */
#ifndef _MM_CODETAG_TOTALS_H
#define _MM_CODETAG_TOTALS_H

#include "tags.h"

/**
 * struct codetag_content - which lines codetag_next() finds
 * @id: changes when a line comes or goes
 * @nr: number of lines
 */
struct codetag_content {
	u64 id;
	unsigned long nr;
};

bool codetag_read(struct codetag_info *info, struct codetag_sums *sums);
bool codetag_next(unsigned long *pos, struct codetag_info *info, struct codetag_sums *sums);
void codetag_content(struct codetag_content *content);
void codetag_count_lines(void);

#endif /* _MM_CODETAG_TOTALS_H */
