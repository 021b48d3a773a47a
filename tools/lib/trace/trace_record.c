// SPDX-License-Identifier: GPL-2.0-only
#include "trace/trace_record.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tracefs.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/message.h"
#include "base/number.h"
#include "read/input.h"
#include "trace/kmem_tep.h"
#include "trace/trace_instance.h"

struct trace_record {
	struct tracefs_instance *instance;
	long cpus;
};

/* Events that this kernel has; older kernels have more. */
static const char *const events[] = {
	"kmalloc", "kmalloc_node", "kmem_cache_alloc", "kmem_cache_alloc_node",
	"kfree", "kmem_cache_free",
};

/* The instance to remove if the program exits, for example because it is out of memory. */
static struct trace_record *active;

static void destroy(struct trace_record *record)
{
	char *dir;

	active = NULL;
	if (record->instance) {
		dir = tracefs_instance_get_dir(record->instance);
		if (dir)
			trace_instance_remove(dir);
		else
			tracefs_instance_destroy(record->instance);
		tracefs_put_tracing_file(dir);
		tracefs_instance_free(record->instance);
	}
	free(record);
}

static void destroy_at_exit(void)
{
	if (active)
		destroy(active);
}

static bool enable(struct tracefs_instance *instance)
{
	size_t enabled = 0;

	for (size_t i = 0; i < sizeof(events) / sizeof(*events); i++)
		if (tracefs_event_file_exists(instance, "kmem", events[i], "enable"))
			enabled += !tracefs_event_enable(instance, "kmem", events[i]);
	return enabled;
}

struct trace_record *trace_record_start(int64_t bytes, const char **why)
{
	struct trace_record *record = xcalloc(1, sizeof(*record));
	char name[32];
	int64_t kb;

	*why = NULL;
	atexit(destroy_at_exit);
	active = record;
	record->cpus = sysconf(_SC_NPROCESSORS_CONF);
	kb = bytes / 1024 / (record->cpus > 0 ? record->cpus : 1);
	snprintf(name, sizeof(name), "codetag-%d", getpid());
	tep_set_loglevel(TEP_LOG_NONE);
	tracefs_set_loglevel(TEP_LOG_NONE);
	if (!tracefs_tracing_dir()) {
		*why = "there is no tracefs";
	} else {
		errno = 0;
		record->instance = tracefs_instance_create(name);
	}
	if (record->instance) {
		/*
		 * Switches all events on at once: otherwise a free could come without its
		 * allocation.
		 */
		if (tracefs_trace_off(record->instance) ||
		    tracefs_instance_set_buffer_size(record->instance, kb ? kb : 1, -1))
			*why = errno ? strerror(errno) : "it takes no settings";
		else if (!enable(record->instance))
			*why = "this kernel has no kmem events";
		else if (!tracefs_trace_on(record->instance))
			return record;
	}
	destroy(record);
	return NULL;
}

static void add_stat(int64_t *sum, const char *stats, const char *key)
{
	const char *at = strstr(stats, key);
	int64_t number;

	if (!at)
		return;
	at += strlen(key);
	if (number_read(&at, &number))
		*sum = add64(*sum, number);
}

/* Counts the events that did not fit into the buffer. */
static void add_stats(const struct trace_record *record, struct kmem *kmem)
{
	for (long cpu = 0; cpu < record->cpus; cpu++) {
		char name[48], *stats;

		snprintf(name, sizeof(name), "per_cpu/cpu%ld/stats", cpu);
		stats = tracefs_instance_file_read(record->instance, name, NULL);
		if (!stats)
			continue;
		/* "commit overrun" is another line. */
		add_stat(&kmem->overwritten, stats, "\noverrun: ");
		add_stat(&kmem->lost, stats, "\ndropped events: ");
		free(stats);
	}
}

static void add_event(void *kmem, const struct kmem_event *event)
{
	kmem_add(kmem, event);
}

static int add(struct tep_event *event, struct tep_record *record, int cpu, void *context)
{
	(void)event;
	/* Lost events are counted in the statistics of the buffer. */
	record->missed_events = 0;
	kmem_tep_read(context, record, cpu);
	return 0;
}

/*
 * The formats of our events, NULL if none can be read. tracefs_local_events_system() would read
 * the names of all functions, too, with a reallocation for every page.
 */
static struct tep_handle *read_formats(void)
{
	struct tep_handle *tep = tep_alloc();
	char *text = tracefs_instance_file_read(NULL, "events/header_page", NULL);
	size_t known = 0;
	int size;

	if (!tep)
		die("out of memory");
	tep_set_file_bigendian(tep, tep_is_local_bigendian(tep) ? TEP_BIG_ENDIAN : TEP_LITTLE_ENDIAN);
	tep_set_long_size(tep, sizeof(long));
	tep_parse_header_page(tep, text, text ? strlen(text) : 0, sizeof(long));
	free(text);
	for (size_t i = 0; i < sizeof(events) / sizeof(*events); i++) {
		text = tracefs_event_file_read(NULL, "kmem", events[i], "format", &size);
		known += text && !tep_parse_event(tep, text, size, "kmem");
		free(text);
	}
	if (known)
		return tep;
	tep_free(tep);
	return NULL;
}

static const char *read_events(struct trace_record *record, struct kmem_tep *reader)
{
	const char *why = NULL;
	char *symbols;
	size_t len;

	reader->tep = read_formats();
	if (!reader->tep)
		return "the formats of the events cannot be read";
	/* Without the names, callers are addresses. */
	if (input_read("/proc/kallsyms", &symbols, &len)) {
		tep_parse_kallsyms(reader->tep, symbols);
		free(symbols);
	}
	if (tracefs_iterate_raw_events(reader->tep, record->instance, NULL, 0, add, reader))
		why = "the events cannot be read";
	tep_free(reader->tep);
	return why;
}

const char *trace_record_finish(struct trace_record *record, struct kmem *kmem)
{
	struct kmem_tep *reader = xcalloc(1, sizeof(*reader));
	const char *why;

	tracefs_trace_off(record->instance);
	add_stats(record, kmem);
	reader->sink = add_event;
	reader->context = kmem;
	why = read_events(record, reader);
	kmem_tep_free(reader);
	destroy(record);
	return why;
}
