// SPDX-License-Identifier: GPL-2.0-only
#include "trace/line_record.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/text.h"
#include "read/input.h"
#include "trace/trace_instance.h"

struct line_record {
	struct text dir;	/* of the instance */
};

static const char *const tracefs[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };

/* The instance to remove if the program exits, for example because it is out of memory. */
static struct line_record *active;

static void destroy(struct line_record *record)
{
	active = NULL;
	if (record->dir.len)
		trace_instance_remove(record->dir.s);
	text_free(&record->dir);
	free(record);
}

static void destroy_at_exit(void)
{
	if (active)
		destroy(active);
}

static bool make_instance(struct line_record *record)
{
	for (size_t i = 0; i < sizeof(tracefs) / sizeof(*tracefs); i++) {
		text_clear(&record->dir);
		text_printf(&record->dir, "%s/instances/codetag-%d", tracefs[i], getpid());
		if (!mkdir(record->dir.s, 0700))
			return true;
		if (errno != ENOENT)
			break;
	}
	text_clear(&record->dir);
	return false;
}

struct line_record *line_record_start(int64_t bytes, const char **why)
{
	struct line_record *record = xcalloc(1, sizeof(*record));
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	char kb[24];

	*why = NULL;
	atexit(destroy_at_exit);
	active = record;
	bytes /= 1024 * (cpus > 0 ? cpus : 1);
	snprintf(kb, sizeof(kb), "%" PRId64, bytes ? bytes : 1);
	if (!make_instance(record)) {
		if (errno == ENOENT)
			*why = "there is no tracefs";
	} else if (!trace_instance_write(record->dir.s, "buffer_size_kb", kb)) {
		*why = errno ? strerror(errno) : "it takes no settings";
	} else if (!trace_instance_write(record->dir.s, "events/codetag/enable", "1")) {
		*why = "this kernel cannot trace call sites";
	} else {
		/* Two objects could have one hash. Older kernels have no such option. */
		trace_instance_write(record->dir.s, "options/hash-ptr", "0");
		return record;
	}
	destroy(record);
	return NULL;
}

static bool read_hex(const char *line, const char *key, uint64_t *value)
{
	const char *at = strstr(line, key);
	char *end;

	if (!at)
		return false;
	at += strlen(key);
	*value = strtoull(at, &end, 16);
	return end > at;
}

static bool read_number(const char *line, const char *key, int64_t *value)
{
	const char *at = strstr(line, key);
	char *end;

	if (!at)
		return false;
	at += strlen(key);
	*value = strtoll(at, &end, 10);
	return end > at && *value >= 0;
}

/* "sh-50 [001] d..2 12.345678: alloc: id=17 address=… bytes=128 gfp=GFP_KERNEL node=0" */
static const char *event_of(const char *line, bool *alloc)
{
	const char *fields = strstr(line, ": alloc: id=");

	*alloc = fields;
	return fields ? fields : strstr(line, ": free: id=");
}

bool line_record_is_event(const char *line)
{
	bool alloc;

	return event_of(line, &alloc);
}

void line_record_add(struct kmem *kmem, const char *line, line_name *name, void *context)
{
	struct kmem_event event;
	const char *fields;
	int64_t id, cpu;
	bool alloc;

	fields = event_of(line, &alloc);
	if (!fields) {
		kmem_event_parse(&event, line);
		if (event.kind == KMEM_LOST || event.kind == KMEM_OVERWRITTEN)
			kmem_add(kmem, &event);
		return;
	}
	event = (struct kmem_event){
		.kind = alloc ? KMEM_CACHE_ALLOC : KMEM_CACHE_FREE, .cpu = -1, .time = -1,
	};
	if (read_number(line, " [", &cpu))
		event.cpu = (int)cpu;
	if (!read_number(fields, ": id=", &id) || id > UINT16_MAX ||
	    !read_hex(fields, " address=", &event.ptr) ||
	    !read_number(fields, " bytes=", &event.allocated)) {
		event.kind = KMEM_BAD;
	} else {
		event.site = name(context, (unsigned int)id);
		event.site_len = strlen(event.site);
		event.requested = event.allocated;
		kmem->unasked = 1;
		/* As in other frees, which do not tell the size. */
		if (!alloc)
			event.requested = event.allocated = 0;
	}
	kmem_add(kmem, &event);
}

const char *line_record_finish(struct line_record *record, struct kmem *kmem, line_name *name,
			       void *context)
{
	const char *why = NULL;
	struct text path = { 0 };
	char *line = NULL;
	size_t room = 0;
	ssize_t len;
	FILE *in;

	trace_instance_write(record->dir.s, "tracing_on", "0");
	text_printf(&path, "%s/trace", record->dir.s);
	in = fopen(path.s, "re");
	text_free(&path);
	if (in) {
		while ((len = input_next_line(in, &line, &room)) > 0)
			line_record_add(kmem, line, name, context);
		if (len < 0)
			why = "the events cannot be read";
		fclose(in);
	} else {
		why = "the events cannot be read";
	}
	free(line);
	destroy(record);
	return why;
}
