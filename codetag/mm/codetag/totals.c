// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sums of a call site and its contexts, for reports.
 */
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/rculist.h>
#include "site.h"
#include "totals.h"

/* For counting lines of unloaded modules, with codetag_lock() held. */
static DEFINE_MUTEX(codetag_content_lock);

#ifdef CONFIG_CODETAG_CONTEXTS

/* There can be many contexts, and many CPUs: rest, or stop when enough was read. */
static bool may_read_context(struct codetag_sums *sums)
{
	unsigned long reads = num_possible_cpus();

	if (!sums || sums->may_sleep) {
		codetag_rest(reads);
		return true;
	}
	if (sums->reads_left < reads) {
		sums->incomplete = true;
		return false;
	}
	sums->reads_left -= reads;
	return true;
}

/*
 * Add the memory of the contexts of a site. While codetag_sem is held, the site and the
 * contexts in its list stay.
 */
static void add_contexts(u16 id, struct codetag_sum *sum, struct codetag_sums *sums)
{
	const struct codetag_context *ctx;
	const struct codetag_site *site;
	struct codetag_sum part;

	site = codetag_site_by_id(id);
	if (!site)
		return;
	list_for_each_entry_rcu(ctx, &site->contexts, list, true) {
		if (!may_read_context(sums))
			return;
		part = alloc_tag_read(ctx->id);
		sum->bytes += part.bytes;
		sum->allocs += part.allocs;
		sum->frees += part.frees;
		sum->parts += part.parts;
	}
}

#else

static void add_contexts(u16 id, struct codetag_sum *sum, struct codetag_sums *sums) {}

#endif /* CONFIG_CODETAG_CONTEXTS */

/**
 * codetag_read - read the counters of a tag that codetag_next_tag() has found
 * @info:	the tag; on return with its counters
 * @sums:	like that of codetag_next()
 *
 * Context: Any, with codetag_lock() still held. May sleep unless @sums has may_sleep false.
 * Return: false if reports have no line for it: its module is unloaded, and it
 *	   holds nothing any more.
 */
bool codetag_read(struct codetag_info *info, struct codetag_sums *sums)
{
	struct codetag_sum *sum = &info->sum;

	if (info->without_id)
		return true;

	*sum = codetag_read_ahead(info->id, sums);
	add_contexts(info->id, sum, sums);
	sum->calls = sum->allocs + sum->parts - sum->frees;
	/* Changes on several CPUs can be missed meanwhile: show nothing below 0. */
	info->bytes = max_t(s64, sum->bytes, 0);
	info->calls = codetag_calls(sum);
	return !info->unloaded || sum->bytes || sum->calls;
}

/**
 * codetag_next - go through all tags and their counters
 * @pos:	where to look; on return where the tag was found. Begin with 0,
 *		go on with the last position plus 1. Positions stay valid while
 *		no codetag_lock() is held. A tag that is there the whole time is
 *		found exactly once. The exceptions are tags without an id, while a
 *		module with such tags goes.
 * @info:	on return the tag
 * @sums:	for long walks, and for callers that may not sleep: counters that are
 *		read ahead. Set nr to 0 after each codetag_lock(). May be NULL.
 *
 * Of unloaded modules it finds only the tags that still hold memory.
 *
 * Context: Any, with codetag_lock() held. May sleep unless @sums has may_sleep false.
 * Return: false if there is no tag at or after @pos.
 */
bool codetag_next(unsigned long *pos, struct codetag_info *info, struct codetag_sums *sums)
{
	for (; codetag_next_tag(pos, info); (*pos)++)
		if (codetag_read(info, sums))
			return true;
	return false;
}

/* How many lines codetag_next() finds in a range of an unloaded module. */
static unsigned int range_lines(const struct codetag_range *range)
{
	struct codetag_info info;
	unsigned int i, nr = 0;

	for (i = 0; i < range->nr; i++)
		if (codetag_info_of(range->first + i, &info) && info.ct->function &&
		    codetag_read(&info, NULL))
			nr++;
	return nr;
}

/**
 * codetag_count_lines - count the lines of modules that have just gone
 *
 * Context: Process, with codetag_lock_all() held.
 */
void codetag_count_lines(void)
{
	struct codetag_range *range;

	list_for_each_entry(range, &codetag_ranges, list)
		if (range->nr_lines == CODETAG_UNCOUNTED)
			range->nr_lines = range_lines(range);
}

/**
 * codetag_content - describe the set of lines that codetag_next() finds
 * @content: filled in
 *
 * No event tells when the last byte of a site of an unloaded module is freed. Such lines
 * only vanish: the set has changed if there are fewer than at the last call.
 *
 * Context: Process, with codetag_lock() held.
 */
void codetag_content(struct codetag_content *content)
{
	struct codetag_range *range;
	unsigned int nr;

	content->nr = CODETAG_ID_NR_RESERVED - 1 + (__stop_alloc_tags - __start_alloc_tags);

	mutex_lock(&codetag_content_lock);
	list_for_each_entry(range, &codetag_ranges, list) {
		if (range->kind == CODETAG_CONTEXTS)
			continue;
		nr = range->mod ? range->nr : range_lines(range);
		if (nr < range->nr_lines) {
			range->nr_lines = nr;
			codetag_content_id++;
		}
		content->nr += nr;
		codetag_rest(range->mod ? 1 : range->nr * num_possible_cpus());
	}
	content->id = codetag_content_id;
	mutex_unlock(&codetag_content_lock);
}
