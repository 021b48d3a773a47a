// SPDX-License-Identifier: GPL-2.0-only
#include "trace_choice.h"

#include <unistd.h>

#include "arguments.h"

enum { KEY_MALLOC = 0x500, KEY_CACHE, KEY_STACK, KEY_PAGES, KEY_PAGE_SIZE, KEY_FROM };

static const struct argp_option options[] = {
	{ "malloc", KEY_MALLOC, NULL, 0, "Only kmalloc and its like", 0 },
	{ "cache", KEY_CACHE, "NAME", OPTION_ARG_OPTIONAL,
	  "Only kmem_cache_alloc, of the cache NAME as far as the log tells caches", 0 },
	{ "from", KEY_FROM, "GLOB", 0, "Only callers whose name GLOB matches, such as 'alloc_skb*'", 0 },
	{ "stack", KEY_STACK, "N", OPTION_ARG_OPTIONAL,
	  "Callers are the N (default: 1) innermost functions of the stack behind an event in "
	  "the log, without those that allocate for others such as kstrdup", 0 },
	{ "pages", KEY_PAGES, NULL, 0,
	  "Count pages (mm_page_alloc, mm_page_free) and not slab objects, which are in pages", 0 },
	{ "page-size", KEY_PAGE_SIZE, "BYTES", 0,
	  "Of the machine that the file is from (default: of this machine)", 0 },
	{ 0 }
};

static void finish(const struct trace_choice *choice, struct argp_state *state)
{
	bool malloc_only = choice->filter.malloc_only, cache_only = choice->filter.cache_only;
	bool contexts = choice->contexts && choice->contexts->used;
	bool sized = choice->page_size && !choice->pages;
	const struct conflict conflicts[] = {
		{ malloc_only && cache_only, "--malloc and --cache leave nothing", NULL },
		{ sized && !contexts, "--page-size goes with --pages", NULL },
		{ sized && contexts && !choice->contexts->path,
		  "--page-size is for a file of page_owner", NULL },
		{ choice->pages && (malloc_only || cache_only), "pages are in no cache", NULL },
	};

	CHECK_CONFLICTS(conflicts, state);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct trace_choice *choice = state->input;

	switch (key) {
	case KEY_MALLOC:
		choice->filter.malloc_only = true;
		break;
	case KEY_CACHE:
		choice->filter.cache_only = true;
		choice->filter.cache = arg;
		break;
	case KEY_FROM:
		choice->filter.caller = arg;
		break;
	case KEY_STACK:
		choice->frames = arg ? argument_number("--stack", arg, 1, 64, state) : 1;
		break;
	case KEY_PAGES:
		choice->pages = true;
		break;
	case KEY_PAGE_SIZE:
		choice->page_size = argument_page_size(arg, state);
		return 0;
	case ARGP_KEY_END:
		finish(choice, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	choice->given = true;
	return 0;
}

const struct argp trace_choice_argp = { options, parse, NULL, NULL, NULL, NULL, NULL };

void trace_choice_start(const struct trace_choice *choice, struct kmem *kmem)
{
	*kmem = (struct kmem){
		.pages = choice->pages,
		.page_size = choice->page_size ? choice->page_size : sysconf(_SC_PAGESIZE),
	};
}
