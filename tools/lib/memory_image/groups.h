/* SPDX-License-Identifier: GPL-2.0-only */
/* The control groups that pages and objects in an image are charged to. */
#ifndef CODETAG_IMAGE_GROUPS_H
#define CODETAG_IMAGE_GROUPS_H

#include "memory_image/image.h"

struct image_groups;

/* NULL if the image does not tell: its kernel has no groups, or an older layout table. */
struct image_groups *image_groups_open(struct image *image);
void image_groups_free(struct image_groups *groups);

/*
 * The path of a group by the pointer that a page or an object has: "/a/b", "none" without a
 * pointer, "unknown" if it is damaged. Blanks and the like are octal, as in the kernel's census.
 * Valid until the groups are freed.
 */
const char *image_group_path(struct image_groups *groups, uint64_t pointer);

#endif
