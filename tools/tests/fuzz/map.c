// SPDX-License-Identifier: GPL-2.0-only
/*
 * Feeds any text as a System.map: the name of an address is the last one that is not after it.
 */
#include "image/symbols.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct symbols symbols = { 0 };
	struct text name = { 0 };
	char address[24], offset[24];

	symbols_parse_map(&symbols, memcpy(xcalloc(size + 1, 1), data, size), size);
	for (size_t i = 0; i < symbols.count; i++) {
		const struct symbol *symbol = &symbols.symbol[i];
		uint64_t next = i + 1 < symbols.count ? symbol[1].address : UINT64_MAX;
		uint64_t at = symbol->address + (next - symbol->address) / 2;

		if (next < symbol->address)
			abort();
		/*
		 * Several names can share an address, and far after the last one there is none.
		 */
		if (at - symbol->address > 1 << 20 || next == symbol->address)
			continue;
		snprintf(address, sizeof(address), "%" PRIx64, at);
		snprintf(offset, sizeof(offset), "+0x%" PRIx64, at - symbol->address);
		if (!symbols_resolve(&symbols, address, &name) ||
		    name.len != strlen(symbol->name) + strlen(offset) ||
		    memcmp(name.s, symbol->name, strlen(symbol->name)) ||
		    strcmp(name.s + strlen(symbol->name), offset))
			abort();
	}
	text_free(&name);
	symbols_free(&symbols);
	return 0;
}
