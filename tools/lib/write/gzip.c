// SPDX-License-Identifier: GPL-2.0-only
#include "write/gzip.h"

#include <limits.h>
#include <zlib.h>

#include "base/message.h"

#define GZIP 16		/* added to the window's bits: a gzip header, not one of zlib */

void gzip_write(const void *data, size_t len, FILE *out)
{
	z_stream z = { .next_in = (void *)data, .avail_in = (uInt)len };
	unsigned char chunk[65536];
	int state;

	/* avail_in is no larger; a profile of a kernel is some hundred kB. */
	if (len > UINT_MAX || deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED,
					   MAX_WBITS + GZIP, MAX_MEM_LEVEL,
					   Z_DEFAULT_STRATEGY) != Z_OK)
		die("out of memory");
	do {
		z.next_out = chunk;
		z.avail_out = sizeof(chunk);
		state = deflate(&z, Z_FINISH);
		fwrite(chunk, 1, sizeof(chunk) - z.avail_out, out);
	} while (state == Z_OK);
	deflateEnd(&z);
}
