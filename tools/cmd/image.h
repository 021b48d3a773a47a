/* SPDX-License-Identifier: GPL-2.0-only */
/* Functions that commands share which read nothing but an image. */
#ifndef CODETAG_CMD_IMAGE_H
#define CODETAG_CMD_IMAGE_H

#include <argp.h>

#include "output.h"
#include "base/text.h"
#include "memory_image/graph.h"

struct image_input {
	const char *path;
	struct image *image;
	struct image_sites *sites;
	struct recount recount;
	struct kernel_objects *objects;
};

#define KEY_IMAGE_FILE 0x401
#define IMAGE_FILE_OPTION \
	{ "image", KEY_IMAGE_FILE, "FILE", 0, \
	  "Read FILE, an image of a machine's memory: a dump of kdump, makedumpfile or QEMU", 1 }

/* Returns false after a message. The image has to be closed in any case. */
bool image_input_open(struct image_input *in);
void image_input_close(struct image_input *in);

/* Reads the graph of pointers and shows the progress; to be freed with graph_free(). */
struct graph *image_input_graph(struct image_input *in);

/* How many of @count rows --top @top shows; 0 if it was not given. */
static inline size_t rows_shown(size_t count, size_t top)
{
	return top && top < count ? top : count;
}

/* Returns STATUS_OK, or STATUS_TROUBLE after a message about missing or damaged parts. */
int image_input_status(const struct image_input *in);

#endif
