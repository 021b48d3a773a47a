// SPDX-License-Identifier: GPL-2.0
#include "image.h"

#include "base/message.h"
#include "memory_image/report.h"

bool image_input_open(struct image_input *in)
{
	in->image = image_open(in->path);
	if (!in->image)
		return false;
	in->sites = image_sites_read(in->image);
	recount_init(&in->recount, in->image);
	return true;
}

void image_input_close(struct image_input *in)
{
	if (!in->image)
		return;
	recount_free(&in->recount);
	image_sites_free(in->sites);
	image_close(in->image);
}

int image_input_status(const struct image_input *in)
{
	bool incomplete = false;

	return image_complete(in->image, in->path, &incomplete) && !incomplete ? STATUS_OK :
	       STATUS_TROUBLE;
}
