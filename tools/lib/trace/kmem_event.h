/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One line of an ftrace log as one event of the kmem group. The keys are looked
 * up by name, so that fields which come and go between kernels do not matter:
 *
 *	bash-811  [001] d..2  12.345678: kmalloc: call_site=foo+0x33/0x80
 *	  ptr=00000000c0ffee00 bytes_req=100 bytes_alloc=128 gfp_flags=GFP_KERNEL
 *	  node=-1 accounted=false
 *
 * Behind a call site in a module there is " [ext4]". Lines of perf script are
 * understood, too:
 *
 *	bash   811 [001] 12.345678: kmem:kmalloc: call_site=foo+0x33 ptr=…
 *		ffffffff8128e0a3 foo+0x33 ([kernel.kallsyms])
 *
 * and of the stack of ftrace: " => foo+0x33/0x80" below a line with "<stack trace>", between
 * which and its event there may be events of other CPUs. Pages have no call site: theirs
 * is "gfp_flags=…" as long as there is no stack. So are lines of latency traces, whose CPU is
 * "1d..2", and fields as the options "fields" and "raw" have them.
 */
#ifndef CODETAG_KMEM_EVENT_H
#define CODETAG_KMEM_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum kmem_kind {
	KMEM_NONE,		/* not of interest */
	KMEM_MALLOC, KMEM_CACHE_ALLOC,
	KMEM_FREE, KMEM_CACHE_FREE,
	KMEM_PAGE_ALLOC, KMEM_PAGE_FREE,	/* mm_page_alloc, mm_page_free */
	KMEM_STACK,		/* frames follow, of the last event of @cpu */
	KMEM_FRAME,		/* a line of a stack: the function is @site */
	KMEM_LOST,		/* "[LOST 17 EVENTS]" */
	KMEM_OVERWRITTEN,	/* the head of the trace file has the number */
	KMEM_BAD,		/* of interest, but not understood */
};

struct kmem_event {
	enum kmem_kind kind;
	int cpu;		/* -1: not known */
	uint64_t ptr;		/* 0: NULL; for pages their number */
	int64_t requested, allocated;
	int64_t order;		/* of pages */
	uint64_t lost;
	const char *why;	/* it is bad */
	int64_t line;		/* CPU in the log, 0: not known */
	double time;		/* in seconds, negative: not known */
	const char *site;	/* points into the line, not terminated; without "/0x80" */
	size_t site_len;
	const char *module;	/* "[ext4]" of a site in a module, else NULL */
	size_t module_len;
	const char *cache;	/* NULL: not known */
	size_t cache_len;
	const char *task;	/* "bash-811", in perf's logs "bash   811" */
	size_t task_len;
};

/* KMEM_NONE if no event has this name. */
enum kmem_kind kmem_kind_of(const char *name, size_t len);

/* Takes events from a reader. */
typedef void kmem_sink(void *context, const struct kmem_event *event);

/* Handles a line that kmem_event_parse() understands; a kmem_sink. */
void kmem_event_print(void *stream, const struct kmem_event *event);

/* @line is NUL-terminated, without its newline. */
void kmem_event_parse(struct kmem_event *event, const char *line);

/* Whether a line can be from a trace: its head, or an event of any kind ("… 12.345: open: …"). */
bool kmem_event_like(const char *line);

#endif
