// SPDX-License-Identifier: GPL-2.0-only
#include "image.h"

#include "base/message.h"
#include "progress.h"
#include "memory_image/report.h"

bool image_input_open(struct image_input *in)
{
	in->sites = image_sites_open(in->path);
	if (!in->sites)
		return false;
	in->image = in->sites->image;
	recount_init(&in->recount, in->image);
	return true;
}

void image_input_close(struct image_input *in)
{
	if (!in->sites)
		return;
	kobjects_free(in->objects);
	recount_free(&in->recount);
	image_sites_close(in->sites);
}

static void show(void *data, uint64_t done, uint64_t all)
{
	struct progress *progress = data;

	progress->done = (size_t)(done >> 20);
	progress->all = (size_t)(all >> 20);
	progress_step(progress);
}

struct graph *image_input_graph(struct image_input *in)
{
	struct progress progress = { .what = "MiB" };
	struct graph *graph;

	in->objects = kobjects_read(in->image, in->sites, &in->recount);
	graph = graph_read(in->objects, show, &progress);
	progress_end(&progress);
	return graph;
}

int image_input_status(const struct image_input *in)
{
	bool incomplete = false;

	return image_complete(in->image, in->path, &incomplete) && !incomplete ? STATUS_OK :
	       STATUS_TROUBLE;
}
