/* SPDX-License-Identifier: GPL-2.0-only */
/* The part of the kernel that a source file belongs to, by its path. */
#ifndef CODETAG_SUBSYSTEM_H
#define CODETAG_SUBSYSTEM_H

#include "base/text.h"
#include "read/allocinfo.h"

void subsystem_name(struct text *name, const struct site *site);
void subsystem_of_path(struct text *name, const char *path);

#endif
