// SPDX-License-Identifier: GPL-2.0-only
#include "memory_image/groups.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/strmap.h"
#include "base/text.h"

#define MAX_LEVEL 64
#define NAME 256

struct image_groups {
	struct image *image;
	struct strmap known;	/* pointers … */
	const char **path;	/* … and the paths of their groups */
	size_t paths, room;
	struct arena strings;
};

struct image_groups *image_groups_open(struct image *image)
{
	const uint64_t *n = image->n;
	struct image_groups *groups;

	if (!n[N_PAGE_GROUP] || !n[N_SLAB_GROUPS] || !n[N_MEMORY_SUBSYSTEM] || !n[N_GROUP_FLAGS] ||
	    !n[N_CGROUP_ANCESTORS])
		return NULL;
	groups = xcalloc(1, sizeof(*groups));
	groups->image = image;
	return groups;
}

void image_groups_free(struct image_groups *groups)
{
	if (!groups)
		return;
	strmap_free(&groups->known);
	arena_free(&groups->strings);
	free(groups->path);
	free(groups);
}

static bool is_group(struct image *image, uint64_t at)
{
	const uint64_t *n = image->n;

	return at && image_u64(image, at + n[N_GROUP_SUBSYSTEM]) == n[N_MEMORY_SUBSYSTEM];
}

/* All above it but the root, whose name is empty, then itself */
static void find_path(struct image *image, uint64_t group, struct text *path)
{
	const uint64_t *n = image->n;
	uint64_t cgroup = image_u64(image, group + n[N_GROUP_CGROUP]);
	uint32_t level = image_u32(image, cgroup + n[N_CGROUP_LEVEL]);
	char name[NAME];

	if (!cgroup || level > MAX_LEVEL) {
		text_puts(path, "unknown");
		return;
	}
	if (!level)
		text_puts(path, "/");
	for (uint32_t i = 1; i <= level && !image_exhausted(image); i++) {
		uint64_t above = image_u64(image, cgroup + n[N_CGROUP_ANCESTORS] + 8ULL * i);
		uint64_t node = image_u64(image, above + n[N_CGROUP_NODE]);

		text_puts(path, "/");
		image_string(image, image_u64(image, node + n[N_KERNFS_NAME]), name, sizeof(name));
		text_add_name(path, name, sizeof(name));
	}
}

/*
 * A pointer leads to a mem_cgroup or to an obj_cgroup. Objects and kernel pages have the latter;
 * with Linux 7 all pages have.
 */
static void describe(struct image *image, uint64_t pointer, struct text *path)
{
	uint64_t group = pointer;

	if (!is_group(image, group))
		group = image_u64(image, pointer + image->n[N_OBJCG_GROUP]);
	if (is_group(image, group))
		find_path(image, group, path);
	else
		text_puts(path, "unknown");
}

const char *image_group_path(struct image_groups *groups, uint64_t pointer)
{
	struct text path = { 0 };
	size_t i;

	if (!pointer)
		return "none";
	i = strmap_add(&groups->known, (const char *)&pointer, sizeof(pointer));
	if (i == groups->paths) {
		describe(groups->image, pointer, &path);
		GROW(groups->path, groups->paths, groups->room);
		groups->path[groups->paths++] = arena_copy(&groups->strings, path.s, path.len);
		text_free(&path);
	}
	return groups->path[i];
}
