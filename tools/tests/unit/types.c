// SPDX-License-Identifier: GPL-2.0-only
#include "unit.h"

#ifdef HAVE_BPF
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/btf.h>

#include "base/text.h"
#include "image/types.h"

/*
 * struct thing {
 *	union { int lock; struct { short low, high; }; };	0
 *	struct pair pair[2];					8
 *	unsigned int flag : 3, count : 13;			40
 * };								48
 * Two structures are called "other" and have 24 bytes, one more has 32.
 */
static bool write_btf(const char *path)
{
	struct btf *btf = btf__new_empty();
	int number = btf__add_int(btf, "int", 4, BTF_INT_SIGNED);
	int half = btf__add_int(btf, "short", 2, BTF_INT_SIGNED);
	int alias = btf__add_typedef(btf, "key_t", btf__add_const(btf, number));
	int pair = btf__add_struct(btf, "pair", 16), parts, either, list;
	const void *raw;
	uint32_t size;
	FILE *out;
	bool good;

	btf__add_field(btf, "key", alias, 0, 0);
	btf__add_field(btf, "value", number, 64, 0);
	parts = btf__add_struct(btf, NULL, 4);
	btf__add_field(btf, "low", half, 0, 0);
	btf__add_field(btf, "high", half, 16, 0);
	either = btf__add_union(btf, NULL, 4);
	btf__add_field(btf, "lock", number, 0, 0);
	btf__add_field(btf, NULL, parts, 0, 0);
	list = btf__add_array(btf, number, pair, 2);
	btf__add_struct(btf, "thing", 48);
	btf__add_field(btf, NULL, either, 0, 0);
	btf__add_field(btf, "pair", list, 64, 0);
	btf__add_field(btf, "flag", number, 320, 3);
	btf__add_field(btf, "count", number, 323, 13);
	btf__add_struct(btf, "node_struct", 64);
	btf__add_field(btf, "first", number, 0, 0);
	for (unsigned int i = 0; i < 3; i++) {
		btf__add_struct(btf, "other", i < 2 ? 24 : 32);
		btf__add_field(btf, i ? "second" : "first", number, 0, 0);
	}
	raw = btf__raw_data(btf, &size);
	out = fopen(path, "w");
	good = out && fwrite(raw, 1, size, out) == size;
	if (out)
		good &= !fclose(out);
	btf__free(btf);
	return good;
}

static void expect_member(const struct types *types, const char *cache, uint64_t size,
			  uint64_t offset, const char *want)
{
	struct text type = { 0 }, member = { 0 }, got = { 0 };

	if (types_find(types, cache, size, offset, &type, &member))
		text_printf(&got, "%s: %s", type.s, member.len ? member.s : "-");
	else
		text_puts(&got, "unknown");
	expect(!strcmp(got.s, want), "types: %s of %llu bytes, offset %llu: %s, want %s", cache,
	       (unsigned long long)size, (unsigned long long)offset, got.s, want);
	text_free(&type);
	text_free(&member);
	text_free(&got);
}

void test_types(void)
{
	char path[] = "/tmp/codetag-types.XXXXXX";
	int fd = mkstemp(path);
	struct types *types;

	expect(fd >= 0 && write_btf(path), "types: BTF is written");
	types = types_open(path, false);
	expect(types, "types: BTF is read");
	if (types) {
		expect_member(types, "thing", 48, 0, "struct thing: lock or low");
		expect_member(types, "thing", 48, 3, "struct thing: lock or high");
		expect_member(types, "thing", 48, 4, "struct thing: -");
		expect_member(types, "thing_cache", 48, 8, "struct thing: pair[0].key");
		expect_member(types, "thing_jar", 48, 35, "struct thing: pair[1].value");
		expect_member(types, "thing_jar", 48, 36, "struct thing: -");
		expect_member(types, "thing", 48, 40, "struct thing: flag or count");
		expect_member(types, "thing", 48, 41, "struct thing: count");
		expect_member(types, "thing", 48, 47, "struct thing: -");
		expect_member(types, "node_cache", 64, 1, "struct node_struct: first");
		expect_member(types, "thing", 56, 8, "unknown");
		expect_member(types, "kmalloc-64", 64, 8, "unknown");
		expect_member(types, "other", 24, 0, "unknown");
		expect_member(types, "other", 32, 0, "struct other: second");
		expect(types_offset(types, "other", "second") == -1, "types: structures of one name");
		expect(types_offset(types, "thing", "pair") == 8, "types: offset of a member");
		expect(types_offset(types, "thing", "nosuch") == -1, "types: no such member");
	}
	types_close(types);
	if (fd >= 0) {
		expect(!ftruncate(fd, 40), "types: BTF is cut");
		types = types_open(path, false);
		expect(!types, "types: cut BTF is refused");
		types_close(types);
		close(fd);
		unlink(path);
	}
}
#else
void test_types(void)
{
}
#endif
