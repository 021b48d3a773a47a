// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "write/export.h"

/* A spreadsheet would compute a cell that begins like a formula: "'" makes it text. */
void csv_text(FILE *out, const char *text)
{
	char *copy = xstrdup(text);
	const char *s = copy;
	bool formula;

	text_clean(copy);
	formula = *s && strchr("=+-@", *s);
	if (!formula && !strpbrk(s, ",\"")) {
		fputs(s, out);
		free(copy);
		return;
	}
	fputs(formula ? "\"'" : "\"", out);
	for (; *s; s++) {
		if (*s == '"')
			putc('"', out);
		putc(*s, out);
	}
	putc('"', out);
	free(copy);
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
