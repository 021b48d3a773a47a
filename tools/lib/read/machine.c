// SPDX-License-Identifier: GPL-2.0
#include "read/machine.h"

#include <string.h>

#include "base/number.h"
#include "read/input.h"

void zoneinfo_parse(struct zone_pages *pages, char *text, size_t len)
{
	static const char free_key[] = "pages free ", percpu_key[] = "count:";
	char *at = text, *line;
	size_t line_len;
	bool complete;

	*pages = (struct zone_pages){ 0 };
	while ((line = input_line(&at, text + len, &line_len, &complete))) {
		int64_t *sum = &pages->free, number;
		const char *s = line + strspn(line, " ");

		if (!strncmp(s, free_key, strlen(free_key))) {
			s += strlen(free_key);
		} else if (!strncmp(s, percpu_key, strlen(percpu_key))) {
			s += strlen(percpu_key);
			sum = &pages->percpu;
		} else {
			continue;
		}
		s += strspn(s, " ");
		if (number_read(&s, &number) && number > 0)
			*sum = add64(*sum, number);
	}
}

void machine_free(struct machine *machine)
{
	fields_free(&machine->meminfo);
	fields_free(&machine->vmstat);
	slabinfo_free(&machine->slabinfo);
}
