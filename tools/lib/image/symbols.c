// SPDX-License-Identifier: GPL-2.0-only
#include "image/symbols.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "image/objects.h"
#include "read/input.h"

static void add_function(void *context, const char *name, const char *path)
{
	struct symbols *symbols = context;
	uint32_t file = strmap_add(&symbols->paths, path, strlen(path));
	size_t known = symbols->functions.count;
	size_t i = strmap_add(&symbols->functions, name, strlen(name));

	if (i == known) {
		GROW(symbols->path_of, i, symbols->room);
		symbols->path_of[i] = file;
	} else if (symbols->path_of[i] != file) {
		symbols->path_of[i] = 0;	/* "": several */
	}
}

#ifdef HAVE_DW
static void add_module(void *context, const char *path)
{
	struct symbols *symbols = context;

	debug_info_add_module(&symbols->debug, path);
}
#endif

static int by_address(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

/* "ffffffff81000000 T startup_64" */
void symbols_parse_map(struct symbols *symbols, char *text, size_t len)
{
	char *at = text, *line;
	size_t line_len;
	bool complete;

	symbols->text = text;
	while ((line = input_line(&at, text + len, &line_len, &complete))) {
		char *rest;
		uint64_t address = strtoull(line, &rest, 16);

		if (line_len < 5 || rest == line || rest + 3 >= line + line_len ||
		    rest[0] != ' ' || rest[2] != ' ' || !rest[1] ||
		    !strchr("tTwW", rest[1]))
			continue;
		GROW(symbols->symbol, symbols->count, symbols->symbol_room);
		symbols->symbol[symbols->count++] =
			(struct symbol){ address, rest + 3 };
	}
	if (symbols->count)
		qsort(symbols->symbol, symbols->count,
		      sizeof(*symbols->symbol), by_address);
}

static void read_map(struct symbols *symbols, const char *build)
{
	struct text path = { 0 };
	size_t len;
	char *text;

	text_printf(&path, "%s/System.map", build);
	if (input_read_found(path.s, &text, &len))
		symbols_parse_map(symbols, text, len);
	text_free(&path);
}

bool symbols_read(struct symbols *symbols, const char *build)
{
	struct objects objects = { .function = add_function, .context = symbols };
	bool good, debug = false;

	*symbols = (struct symbols){ 0 };
	strmap_add(&symbols->paths, "", 0);	/* number 0 */
#ifdef HAVE_DW
	debug = debug_info_open(&symbols->debug, build);
	objects.module_file = add_module;
#endif
	good = objects_read(&objects, build);
	if (good && !objects.count && !debug) {
		errno = ENOENT;
		good = false;
	}
	symbols->unreadable = objects.unreadable;
	objects_free(&objects);
	if (good)
		read_map(symbols, build);
	return good;
}

const char *symbols_path(struct symbols *symbols, const char *site)
{
	size_t i = strmap_find(&symbols->functions, site, strcspn(site, "+"));
	const char *path = i == STRMAP_NONE ? NULL :
			   symbols->paths.entry[symbols->path_of[i]].key;
#ifdef HAVE_DW
	const char *source = debug_info_file(&symbols->debug, site, path);

	if (source)
		path = source;
#endif
	return path;
}

bool symbols_resolve(const struct symbols *symbols, const char *site,
		     struct text *name)
{
	size_t low = 0, high = symbols->count;
	uint64_t address;
	char *end;

	errno = 0;
	address = strtoull(site, &end, 16);
	if (errno || end == site || *end || !symbols->count ||
	    address < symbols->symbol[0].address)
		return false;
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (symbols->symbol[middle].address <= address)
			low = middle;
		else
			high = middle;
	}
	/* After the last function there is a module, or nothing. */
	if (low + 1 == symbols->count && address - symbols->symbol[low].address > 1 << 20)
		return false;
	text_clear(name);
	text_printf(name, "%s+0x%llx", symbols->symbol[low].name,
		    (unsigned long long)(address - symbols->symbol[low].address));
	return true;
}

void symbols_free(struct symbols *symbols)
{
	strmap_free(&symbols->functions);
	strmap_free(&symbols->paths);
	free(symbols->path_of);
	free(symbols->symbol);
	free(symbols->text);
#ifdef HAVE_DW
	debug_info_close(&symbols->debug);
#endif
	*symbols = (struct symbols){ 0 };
}
