// SPDX-License-Identifier: GPL-2.0-only
#include "trace/kmem_tep.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* As in a trace in text. Looking up a symbol takes long, and there are few callers. */
static const char *site_name(struct kmem_tep *reader, uint64_t address)
{
	size_t slot = (size_t)(address * 0x9e3779b97f4a7c15 >> 32) & (KMEM_TEP_SITES - 1);
	struct kmem_tep_site *site = &reader->site[slot];
	const char *function;
	struct text name = { 0 };

	if (site->name && site->address == address)
		return site->name;
	function = tep_find_function(reader->tep, address);
	if (function)
		text_printf(&name, "%s+0x%" PRIx64, function, (uint64_t)
			    (address - tep_find_function_address(reader->tep, address)));
	else
		text_printf(&name, "0x%" PRIx64, address);
	free(site->name);
	site->address = address;
	site->name = name.s;
	return site->name;
}

static bool read_field(uint64_t *value, struct tep_event *event, const char *name,
		       struct tep_record *record)
{
	unsigned long long number;

	if (tep_get_field_val(NULL, event, name, record, &number, 0))
		return false;
	*value = number;
	return true;
}

static bool read_size(int64_t *size, struct tep_event *event, const char *name,
		      struct tep_record *record)
{
	uint64_t value;

	if (!read_field(&value, event, name, record) || value > INT64_MAX)
		return false;
	*size = (int64_t)value;
	return true;
}

static void read_cache(struct kmem_event *out, struct tep_event *event,
		       struct tep_record *record)
{
	int len;

	out->cache = tep_get_field_raw(NULL, event, "name", record, &len, 0);
	out->cache_len = out->cache && len > 0 ? strnlen(out->cache, len) : 0;
	if (!out->cache_len)
		out->cache = NULL;
}

static void decode(struct kmem_tep *reader, struct kmem_event *out,
		   struct tep_event *event, struct tep_record *record)
{
	bool is_alloc = out->kind == KMEM_MALLOC || out->kind == KMEM_CACHE_ALLOC;
	uint64_t address;

	if (!read_field(&address, event, "call_site", record) ||
	    !read_field(&out->ptr, event, "ptr", record) ||
	    (is_alloc && (!read_size(&out->requested, event, "bytes_req", record) ||
			  !read_size(&out->allocated, event, "bytes_alloc", record)))) {
		out->kind = KMEM_BAD;
		return;
	}
	out->site = site_name(reader, address);
	out->site_len = strlen(out->site);
	read_cache(out, event, record);
}

/* "bash-811", as a trace in text has it. */
static void read_task(struct kmem_tep *reader, struct kmem_event *out, struct tep_record *record)
{
	int pid = tep_data_pid(reader->tep, record);
	const char *comm = tep_data_comm_from_pid(reader->tep, pid);

	text_clear(&reader->task);
	text_printf(&reader->task, "%s-%d", comm ? comm : "<...>", pid);
	out->task = reader->task.s;
	out->task_len = reader->task.len;
}

/* The flags of pages are names, which only the event's text has. */
static void decode_page(struct kmem_tep *reader, struct kmem_event *out,
			struct tep_event *event, struct tep_record *record)
{
	struct trace_seq seq;
	int cpu = out->cpu;

	trace_seq_init(&seq);
	tep_print_event(reader->tep, &seq, record, "%s", TEP_PRINT_INFO);
	trace_seq_terminate(&seq);
	text_clear(&reader->line);
	text_printf(&reader->line, "%s: %s", event->name, seq.buffer);
	trace_seq_destroy(&seq);
	kmem_event_parse(out, reader->line.s);
	if (out->kind == KMEM_NONE)
		out->kind = KMEM_BAD;
	out->cpu = cpu;
}

static void read_stack(struct kmem_tep *reader, struct tep_event *event,
		       struct tep_record *record, int cpu)
{
	const struct kmem_event head = { .kind = KMEM_STACK, .cpu = cpu };
	struct tep_format_field *field = tep_find_any_field(event, "caller");
	int size = tep_get_long_size(reader->tep);
	unsigned long long depth;

	if (!field || (size != 4 && size != 8) || field->offset > record->size)
		return;
	reader->sink(reader->context, &head);
	/* The format describes eight functions; the record has as many as there are. */
	if (tep_get_field_val(NULL, event, "size", record, &depth, 0))
		depth = UINT64_MAX;
	for (int at = field->offset; at + size <= record->size && depth; at += size, depth--) {
		uint64_t address = tep_read_number(reader->tep, (char *)record->data + at, size);
		struct kmem_event out = { .kind = KMEM_FRAME, .cpu = -1 };
		const char *function = tep_find_function(reader->tep, address);

		/* Without a size this marks the end. */
		if (!address || address == (size == 8 ? UINT64_MAX : UINT32_MAX))
			break;
		text_clear(&reader->line);
		if (function)
			text_puts(&reader->line, function);
		else
			text_printf(&reader->line, "0x%" PRIx64, address);
		out.site = reader->line.s;
		out.site_len = reader->line.len;
		reader->sink(reader->context, &out);
	}
}

void kmem_tep_read(struct kmem_tep *reader, struct tep_record *record, int cpu)
{
	struct tep_event *event = tep_find_event_by_record(reader->tep, record);
	struct kmem_event out = { .cpu = cpu };

	if (record->missed_events) {
		/* Negative: an unknown number. */
		out.kind = KMEM_LOST;
		out.lost = record->missed_events > 0 ? record->missed_events : 1;
		reader->sink(reader->context, &out);
	}
	if (!event)
		return;
	out = (struct kmem_event){
		.kind = kmem_kind_of(event->name, strlen(event->name)), .cpu = cpu,
	};
	if (!strcmp(event->name, "kernel_stack"))
		read_stack(reader, event, record, cpu);
	if (out.kind == KMEM_NONE)
		return;
	if (out.kind == KMEM_PAGE_ALLOC || out.kind == KMEM_PAGE_FREE)
		decode_page(reader, &out, event, record);
	else
		decode(reader, &out, event, record);
	read_task(reader, &out, record);
	reader->sink(reader->context, &out);
}

void kmem_tep_free(struct kmem_tep *reader)
{
	for (size_t i = 0; i < KMEM_TEP_SITES; i++)
		free(reader->site[i].name);
	text_free(&reader->task);
	text_free(&reader->line);
	free(reader);
}
