// SPDX-License-Identifier: GPL-2.0-only
#include "read/contexts.h"

#include <string.h>

#include "base/memory.h"
#include "model/calltree.h"
#include "model/context_group.h"
#include "unit.h"

static void parse(struct contexts *contexts, const char *text)
{
	contexts_parse(contexts, xstrdup(text), strlen(text));
}

/* The end of a line, after the numbers and the tag. */
static void test_lines(void)
{
	static const struct {
		const char *line;
		bool good;
	} lines[] = {
		{ "1 2 3 a.c:1 func:f", true },
		{ "1 2 3 a.c:1 [m] func:f age=0-1 stack=", true },
		{ "12345678901 2 3 a.c:1 func:f", true },
		{ " 1234567890 2 3 a.c:1 func:f", true },
		{ "1 2 a.c:1 func:f", false },
		{ "1 2 3", false },
		{ "1 2 3 a.c func:f", false },
		{ "1 2 3 a.c:1 func:f =1", false },
		{ "1 2 3 a.c:1 func:f\ttask=x", true },	/* shown as "?" */
		{ " f+0x1/0x2", false },	/* memory in no context */
		{ "# site: 1 2 3 a.c:1 func:f keys=none contexts=0", true },
		{ "# site: 1 2 3 a.c:1 func:f unloaded:yes keys=age max=3 contexts=0", true },
		{ "# site: 1 2 3 a.c:1 func:f keys=age", false },
		{ "# site: 1 2 3 a.c:1 func:f keys= contexts=1", false },
		{ "# site: 1 2 3 a.c:1 func:f contexts=1", false },
		{ "# site: 1 2 3 a.c:1 func:f keys=age contexts=1x", false },
		{ "# something else", true },
	};
	struct text text = { 0 };
	struct contexts contexts;

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		text_clear(&text);
		text_printf(&text, "# contexts - version: 1.0\n%s\n", lines[i].line);
		parse(&contexts, text.s);
		expect(contexts.bad.count == !lines[i].good && contexts.major == 1,
		       "contexts line \"%s\"", lines[i].line);
		contexts_free(&contexts);
	}
	text_free(&text);
}

static const char example[] =
	"# contexts - version: 1.0\n"
	"# site: 4 1 7 a.c:1 func:f keys=size,age,task,stack depth=4 max=9 contexts=2\n"
	"64 4 9 a.c:1 func:f size=10 age=5-9 task=a\\040b\n"
	" f.part.0+0x1/0x2\n kstrdup+0x1/0x2\n work+0x1/0x2\n 0xffff1234\n"
	"64 2 3 a.c:1 func:f size=30 age=0-4 task=c\n"
	" g+0x1/0x2\n x+0x1/0x2 [mod]\n";

static void test_values(void)
{
	struct contexts contexts;
	const struct context *first;
	int64_t from, to;

	parse(&contexts, example);
	first = contexts.context;
	expect(contexts.count == 2 && contexts.splits == 1 && !contexts.bad.count, "contexts read");
	expect(contexts.split[0].lost == 7 && contexts.split[0].contexts == 2 &&
	       !strcmp(contexts.split[0].keys, "size,age,task,stack") &&
	       !strcmp(contexts.split[0].settings, "depth=4 max=9"), "contexts site");
	expect(!strcmp(context_value(&contexts, first, "task"), "a b"), "contexts value decoded");
	expect(!context_value(&contexts, first, "node"), "contexts value missing");
	expect(context_age(&contexts, first, &from, &to) && from == 5 && to == 9, "contexts age");
	expect(first[0].frames == 4 && first[1].frames == 2 &&
	       !strcmp(contexts.frame[first[1].frame + 1].module, "mod") &&
	       !contexts.frame[first[0].frame + 3].offset, "contexts frames");
	contexts_select(&contexts, NULL, 5);
	expect(contexts.count == 1, "contexts min-age");
	contexts_free(&contexts);
}

static void test_callers(void)
{
	struct helpers helpers = { 0 };
	struct callers callers = { 0 };
	struct calltree tree = { 0 };
	struct contexts contexts;
	char list[] = "wor*";

	parse(&contexts, example);
	callers_of(&callers, &contexts, contexts.context, &helpers);
	expect(callers.count == 3 && !strcmp(callers.function->func, "work") &&
	       !strcmp(callers.module, "vmlinux"), "callers behind a helper");
	helpers.fold = true;
	helpers_add(&helpers, list);
	callers_of(&callers, &contexts, contexts.context, &helpers);
	expect(callers.count == 1 && !strcmp(callers.function->func, "0xffff1234"),
	       "callers without helpers");
	callers_of(&callers, &contexts, contexts.context + 1, &helpers);
	expect(callers.count == 2 && !strcmp(callers.module, "mod"), "callers of an inlined site");
	expect(helpers_have(&helpers, "sock_kmalloc_noprof.isra.0") &&
	       !helpers_have(&helpers, "not_sock_kmalloc_noprof") && !helpers_have(&helpers, "_noprof"),
	       "the function inside of a helper");
	for (size_t i = 0; i < contexts.count; i++)
		calltree_add(&tree, &contexts, &contexts.context[i], &helpers, false, &callers);
	calltree_sort(&tree);
	expect(tree.count == 5 && tree.node[0].sum.bytes == 128 && tree.node[0].children == 1 &&
	       tree.node[0].sum.requested == 100 && tree.node[1].children == 2, "calltree");
	calltree_free(&tree);
	callers_free(&callers);
	helpers_free(&helpers);
	contexts_free(&contexts);
}

/* Cut at any place, the text yields no wrong data: a line without a newline is not used. */
static void test_cut(void)
{
	struct contexts contexts;
	bool good = true;

	for (size_t len = 1; len < strlen(example); len++) {
		char *text = xstrdup(example);

		text[len] = '\0';
		contexts_parse(&contexts, text, len);
		good &= !contexts.bad.cut != (example[len - 1] != '\n') && !contexts.bad.count;
		contexts_free(&contexts);
	}
	expect(good, "contexts cut");
}

void test_contexts(void)
{
	test_lines();
	test_values();
	test_callers();
	test_cut();
}
