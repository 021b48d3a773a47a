// SPDX-License-Identifier: GPL-2.0
#include "image.h"

#include <inttypes.h>

#include "base/message.h"

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
	if (image_exhausted(in->image)) {
		warning("%s is damaged: a list or table in it has no end", in->path);
		return STATUS_TROUBLE;
	}
	if (in->image->missing) {
		warning("%s: %" PRIu64 " reads of pages that the image does not have: "
			"the result may be incomplete", in->path, in->image->missing);
		return STATUS_TROUBLE;
	}
	return STATUS_OK;
}
