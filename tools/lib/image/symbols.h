/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The files of the functions of a kernel, from its build tree: object files say which of them
 * has a function, System.map says which function is at an address. Debug information is
 * optional; with it the result is a source file instead of an object file.
 */
#ifndef CODETAG_SYMBOLS_H
#define CODETAG_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef HAVE_DW
#include "image/debug_info.h"
#endif
#include "base/strmap.h"
#include "base/text.h"

struct symbols {
	struct strmap functions, paths;
	uint32_t *path_of;	/* by the number of the function */
	size_t room;

	struct symbol {
		uint64_t address;
		const char *name;
	} *symbol;		/* of System.map, by address */
	size_t count, symbol_room;
	char *text;
	size_t unreadable;	/* files named .o */
#ifdef HAVE_DW
	struct debug_info debug;
#endif
};

/* Returns false with errno if @build cannot be read; a System.map need not exist. */
bool symbols_read(struct symbols *symbols, const char *build);

/* Takes over the text of a System.map; part of symbols_read(). */
void symbols_parse_map(struct symbols *symbols, char *text, size_t len);

/*
 * The file of a call site such as "foo+0x33": its source file by debug information, which also
 * knows addresses, or else the object file that has a function of this name. NULL if there is
 * none, "" if there are several.
 */
const char *symbols_path(struct symbols *symbols, const char *site);

/* Turns a hexadecimal address into "foo+0x33"; false if it is in no known function. */
bool symbols_resolve(const struct symbols *symbols, const char *site,
		     struct text *name);
void symbols_free(struct symbols *symbols);

#endif
