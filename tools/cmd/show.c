// SPDX-License-Identifier: GPL-2.0-only
#include "show.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/message.h"
#include "base/number.h"
#include "read/input.h"
#include "read/query.h"

static size_t count_module_rows(const struct allocinfo *info,
				const struct query *query)
{
	size_t count = 0;

	for (size_t i = 0; i < info->count; i++)
		count += info->site[i].module && query_match(query, &info->site[i]);
	return count;
}

static size_t count_flagged(const struct groups *groups, unsigned int flag)
{
	size_t count = 0;

	for (size_t i = 0; i < groups->count; i++)
		count += (groups->group[i].flags & flag) != 0;
	return count;
}

static size_t count_negative(const struct allocinfo *info, const struct query *query)
{
	size_t count = 0;

	if (info->negative)
		return info->negative;
	for (size_t i = 0; i < info->count; i++)
		count += info->site[i].bytes < 0 && query_match(query, &info->site[i]);
	return count;
}

/* Prints the limits of the numbers. */
static void show_limits(const struct allocinfo *info, const struct query *query, bool human)
{
	char size[SIZE_TEXT];

	show_negative(count_negative(info, query));
	if (info->areas) {
		puts("vmalloc areas by caller, from a vmallocinfo: other memory is not in it");
		if (info->other_areas)
			printf("areas without pages of their own, which are left out: %zu\n",
			       info->other_areas);
	}
	if (info->from_log)
		puts("from a kernel log: only the call sites that held most are in it");
	else if (info->part)
		puts("an incomplete list, or one whose header was cut: the sum lacks what is missing");
	if (info->was_off)
		puts("profiling was off then: this memory was allocated before");
	if (info->rounded)
		printf("call sites with a rounded size: %zu; the sum can be wrong by %s%s\n",
		       info->rounded, size_format(size, info->rounding, human),
		       human ? "" : " bytes");
}

void warn_limits(const struct allocinfo *info, const char *path)
{
	char size[SIZE_TEXT];

	if (info->part)
		warning("%s is a part of a list: call sites can be missing", input_name(path));
	if (info->rounded)
		warning("%s: the sizes of %zu call sites are rounded; the sum can be wrong by %s bytes",
			input_name(path), info->rounded, size_format(size, info->rounding, false));
}

void show_left_out(const struct sum *left_out, const struct output *output)
{
	bool human = output_human(output);
	char size[SIZE_TEXT];

	if (left_out->bytes || left_out->calls)
		printf("left out so that nothing counts twice: slab pages and percpu chunks of %s%s (--raw)\n",
		       size_format(size, left_out->bytes, human), human ? "" : " bytes");
}

void show_negative(size_t rows)
{
	if (rows)
		printf("call sites with a negative size, an accounting error of that kernel: %zu\n", rows);
}

void show_activity_time(const struct groups *groups, const struct selection *selection)
{
	const struct columns *columns = &selection->columns;

	if (!selection_wants_activity(selection))
		return;
	if (groups->seconds > 0 && (columns_of_rates(columns) || !columns_since_boot(columns)))
		printf("allocations and frees of %.1f s\n", groups->seconds);
	if (groups->seconds <= 0 || columns_since_boot(columns))
		printf("%sallocations and frees since boot, or since the module was loaded, modulo 2^32\n",
		       columns_of_rates(columns) ? "ALLOCS and FREES: " : "");
	if (groups->recent.restarts)
		printf("counted from 0 again, because the module was loaded again or the machine booted: %zu\n",
		       groups->recent.restarts);
}

void show_summary(const struct groups *groups, const struct allocinfo *info,
		  const struct selection *selection, const struct output *output)
{
	size_t inaccurate = count_flagged(groups, SITE_INACCURATE);
	char total[SIZE_TEXT];

	if (groups->by.by == BY_HOST) {
		printf("%zu %s %s%s in %" PRId64 " allocations\n", groups->now.rows,
		       groups->now.rows == 1 ? "host holds" : "hosts hold",
		       size_format(total, groups->now.bytes, output_human(output)),
		       output_human(output) ? "" : " bytes", groups->now.calls);
	} else {
		printf("%zu call sites, %zu of them in modules, hold %s%s in %" PRId64 " allocations\n",
		       groups->now.rows, count_module_rows(info, selection->query),
		       size_format(total, groups->now.bytes, output_human(output)),
		       output_human(output) ? "" : " bytes", groups->now.calls);
	}
	show_left_out(&groups->left_out, output);
	if (groups->by.by == BY_HOST) {
		show_negative(info->negative);
		return;
	}
	if (inaccurate)
		printf("inaccurate, because the kernel could not count all of their memory: %zu\n",
		       inaccurate);
	show_activity_time(groups, selection);
	if (groups->peak_snapshots)
		printf("peaks are the largest of %zu snapshots: between these there can have been more\n",
		       groups->peak_snapshots);
	show_limits(info, selection->query, output_human(output));
}

void show_table(const struct groups *groups, size_t count,
		const struct selection *selection, const struct output *output)
{
	struct columns columns = selection->columns;
	bool flags = false;

	for (size_t i = 0; i < count && !flags; i++)
		flags = groups->group[i].flags ||
			(groups->group[i].site && groups->group[i].site->notes);
	if (!columns.count) {
		static const enum column usual[] = { COL_SIZE, COL_CALLS, COL_AVG, COL_SHARE };
		static const enum column active[] = { COL_ALLOCS, COL_FREES, COL_SIZE, COL_CALLS };
		static const enum column rates[] = { COL_ALLOCS_RATE, COL_FREES_RATE, COL_SIZE, COL_CALLS };

		memcpy(columns.column, !order_is_activity(selection->order) ? usual :
		       groups->seconds > 0 ? rates : active, sizeof(usual));
		columns.count = sizeof(usual) / sizeof(*usual);
		if (flags)
			columns.column[columns.count++] = COL_FLAGS;
		columns.column[columns.count++] = COL_NAME;
	}
	columns_table(&columns, groups, count, output);
}

void show_json(struct json *json, const struct groups *groups, size_t count,
	       const struct allocinfo *info, const struct selection *selection)
{
	char version[32];

	snprintf(version, sizeof(version), "%u.%u", info->major, info->minor);
	json_object(json, NULL);
	if (selection->paths_count > 1) {
		json_null(json, "source");
		json_array(json, "sources");
		for (size_t i = 0; i < selection->paths_count; i++)
			json_string(json, NULL, selection->paths[i]);
		json_end_array(json);
	} else {
		json_string(json, "source", selection->path);
	}
	json_string(json, "version", version);
	json_string(json, "group", grouping_name(groups->by.by));
	if (groups->seconds > 0)
		json_real(json, "seconds", groups->seconds);
	json_object(json, "total");
	json_int(json, "size", groups->now.bytes);
	json_int(json, "calls", groups->now.calls);
	json_int(json, "rows", groups->now.rows);
	json_int(json, "module_rows", count_module_rows(info, selection->query));
	json_int(json, "not_understood", info->bad.count);
	json_int(json, "not_profiled", selection_unprofiled(selection, info));
	json_int(json, "negative_rows", count_negative(info, selection->query));
	json_int(json, "rounded_rows", info->rounded);
	json_int(json, "rounding", info->rounding);
	json_end_object(json);
	json_bool(json, "part", info->part);
	json_bool(json, "profiling_was_off", info->was_off);
	json_object(json, "left_out");
	json_int(json, "size", groups->left_out.bytes);
	json_int(json, "calls", groups->left_out.calls);
	json_int(json, "rows", groups->left_out.rows);
	json_end_object(json);
	json_int(json, "groups", groups->count);
	columns_json(&selection->columns, groups, count, json, "rows");
}
