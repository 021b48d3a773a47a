// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of the query language.
 */
#include <kunit/test.h>
#include <linux/codetag.h>
#include <linux/limits.h>
#include <linux/module.h>
#include <linux/prandom.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "../query.h"

/* The text in memory of just its size: a read behind it is noticed. */
static char *copy_of(struct kunit *test, const char *text, size_t len)
{
	char *copy = kunit_kmalloc(test, len + 1, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, copy);
	memcpy(copy, text, len);
	copy[len] = '\0';
	return copy;
}

/* The first query of @text, which has no other one. */
static struct codetag_query parse_one(struct kunit *test, const char *text)
{
	size_t len = strlen(text), pos = 0;
	char *copy = copy_of(test, text, len);
	struct codetag_query_error err = {};
	struct codetag_query q, next;
	int ret = codetag_query_parse(copy, len, &pos, &q, &err);

	KUNIT_ASSERT_EQ_MSG(test, ret, 1, "'%s' at %zu: %s", err.token, err.position, err.why);
	KUNIT_EXPECT_EQ(test, codetag_query_parse(copy, len, &pos, &next, &err), 0);
	KUNIT_EXPECT_EQ(test, pos, len);
	return q;
}

/* ---- good queries ------------------------------------------------------------- */

static const struct good {
	const char *text;
	const char *file, *func, *module, *subsystem;
	unsigned int first_line, last_line;	/* 0: UINT_MAX */
	bool by_id;
	unsigned int id;
	struct codetag_terms none;		/* last_line 0: lines are not asked for */
	struct codetag_terms again;		/* the second of a kind, likewise */
	enum codetag_action action;
	u8 flags;
	unsigned long rate;		/* 0: as without a guard */
	const char *action_text;
} goods[] = {
	{ "file mm/slub.c", .file = "mm/slub.c" },
	{ "func x", .func = "x" },
	{ "module ext4", .module = "ext4" },
	{ "file a func b module c line 1-2 id 3", .file = "a", .func = "b", .module = "c",
	  .first_line = 1, .last_line = 2, .by_id = true, .id = 3 },
	{ "id 3 line 1-2 module c func b file a", .file = "a", .func = "b", .module = "c",
	  .first_line = 1, .last_line = 2, .by_id = true, .id = 3 },
	{ "file file func func", .file = "file", .func = "func" },
	{ "func =p", .func = "=p" },
	/* globs */
	{ "file */ext4/**.?", .file = "*/ext4/*.?" },
	{ "func ***", .func = "*" },
	{ "func a**b?**", .func = "a*b?*" },
	{ "file ./mm/slub.c", .file = "mm/slub.c" },
	{ "file ././mm", .file = "mm" },
	{ "file ../mm", .file = "../mm" },
	{ "module snd-hda-*", .module = "snd_hda_*" },
	{ "func a-b", .func = "a-b" },
	{ "file a/b-c", .file = "a/b-c" },
	/* lines and ids */
	{ "line 7", .first_line = 7, .last_line = 7 },
	{ "line 7-", .first_line = 7 },
	{ "line -7", .last_line = 7 },
	{ "line 0x10-020", .first_line = 16, .last_line = 16 },
	{ "line 0-4294967295" },
	{ "line 4294967295", .first_line = UINT_MAX },
	{ "id 0", .by_id = true },
	{ "id 65535", .by_id = true, .id = 65535 },
	{ "id 0xffff", .by_id = true, .id = 65535 },
	/* not */
	{ "not file mm/slub.c", .none.file = "mm/slub.c" },
	{ "not func a** not module b-c", .none.func = "a*", .none.module = "b_c" },
	{ "file mm/* not file ./mm/slub.c func x", .file = "mm/*", .func = "x",
	  .none.file = "mm/slub.c" },
	{ "not line 3-5 line 2-", .first_line = 2, .none.first_line = 3, .none.last_line = 5 },
	{ "not line 7-", .none.first_line = 7, .none.last_line = UINT_MAX },
	{ "not id 3 id 4", .by_id = true, .id = 4, .none.by_id = true, .none.id = 3 },
	{ "subsystem \"page cache\"", .subsystem = "page cache" },
	{ "not subsystem b**", .none.subsystem = "b*" },
	{ "not file a not file b", .none.file = "a", .again.file = "b" },
	{ "not line 3 not id 7 not line 5- not func f", .none.first_line = 3, .none.last_line = 3,
	  .none.by_id = true, .none.id = 7, .none.func = "f",
	  .again.first_line = 5, .again.last_line = UINT_MAX },
	{ "file not func \"not\"", .file = "not", .func = "not" },
	{ "not file x -p", .none.file = "x", .action = CODETAG_ACTION_REMOVE,
	  .flags = CODETAG_FLAG_PROFILE, .action_text = "-p" },
	/* words */
	{ "file \"a b;c#\" func \"#\"", .file = "a b;c#", .func = "#" },
	{ "\"file\" \"x\" \"=p\"", .file = "x", .action = CODETAG_ACTION_SET,
	  .flags = CODETAG_FLAG_PROFILE, .action_text = "\"=p\"" },
	{ "file a\"b\"", .file = "a\"b\"" },
	{ "file a#b", .file = "a#b" },
	{ "file \xc3\xa0", .file = "\xc3\xa0" },
	{ " \t file\t  x \t\r\n", .file = "x" },
	{ "file x\r", .file = "x" },
	{ "\n;; # file y; =p\n file x # func y; +p", .file = "x" },
	{ "file x;", .file = "x" },
	{ "file \"x\";", .file = "x" },
	{ "file x\n\n;\n", .file = "x" },
	/* flags */
	{ "=p", .action = CODETAG_ACTION_SET, .flags = CODETAG_FLAG_PROFILE,
	  .action_text = "=p" },
	{ "=_", .action = CODETAG_ACTION_SET, .action_text = "=_" },
	{ "file x +p", .file = "x", .action = CODETAG_ACTION_ADD,
	  .flags = CODETAG_FLAG_PROFILE, .action_text = "+p" },
	{ "file x -p;", .file = "x", .action = CODETAG_ACTION_REMOVE,
	  .flags = CODETAG_FLAG_PROFILE, .action_text = "-p" },
	/* faults */
	{ "fault", .action = CODETAG_ACTION_FAULT, .action_text = "fault" },
	{ "line 3- fault times=2  space=0 # x", .first_line = 3,
	  .action = CODETAG_ACTION_FAULT, .action_text = "fault times=2  space=0" },
	{ "func x fault=off", .func = "x", .action = CODETAG_ACTION_FAULT_OFF,
	  .action_text = "fault=off" },
	/* guards */
	{ "guard", .action = CODETAG_ACTION_GUARD, .rate = 1, .action_text = "guard" },
	{ "func x guard rate=0x10 # x", .func = "x", .action = CODETAG_ACTION_GUARD, .rate = 16,
	  .action_text = "guard rate=0x10" },
	{ "guard=off", .action = CODETAG_ACTION_GUARD_OFF, .action_text = "guard=off" },
	/* traces */
	{ "func x trace # x", .func = "x", .action = CODETAG_ACTION_TRACE, .action_text = "trace" },
	{ "trace=off", .action = CODETAG_ACTION_TRACE_OFF, .action_text = "trace=off" },
};

/* Parameters are named by their text, in letters that a test's name can have. */
static void name_by_text(char *name, const char *text)
{
	size_t i;

	for (i = 0; text[i] && i < KUNIT_PARAM_DESC_SIZE - 1; i++)
		name[i] = text[i] > ' ' && text[i] <= '~' && text[i] != '#' ? text[i] : ' ';
	name[i] = '\0';
}

static void good_name(const struct good *good, char *name)
{
	name_by_text(name, good->text);
}

KUNIT_ARRAY_PARAM(good, goods, good_name);

static void expect_none(struct kunit *test, const struct codetag_terms *none,
			const struct codetag_terms *want)
{
	KUNIT_EXPECT_STREQ(test, none->file ?: "any", want->file ?: "any");
	KUNIT_EXPECT_STREQ(test, none->func ?: "any", want->func ?: "any");
	KUNIT_EXPECT_STREQ(test, none->module ?: "any", want->module ?: "any");
	KUNIT_EXPECT_STREQ(test, none->subsystem ?: "any", want->subsystem ?: "any");
	KUNIT_EXPECT_EQ(test, none->first_line, want->last_line ? want->first_line : UINT_MAX);
	KUNIT_EXPECT_EQ(test, none->last_line, want->last_line);
	KUNIT_EXPECT_EQ(test, none->by_id, want->by_id);
	KUNIT_EXPECT_EQ(test, none->id, want->id);
}

static void good_query(struct kunit *test)
{
	const struct good *good = test->param_value;
	struct codetag_query q = parse_one(test, good->text);
	const char *action = good->action_text ?: "";

	KUNIT_EXPECT_STREQ(test, q.all.file ?: "any", good->file ?: "any");
	KUNIT_EXPECT_STREQ(test, q.all.func ?: "any", good->func ?: "any");
	KUNIT_EXPECT_STREQ(test, q.all.module ?: "any", good->module ?: "any");
	KUNIT_EXPECT_STREQ(test, q.all.subsystem ?: "any", good->subsystem ?: "any");
	KUNIT_EXPECT_EQ(test, q.all.first_line, good->first_line);
	KUNIT_EXPECT_EQ(test, q.all.last_line, good->last_line ?: UINT_MAX);
	KUNIT_EXPECT_EQ(test, q.all.by_id, good->by_id);
	KUNIT_EXPECT_EQ(test, q.all.id, good->id);
	expect_none(test, &q.none[0], &good->none);
	expect_none(test, &q.none[1], &good->again);
	KUNIT_EXPECT_EQ(test, q.action, good->action);
	KUNIT_EXPECT_EQ(test, q.flags, good->flags);
	KUNIT_EXPECT_EQ(test, q.rate, good->rate ?: 1);
	KUNIT_ASSERT_EQ(test, q.end - q.action_start, strlen(action));
	KUNIT_EXPECT_MEMEQ(test, good->text + q.action_start, action, strlen(action));
}

static const struct fault {
	const char *text;
	struct codetag_fault_settings settings;	/* in the order of the struct */
} faults[] = {
	{ "=p", { 100, 1, 1, 0, 1, false, 32, 0, ULONG_MAX, 0, 0, 0 } },
	{ "fault", { 100, 1, 1, 0, 1, false, 32, 0, ULONG_MAX, 0, 0, 0 } },
	{ "fault probability=0", { 0, 1, 1, 0, 1, false, 32, 0, ULONG_MAX, 0, 0, 0 } },
	{ "fault probability=99 interval=7 times=3",
	  { 99, 7, 3, 0, 1, false, 32, 0, ULONG_MAX, 0, 0, 0 } },
	{ "fault times=-1", { 100, 1, -1, 0, 1, false, 32, 0, ULONG_MAX, 0, 0, 0 } },
	{ "fault times=0", { 100, 1, 0, 0, 1, false, 32, 0, ULONG_MAX, 0, 0, 0 } },
	{ "fault times=2147483647 space=2147483647",
	  { 100, 1, INT_MAX, INT_MAX, 1, false, 32, 0, ULONG_MAX, 0, 0, 0 } },
	{ "fault space=0x1000 verbose=2 task-filter=1",
	  { 100, 1, 1, 4096, 2, true, 32, 0, ULONG_MAX, 0, 0, 0 } },
	{ "fault task-filter=0 verbose=0", { 100, 1, 1, 0, 0, false, 32, 0, ULONG_MAX, 0, 0, 0 } },
	{ "fault stacktrace-depth=8 require-start=0x10 require-end=020",
	  { 100, 1, 1, 0, 1, false, 8, 16, 16, 0, 0, 0 } },
	{ "fault stacktrace-depth=0 reject-start=3 reject-end=0xff",
	  { 100, 1, 1, 0, 1, false, 0, 0, ULONG_MAX, 3, 255, 0 } },
	{ "fault nth=1", { 100, 1, 1, 0, 1, false, 32, 0, ULONG_MAX, 0, 0, 1 } },
	{ "fault verbose=2 nth=3 task-filter=1",
	  { 100, 1, 1, 0, 2, true, 32, 0, ULONG_MAX, 0, 0, 3 } },
};

static void fault_name(const struct fault *fault, char *name)
{
	name_by_text(name, fault->text);
}

KUNIT_ARRAY_PARAM(fault, faults, fault_name);

static void fault_settings(struct kunit *test)
{
	const struct fault *fault = test->param_value;
	const struct codetag_fault_settings *want = &fault->settings;
	struct codetag_query q = parse_one(test, fault->text);

	KUNIT_EXPECT_EQ(test, q.fault.probability, want->probability);
	KUNIT_EXPECT_EQ(test, q.fault.interval, want->interval);
	KUNIT_EXPECT_EQ(test, q.fault.times, want->times);
	KUNIT_EXPECT_EQ(test, q.fault.space, want->space);
	KUNIT_EXPECT_EQ(test, q.fault.verbose, want->verbose);
	KUNIT_EXPECT_EQ(test, q.fault.task_filter, want->task_filter);
	KUNIT_EXPECT_EQ(test, q.fault.stacktrace_depth, want->stacktrace_depth);
	KUNIT_EXPECT_EQ(test, q.fault.require_start, want->require_start);
	KUNIT_EXPECT_EQ(test, q.fault.require_end, want->require_end);
	KUNIT_EXPECT_EQ(test, q.fault.reject_start, want->reject_start);
	KUNIT_EXPECT_EQ(test, q.fault.reject_end, want->reject_end);
	KUNIT_EXPECT_EQ(test, q.fault.nth, want->nth);
}

static void nothing(struct kunit *test)
{
	static const char * const texts[] = {
		"", " ", "\n", ";;\n; \t\r\n", "#", " # x; =p", ";#\n#\n",
	};
	struct codetag_query_error err;
	struct codetag_query q;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(texts); i++) {
		size_t len = strlen(texts[i]), pos = 0;
		char *text = copy_of(test, texts[i], len);

		KUNIT_EXPECT_EQ(test, codetag_query_parse(text, len, &pos, &q, &err), 0);
		KUNIT_EXPECT_EQ(test, pos, len);
		KUNIT_EXPECT_EQ(test, codetag_query_parse(text, len, &pos, &q, &err), 0);
	}
}

/* ---- bad queries -------------------------------------------------------------- */

static const struct bad {
	const char *text;
	const char *token;
	size_t position;
	const char *why;	/* some of it */
} bads[] = {
	/* terms */
	{ "files x", "files", 0, "neither a keyword" },
	{ "File x", "File", 0, "neither a keyword" },
	{ " x", "x", 1, "neither a keyword" },
	{ "\"\"", "", 0, "neither a keyword" },
	{ "file x y z", "y", 7, "neither a keyword" },
	{ "file x;\n  func y\nbla", "bla", 17, "neither a keyword" },
	{ "file", "file", 0, "a value is missing" },
	{ "func x file ", "file", 7, "a value is missing" },
	{ "file ;func x", "file", 0, "a value is missing" },
	{ "line\n5", "line", 0, "a value is missing" },
	{ "file # x", "file", 0, "a value is missing" },
	{ "file \"\"", "", 5, "the value is empty" },
	{ "file ./", "", 5, "the value is empty" },
	{ "module \"\" =p", "", 7, "the value is empty" },
	{ "file x file y", "file", 7, "given twice" },
	{ "func x func x", "func", 7, "given twice" },
	{ "module x module y", "module", 9, "given twice" },
	{ "subsystem x subsystem y", "subsystem", 12, "given twice" },
	{ "subsystem", "subsystem", 0, "a value is missing" },
	{ "line 0- line 1", "line", 8, "given twice" },
	{ "id 0 id 1", "id", 5, "given twice" },
	/* not */
	{ "not", "not", 0, "a term is missing after not" },
	{ "file x not ;", "not", 7, "a term is missing after not" },
	{ "not file", "file", 4, "a value is missing" },
	{ "not =p", "=p", 4, "can follow not" },
	{ "not fault", "fault", 4, "can follow not" },
	{ "not not file x", "not", 4, "can follow not" },
	{ "not file \"\"", "", 9, "the value is empty" },
	{ "not file x file y file z", "file", 18, "given twice" },
	{ "not id 1 not id 2 not id 3 not id 4 not id 5 not id 6 not id 7 not id 8 not id 9",
	  "id", 76, "more than 8 times" },
	{ "not line 5-3", "5-3", 9, "ends before it begins" },
	{ "not id x", "x", 7, "not an id" },
	{ "Not file x", "Not", 0, "neither a keyword" },
	{ "=p not file x", "not", 3, "ends with its action" },
	/* lines */
	{ "line x", "x", 5, "not a line" },
	{ "line -", "-", 5, "not a line" },
	{ "line --", "--", 5, "not a line" },
	{ "line 3--4", "3--4", 5, "not a line" },
	{ "line 3-4-5", "3-4-5", 5, "not a line" },
	{ "line -4-5", "-4-5", 5, "not a line" },
	{ "line 3-x", "3-x", 5, "not a line" },
	{ "line x-3", "x-3", 5, "not a line" },
	{ "line 3x", "3x", 5, "not a line" },
	{ "line 08", "08", 5, "not a line" },
	{ "line \"\"", "", 5, "not a line" },
	{ "line \" 3\"", " 3", 5, "not a line" },
	{ "line 3 - 4", "-", 7, "no flags" },
	{ "line 5-3", "5-3", 5, "ends before it begins" },
	{ "line 4294967296", "4294967296", 5, "out of range" },
	{ "line 1-4294967296", "1-4294967296", 5, "out of range" },
	{ "line 99999999999999999999999", "99999999999999999999999", 5, "out of range" },
	/* ids */
	{ "id x", "x", 3, "not an id" },
	{ "id -1", "-1", 3, "not an id" },
	{ "id 3-4", "3-4", 3, "not an id" },
	{ "id 0x", "0x", 3, "not an id" },
	{ "id 65536", "65536", 3, "out of range" },
	{ "id 4294967296", "4294967296", 3, "out of range" },
	/* words */
	{ "file \"x", "x", 5, "not closed" },
	{ "file \"x\nfile y\"", "x", 5, "not closed" },
	{ "file \"", "", 5, "not closed" },
	{ "file \"x\"y", "x", 5, "right after the quote" },
	{ "file \"x\"\"y\"", "x", 5, "right after the quote" },
	{ "\x01\xff\x7f~ x", "???~", 0, "control character" },
	{ "\xff~ x", "?~", 0, "neither a keyword" },
	{ "file \"a\x1b[m\"", "a?[m", 5, "control character" },
	{ "file x\rline 3", "x?line", 5, "control character" },
	{ "file x\f\vline 3", "x??line", 5, "control character" },
	{ "abcdefghijklmnopqrstuvwxyz01234 x", "abcdefghijklmnopqrstuvwxyz01234", 0,
	  "neither a keyword" },
	{ "abcdefghijklmnopqrstuvwxyz012345 x", "abcdefghijklmnopqrstuvwxyz01...", 0,
	  "neither a keyword" },
	/* flags */
	{ "=", "=", 0, "no flags" },
	{ "file x +;", "+", 7, "no flags" },
	{ "=x", "=x", 0, "unknown flag" },
	{ "=px", "=px", 0, "unknown flag" },
	{ "=p_", "=p_", 0, "unknown flag" },
	{ "=_p", "=_p", 0, "unknown flag" },
	{ "+_", "+_", 0, "unknown flag" },
	{ "-_", "-_", 0, "unknown flag" },
	{ "=P", "=P", 0, "unknown flag" },
	{ "=pp", "=pp", 0, "given twice" },
	{ "=p =p", "=p", 3, "ends with its action" },
	{ "=p file x", "file", 3, "ends with its action" },
	{ "=p fault", "fault", 3, "ends with its action" },
	{ "fault=off times=3", "times=3", 10, "ends with its action" },
	/* guards */
	{ "guard=on", "guard=on", 0, "must be guard or guard=off" },
	{ "guards", "guards", 0, "neither a keyword" },
	{ "guard=off rate=3", "rate=3", 10, "ends with its action" },
	{ "guard nth=3", "nth=3", 6, "not a setting of guard" },
	{ "guard rate", "rate", 6, "not a setting of guard" },
	{ "guard rate=1 rate=1", "rate=1", 13, "given twice" },
	{ "guard rate=0", "rate=0", 6, "from 1 to 2147483647" },
	{ "guard rate=-1", "rate=-1", 6, "from 1 to 2147483647" },
	{ "guard rate=2147483648", "rate=2147483648", 6, "from 1 to 2147483647" },
	{ "guard fault", "fault", 6, "not a setting of guard" },
	/* traces */
	{ "trace=on", "trace=on", 0, "must be trace or trace=off" },
	{ "traced", "traced", 0, "neither a keyword" },
	{ "trace rate=3", "rate=3", 6, "ends with its action" },
	{ "trace guard", "guard", 6, "ends with its action" },
	/* faults */
	{ "fault=on", "fault=on", 0, "must be fault or fault=off" },
	{ "fault=", "fault=", 0, "must be fault or fault=off" },
	{ "faults", "faults", 0, "neither a keyword" },
	{ "fault file x", "file", 6, "not a fault setting" },
	{ "fault =p", "=p", 6, "not a fault setting" },
	{ "fault times", "times", 6, "not a fault setting" },
	{ "fault time=3", "time=3", 6, "not a fault setting" },
	{ "fault timess=3", "timess=3", 6, "not a fault setting" },
	{ "fault =3", "=3", 6, "not a fault setting" },
	{ "fault off", "off", 6, "not a fault setting" },
	{ "fault times=1 times=1", "times=1", 14, "given twice" },
	{ "fault nth=1 nth=2", "nth=2", 12, "given twice" },
	{ "fault times=", "times=", 6, "must be a number" },
	{ "fault times=x", "times=x", 6, "must be a number" },
	{ "fault times=-2", "times=-2", 6, "must be a number" },
	{ "fault times=2147483648", "times=2147483648", 6, "must be a number" },
	{ "fault probability=101", "probability=101", 6, "from 0 to 100" },
	{ "fault probability=-1", "probability=-1", 6, "from 0 to 100" },
	{ "fault probability=99999999999999999999", "probability=9999999999999999...", 6,
	  "from 0 to 100" },
	{ "fault interval=0", "interval=0", 6, "from 1 to 2147483647" },
	{ "fault interval=-1", "interval=-1", 6, "from 1 to 2147483647" },
	{ "fault space=-1", "space=-1", 6, "must be a number" },
	{ "fault space=2147483648", "space=2147483648", 6, "must be a number" },
	{ "fault verbose=3", "verbose=3", 6, "0, 1 or 2" },
	{ "fault task-filter=2", "task-filter=2", 6, "0 or 1" },
	{ "fault task_filter=1", "task_filter=1", 6, "not a fault setting" },
	{ "fault stacktrace-depth=33", "stacktrace-depth=33", 6, "from 0 to 32" },
	{ "fault require-start=vfs_read", "require-start=vfs_read", 6, "an address" },
	{ "fault nth=0", "nth=0", 6, "from 1 to 2147483647" },
	{ "fault nth=-1", "nth=-1", 6, "from 1 to 2147483647" },
	{ "fault nth=2147483648", "nth=2147483648", 6, "from 1 to 2147483647" },
	{ "fault nth=18446744073709551615", "nth=18446744073709551615", 6,
	  "from 1 to 2147483647" },
	{ "fault interval=2147483648", "interval=2147483648", 6, "from 1 to 2147483647" },
	{ "fault nth=1 times=3", "times=3", 12, "together with nth" },
	{ "fault times=3 nth=1", "nth=1", 14, "together with nth" },
	{ "fault verbose=1 nth=1 space=0", "space=0", 22, "together with nth" },
};

static void bad_name(const struct bad *bad, char *name)
{
	name_by_text(name, bad->text);
}

KUNIT_ARRAY_PARAM(bad, bads, bad_name);

/* Parses until something is wrong, which has to be soon. */
static void expect_error(struct kunit *test, const char *source, size_t len,
			 const char *token, size_t position, const char *why)
{
	char *text = copy_of(test, source, len);
	struct codetag_query_error err;
	struct codetag_query q;
	size_t pos = 0, before;
	int ret;

	do {
		before = pos;
		ret = codetag_query_parse(text, len, &pos, &q, &err);
	} while (ret == 1);
	KUNIT_ASSERT_EQ(test, ret, -EINVAL);
	KUNIT_EXPECT_EQ(test, pos, before);
	KUNIT_EXPECT_STREQ(test, err.token, token);
	KUNIT_EXPECT_EQ(test, err.position, position);
	KUNIT_EXPECT_NOT_NULL_MSG(test, strstr(err.why, why), "why is '%s'", err.why);
}

static void bad_query(struct kunit *test)
{
	const struct bad *bad = test->param_value;

	expect_error(test, bad->text, strlen(bad->text), bad->token, bad->position, bad->why);
}

static void nul_bytes(struct kunit *test)
{
	expect_error(test, "\0", 1, "?", 0, "NUL");
	expect_error(test, "file x\0", 7, "x?", 5, "NUL");
	expect_error(test, "fi\0le x", 7, "fi?le", 0, "NUL");
	expect_error(test, "file \"a\0b\"", 10, "a?b", 5, "NUL");
	expect_error(test, "file x =p;\0\n", 12, "?", 10, "NUL");
	expect_error(test, "file x # a\0b\n", 13, "?b", 10, "NUL");
}

static void long_words(struct kunit *test)
{
	static const char key[] = "file ";
	const size_t start = strlen(key);
	char text[5 + CODETAG_QUERY_WORD_MAX + 2];
	struct codetag_query q;

	memcpy(text, key, start);
	memset(text + start, 'x', CODETAG_QUERY_WORD_MAX + 1);
	text[start + CODETAG_QUERY_WORD_MAX] = '\0';
	q = parse_one(test, text);
	KUNIT_EXPECT_STREQ(test, q.all.file, text + start);

	text[start + CODETAG_QUERY_WORD_MAX] = 'x';
	expect_error(test, text, sizeof(text) - 1, "xxxxxxxxxxxxxxxxxxxxxxxxxxxx...", start,
		     "longer than 255");
}

/* ---- texts of several queries ------------------------------------------------- */

static void several(struct kunit *test)
{
	static const char source[] =
		"# what ext4 does\n"
		"file fs/ext4/* =p; module \"jbd2\" -p ;;\n"
		"  fault nth=3 # all of them; =p\n"
		"not func f;\tline 7";
	static const struct {
		const char *text;
		enum codetag_action action;
	} want[] = {
		{ "file fs/ext4/* =p", CODETAG_ACTION_SET },
		{ "module \"jbd2\" -p", CODETAG_ACTION_REMOVE },
		{ "fault nth=3", CODETAG_ACTION_FAULT },
		{ "not func f", CODETAG_ACTION_NONE },
		{ "line 7", CODETAG_ACTION_NONE },
	};
	size_t len = strlen(source), pos = 0;
	char *text = copy_of(test, source, len);
	struct codetag_query_error err;
	const char *first_glob = NULL;
	struct codetag_query q;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(want); i++) {
		KUNIT_ASSERT_EQ(test, codetag_query_parse(text, len, &pos, &q, &err), 1);
		KUNIT_EXPECT_EQ(test, q.action, want[i].action);
		/* Nothing is left of the query before. */
		KUNIT_EXPECT_EQ(test, q.fault.nth, i == 2 ? 3 : 0);
		KUNIT_EXPECT_EQ(test, q.all.first_line, i == 4 ? 7 : 0);
		KUNIT_EXPECT_EQ(test, !q.all.file, i != 0);
		KUNIT_EXPECT_EQ(test, !q.all.module, i != 1);
		KUNIT_EXPECT_EQ(test, !q.none[0].func, i != 3);
		KUNIT_ASSERT_EQ(test, q.end - q.start, strlen(want[i].text));
		KUNIT_EXPECT_MEMEQ(test, source + q.start, want[i].text,
				   strlen(want[i].text));
		first_glob = first_glob ?: q.all.file;
	}
	KUNIT_EXPECT_EQ(test, codetag_query_parse(text, len, &pos, &q, &err), 0);
	KUNIT_EXPECT_STREQ(test, first_glob, "fs/ext4/*");
}

static void long_text(struct kunit *test)
{
	const size_t size = 64 * 1024;
	char *text = kunit_kmalloc(test, size, GFP_KERNEL);
	struct codetag_query_error err;
	struct codetag_query q;
	unsigned int nr = 0, i;
	size_t len = 0, pos = 0;

	KUNIT_ASSERT_NOT_NULL(test, text);
	for (; len < size - 40; nr++)
		len += sprintf(text + len, "func f%u line %u =p%c", nr, nr, nr % 2 ? ';' : '\n');
	for (i = 0; i < nr; i++) {
		char func[16];

		KUNIT_ASSERT_EQ(test, codetag_query_parse(text, len, &pos, &q, &err), 1);
		sprintf(func, "f%u", i);
		KUNIT_ASSERT_STREQ(test, q.all.func, func);
		KUNIT_ASSERT_EQ(test, q.all.first_line, i);
	}
	KUNIT_EXPECT_EQ(test, codetag_query_parse(text, len, &pos, &q, &err), 0);
	KUNIT_EXPECT_EQ(test, pos, len);
}

/* ---- matching ----------------------------------------------------------------- */

static const struct {
	char letter;
	struct codetag ct;
	u16 id;
	const char *modname;
	bool builtin;
} sites[] = {
	{ 's', { .filename = "mm/slub.c", .lineno = 2412, .function = "alloc_slab_page" },
	  40, "slub", true },
	{ 'h', { .filename = "./include/linux/skbuff.h", .lineno = 7,
		 .function = "__dev_alloc_page" }, 41, NULL, true },
	{ 'e', { .filename = "fs/ext4/super.c", .lineno = 1384, .function = "ext4_alloc_inode" },
	  0, "ext4", false },
	{ 'o', { .filename = "/home/me/hda/slub.c", .lineno = UINT_MAX, .function = "probe" },
	  65535, "snd_hda_intel", false },
};

static const struct match {
	const char *text;
	const char *letters;
} matches[] = {
	{ "=p", "sheo" },
	{ "fault", "sheo" },
	{ "file *", "sheo" },
	{ "file **", "sheo" },
	{ "file mm/slub.c", "s" },
	{ "file slub.c", "so" },
	{ "file lub.c", "" },
	{ "file *lub.c", "so" },
	{ "file *lub.c**", "so" },
	{ "file mm", "" },
	{ "file mm/", "" },
	{ "file mm/*", "s" },
	{ "file m?/*", "so" },
	{ "file ext4/*", "e" },
	{ "file s*r.c", "e" },
	{ "file ./mm/slub.c", "s" },
	{ "file include/linux/skbuff.h", "h" },
	{ "file ./include/linux/skbuff.h", "h" },
	{ "file linux/*.h", "h" },
	{ "file /home/*", "o" },
	{ "file home/me/hda/slub.c", "o" },
	{ "file MM/slub.c", "" },
	{ "func alloc_slab_page", "s" },
	{ "func alloc", "" },
	{ "func *alloc*", "she" },
	{ "func probe?", "" },
	{ "func prob?", "o" },
	{ "func ?robe*", "o" },
	{ "func [p]robe", "" },
	{ "module vmlinux", "sh" },
	{ "module vm*", "sh" },
	{ "module *", "sheo" },
	{ "module slub", "s" },
	{ "module ext4", "e" },
	{ "module ext", "" },
	{ "module snd-hda-intel", "o" },
	{ "module snd_hda?intel", "o" },
	{ "module s*", "so" },
	{ "line 7", "h" },
	{ "line 8", "" },
	{ "line 7-1384", "he" },
	{ "line 8-1383", "" },
	{ "line 1384-", "seo" },
	{ "line -1384", "he" },
	{ "line 4294967295", "o" },
	{ "id 40", "s" },
	{ "id 0", "e" },
	{ "id 65535", "o" },
	{ "id 4", "" },
	{ "file slub.c module vmlinux", "s" },
	{ "file slub.c func probe", "o" },
	{ "file slub.c func ext4*", "" },
	{ "module vmlinux line 7 id 41 func *page file skbuff.h", "h" },
	{ "module vmlinux line 7 id 40 func *page file skbuff.h", "" },
	{ "not file slub.c", "he" },
	{ "not file mm/slub.c", "heo" },
	{ "not file *", "" },
	{ "not func *alloc*", "o" },
	{ "not module vmlinux", "eo" },
	{ "not module ext4", "sho" },
	{ "not line 7-1384", "so" },
	{ "not line 7", "seo" },
	{ "not line 0-", "" },
	{ "not id 40", "heo" },
	{ "not id 0", "sho" },
	{ "file slub.c not module vmlinux", "o" },
	{ "file *.c not file mm/* not func probe", "e" },
	{ "module vmlinux not line 7 not id 40", "" },
	{ "id 40 not id 40", "" },
	{ "not file mm/* not file fs/*", "ho" },
	{ "not line 7 not line 2412 not id 0", "o" },
	{ "file *.c not module s* not module ext4", "" },
	{ "not func probe not func a* not func b*", "he" },
	{ "subsystem fs/ext4", "e" },
	{ "subsystem \"slab allocator\"", "s" },
	{ "subsystem \"slab*\"", "s" },
	{ "subsystem headers", "h" },
	{ "subsystem \"module snd_hda_intel\"", "o" },
	{ "subsystem ext4", "" },
	{ "not subsystem fs/* not subsystem headers", "so" },
	{ "subsystem fs/ext4 not line 1384", "" },
};

static void match_name(const struct match *match, char *name)
{
	name_by_text(name, match->text);
}

KUNIT_ARRAY_PARAM(match, matches, match_name);

static void matching(struct kunit *test)
{
	const struct match *match = test->param_value;
	struct codetag_query q = parse_one(test, match->text);
	char letters[ARRAY_SIZE(sites) + 1];
	unsigned int nr = 0, i;

	for (i = 0; i < ARRAY_SIZE(sites); i++)
		if (codetag_query_matches(&q, &sites[i].ct, sites[i].id, sites[i].modname,
					  sites[i].builtin))
			letters[nr++] = sites[i].letter;
	letters[nr] = '\0';
	KUNIT_EXPECT_STREQ(test, letters, match->letters);
}

/* The meaning of a glob, in the simplest code, however slow */
static bool glob_reference(const char *glob, const char *s)
{
	if (*glob == '*')
		return glob_reference(glob + 1, s) || (*s && glob_reference(glob, s + 1));
	if (!*glob || !*s)
		return !*glob && !*s;
	return (*glob == '?' || *glob == *s) && glob_reference(glob + 1, s + 1);
}

/* Counts @s up to the next string of up to @max of the @letters, "" first. */
static bool next_string(char *s, size_t max, const char *letters)
{
	size_t i;

	for (i = 0; s[i]; i++) {
		const char *next = strchr(letters, s[i]) + 1;

		s[i] = *next ?: *letters;
		if (*next)
			return true;
	}
	s[i] = *letters;
	s[i + 1] = '\0';
	return i < max;
}

static void globs(struct kunit *test)
{
	struct codetag ct = { .filename = "x", .function = NULL };
	char glob[8] = "", s[8];

	while (next_string(glob, 4, "ab*?")) {
		struct codetag_query q;
		char text[16];

		sprintf(text, "func %s", glob);
		q = parse_one(test, text);
		s[0] = '\0';
		do {
			ct.function = s;
			if (codetag_query_matches(&q, &ct, 0, NULL, false) !=
			    glob_reference(glob, s))
				KUNIT_FAIL(test, "glob '%s' on '%s'", glob, s);
		} while (next_string(s, 4, "ab"));
	}
}

/* A module outside the tree has one name, whatever path the compiler was given. */
static void subsystems(struct kunit *test)
{
	static const struct {
		const char *path, *modname, *name;
	} files[] = {
		{ "fs/ext4/super.c", "ext4", "fs/ext4" },
		{ "arch/x86/kernel/fpu/xstate.c", NULL, "arch/x86" },
		{ "mm/slub.c", "slub", "slab allocator" },
		{ "/usr/src/hda/main.c", "snd_hda", "module snd_hda" },
		{ "main.c", "snd_hda", "module snd_hda" },
		{ "src/main.c", "snd_hda", "module snd_hda" },
		{ "/usr/src/hda/main.c", NULL, "other" },
		{ "main.c", NULL, "other" },
	};
	char name[CODETAG_SUBSYSTEM_MAX + 1];
	int i;

	for (i = 0; i < ARRAY_SIZE(files); i++) {
		codetag_subsystem(name, files[i].path, files[i].modname);
		KUNIT_EXPECT_STREQ(test, name, files[i].name);
	}
}

static void names_module(struct kunit *test)
{
	static const struct {
		const char *text;
		bool names;
	} queries[] = {
		{ "=p", false },
		{ "file fs/ext4/* =p", false },
		{ "module vmlinux =p", false },
		{ "module vmlinu? =p", true },
		{ "module * =p", true },
		{ "module ext4", true },
		{ "not module ext4", true },
		{ "not module vmlinux", true },
		{ "module vmlinux not module slub", false },
		{ "not file fs/ext4/*", false },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(queries); i++) {
		struct codetag_query q = parse_one(test, queries[i].text);

		KUNIT_EXPECT_EQ(test, codetag_query_names_module(&q), queries[i].names);
	}
}

/* ---- any text ----------------------------------------------------------------- */

/* The properties of any text; KASAN sees a leak. Returns the last result. */
static int parse_any(struct kunit *test, const char *source, size_t len)
{
	char *text = kmemdup_nul(source, len, GFP_KERNEL);
	struct codetag_query_error err;
	struct codetag_query q;
	size_t pos = 0, before = 0;
	unsigned int i;
	int ret;

	KUNIT_ASSERT_NOT_NULL(test, text);
	while ((ret = codetag_query_parse(text, len, &pos, &q, &err)) == 1) {
		if (q.start < before || q.end <= q.start || pos < q.end || pos > len)
			KUNIT_FAIL_AND_ABORT(test, "query at %zu-%zu, next at %zu of %zu",
					     q.start, q.end, pos, len);
		for (i = 0; i < ARRAY_SIZE(sites); i++)
			codetag_query_matches(&q, &sites[i].ct, sites[i].id, sites[i].modname,
					      sites[i].builtin);
		before = pos;
	}
	if (ret) {
		KUNIT_EXPECT_EQ(test, ret, -EINVAL);
		KUNIT_EXPECT_LT(test, err.position, len);
		KUNIT_EXPECT_LT(test, strnlen(err.token, sizeof(err.token)), sizeof(err.token));
	} else {
		KUNIT_EXPECT_EQ(test, pos, len);
	}
	kfree(text);
	return ret;
}

static void prefixes(struct kunit *test)
{
	static const char text[] =
		"file \"fs/*\" func f** module a-b line 3-0x7 id 9 =p # c\n"
		"not file x not line 3- not id 7 -p;"
		"line -5 fault nth=3 verbose=2;; fault times=-1; -p ; fault=off; guard rate=7\n"
		"trace; func x trace=off\n";
	size_t len;

	for (len = 0; len < sizeof(text); len++)
		parse_any(test, text, len);
	KUNIT_EXPECT_EQ(test, parse_any(test, text, sizeof(text) - 1), 0);
}

static void garbage(struct kunit *test)
{
	static const char * const parts[] = {
		"file ", "func ", "module ", "line ", "id ", "not ", "fault ", "fault=off",
		"guard ", "rate=", "trace", "trace=off",
		"nth=", "times=", "=p", "+p", "-p", "=_", "*", "?", "\"", "#", ";", "\n",
		" ", "\t", "-", "0x", "7", "./", "vmlinux", "mm/slub.c",
	};
	struct rnd_state rnd;
	char text[256];
	unsigned int i, good = 0;

	prandom_seed_state(&rnd, 6120);
	for (i = 0; i < 20000; i++) {
		size_t room = prandom_u32_state(&rnd) % (sizeof(text) - 16), len = 0;

		while (len < room) {
			u32 n = prandom_u32_state(&rnd) % (ARRAY_SIZE(parts) + 2);

			if (n < ARRAY_SIZE(parts))
				len += sprintf(text + len, "%s", parts[n]);
			else
				text[len++] = prandom_u32_state(&rnd);
		}
		/* Often short, or nothing ever gets far. */
		good += !parse_any(test, text, i % 2 ? len : min(len, 12));
		cond_resched();
	}
	KUNIT_EXPECT_GT(test, good, 100);
}

static struct kunit_case query_cases[] = {
	KUNIT_CASE_PARAM(good_query, good_gen_params),
	KUNIT_CASE_PARAM(fault_settings, fault_gen_params),
	KUNIT_CASE(nothing),
	KUNIT_CASE_PARAM(bad_query, bad_gen_params),
	KUNIT_CASE(nul_bytes),
	KUNIT_CASE(long_words),
	KUNIT_CASE(several),
	KUNIT_CASE(long_text),
	KUNIT_CASE_PARAM(matching, match_gen_params),
	KUNIT_CASE(globs),
	KUNIT_CASE(subsystems),
	KUNIT_CASE(names_module),
	KUNIT_CASE(prefixes),
	KUNIT_CASE(garbage),
	{}
};

static struct kunit_suite query_suite = {
	.name = "codetag_query",
	.test_cases = query_cases,
};

kunit_test_suite(query_suite);

MODULE_DESCRIPTION("Tests of the query language of code tags");
MODULE_LICENSE("GPL");
