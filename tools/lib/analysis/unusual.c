// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/unusual.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/owners.h"
#include "base/number.h"
#include "read/profiling.h"

const char *unusual_name(enum unusual what)
{
	static const char *const names[UNUSUALS] = {
		[UNUSUAL_PINNED] = "pinned",
		[UNUSUAL_GROWN] = "grown",
		[UNUSUAL_UNACCOUNTED] = "unaccounted",
	};

	return names[what];
}

static void add(struct remarks *remarks, enum unusual what, enum memory_kind_id kind,
		const struct text *text)
{
	remarks->remark[remarks->count++] = (struct remark){ what, kind, text->s };
}

/* ", most of it drivers/net/foo/rx.c:412 [foo] func:foo_rx_alloc (3.0G)" */
static void name_owner(struct text *text, const struct snapshot *host, enum memory_kind_id kind)
{
	enum owner_by by = owners_best(host, kind);
	struct owners owners;
	char size[SIZE_TEXT];

	owners_find(&owners, host, kind, by);
	if (owners.count)
		text_printf(text, " The largest of its %s: %s with %s.", owner_words(by),
			    owners.owner[0].name, size_format(size, owners.owner[0].bytes, true));
	owners_free(&owners);
}

static void find_pinned(struct remarks *remarks, const struct explanation *e,
			const struct snapshot *host)
{
	enum memory_kind_id most = MEMORY_KINDS;
	struct text text = { 0 };
	int64_t bytes = 0;
	char size[SIZE_TEXT];

	for (unsigned int i = 0; i < MEMORY_UNACCOUNTED; i++) {
		int64_t pinned = e->kind[i] - e->droppable[i];

		if (memory_kind(i)->pinned && pinned > bytes) {
			bytes = pinned;
			most = i;
		}
	}
	if (percent(bytes, e->installed) < PINNED_PERCENT)
		return;
	text_printf(&text, "%s of %s: in no process, and the kernel cannot drop it.",
		    size_format(size, bytes, true), memory_kind(most)->words);
	name_owner(&text, host, most);
	add(remarks, UNUSUAL_PINNED, most, &text);
}

static int64_t site_bytes(const struct allocinfo *info, const struct site *site)
{
	int64_t bytes = 0;

	for (size_t i = 0; i < info->count; i++)
		if (site_same(&info->site[i], site))
			bytes = add64(bytes, info->site[i].bytes);
	return bytes;
}

/* The call site that grew most, of a kind. */
static void name_grown(struct text *text, const struct history *h, enum memory_kind_id kind)
{
	struct owners owners;
	int64_t most = 0;
	size_t found = 0;
	char size[SIZE_TEXT];

	owners_find(&owners, h->last, kind, OWNER_SITES);
	for (size_t i = 0; i < owners.count; i++) {
		int64_t grown;

		if (owners.owner[i].bytes <= most)
			break;
		grown = sub64(owners.owner[i].bytes,
			      site_bytes(&h->first->info, owners.owner[i].site));
		if (grown > most) {
			most = grown;
			found = i;
		}
	}
	if (most > 0)
		text_printf(text, " Most of it: %s, by %s.", owners.owner[found].name,
			    size_format(size, most, true));
	owners_free(&owners);
}

bool unusual_grew(const struct history *h, enum memory_kind_id kind)
{
	const struct explanation *last = &h->at[h->count - 1];
	size_t steps = h->count - 1, rises = 0;

	for (size_t k = 1; k < h->count; k++)
		rises += h->at[k].kind[kind] > h->at[k - 1].kind[kind];
	return steps >= GROWN_STEPS && rises * 100 >= steps * GROWN_STEPS_PERCENT &&
	       last->droppable[kind] < last->kind[kind] / 2 &&
	       percent(sub64(last->kind[kind], h->at[0].kind[kind]), last->installed) >= GROWN_PERCENT;
}

static void find_grown(struct remarks *remarks, const struct history *h)
{
	const struct explanation *last = &h->at[h->count - 1];
	enum memory_kind_id most = MEMORY_KINDS;
	struct text text = { 0 };
	int64_t bytes = 0;
	char size[SIZE_TEXT], rate[SIZE_TEXT];

	for (unsigned int i = 0; i < MEMORY_KINDS; i++) {
		int64_t grown = last->kind[i] - h->at[0].kind[i];

		if (grown > bytes && unusual_grew(h, i)) {
			bytes = grown;
			most = i;
		}
	}
	if (most == MEMORY_KINDS)
		return;
	text_printf(&text, "%s grew steadily, by %s in %.3g h (%s an hour).",
		    memory_kind(most)->words, size_format(size, bytes, true),
		    (double)h->ms / 3600000,
		    size_format(rate, h->ms > 0 ? (int64_t)((double)bytes * 3600000 / (double)h->ms) : 0,
				true));
	if (text.s[0] >= 'a' && text.s[0] <= 'z')
		text.s[0] += 'A' - 'a';
	name_grown(&text, h, most);
	add(remarks, UNUSUAL_GROWN, most, &text);
}

static void find_unaccounted(struct remarks *remarks, const struct explanation *e)
{
	int64_t bytes = e->kind[MEMORY_UNACCOUNTED];
	struct text text = { 0 };
	char size[SIZE_TEXT];

	if (percent(bytes, e->installed) < (e->has_sites ? UNACCOUNTED_PERCENT : PINNED_PERCENT))
		return;
	size_format(size, bytes, true);
	if (!e->has_sites)
		text_printf(&text, "%s are in no counter of this kernel, such as pages that drivers "
			    "allocate. A kernel with a profiler, or 'codetag trace --record', names the callers.",
			    size);
	else
		text_printf(&text, "%s%s are unaccounted.",
			    e->exact ? "" : "At most ", size);
	add(remarks, UNUSUAL_UNACCOUNTED, MEMORY_UNACCOUNTED, &text);
}

void unusual_find(struct remarks *remarks, const struct history *history)
{
	const struct explanation *last = &history->at[history->count - 1];

	*remarks = (struct remarks){ 0 };
	find_pinned(remarks, last, history->last);
	find_grown(remarks, history);
	find_unaccounted(remarks, last);
}

void remarks_free(struct remarks *remarks)
{
	for (size_t i = 0; i < remarks->count; i++)
		free(remarks->remark[i].text);
	remarks->count = 0;
}

/* Call sites that were switched off one by one, while profiling as a whole is on */
static bool none_profiled(const struct allocinfo *info)
{
	struct profiled sites;

	profiling_count(&sites, info, NULL);
	return sites.off && sites.off == sites.chosen;
}

void missing_find(struct text *lines, const struct explanation *e, const struct snapshot *host)
{
	const struct machine *machine = &host->machine;
	int64_t moved = machine->moved < 0 ? -machine->moved : machine->moved;
	char size[SIZE_TEXT];

	text_clear(lines);
	if (machine->profiling == PROFILING_NONE)
		text_puts(lines, "This kernel has no memory allocation profiling, so no call sites are known.\n"
			  "To see later allocations: codetag trace --record 10\n");
	else if (machine->profiling == PROFILING_OFF)
		text_puts(lines, "Profiling is off: allocations are charged to no call site now "
			  "(sysctl vm.mem_profiling).\n");
	else if (none_profiled(&host->info))
		text_puts(lines, "No call site is profiled: allocations are charged to none now (codetag enable).\n");
	else if (!e->has_sites)
		text_puts(lines, "Call sites are not known: there is no allocinfo, or only root may read it.\n");
	if (!e->cpu_lists_known)
		text_puts(lines, "Free pages on the lists of CPUs are not known (zoneinfo) and count as used.\n");
	if (percent(e->in_no_zone, e->installed) >= 0.1)
		text_printf(lines, "MemTotal is %s more than the pages of all zones. The total is that of the zones.\n",
			    size_format(size, e->in_no_zone, true));
	if (e->has_sites && !e->exact)
		text_puts(lines, "Unaccounted is an upper limit: the kernel has not counted which allocations "
			  "are pages.\n");
	if (e->overlap && percent(e->overlap, e->installed) >= 0.1)
		text_puts(lines, "The counters are of different times: some memory was in two of them.\n");
	if (moved && percent(moved, e->installed) >= 0.1)
		text_printf(lines, "%s were %s while the memory was read: unaccounted can be wrong by as much.\n",
			    size_format(size, moved, true), machine->moved > 0 ? "freed" : "allocated");
}
