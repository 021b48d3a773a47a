// SPDX-License-Identifier: GPL-2.0-only
#include "leaks_view.h"

#include <math.h>
#include <stdio.h>

#include "base/number.h"
#include "write/json.h"

static const char *size(char out[SIZE_TEXT], double value, bool human)
{
	return size_format(out, llround(value), human);
}

/* Explains the verdict. */
static void print_reason(const struct finding *f, bool human)
{
	const struct trend *t = &f->trend;
	char a[SIZE_TEXT], b[SIZE_TEXT];

	switch (t->verdict) {
	case TREND_STARTED:
	case TREND_LEAK:
		if (t->verdict == TREND_STARTED)
			fputs("It did not in the first half of the time. Since then it", stdout);
		else
			fputs("It", stdout);
		printf(" grew in %zu of %zu steps", t->ups, t->steps);
		if (t->downs)
			printf(" and gave back %.0f %% of it.",
			       100 * t->fallen / t->risen);
		else
			fputs(" and never shrank.", stdout);
		if (f->calls_growth > 0)
			printf(" There are %.0f more allocations: new ones are made and not freed.\n",
			       f->calls_growth);
		else
			fputs(" There are not more allocations than before: they became larger.\n",
			      stdout);
		break;
	case TREND_SAWTOOTH:
		printf("It grew by %s in %zu steps and gave back %s in %zu: it is freed from time to time.\n",
		       size(a, t->risen, human), t->ups,
		       size(b, t->fallen, human), t->downs);
		break;
	case TREND_STEP:
		if (t->largest >= 0.8 * t->risen)
			printf("One step made %.0f %% of the growth: something was set up once.\n",
			       100 * t->largest / t->risen);
		else
			printf("Two steps made %.0f %% of the growth: something was set up twice.\n",
			       100 * (t->largest + t->second) / t->risen);
		break;
	case TREND_STOPPED:
		fputs("It grew at first and hardly does so since half of the time.\n", stdout);
		break;
	case TREND_UNSTEADY:
		printf("It grew by %s in %zu steps and gave back %s in %zu: not steadily, record for longer to know.\n",
		       size(a, t->risen, human), t->ups,
		       size(b, t->fallen, human), t->downs);
		break;
	case TREND_NONE:
		break;
	}
}

/* How often random ups and downs alone look like this, for any of the watched groups. */
static double chance_of(const struct findings *found, const struct finding *f)
{
	return fmin(f->trend.drift.chance * 2 * (double)found->tested, 1);
}

/* Whether it grew, but in a way that is no leak by itself */
static bool is_apart(const struct finding *f)
{
	return f->kind != KIND_KERNEL && !f->suspect;
}

static void print_finding(size_t number, const struct finding *f, bool drop, bool human)
{
	const struct trend *t = &f->trend;
	char rate[SIZE_TEXT], low[SIZE_TEXT], high[SIZE_TEXT];
	char growth[SIZE_TEXT], now[SIZE_TEXT];

	printf("%2zu. %s\n", number, f->name);
	fputs("    ", stdout);
	if (is_apart(f))
		printf("%s, ", kind_word(f->kind));
	printf("%s: %s%s to %s", is_apart(f) && t->verdict == TREND_LEAK ? "grew steadily" : trend_word(t->verdict),
	       t->growth > 0 ? "+" : "", size(growth, t->growth, human),
	       size(now, f->now, human));
	if (f->suspect)
		printf(", %s per minute (95 %% sure: %s to %s)",
		       size(rate, t->drift.slope * 60, human), size(low, t->drift.low * 60, human),
		       size(high, t->drift.high * 60, human));
	fputs("\n    ", stdout);
	print_reason(f, human);
	if (is_apart(f))
		printf("    That is no leak by itself: %s.\n", kind_text(f->kind));
	if (drop)
		printf("    When caches were dropped it held %s%s.\n", size(now, f->after, human),
		       f->stays ? ": a cache that something keeps" : "");
}

/* Memory that is no leak by itself: a line for each kind, with the site that grew most. */
static void print_apart(const struct findings *found, const struct watched *watched, bool human)
{
	char growth[SIZE_TEXT], left[SIZE_TEXT];
	bool any = false;

	for (enum kind kind = 0; kind < KINDS; kind++) {
		const struct apart *apart = &found->apart[kind];
		const struct finding *most = NULL;

		for (size_t i = 0; i < found->count; i++) {
			const struct finding *f = &found->finding[i];

			if (f->kind == kind && is_apart(f) &&
			    (!most || f->trend.growth > most->trend.growth))
				most = f;
		}
		if (!apart->groups || !most)
			continue;
		if (!any)
			puts("Grown, but no leak by itself (--all lists them):");
		any = true;
		printf("    %s +%s in %zu: %s; most by %s\n", kind_word(kind),
		       size(growth, apart->growth, human), apart->groups, kind_text(kind), most->name);
		if (watched->drop && kind == KIND_CACHE)
			printf("        %s of that stayed when caches were dropped\n",
			       size(left, apart->left, human));
	}
	if (any)
		putchar('\n');
}

static size_t shown_of(const struct findings *found, const struct selection *selection)
{
	size_t shown = selection->all ? found->count : found->suspects;

	return selection->top && selection->top < shown ? selection->top : shown;
}

static void print_text(const struct findings *found, const struct watched *watched,
		       const struct selection *selection, const struct output *output)
{
	size_t shown = shown_of(found, selection), by[TREND_NONE] = { 0 };
	double seconds = watched->time[watched->count - 1] - watched->time[0];

	for (size_t i = 0; i < shown; i++)
		print_finding(i + 1, &found->finding[i], watched->drop, output_human(output));
	for (size_t i = 0; i < found->count; i++)
		by[found->finding[i].trend.verdict] += found->finding[i].kind == KIND_KERNEL;
	if (output->no_headings)
		return;
	if (shown)
		putchar('\n');
	if (!selection->all)
		print_apart(found, watched, output_human(output));
	printf("suspects: %zu, in %zu snapshots over %.0f s; not suspected: %zu sawtooth, %zu grown once, %zu that stopped growing, %zu unsteady\n",
	       found->suspects, watched->count, seconds,
	       by[TREND_SAWTOOTH], by[TREND_STEP], by[TREND_STOPPED], by[TREND_UNSTEADY]);
	if (found->gone)
		printf("grew as steadily, and went when caches were dropped: %zu\n", found->gone);
	if (found->min_rate)
		printf("grows as steadily, but by less than --min-rate: %zu\n", found->slow);
}

static void print_json(const struct findings *found, const struct watched *watched,
		       const struct selection *selection)
{
	size_t shown = shown_of(found, selection);
	struct json json = { .out = stdout };

	json_object(&json, NULL);
	json_string(&json, "group", grouping_name(selection->by.by));
	json_int(&json, "snapshots", watched->count);
	json_real(&json, "seconds", watched->time[watched->count - 1] - watched->time[0]);
	json_int(&json, "tested", found->tested);
	json_int(&json, "suspects", found->suspects);
	json_int(&json, "slow", found->slow);
	json_int(&json, "not_profiled", watched->off);
	json_array(&json, "apart");
	for (enum kind kind = 0; kind < KINDS; kind++) {
		if (!found->apart[kind].groups)
			continue;
		json_object(&json, NULL);
		json_string(&json, "kind", kind_word(kind));
		json_int(&json, "groups", found->apart[kind].groups);
		json_int(&json, "growth", (int64_t)found->apart[kind].growth);
		json_end_object(&json);
	}
	json_end_array(&json);
	json_array(&json, "rows");
	for (size_t i = 0; i < shown; i++) {
		const struct finding *f = &found->finding[i];
		const struct trend *t = &f->trend;

		json_object(&json, NULL);
		json_string(&json, "name", f->name);
		json_string(&json, "kind", kind_word(f->kind));
		json_bool(&json, "suspect", f->suspect);
		json_string(&json, "verdict", trend_word(t->verdict));
		json_int(&json, "size", (int64_t)f->now);
		json_int(&json, "growth", (int64_t)t->growth);
		json_int(&json, "calls_growth", (int64_t)f->calls_growth);
		json_real(&json, "rate", t->drift.slope);
		json_real(&json, "rate_low", t->drift.low);
		json_real(&json, "rate_high", t->drift.high);
		json_real(&json, "chance", chance_of(found, f));
		json_int(&json, "risen", (int64_t)t->risen);
		json_int(&json, "fallen", (int64_t)t->fallen);
		json_int(&json, "steps", t->steps);
		json_int(&json, "steps_up", t->ups);
		json_int(&json, "steps_down", t->downs);
		if (watched->drop)
			json_int(&json, "after_drop", (int64_t)f->after);
		json_end_object(&json);
	}
	json_end_array(&json);
	json_end_object(&json);
}

void leaks_view(const struct findings *found, const struct watched *watched,
		const struct selection *selection, const struct output *output)
{
	if (output->json)
		print_json(found, watched, selection);
	else
		print_text(found, watched, selection, output);
}
