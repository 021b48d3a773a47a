// SPDX-License-Identifier: GPL-2.0-only
#include "memory_image/report.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/message.h"
#include "memory_image/contexts.h"
#include "memory_image/recount.h"
#include "memory_image/slabs.h"
#include "memory_image/stats.h"
#include "read/input.h"

bool image_file(const char *path)
{
	char head[DUMP_HEAD];
	size_t len = input_head(path, head, sizeof(head));

	return len > 0 && dump_is(head, len);
}

bool image_complete(const struct image *image, const char *path, bool *incomplete)
{
	if (image_exhausted(image)) {
		warning("%s is damaged: a list or table in it has no end", path);
		return false;
	}
	*incomplete = image->missing;
	if (*incomplete) {
		warning("%s lacks memory that is needed (%" PRIu64 " reads failed): the result may be "
			"incomplete or wrong", path, image->missing);
		hint("If makedumpfile wrote it: compressed, and with -d 1, it has all that is needed.");
	}
	if (image->damaged_slabs)
		warning("%s has damaged descriptions of slabs, whose objects are left out (slabs: %" PRIu64 ")",
			path, image->damaged_slabs);
	if (image->unnumbered)
		warning("%s has more objects than this program can number, %" PRIu64 " are left out", path,
			image->unnumbered);
	*incomplete |= image->damaged_slabs || image->unnumbered;
	return true;
}

bool image_report(const char *path, struct text *text, bool *incomplete)
{
	struct image_sites *sites = image_sites_open(path);
	bool good;

	if (!sites)
		return false;
	image_allocinfo(sites, text);
	good = image_complete(sites->image, path, incomplete);
	image_sites_close(sites);
	return good;
}

bool image_slabs(const char *path, struct text *text, int64_t *page_size, bool *incomplete)
{
	struct image *image = image_open(path);
	struct recount recount;
	bool good;

	if (!image)
		return false;
	recount_init(&recount, image);
	image_slabinfo(&recount, text);
	*page_size = (int64_t)image->page_size;
	good = image_complete(image, path, incomplete);
	recount_free(&recount);
	image_close(image);
	return good;
}

/* ---- audit ------------------------------------------------------------------------ */

static void found(void *data, const struct holding *holding)
{
	struct image_counters *sum = data;

	sum[holding->id].bytes += (int64_t)holding->bytes;
	sum[holding->id].calls++;
}

static void compare(const struct image_sites *sites, const struct recount *recount,
		    const struct image_counters *sum, struct text *text)
{
	struct text name = { 0 };
	unsigned int tags = 0, mismatches = 0;

	for (uint32_t id = 1; id < IMAGE_IDS; id++) {
		const struct image_counters *counted = &sites->counted[id];

		tags += !!image_tag_of(sites, (uint16_t)id);
		if (counted->bytes == sum[id].bytes && counted->calls == sum[id].calls)
			continue;
		mismatches++;
		text_clear(&name);
		if (!image_site_text(sites, (uint16_t)id, &name))
			text_puts(&name, "an id that no tag has");
		text_printf(text, "mismatch: id %u counted %" PRId64 " %" PRId64 " found %" PRId64
			    " %" PRId64 " %s\n", id, counted->bytes, counted->calls, sum[id].bytes,
			    sum[id].calls, name.s);
	}
	text_printf(text, "audit: %u tags, %" PRIu64 " pages, %" PRIu64 " objects, %u mismatches\n",
		    tags, recount->pages, recount->objects, mismatches);
	text_free(&name);
}

bool image_audit(const char *path, struct text *text, bool *incomplete)
{
	struct image_sites *sites = image_sites_open(path);
	struct image_counters *sum;
	struct recount recount;
	bool good;

	if (!sites)
		return false;
	sum = xcalloc(IMAGE_IDS, sizeof(*sum));
	recount_init(&recount, sites->image);
	recount.visit = found;
	recount.data = sum;
	recount_all(&recount);
	compare(sites, &recount, sum, text);
	good = image_complete(sites->image, path, incomplete);
	recount_free(&recount);
	free(sum);
	image_sites_close(sites);
	return good;
}

/* ---- contexts, stats, machine --------------------------------------------------------- */

static void complain_older(const char *path, const char *what)
{
	warning("%s: the layout table of this kernel does not say where its %s are", path, what);
	hint("Its codetag is older than this command, or is built without that.");
}

bool image_contexts_text(const char *path, struct text *text, bool *incomplete)
{
	struct image_sites *sites = image_sites_open(path);
	struct image_functions *functions;
	bool good;

	if (!sites)
		return false;
	functions = image_functions_read(sites->image);
	good = image_contexts(sites, functions, text);
	if (!good)
		complain_older(path, "contexts");
	else if (!image_functions_any(functions))
		warning("%s has no names of functions (CONFIG_KALLSYMS): stacks are addresses", path);
	good = good && image_complete(sites->image, path, incomplete);
	image_functions_free(functions);
	image_sites_close(sites);
	return good;
}

bool image_stats_text(const char *path, struct text *text, bool *incomplete)
{
	struct image_sites *sites = image_sites_open(path);
	struct recount recount;
	bool good;

	if (!sites)
		return false;
	recount_init(&recount, sites->image);
	good = image_stats(sites, &recount, text);
	if (!good)
		complain_older(path, "statistics");
	good = good && image_complete(sites->image, path, incomplete);
	recount_free(&recount);
	image_sites_close(sites);
	return good;
}

bool image_machine(const char *path, struct image_machine *machine, struct text *allocinfo,
		   struct text *stats, bool *incomplete)
{
	struct image_sites *sites = image_sites_open(path);
	struct image_functions *functions;
	struct recount recount;
	bool good;

	*machine = (struct image_machine){ 0 };
	if (!sites)
		return false;
	functions = image_functions_read(sites->image);
	recount_init(&recount, sites->image);
	good = image_machine_read(machine, sites, &recount, functions);
	if (good) {
		image_allocinfo(sites, allocinfo);
		image_stats(sites, &recount, stats);
		good = image_complete(sites->image, path, incomplete);
	} else {
		complain_older(path, "counters");
	}
	recount_free(&recount);
	image_functions_free(functions);
	image_sites_close(sites);
	return good;
}
