/* SPDX-License-Identifier: GPL-2.0-only */
/* How leaks prints its findings. */
#ifndef CODETAG_LEAKS_VIEW_H
#define CODETAG_LEAKS_VIEW_H

#include "leaks_find.h"
#include "output.h"

void leaks_view(const struct findings *found, const struct watched *watched,
		const struct selection *selection, const struct output *output);

#endif
