// SPDX-License-Identifier: GPL-2.0-only
#include "memory_view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "base/number.h"
#include "read/input.h"
#include "source/host.h"
#include "source/sections.h"
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

/* A file that an option names has to exist. */
static bool read_text(const char *given, const char *own, enum member m, bool live,
		      char **text, size_t *len)
{
	*text = NULL;
	*len = 0;
	if (!given && !live)
		return true;
	if (given)
		return sections_read(m, given, text, len);
	input_read(own, text, len);
	return true;
}

/* The files without an option, of this machine. */
static void read_more(struct machine *machine)
{
	const struct host_options read = { .no_sites = true };
	struct snapshot host;

	host_read_live(&host, &read);
	machine->page_size = host.machine.page_size;
	machine->vmstat = host.machine.vmstat;
	machine->stats = host.machine.stats;
	machine->iomem = host.machine.iomem;
	machine->vmalloc = host.machine.vmalloc;
	host.machine.vmstat = host.machine.stats = host.machine.iomem = (struct fields){ 0 };
	host.machine.vmalloc = (struct holders){ 0 };
	snapshot_free(&host);
}

/* Warns and returns false if @path has more than one copy. */
static bool one_copy(size_t copies, const char *path)
{
	if (copies > 1)
		warning("%s has %zu copies: this is the last one", input_name(path), copies);
	return copies <= 1;
}

bool machine_read(struct machine *machine, const struct machine_files *files,
		  bool live, bool *any, bool *one)
{
	size_t len;
	char *text;

	*machine = (struct machine){ 0 };
	*any = false;
	*one = true;
	if (!read_text(files->meminfo, "/proc/meminfo", MEMINFO, live, &text, &len))
		return false;
	if (!text)
		return true;
	meminfo_parse(&machine->meminfo, text, len);
	*any = bad_lines_none(&machine->meminfo.bad, files->meminfo ? files->meminfo : "/proc/meminfo");
	if (!*any)
		return false;
	*one = one_copy(fields_last_copy(&machine->meminfo), files->meminfo);
	if (!read_text(files->slabinfo, "/proc/slabinfo", SLABINFO, live, &text, &len))
		return false;
	if (text) {
		slabinfo_parse(&machine->slabinfo, text, len);
		*any = bad_lines_none(&machine->slabinfo.bad,
				      files->slabinfo ? files->slabinfo : "/proc/slabinfo");
		*one &= one_copy(machine->slabinfo.lists, files->slabinfo);
	}
	if (!*any)
		return false;
	if (!read_text(files->zoneinfo, "/proc/zoneinfo", ZONEINFO, live, &text, &len))
		return false;
	if (text) {
		zoneinfo_parse(&machine->pages, text, len);
		if (files->zoneinfo && !machine->pages.copies) {
			warning("%s is not in the format of /proc/zoneinfo", input_name(files->zoneinfo));
			free(text);
			return false;
		}
		*any = bad_lines_none(&machine->pages.bad,
				      files->zoneinfo ? files->zoneinfo : "/proc/zoneinfo");
		*one &= one_copy(machine->pages.copies, files->zoneinfo);
	}
	free(text);
	if (live && *any)
		read_more(machine);
	return *any;
}

struct view {
	const struct explanation *e;
	struct table table;
	bool human;
};

static void add_line(struct view *view, const char *label, int64_t bytes)
{
	char text[SIZE_TEXT];

	table_cell(&view->table, label);
	table_cell(&view->table, size_format(text, bytes, view->human));
	table_cell(&view->table, percent_format(text, percent(bytes, view->e->installed)));
}

void memory_view(const struct explanation *e, const struct output *output)
{
	static const struct table_column columns[] = {
		{ "MEMORY", false, NULL, false }, { "SIZE", true, NULL, false }, { "SHARE", true, NULL, false },
	};
	struct view view = {
		.e = e, .table = { .column = columns, .columns = 3 },
		.human = output_human(output),
	};
	char size[SIZE_TEXT], label[80];

	if (e->installed_known) {
		add_line(&view, "installed", e->installed);
		add_line(&view, "  kept at boot", e->boot);
	} else {
		add_line(&view, "installed, without what was kept at boot", e->total);
	}
	add_line(&view, "  free", e->free);
	if (e->cpu_lists_known)
		add_line(&view, "  free, on the lists of CPUs", e->cpu_lists);
	add_line(&view, "  used", e->used);
	for (unsigned int i = 0; i < MEMORY_KINDS; i++) {
		if (!e->kind[i])
			continue;
		snprintf(label, sizeof(label), "    %s%s", memory_kind(i)->words,
			 e->at_most[i] ? ", at most" : "");
		add_line(&view, label, e->kind[i]);
	}
	table_print(&view.table, stdout, true, output_colour());
	table_free(&view.table);

	if (!e->cpu_lists_known)
		puts("Free pages on the lists of CPUs are not known (zoneinfo) and count as used.");
	if (!e->exact && e->has_sites)
		puts("Which part of the call sites' memory is pages is not known: only a kernel with codetag "
		     "can count it (codetag where).");
	if (e->overlap)
		printf("The files are of different times: the kinds had %s too much.\n",
		       size_format(size, e->overlap, view.human));
}

void memory_fields_json(const struct explanation *e, struct json *json)
{
	json_int(json, "installed", e->installed);
	json_bool(json, "installed_known", e->installed_known);
	json_int(json, "boot", e->boot);
	json_int(json, "total", e->total);
	json_int(json, "in_no_zone", e->in_no_zone);
	json_int(json, "used", e->used);
	json_int(json, "free", e->free);
	json_int(json, "cpu_lists", e->cpu_lists);
	json_bool(json, "percpu_free_known", e->cpu_lists_known);
	json_int(json, "droppable", explain_droppable(e));
	json_int(json, "pinned", explain_pinned(e));
	json_int(json, "sites", e->sites);
	json_int(json, "charged_pages", e->charged);
	json_bool(json, "exact", e->exact);
	json_int(json, "overlap", e->overlap);
	json_int(json, "attributed", e->used - e->kind[MEMORY_UNACCOUNTED]);
	json_int(json, "not_attributed", e->kind[MEMORY_UNACCOUNTED]);
	json_array(json, "boot_parts");
	for (unsigned int i = 0; i < BOOT_PARTS; i++) {
		if (!e->boot_part[i])
			continue;
		json_object(json, NULL);
		json_string(json, "what", boot_part_words(i));
		json_int(json, "size", e->boot_part[i]);
		json_end_object(json);
	}
	json_end_array(json);
}

void memory_kind_json(const struct explanation *e, enum memory_kind_id id, struct json *json)
{
	const struct memory_kind *kind = memory_kind(id);

	json_string(json, "name", kind->name);
	json_string(json, "what", kind->words);
	json_int(json, "size", e->kind[id]);
	json_int(json, "droppable", e->droppable[id]);
	json_bool(json, "at_most", e->at_most[id]);
	json_string(json, "source", kind->source);
}

void memory_json(const struct explanation *e, struct json *json)
{
	json_object(json, "memory");
	memory_fields_json(e, json);
	json_array(json, "kinds");
	for (unsigned int i = 0; i < MEMORY_KINDS; i++) {
		json_object(json, NULL);
		memory_kind_json(e, i, json);
		json_end_object(json);
	}
	json_end_array(json);
	json_end_object(json);
}
