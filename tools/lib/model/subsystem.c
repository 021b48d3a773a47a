// SPDX-License-Identifier: GPL-2.0-only
#include "model/subsystem.h"

#include "codetag/query.h"

void subsystem_of_path(struct text *name, const char *path)
{
	char of_path[CODETAG_SUBSYSTEM_MAX + 1];

	codetag_subsystem(of_path, path, NULL);
	text_puts(name, of_path);
}

void subsystem_name(struct text *name, const struct site *site)
{
	char of_site[CODETAG_SUBSYSTEM_MAX + 1];

	/* Code of a module outside the tree has a path of its own. */
	codetag_subsystem(of_site, site->file, site->module);
	text_puts(name, of_site);
}
