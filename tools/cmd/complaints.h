/* SPDX-License-Identifier: GPL-2.0-only */
/* Complaints in the kernel's log. */
#ifndef CODETAG_COMPLAINTS_H
#define CODETAG_COMPLAINTS_H

#include <stdbool.h>

#include "base/text.h"

bool is_complaint(const char *line);

/*
 * Adds what a complaint has in common with others about the same defect: numbers, among them
 * addresses, offsets, processors and ids of processes, become '#'. The numbers of source lines
 * and those within names stay.
 */
void complaint_signature(const char *line, struct text *signature);

#endif
