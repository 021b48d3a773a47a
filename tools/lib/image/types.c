// SPDX-License-Identifier: GPL-2.0-only
#include "image/types.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef HAVE_BPF
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#endif

#include "base/memory.h"
#include "base/message.h"

#ifdef HAVE_BPF

/*
 * Limits, because damaged BTF can be endless: depth of nested structures, members to look at for
 * one place, and bytes of its names.
 */
#define MAX_DEPTH 32
#define MAX_VISITS 20000
#define MAX_NAMES 512

struct types {
	struct btf *btf;
};

static int say_nothing(enum libbpf_print_level level, const char *format, va_list arguments)
{
	(void)level, (void)format, (void)arguments;
	return 0;
}

struct types *types_open(const char *path, bool must)
{
	struct types *types;
	struct btf *btf;

	libbpf_set_print(say_nothing);
	btf = btf__parse(path, NULL);
	if (!btf) {
		if (must && access(path, R_OK)) {
			warning("cannot read %s: %s", path, strerror(errno));
		} else if (must) {
			warning("%s has no BTF, or it is damaged", path);
			hint("pahole --btf_encode_detached=FILE vmlinux makes BTF of the debugging "
			     "information of a kernel.");
		}
		return NULL;
	}
	types = xcalloc(1, sizeof(*types));
	types->btf = btf;
	return types;
}

void types_close(struct types *types)
{
	if (types)
		btf__free(types->btf);
	free(types);
}

static const char *name_of(const struct types *types, uint32_t offset)
{
	const char *name = btf__name_by_offset(types->btf, offset);

	return name ? name : "";
}

/* A task ends with registers of as many bytes as the processor has. */
static bool has_size(const struct types *types, const struct btf_type *type, uint64_t size)
{
	return type->size == size || (type->size < size &&
				      !strcmp(name_of(types, type->name_off), "task_struct"));
}

/*
 * The structure with a name, and with @size bytes if that is not 0. NULL if there is none, or if
 * several files of the kernel have different structures of this name: BTF does not tell which one
 * a cache uses.
 */
static const struct btf_type *structure(const struct types *types, const char *name, uint64_t size)
{
	const struct btf_type *found = NULL;
	uint32_t count = btf__type_cnt(types->btf);

	for (uint32_t id = 1; id < count; id++) {
		const struct btf_type *type = btf__type_by_id(types->btf, id);

		if (!btf_is_struct(type) || strcmp(name_of(types, type->name_off), name) ||
		    (size && !has_size(types, type, size)))
			continue;
		if (found)
			return NULL;
		found = type;
	}
	return found;
}

/* A place in a structure, which can have several names if that has unions. */
struct place {
	const struct types *types;
	struct text path;	/* of the structure that is looked at */
	struct text *names;
	unsigned int visits;
};

static void find_in(struct place *place, uint32_t id, uint64_t offset, unsigned int depth);

static void find_member(struct place *place, const struct btf_type *type, unsigned int i,
			uint64_t offset, unsigned int depth)
{
	const struct btf_member *member = &btf_members(type)[i];
	uint32_t bit = btf_member_bit_offset(type, i), bits = btf_member_bitfield_size(type, i);
	const char *name = name_of(place->types, member->name_off);
	int64_t size = btf__resolve_size(place->types->btf, member->type);
	uint64_t first = bit / 8, end = bits ? (bit + bits + 7) / 8 : first + (uint64_t)(size > 0 ? size : 0);
	size_t len = place->path.len;

	if (offset < first || offset >= end || place->visits++ > MAX_VISITS)
		return;
	if (*name)
		text_printf(&place->path, "%s%s", len ? "." : "", name);
	find_in(place, member->type, bits ? 0 : offset - first, depth + 1);
	place->path.len = len;
	if (place->path.s)
		place->path.s[len] = '\0';
}

static void find_in(struct place *place, uint32_t id, uint64_t offset, unsigned int depth)
{
	const struct btf *btf = place->types->btf;
	const struct btf_type *type = btf__type_by_id(btf, id);

	for (int i = 0; type && i < MAX_DEPTH && (btf_is_mod(type) || btf_is_typedef(type)); i++)
		type = btf__type_by_id(btf, type->type);
	if (!type || depth > MAX_DEPTH || place->names->len > MAX_NAMES)
		return;
	if (btf_is_composite(type)) {
		for (unsigned int i = 0; i < btf_vlen(type); i++)
			find_member(place, type, i, offset, depth);
		return;
	}
	if (btf_is_array(type)) {
		const struct btf_array *array = btf_array(type);
		int64_t size = btf__resolve_size(btf, array->type);
		size_t len = place->path.len;

		if (size <= 0)
			return;
		text_printf(&place->path, "[%llu]", (unsigned long long)(offset / (uint64_t)size));
		find_in(place, array->type, offset % (uint64_t)size, depth + 1);
		place->path.len = len;
		place->path.s[len] = '\0';
		return;
	}
	if (place->path.len)
		text_printf(place->names, "%s%s", place->names->len ? " or " : "", place->path.s);
}

/* Caches that are called otherwise than their structure, and not by a rule. */
static const struct {
	const char *cache, *type;
} other_names[] = {
	{ "filp", "file" }, { "radix_tree_node", "xa_node" }, { "sock_inode_cache", "socket_alloc" },
	{ "mnt_cache", "mount" }, { "skbuff_head_cache", "sk_buff" },
	{ "skbuff_fclone_cache", "sk_buff_fclones" }, { "TCP", "tcp_sock" }, { "TCPv6", "tcp6_sock" },
	{ "UDP", "udp_sock" }, { "UDPv6", "udp6_sock" }, { "RAW", "raw_sock" }, { "UNIX", "unix_sock" },
	{ "eventpoll_epi", "epitem" }, { "eventpoll_pwq", "eppoll_entry" },
};

/* The structure of the objects of a cache, "dentry", "inode_cache", "cred_jar"; NULL: unknown. */
static const struct btf_type *type_of_cache(const struct types *types, const char *cache, uint64_t size)
{
	static const char *const tails[] = { "", "_cache", "_cachep", "_jar", "_slab" };
	static const char *const structs[] = { "", "_struct", "_info", "_node" };

	for (size_t i = 0; i < sizeof(other_names) / sizeof(*other_names); i++)
		if (!strcmp(other_names[i].cache, cache))
			return structure(types, other_names[i].type, size);
	for (size_t i = 0; i < sizeof(tails) / sizeof(*tails); i++) {
		size_t len = strlen(cache), tail = strlen(tails[i]);

		if (len <= tail || strcmp(cache + len - tail, tails[i]))
			continue;
		for (size_t k = 0; k < sizeof(structs) / sizeof(*structs); k++) {
			const struct btf_type *type;
			struct text name = { 0 };

			text_printf(&name, "%.*s%s", (int)(len - tail), cache, structs[k]);
			type = structure(types, name.s, size);
			text_free(&name);
			if (type)
				return type;
		}
	}
	return NULL;
}

bool types_find(const struct types *types, const char *cache, uint64_t size, uint64_t offset,
		struct text *type, struct text *member)
{
	const struct btf_type *found = type_of_cache(types, cache, size);
	struct place place = { .types = types, .names = member };

	if (!found)
		return false;
	text_printf(type, "struct %s", name_of(types, found->name_off));
	for (unsigned int i = 0; i < btf_vlen(found); i++)
		find_member(&place, found, i, offset, 0);
	text_free(&place.path);
	return true;
}

int64_t types_offset(const struct types *types, const char *name, const char *member)
{
	const struct btf_type *type = structure(types, name, 0);

	for (unsigned int i = 0; type && i < btf_vlen(type); i++)
		if (!strcmp(name_of(types, btf_members(type)[i].name_off), member))
			return btf_member_bit_offset(type, i) / 8;
	return -1;
}
#else
struct types *types_open(const char *path, bool must)
{
	if (must)
		warning("%s: this build cannot read BTF (libbpf)", path);
	return NULL;
}

void types_close(struct types *types)
{
	(void)types;
}

bool types_find(const struct types *types, const char *cache, uint64_t size, uint64_t offset,
		struct text *type, struct text *member)
{
	(void)types, (void)cache, (void)size, (void)offset, (void)type, (void)member;
	return false;
}

int64_t types_offset(const struct types *types, const char *structure, const char *member)
{
	(void)types, (void)structure, (void)member;
	return -1;
}
#endif
