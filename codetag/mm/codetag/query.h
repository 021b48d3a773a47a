/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The query language: terms select call sites, an action changes them.
 *
 *	file GLOB		the whole path, or its end after a '/'
 *	func GLOB
 *	module GLOB		"vmlinux" is the kernel proper
 *	subsystem GLOB		"fs/ext4", "slab allocator": subsystem.c has the list
 *	line N | N-M | N- | -M
 *	id N
 *	not TERM		sites that TERM, one of those above, does not choose
 *	=p +p -p =_		set, add, remove flags, set none
 *	fault [SETTING=N ...]	arm a fault
 *	fault=off		disarm it
 *	guard [rate=N]		have KFENCE take every Nth object
 *	guard=off		no longer
 *	trace			an event for each allocation and free
 *	trace=off		no longer
 *	keys=KEY[,KEY...] [depth=N] [max=N]
 *				split the site: by caller, node, size, ...
 *	keys=none		end the split
 *
 * A query is any of these terms, joined by "and", and at most one action at its
 * end. Each kind of term can be in it once without and eight times with "not",
 * which leaves out the sites that the term matches. Queries are separated by ';' or a new
 * line. In a GLOB '*' stands for any characters, '/' too, and '?' for one. A word
 * that has blanks or separators in it is written "like this". A '#' at the start
 * of a word begins a comment, which ends with the line.
 *
 * query.c and subsystem.c take no locks, allocate nothing and keep no state,
 * because the codetag command is built with them, too.
 */
#ifndef _MM_CODETAG_QUERY_H
#define _MM_CODETAG_QUERY_H

#include <linux/types.h>

struct codetag;

/* Bytes of the longest word */
#define CODETAG_QUERY_WORD_MAX	255

/* How often a query can have each kind of term with "not" */
#define CODETAG_QUERY_NOTS	8

/* Bytes of the longest name of a subsystem; longer ones are cut */
#define CODETAG_SUBSYSTEM_MAX	79

/* The flags that actions change, and their letters */
#define CODETAG_FLAG_PROFILE	0x01	/* p: what the site allocates is charged to it */

enum codetag_action {
	CODETAG_ACTION_NONE,
	CODETAG_ACTION_SET,
	CODETAG_ACTION_ADD,
	CODETAG_ACTION_REMOVE,
	CODETAG_ACTION_FAULT,
	CODETAG_ACTION_FAULT_OFF,
	CODETAG_ACTION_GUARD,
	CODETAG_ACTION_GUARD_OFF,
	CODETAG_ACTION_KEYS,
	CODETAG_ACTION_TRACE,
	CODETAG_ACTION_TRACE_OFF,
};

/*
 * The keys that a site can be split by, in the order in which they are listed. X gets the name
 * in enum codetag_key and the word of the language. The rest is for the codetag command: the
 * name of the column, whether it holds a number, and the meaning. The last two keys have
 * frames instead of values.
 *
 * A new value is computed in codetag_get_values() of context.c and shown in show_values() of
 * context_show.c. Small ones share a word: CODETAG_SMALL_KEYS, codetag_small_values() and
 * show_small(). The command reads both in tools/lib/memory_image/contexts.c. Each value has
 * a case in tests/context_test.c.
 */
#define CODETAG_VALUE_KEYS(X)								\
	X(NODE,		"node",		"node",		true,	"memory node")		\
	X(CPU,		"cpu",		"cpu",		true,	"processor")		\
	X(ACCOUNTED,	"accounted",	"accounted",	false,	"to a control group")	\
	X(GFP,		"gfp",		"gfp",		false,	"allocation flags")	\
	X(SIZE,		"size",		"asked",	true,	"bytes asked for")	\
	X(AGE,		"age",		"age",		true,	"interval of time")	\
	X(CGROUP,	"cgroup",	"cgroup",	false,	"memory control group")	\
	X(TASK,		"task",		"task",		false,	"thread")

#define CODETAG_STACK_KEY(X)								\
	X(STACK,	"stack",	"stack",	false,	"callers")

#define CODETAG_CALLER_KEY(X)								\
	X(CALLER,	"caller",	"caller",	false,	"first caller that is no helper")

#define CODETAG_KEY_LIST(X) CODETAG_VALUE_KEYS(X) CODETAG_STACK_KEY(X) CODETAG_CALLER_KEY(X)

enum codetag_key {
#define CODETAG_KEY_ENUM(id, ...) CODETAG_KEY_##id,
	CODETAG_KEY_LIST(CODETAG_KEY_ENUM)
	CODETAG_NR_KEYS,
};

extern const char * const codetag_key_names[CODETAG_NR_KEYS];

/* The keys whose contexts have frames */
#define CODETAG_FRAME_KEYS	(BIT(CODETAG_KEY_STACK) | BIT(CODETAG_KEY_CALLER))

/* Frames, at most and by default; contexts of a site by default. The call site is a frame. */
#define CODETAG_DEPTH_MAX	32
#define CODETAG_DEPTH_STACK	16
#define CODETAG_DEPTH_CALLER	2
#define CODETAG_SITE_CONTEXTS	1024

/**
 * struct codetag_keys - how a site is asked to be split
 * @mask:	bits of enum codetag_key, and CODETAG_SPLIT_TRACE; 0: not split
 * @depth:	frames of a stack
 * @max:	contexts that the site may have
 */
struct codetag_keys {
	unsigned int mask;
	unsigned int depth;
	unsigned int max;
};

/**
 * struct codetag_fault_settings - what a fault is asked to do
 * @probability:	per cent of the allocations that fail
 * @interval:		of these, only every Nth one
 * @times:		limit of failures, -1: none
 * @space:		bytes to allocate before the first failure
 * @verbose:		messages: 0 none, 1 a line, 2 a stack, too
 * @task_filter:	only tasks that have make-it-fail set
 * @stacktrace_depth:	number of callers to compare with the next four
 * @require_start:	one of the callers has to be at this address or above
 * @require_end:	... and below this one
 * @reject_start:	none of the callers may be at this address or above
 * @reject_end:		... and below this one
 * @nth:		the allocation that fails, counted from 1; 0: not asked for
 *
 * All but @nth are settings of struct fault_attr. Only @verbose and @task_filter can be
 * given together with @nth.
 */
struct codetag_fault_settings {
	unsigned long probability;
	unsigned long interval;
	int times;
	int space;
	unsigned long verbose;
	bool task_filter;
	unsigned long stacktrace_depth;
	unsigned long require_start;
	unsigned long require_end;
	unsigned long reject_start;
	unsigned long reject_end;
	unsigned long nth;
};

/* Do the callers decide whether an allocation fails? Of settings, or of a struct fault_attr. */
#define codetag_fault_filters(fault)						\
	((fault)->require_start || (fault)->require_end != ULONG_MAX ||		\
	 (fault)->reject_start || (fault)->reject_end)

/**
 * struct codetag_terms - what the terms of a query say
 * @file:	glob for the path, NULL: not asked for
 * @func:	glob for the function, NULL: not asked for
 * @module:	glob for the module, NULL: not asked for
 * @subsystem:	glob for the part of the kernel, NULL: not asked for
 * @first_line:	first line
 * @last_line:	last line
 * @by_id:	the site's own id is asked for, it is @id
 * @id:		see @by_id
 *
 * The globs are in the text that was parsed.
 */
struct codetag_terms {
	const char *file;
	const char *func;
	const char *module;
	const char *subsystem;
	unsigned int first_line;
	unsigned int last_line;
	bool by_id;
	unsigned int id;
};

/**
 * struct codetag_query - one query
 * @all:	a site is chosen if all of these terms match; 0 to UINT_MAX when
 *		lines are not asked for
 * @none:	... and none of these, which were given with "not": the first of each
 *		kind in the first element, and so on; UINT_MAX to 0 when lines are not
 *		asked for
 * @action:	what to do with the sites
 * @flags:	of CODETAG_ACTION_SET, ADD and REMOVE: CODETAG_FLAG_* bits
 * @fault:	of CODETAG_ACTION_FAULT
 * @rate:	of CODETAG_ACTION_GUARD: every one of so many objects
 * @keys:	of CODETAG_ACTION_KEYS
 * @start:	where the query begins in what was parsed
 * @action_start: where its action begins, @end if it has none
 * @end:	where it ends, without the separator
 */
struct codetag_query {
	struct codetag_terms all;
	struct codetag_terms none[CODETAG_QUERY_NOTS];
	enum codetag_action action;
	u8 flags;
	struct codetag_fault_settings fault;
	unsigned long rate;
	struct codetag_keys keys;
	size_t start;
	size_t action_start;
	size_t end;
};

/**
 * struct codetag_query_error - what is wrong with a text
 * @why:	the reason
 * @token:	the word that is wrong, cut if it is long, '?' for what is not
 *		printable ASCII
 * @position:	where that word begins, in bytes from the start of the text
 */
struct codetag_query_error {
	const char *why;
	char token[32];
	size_t position;
};

int codetag_query_parse(char *text, size_t len, size_t *pos, struct codetag_query *q,
			struct codetag_query_error *err);
bool codetag_query_matches(const struct codetag_query *q, const struct codetag *ct,
			   u16 id, const char *modname, bool builtin);
bool codetag_query_names_module(const struct codetag_query *q);
void codetag_subsystem(char *name, const char *path, const char *modname);

#endif /* _MM_CODETAG_QUERY_H */
