// SPDX-License-Identifier: GPL-2.0-only
#include "read/machine.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"
#include "read/input.h"
#include "read/vmallocinfo.h"

void zoneinfo_parse(struct zone_pages *pages, char *text, size_t len)
{
	/* The only lines with these names in the section of a zone. */
	const struct {
		const char *key;
		int64_t *sum;
	} keys[] = {
		{ "pages free ", &pages->free }, { "count:", &pages->percpu },
		{ "present ", &pages->present }, { "managed ", &pages->managed },
	};
	const char *first = NULL;
	char *at = text, *line;
	size_t line_len, line_number = 0;
	bool complete;

	*pages = (struct zone_pages){ 0 };
	while ((line = input_line(&at, text + len, &line_len, &complete))) {
		const char *s = line + strspn(line, " ");
		int64_t number;

		line_number++;
		if (!complete)
			pages->bad.cut = line_number;
		/* Within a copy no zone comes twice. */
		if (!strncmp(line, "Node ", 5) && (!first || !strcmp(line, first))) {
			*pages = (struct zone_pages){ .copies = pages->copies + 1, .bad = pages->bad };
			first = line;
		}
		for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
			size_t key = strlen(keys[i].key);
			const char *value = s + key;

			if (strncmp(s, keys[i].key, key))
				continue;
			value += strspn(value, " ");
			if (complete && number_read(&value, &number) && number > 0)
				*keys[i].sum = add64(*keys[i].sum, number);
			break;
		}
	}
}

void zoneinfo_from_fields(struct zone_pages *pages, const struct fields *fields)
{
	pages->free = fields_number(fields, "free");
	pages->percpu = fields_number(fields, "percpu");
	pages->present = fields_number(fields, "present");
	pages->managed = fields_number(fields, "managed");
}

void charged_parse(struct charged *charged, char *text, size_t len)
{
	const struct {
		const char *kind;
		int64_t *bytes;
	} kinds[] = {
		{ "pages", &charged->pages }, { "vmalloc", &charged->vmalloc },
		{ "slab", &charged->slab }, { "percpu", &charged->percpu },
	};
	char *at = text, *line;
	size_t line_len, found = 0;
	bool complete;

	*charged = (struct charged){ 0 };
	while ((line = input_line(&at, text + len, &line_len, &complete))) {
		const char *s = line + strspn(line, " ");
		int64_t bytes, calls;

		if (!complete || !number_read(&s, &bytes))
			continue;
		s += strspn(s, " ");
		if (!number_read(&s, &calls) || *s != ' ' || bytes < 0)
			continue;
		for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
			if (!strcmp(s + 1, kinds[i].kind)) {
				*kinds[i].bytes = bytes;
				found++;
			}
		}
	}
	charged->known = found == sizeof(kinds) / sizeof(*kinds);
}

void boot_parse(struct holders *boot, char *text, size_t len)
{
	char *at = text, *line;
	size_t line_len;
	bool complete;

	while ((line = input_line(&at, text + len, &line_len, &complete))) {
		const char *s = line + strspn(line, " ");
		int64_t bytes, areas;

		/* Of several copies the last counts. */
		if (!strncmp(line, "boot - version:", 15))
			holders_free(boot);
		if (!complete) {
			holders_free(boot);
			return;
		}
		if (!number_read(&s, &bytes))
			continue;
		s += strspn(s, " ");
		if (number_read(&s, &areas) && *s == ' ' && bytes > 0)
			holders_add(boot, s + 1, strlen(s + 1), bytes, areas);
	}
	holders_sort(boot);
}

/* Areas of vmap() map pages that others account for. */
void vmallocinfo_parse(struct holders *areas, int64_t page_size, char *text, size_t len)
{
	char *at = text, *line;
	size_t line_len;
	bool complete;

	while ((line = input_line(&at, text + len, &line_len, &complete))) {
		struct vmalloc_area area;

		if (complete && vmalloc_area_parse(&area, line) && area.bytes)
			holders_add(areas, area.caller, strlen(area.caller),
				    mul64(area.pages, page_size), 1);
	}
}

void iomem_parse(struct fields *iomem, char *text, size_t len)
{
	struct holders sums = { 0 };
	struct text out = { 0 };
	char *at = text, *line;
	size_t line_len;
	bool complete;

	while ((line = input_line(&at, text + len, &line_len, &complete))) {
		char *name = strstr(line, " : ");
		unsigned long long first, last;
		char *end;

		if (!complete || !name)
			continue;
		first = strtoull(line, &end, 16);
		if (*end != '-')
			continue;
		last = strtoull(end + 1, &end, 16);
		if (end != name || last <= first || last - first >= INT64_MAX)
			continue;
		name += 3;
		if (!strncmp(name, "Kernel ", 7) || !strcmp(name, "System RAM") ||
		    !strncmp(name, "Crash kernel", 12))
			holders_add(&sums, name, strlen(name), (int64_t)(last - first) + 1, 1);
	}
	for (size_t i = 0; i < sums.count; i++)
		text_printf(&out, "%s: %" PRId64 "\n", sums.holder[i].name, sums.holder[i].bytes);
	holders_free(&sums);
	if (out.len)
		fields_parse(iomem, out.s, out.len);
}

#define PAGE_SIZES 5	/* 4 KiB << 0 to 4 KiB << 4 */

/* Vote for the page size that is closest to @bytes / @pages. */
static void vote(unsigned int votes[PAGE_SIZES], int64_t bytes, int64_t pages)
{
	unsigned int shift = 0;

	if (bytes <= 0 || pages <= 0)
		return;
	while (shift < PAGE_SIZES - 1 && bytes / pages > (int64_t)6144 << shift)
		shift++;
	votes[shift]++;
}

int64_t machine_page_size(const struct machine *machine)
{
	/* The same memory in bytes and in pages */
	static const char *const both[][2] = {
		{ "Mapped", "nr_mapped" }, { "AnonPages", "nr_anon_pages" },
		{ "PageTables", "nr_page_table_pages" }, { "SReclaimable", "nr_slab_reclaimable" },
		{ "SUnreclaim", "nr_slab_unreclaimable" },
	};
	const struct fields *meminfo = &machine->meminfo, *vmstat = &machine->vmstat;
	unsigned int votes[PAGE_SIZES] = { 0 }, best = 0;

	if (machine->page_size)
		return machine->page_size;
	/* Several pairs: meminfo may count memory as free that a host has taken. */
	vote(votes, fields_number(meminfo, "MemTotal"), machine->pages.managed);
	vote(votes, fields_number(meminfo, "MemFree"),
	     machine->pages.free ? machine->pages.free : fields_number(vmstat, "nr_free_pages"));
	for (size_t i = 0; i < sizeof(both) / sizeof(*both); i++)
		vote(votes, fields_number(meminfo, both[i][0]), fields_number(vmstat, both[i][1]));
	for (unsigned int i = 1; i < PAGE_SIZES; i++)
		if (votes[i] > votes[best])
			best = i;
	return (int64_t)4096 << best;
}

void holders_add(struct holders *holders, const char *name, size_t len, int64_t bytes,
		 int64_t count)
{
	struct text clean = { 0 };
	struct holder *holder;
	size_t at;

	text_add(&clean, name, len);
	text_clean(clean.s);
	at = strmap_add(&holders->names, clean.s, clean.len);
	text_free(&clean);
	if (at == holders->count) {
		GROW(holders->holder, holders->count, holders->room);
		holders->holder[holders->count++] = (struct holder){
			.name = holders->names.entry[at].key,
		};
	}
	holder = &holders->holder[at];
	holder->bytes = add64(holder->bytes, bytes);
	holder->count = add64(holder->count, count);
}

static int by_size(const void *a, const void *b)
{
	const struct holder *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? 1 : -1;
	return strcmp(x->name, y->name);
}

void holders_sort(struct holders *holders)
{
	if (holders->count)
		qsort(holders->holder, holders->count, sizeof(*holders->holder), by_size);
}

int64_t holders_sum(const struct holders *holders)
{
	int64_t sum = 0;

	for (size_t i = 0; i < holders->count; i++)
		sum = add64(sum, holders->holder[i].bytes);
	return sum;
}

void holders_free(struct holders *holders)
{
	free(holders->holder);
	strmap_free(&holders->names);
	*holders = (struct holders){ 0 };
}

void machine_free(struct machine *machine)
{
	fields_free(&machine->meminfo);
	fields_free(&machine->vmstat);
	fields_free(&machine->stats);
	fields_free(&machine->iomem);
	slabinfo_free(&machine->slabinfo);
	holders_free(&machine->vmalloc);
	holders_free(&machine->boot);
	holders_free(&machine->processes);
	for (size_t i = 0; i < machine->cgroups; i++) {
		free(machine->cgroup[i].name);
		fields_free(&machine->cgroup[i].stat);
	}
	free(machine->cgroup);
}
