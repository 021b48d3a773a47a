// SPDX-License-Identifier: GPL-2.0
/* The small files: stats, meminfo, zoneinfo, slabinfo, audit. */
#include <stdlib.h>
#include <string.h>

#include "audit.h"
#include "memory.h"
#include "reconcile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *copy(const uint8_t *data, size_t size)
{
	return memcpy(xcalloc(size + 1, 1), data, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct machine machine = { 0 };
	struct allocinfo info = { 0 };
	struct reconciliation r;
	struct audit audit;
	char *text = copy(data, size);

	audit_parse(&audit, copy(data, size), size);
	audit_free(&audit);
	fields_parse(&machine.meminfo, copy(data, size), size);
	slabinfo_parse(&machine.slabinfo, copy(data, size), size);
	zoneinfo_parse(&machine.pages, text, size);
	free(text);
	reconcile(&r, &info, &machine);
	machine_free(&machine);
	return 0;
}
