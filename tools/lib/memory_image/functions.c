// SPDX-License-Identifier: GPL-2.0-only
#include "memory_image/functions.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/strmap.h"

#define MAX_FUNCTIONS (1 << 22)
#define MAX_MODULES 4096
#define MAX_MODULE_SYMBOLS (1 << 20)

/* Bytes of the names of the kernel's symbols; it has about 4 MiB. */
#define MAX_NAMES (64 << 20)
#define NAME 512
#define TOKENS 256
#define TOKEN_TABLE 65536

struct function {
	uint64_t address;
	const char *name;
};

struct image_functions {
	struct image *image;
	struct function *function;	/* by address */
	size_t count;
	struct arena names;
	struct strmap known;		/* addresses in modules, as text … */
	const char **known_text;	/* … and their names */
	size_t knowns, known_room;
};

/* ---- names, which are compressed ------------------------------------------------------ */

/* A reader of consecutive bytes. */
struct bytes {
	struct image *image;
	uint64_t at;
	uint8_t block[DUMP_PAGE];
	size_t left;
};

static bool next_byte(struct bytes *b, uint8_t *byte)
{
	if (!b->left) {
		b->left = DUMP_PAGE - b->at % DUMP_PAGE;
		if (!image_read(b->image, b->at, b->block + DUMP_PAGE - b->left, b->left))
			return false;
		b->at += b->left;
	}
	*byte = b->block[DUMP_PAGE - b->left--];
	return true;
}

struct tokens {
	uint16_t index[TOKENS];
	char table[TOKEN_TABLE + 1];
};

/* The length, in one byte or two, and a token for each byte. The first letter is the type. */
static bool read_name(struct bytes *b, const struct tokens *tokens, char name[NAME])
{
	size_t len = 0, count;
	uint8_t byte;

	if (!next_byte(b, &byte))
		return false;
	count = byte;
	if (byte & 0x80) {
		if (!next_byte(b, &byte))
			return false;
		count = (count & 0x7f) | (size_t)byte << 7;
	}
	while (count--) {
		const char *token;

		if (!next_byte(b, &byte))
			return false;
		token = tokens->table + tokens->index[byte];
		for (; *token && len < NAME - 1; token++)
			name[len++] = *token < ' ' || *token >= 0x7f ? '?' : *token;
	}
	name[len] = '\0';
	return true;
}

/* ---- addresses, which are 32 bits ------------------------------------------------------ */

/*
 * The coding depends on the kernel's version and configuration. The known address of one symbol
 * tells which it is: of _text or, where the kernel's code begins behind it (arm64), of _etext.
 */
enum coding { FROM_THEMSELVES, FROM_BASE, FROM_BASE_IF_NEGATIVE };

struct code {
	enum coding coding;
	uint64_t base;
};

static uint64_t address_of(const struct code *code, uint64_t table, const int32_t *offset, size_t i)
{
	switch (code->coding) {
	case FROM_THEMSELVES:
		return table + 4 * i + (uint64_t)(int64_t)offset[i];
	case FROM_BASE:
		return code->base + (uint32_t)offset[i];
	case FROM_BASE_IF_NEGATIVE:
		/* Other values are offsets in percpu memory. */
		return offset[i] < 0 ? code->base - (uint64_t)(int64_t)offset[i] : (uint64_t)offset[i];
	}
	return 0;
}

static void find_code(struct code *code, uint64_t table, const int32_t *offset, size_t i,
		      uint64_t address)
{
	*code = (struct code){ FROM_THEMSELVES, 0 };
	if (address_of(code, table, offset, i) == address)
		return;
	if (offset[i] < 0)
		*code = (struct code){ FROM_BASE_IF_NEGATIVE, address + (uint64_t)(int64_t)offset[i] };
	else
		*code = (struct code){ FROM_BASE, address - (uint32_t)offset[i] };
}

static int by_address(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

static void read_kernel(struct image_functions *f, size_t nr)
{
	struct image *image = f->image;
	const uint64_t *n = image->n;
	struct bytes bytes = { .image = image, .at = n[N_SYMBOL_NAMES] };
	int32_t *offset = xcalloc(nr, sizeof(*offset));
	struct tokens *tokens = xcalloc(1, sizeof(*tokens));
	size_t text = nr, end = nr, len, names = 0;
	struct code code;
	char name[NAME];

	image_read(image, n[N_SYMBOL_OFFSETS], offset, nr * sizeof(*offset));
	image_read(image, n[N_TOKEN_INDEX], tokens->index, sizeof(tokens->index));
	/* Not beyond its end: there may be no further page. */
	len = (size_t)tokens->index[TOKENS - 1] + 1;
	image_read(image, n[N_TOKEN_TABLE], tokens->table, len);
	for (char last = tokens->table[len - 1]; last && len < TOKEN_TABLE; len++) {
		image_read(image, n[N_TOKEN_TABLE] + len, &last, 1);
		tokens->table[len] = last;
	}
	f->function = xcalloc(nr, sizeof(*f->function));
	while (f->count < nr && names < MAX_NAMES && image_step(image) &&
	       read_name(&bytes, tokens, name)) {
		names += strlen(name);
		if (!strcmp(name + !!*name, "_text"))
			text = f->count;
		if (!strcmp(name + !!*name, "_etext"))
			end = f->count;
		f->function[f->count++].name =
			arena_copy(&f->names, name + !!*name, strlen(name + !!*name));
	}
	if (text < nr)
		find_code(&code, n[N_SYMBOL_OFFSETS], offset, text, n[N_TEXT]);
	else if (end < nr)
		find_code(&code, n[N_SYMBOL_OFFSETS], offset, end, n[N_TEXT_END]);
	else
		f->count = 0;
	for (size_t i = 0; i < f->count; i++)
		f->function[i].address = address_of(&code, n[N_SYMBOL_OFFSETS], offset, i);
	/* They are sorted, unless the image is damaged. */
	for (size_t i = 1; i < f->count; i++)
		if (f->function[i].address < f->function[i - 1].address) {
			qsort(f->function, f->count, sizeof(*f->function), by_address);
			break;
		}
	free(offset);
	free(tokens);
}

struct image_functions *image_functions_read(struct image *image)
{
	struct image_functions *f = xcalloc(1, sizeof(*f));
	const uint64_t *n = image->n;
	uint32_t nr = 0;

	f->image = image;
	if (n[N_NR_SYMBOLS] && n[N_SYMBOL_OFFSETS] && n[N_SYMBOL_NAMES] && n[N_TOKEN_TABLE] &&
	    n[N_TOKEN_INDEX])
		nr = image_u32(image, n[N_NR_SYMBOLS]);
	if (nr && nr <= MAX_FUNCTIONS && nr <= dump_size(image->dump) / 8)
		read_kernel(f, nr);
	return f;
}

void image_functions_free(struct image_functions *f)
{
	if (!f)
		return;
	free(f->function);
	free(f->known_text);
	strmap_free(&f->known);
	arena_free(&f->names);
	free(f);
}

bool image_functions_any(const struct image_functions *f)
{
	return f->count;
}

/* ---- looking up ------------------------------------------------------------------------ */

/*
 * As in the kernel: of several symbols at one address the first, which ends where the next
 * address begins.
 */
static bool find_in_kernel(const struct image_functions *f, uint64_t address, struct text *text)
{
	const uint64_t *n = f->image->n;
	uint64_t start, end = n[N_TEXT_END];
	size_t low = 0, high = f->count;

	if (address < n[N_TEXT] || address >= n[N_KERNEL_END])
		return false;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (f->function[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return false;
	if (low < f->count)
		end = f->function[low].address;
	start = f->function[--low].address;
	while (low && f->function[low - 1].address == start)
		low--;
	text_printf(text, "%s+%#" PRIx64 "/%#" PRIx64, f->function[low].name, address - start,
		    end - start);
	return true;
}

/* The end of the part of a module that an address is in; 0: it is in none. */
static uint64_t part_end(struct image *image, uint64_t module, uint64_t address)
{
	const uint64_t *n = image->n;

	for (uint64_t i = 0; i < n[N_MODULE_PARTS]; i++) {
		uint64_t part = module + n[N_MODULE_MEM] + i * n[N_MODULE_MEM_SIZE];
		uint64_t base = image_u64(image, part + n[N_MODULE_BASE]);
		uint32_t size = image_u32(image, part + n[N_MODULE_LENGTH]);

		if (address - base < size)
			return base + size;
	}
	return 0;
}

static bool find_symbol(struct image *image, uint64_t module, uint64_t address, uint64_t end,
			struct text *text)
{
	const uint64_t *n = image->n;
	uint64_t symbols = image_u64(image, module + n[N_MODULE_SYMBOLS]);
	uint64_t table = image_u64(image, symbols + n[N_SYMBOLS_TABLE]);
	uint64_t strings = image_u64(image, symbols + n[N_SYMBOLS_STRINGS]);
	uint32_t nr = image_u32(image, symbols + n[N_SYMBOLS_NR]);
	uint64_t start = 0, size = n[N_ELF_SYM_SIZE];
	char raw[64], name[NAME] = "", best[NAME] = "";

	if (!symbols || nr > MAX_MODULE_SYMBOLS || !size || size > sizeof(raw))
		return false;
	for (uint32_t i = 1; i < nr && image_read(image, table + i * size, raw, size); i++) {
		uint64_t value = get64(raw, n[N_ELF_SYM_VALUE]);

		if (!get16(raw, n[N_ELF_SYM_SECTION]))
			continue;
		if (value > address && value < end)
			end = value;
		if (value > address || value <= start)
			continue;
		image_string(image, strings + get32(raw, n[N_ELF_SYM_NAME]), name, sizeof(name));
		/* Assemblers use names that begin like this for marks. */
		if (!*name || *name == '$' || !strncmp(name, ".L", 2) || !strncmp(name, "L0", 2))
			continue;
		start = value;
		memcpy(best, name, sizeof(best));
	}
	if (!start)
		return false;
	text_printf(text, "%s+%#" PRIx64 "/%#" PRIx64, best, address - start, end - start);
	return true;
}

static bool find_in_module(struct image *image, uint64_t address, struct text *text)
{
	const uint64_t *n = image->n;
	uint64_t head = n[N_MODULES], at = head ? image_u64(image, head) : 0;

	if (!n[N_MODULE_SYMBOLS] || n[N_ELF_SYM_SIZE] > 64)
		return false;
	for (size_t i = 0; at && at != head && i < MAX_MODULES; i++, at = image_u64(image, at)) {
		uint64_t module = at - n[N_MODULE_LIST], end = part_end(image, module, address);
		char name[64];

		if (!end)
			continue;
		if (!find_symbol(image, module, address, end, text))
			return false;
		text_printf(text, " [%s]", image_string(image, module + n[N_MODULE_NAME], name,
							sizeof(name)));
		return true;
	}
	return false;
}

/* Each address in a module needs all of its symbols, and stacks repeat their addresses. */
static void add_known(struct image_functions *f, uint64_t address, struct text *text)
{
	struct text what = { 0 };
	char key[17];
	size_t i;

	snprintf(key, sizeof(key), "%" PRIx64, address);
	i = strmap_add(&f->known, key, strlen(key));
	if (i == f->knowns) {
		if (!find_in_module(f->image, address, &what))
			text_puts(&what, "[unknown]");
		GROW(f->known_text, f->knowns, f->known_room);
		f->known_text[f->knowns++] = arena_copy(&f->names, what.s, what.len);
		text_free(&what);
	}
	text_puts(text, f->known_text[i]);
}

void image_function_text(struct image_functions *f, uint64_t address, struct text *text)
{
	if (!f->count)
		text_printf(text, "%#" PRIx64, address);
	else if (!find_in_kernel(f, address, text))
		add_known(f, address, text);
}
