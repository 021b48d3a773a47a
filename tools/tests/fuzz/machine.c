// SPDX-License-Identifier: GPL-2.0-only
/* Feeds the small files: stats, meminfo, zoneinfo, slabinfo, audit, control and the like. */
#include <stdlib.h>
#include <string.h>

#include "analysis/explain.h"
#include "base/memory.h"
#include "read/audit.h"
#include "read/control.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *copy(const uint8_t *data, size_t size)
{
	return memcpy(xcalloc(size + 1, 1), data, size);
}

static void read_control(const uint8_t *data, size_t size)
{
	struct armed_sites armed;
	struct remembered remembered;
	struct applied applied;
	struct control control;
	struct text text = { 0 };

	control_parse(&control, copy(data, size), size);
	if (control.count)
		control_select_site(&control, &control.site[control.count / 2].site);
	if (control.count && control_by_id(&control, "=p", &text) != !!text.len)
		abort();
	text_free(&text);
	control_free(&control);
	armed_sites_parse(&armed, FAULT_NUMBERS, copy(data, size), size);
	armed_sites_free(&armed);
	armed_sites_parse(&armed, GUARD_NUMBERS, copy(data, size), size);
	armed_sites_free(&armed);
	remembered_parse(&remembered, copy(data, size), size);
	remembered_free(&remembered);
	applied_parse(&applied, copy(data, size), size);
	applied_free(&applied);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct machine machine = { 0 };
	struct allocinfo info = { 0 };
	struct explanation e;
	struct audit audit;
	char *text = copy(data, size);

	read_control(data, size);
	audit_parse(&audit, copy(data, size), size);
	audit_free(&audit);
	fields_parse(&machine.meminfo, copy(data, size), size);
	slabinfo_parse(&machine.slabinfo, copy(data, size), size);
	zoneinfo_parse(&machine.pages, text, size);
	free(text);
	vmallocinfo_parse(&machine.vmalloc, 4096, text = copy(data, size), size);
	free(text);
	iomem_parse(&machine.iomem, text = copy(data, size), size);
	free(text);
	charged_parse(&machine.charged, text = copy(data, size), size);
	free(text);
	if (explain(&e, &info, &machine)) {
		int64_t sum = 0;

		for (unsigned int i = 0; i < MEMORY_KINDS; i++) {
			if (e.kind[i] < 0)
				abort();
			sum += e.kind[i];
		}
		if (sum != e.used || e.used + e.free + e.cpu_lists != e.total)
			abort();
	}
	machine_free(&machine);
	return 0;
}
