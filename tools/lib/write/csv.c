// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <string.h>

#include "write/export.h"

void csv_text(FILE *out, const char *s)
{
	if (!strpbrk(s, ",\"\r\n")) {
		fputs(s, out);
		return;
	}
	putc('"', out);
	for (; *s; s++) {
		if (*s == '"')
			putc('"', out);
		putc(*s, out);
	}
	putc('"', out);
}

void export_csv(struct export *export, FILE *out)
{
	bool site = export->groups->by.by == BY_SITE ||
		    export->groups->by.by == BY_ROW;

	fputs(site ? "size,calls,rows,file,line,module,func,notes\r\n" :
		     "size,calls,rows,name\r\n", out);
	for (size_t i = 0; i < export->count; i++) {
		const struct group *group = &export->groups->group[i];

		fprintf(out, "%" PRId64 ",%" PRId64 ",%zu,", group->now.bytes,
			group->now.calls, group->now.rows);
		if (site) {
			csv_text(out, group->site->file);
			fprintf(out, ",%u,", group->site->line);
			csv_text(out, group->site->module ?
					  group->site->module : "");
			putc(',', out);
			csv_text(out, group->site->func);
			putc(',', out);
			csv_text(out, group->site->notes ?
					  group->site->notes : "");
		} else {
			csv_text(out, group->name);
		}
		fputs("\r\n", out);
	}
}
