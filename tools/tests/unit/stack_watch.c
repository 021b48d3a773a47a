// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/stack_watch.h"

#include <string.h>

#include "base/memory.h"
#include "unit.h"

#define STEP 5		/* interval of readings and of ages, in seconds */
#define READINGS 15
#define OLD (2 * STEP)

/* The number of allocations of interval @born that a stack still holds in interval @now. */
static int leaky(int born, int now) { (void)born; return now == born ? 900 : 3 + born % 2; }
static int queue(int born, int now) { return now - born > 1 ? 0 : 900; }
static int burst(int born, int now) { (void)now; return born == 3 ? 5000 : 0; }
static int cache(int born, int now) { (void)now; return born < 4 ? 100 : 0; }
static int slowly(int born, int now) { return now - born > 5 ? 0 : 50; }
static int seldom(int born, int now) { (void)now; return born % 4 == 1; }

static const struct {
	const char *name;
	int (*held)(int born, int now);
	enum certainty certainty;	/* STACK_GREW: or it is not found at all */
} stacks[] = {
	{ "leaky", leaky, STACK_LEAKS }, { "queue", queue, STACK_GREW },
	{ "burst", burst, STACK_GREW }, { "cache", cache, STACK_GREW },
	{ "slowly", slowly, STACK_GREW }, { "seldom", seldom, STACK_UNSURE },
};

#define STACKS (sizeof(stacks) / sizeof(*stacks))
#define TWICE 0		/* the stack with two contexts an interval, because its module came again */

static void context(struct text *text, int born, int now, const char *name, int held, int allocs)
{
	text_printf(text, "%d %d %d a.c:1 func:f age=%d-%d\n f+0x1/0x2\n %s+0x1/0x2\n", 64 * held,
		    held, allocs, born == now ? 0 : (now - born - 1) * STEP, (now - born) * STEP, name);
}

/* The kernel's list at @now. It has a context from before the watch, too, which grows. */
static void listed(struct contexts *contexts, int now)
{
	struct text text = { 0 };

	text_puts(&text, "# contexts - version: 1.0\n");
	text_printf(&text, "%d 9 9 a.c:1 func:f age=500-560\n f+0x1/0x2\n before+0x1/0x2\n",
		    1000 * now);
	for (int born = 0; born <= now; born++) {
		for (size_t i = 0; i < STACKS; i++) {
			int held = stacks[i].held(born, now), again = i == TWICE;

			if (again)
				context(&text, born, now, stacks[i].name, again, again);
			if (held)
				context(&text, born, now, stacks[i].name, held - again, 1000 - again);
		}
	}
	contexts_parse(contexts, text.s, text.len);
}

static const struct stack_finding *find(const struct stack_findings *found,
					const struct contexts *last, const char *name)
{
	for (size_t i = 0; i < found->count; i++)
		if (!strcmp(last->frame[found->finding[i].context->frame + 1].func, name))
			return &found->finding[i];
	return NULL;
}

void test_stack_watch(void)
{
	struct contexts last = { 0 };
	struct stack_findings found;
	struct stack_watch watch;
	const struct stack_finding *leak;

	stack_watch_start(&watch, OLD);
	for (int now = 3; now <= READINGS; now++) {
		contexts_free(&last);
		listed(&last, now);
		stack_watch_add(&watch, now * STEP, &last);
	}
	stack_watch_find(&found, &watch, &last, 1);
	for (size_t i = 0; i < STACKS; i++) {
		const struct stack_finding *f = find(&found, &last, stacks[i].name);

		expect(f ? f->certainty == stacks[i].certainty :
			   stacks[i].certainty == STACK_GREW, "stack_watch %s", stacks[i].name);
	}
	expect(!find(&found, &last, "before"), "stack_watch of before");
	expect(found.leaks == 1 && found.unsure == 1, "stack_watch counts");
	leak = &found.finding[0];
	expect(leak->old.calls == 3 * 13 + 6 && leak->intervals == 13 &&
	       leak->since == READINGS * STEP && leak->length == STEP &&
	       leak->old.allocs == 13000 && leak->all.calls == 3 * 15 + 7 + 900,
	       "stack_watch sums");
	stack_findings_free(&found);
	stack_watch_free(&watch);
	contexts_free(&last);
}
