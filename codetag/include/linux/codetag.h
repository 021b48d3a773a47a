/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Code tags: the identity of a call site.
 *
 * Every tagged call site emits one struct codetag into the ELF section
 * "alloc_tags" of the kernel or of its module. At run time a tag has a 16-bit
 * id. So a page or slab object that the site allocates can store its tag in
 * two bytes.
 */
#ifndef _LINUX_CODETAG_H
#define _LINUX_CODETAG_H

#include <linux/build_bug.h>
#include <linux/types.h>

struct module;

/*
 * The lowest ids name no call site:
 *
 * NONE			not profiled; held by every free page and object; its
 *			counters have no meaning
 * UNREPRESENTABLE	the ids, or the bits that hold them, are used up
 * EARLY		allocated before the ids were given out
 * UNLOADED		a module's site whose names could not be kept
 * UNTAGGED		allocated through no alloc_hooks() at all
 * TAIL + order		not a charge: held by the first page of a non-compound
 *			allocation, which has no other place for its order; the
 *			second page holds the id
 *
 * The first five are rows of /proc/allocinfo, except NONE.
 */
enum codetag_id {
	CODETAG_ID_NONE,
	CODETAG_ID_UNREPRESENTABLE,
	CODETAG_ID_EARLY,
	CODETAG_ID_UNLOADED,
	CODETAG_ID_UNTAGGED,
	CODETAG_ID_NR_RESERVED,

	CODETAG_ID_TAIL		= 8,
	CODETAG_ID_FIRST	= 32,
	CODETAG_ID_MAX		= 65535,
};

/* Bits of codetag.state */
#define CODETAG_INACCURATE	0x01	/* charges of the site went to a reserved id */
#define CODETAG_SPLIT		0x02	/* the site has been split, see mm/codetag/context.h */

/**
 * struct codetag - one call site
 * @id:		id that new allocations are charged to: the site's own id, or
 *		CODETAG_ID_NONE while its profiling is off or it is split. The
 *		site gets its own id before it can run; until then it has the
 *		reserved one that CODE_TAG_INIT names.
 * @state:	CODETAG_* bits, only ever set, by codetag_set_state()
 * @fault:	what is armed for the site: CODETAG_ARMED_* bits, see mm/codetag/armed.h
 * @lineno:	line of the site
 * @function:	function the site is in
 * @filename:	source file, as the compiler names it; in built-in code the end of a
 *		longer string, see CODETAG_FILENAME()
 */
struct codetag {
	u16 id;
	u8 state;
	u8 fault;
	unsigned int lineno;
	const char *function;
	const char *filename;
} __aligned(8);
static_assert(sizeof(struct codetag) <= 24);

/*
 * The string of a built-in site has a module name in front of the file name:
 * ":slub:mm/slub.c". It is the name that the code would have as a module. Only queries
 * use it.
 */
#define CODETAG_FILENAME(_modname, _filename)					\
	(&":" _modname ":" _filename[sizeof(":" _modname ":") - 1])

#ifdef MODULE
#define CT_INITIAL_ID	CODETAG_ID_UNREPRESENTABLE
#define CT_FILENAME	__FILE__
#else
#define CT_INITIAL_ID	CODETAG_ID_EARLY
#ifdef KBUILD_MODNAME
#define CT_FILENAME	CODETAG_FILENAME(KBUILD_MODNAME, __FILE__)
#else
#define CT_FILENAME	CODETAG_FILENAME("", __FILE__)
#endif
#endif

#define CODE_TAG_INIT {					\
	.id		= CT_INITIAL_ID,		\
	.lineno		= __LINE__,			\
	.function	= __func__,			\
	.filename	= CT_FILENAME,			\
}

#ifdef CONFIG_CODE_TAGGING
void codetag_init(void);
#else
static inline void codetag_init(void) {}
#endif

#if defined(CONFIG_CODE_TAGGING) && defined(CONFIG_MODULES)
void codetag_load_module(struct module *mod);
void codetag_unload_module(struct module *mod);
#else
static inline void codetag_load_module(struct module *mod) {}
static inline void codetag_unload_module(struct module *mod) {}
#endif

#endif /* _LINUX_CODETAG_H */
