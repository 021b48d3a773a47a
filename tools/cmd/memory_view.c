// SPDX-License-Identifier: GPL-2.0
#include "memory_view.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "base/number.h"
#include "read/input.h"
#include "write/table.h"

enum { KEY_MEMINFO = 0x300, KEY_SLABINFO, KEY_ZONEINFO };

static const struct argp_option options[] = {
	{ "meminfo", KEY_MEMINFO, "FILE", 0,
	  "Compare with FILE, a copy of /proc/meminfo of the same machine and time", 3 },
	{ "slabinfo", KEY_SLABINFO, "FILE", 0, "Likewise /proc/slabinfo", 3 },
	{ "zoneinfo", KEY_ZONEINFO, "FILE", 0, "Likewise /proc/zoneinfo", 3 },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct machine_files *files = state->input;

	switch (key) {
	case KEY_MEMINFO:
		files->meminfo = arg;
		return 0;
	case KEY_SLABINFO:
		files->slabinfo = arg;
		return 0;
	case KEY_ZONEINFO:
		files->zoneinfo = arg;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

const struct argp machine_argp = { options, parse, NULL, NULL, NULL, NULL, NULL };

/* One that was given has to be there. */
static bool read_text(const char *given, const char *own, bool live,
		      char **text, size_t *len)
{
	*text = NULL;
	if (!given && !live)
		return true;
	if (input_read(given ? given : own, text, len) || !given)
		return true;
	input_complain(given, errno);
	return false;
}

bool machine_read(struct machine *machine, const struct machine_files *files,
		  bool live, bool *any)
{
	size_t len;
	char *text;

	*machine = (struct machine){ 0 };
	*any = false;
	if (!read_text(files->meminfo, "/proc/meminfo", live, &text, &len))
		return false;
	if (!text)
		return true;
	*any = true;
	fields_parse(&machine->meminfo, text, len);
	if (!read_text(files->slabinfo, "/proc/slabinfo", live, &text, &len))
		return false;
	if (text)
		slabinfo_parse(&machine->slabinfo, text, len);
	if (!read_text(files->zoneinfo, "/proc/zoneinfo", live, &text, &len))
		return false;
	if (text)
		zoneinfo_parse(&machine->pages, text, len);
	free(text);
	return true;
}

static void add_line(struct table *table, const char *label, int64_t bytes,
		     const struct reconciliation *r, bool human)
{
	char text[SIZE_TEXT];

	table_cell(table, label);
	table_cell(table, size_format(text, bytes, human));
	table_cell(table, percent_format(text, percent(bytes, r->used)));
}

void memory_view(const struct reconciliation *r, const struct output *output)
{
	static const struct table_column columns[] = {
		{ "MEMORY", false, NULL, false }, { "SIZE", true, NULL, false }, { "SHARE", true, NULL, false },
	};
	struct table table = { .column = columns, .columns = 3 };
	bool human = output_human(output);
	char size[SIZE_TEXT], label[64];

	add_line(&table, "in use (all that is not free)", r->used, r, human);
	add_line(&table, "  attributed to call sites", r->attributed, r, human);
	for (unsigned int i = 0; i < r->kinds; i++) {
		snprintf(label, sizeof(label), "    %s", r->kind[i].name);
		add_line(&table, label, r->kind[i].bytes, r, human);
	}
	add_line(&table, "  not attributed", r->unattributed, r, human);
	table_print(&table, stdout, true, output_colour());
	table_free(&table);

	printf("Objects inside slab pages are charged twice and taken out once: %s%s.\n",
	       r->slab_objects_known ? "" : "at most ",
	       size_format(size, r->slab_objects, human));
	if (!r->percpu_known)
		puts("Free pages on the lists of CPUs are not known (zoneinfo) and count as in use.");
	if (r->percpu_objects)
		printf("Likewise objects inside percpu chunks: at most %s.\n",
		       size_format(size, r->percpu_objects, human));
}

void memory_json(const struct reconciliation *r, struct json *json)
{
	json_object(json, "memory");
	json_int(json, "total", r->total);
	json_int(json, "used", r->used);
	json_int(json, "sites", r->sites);
	json_int(json, "slab_objects", r->slab_objects);
	json_bool(json, "slab_objects_known", r->slab_objects_known);
	json_int(json, "percpu_objects", r->percpu_objects);
	json_bool(json, "percpu_free_known", r->percpu_known);
	json_int(json, "attributed", r->attributed);
	json_int(json, "not_attributed", r->unattributed);
	json_array(json, "kinds");
	for (unsigned int i = 0; i < r->kinds; i++) {
		json_object(json, NULL);
		json_string(json, "name", r->kind[i].name);
		json_int(json, "size", r->kind[i].bytes);
		json_end_object(json);
	}
	json_end_array(json);
	json_end_object(json);
}
