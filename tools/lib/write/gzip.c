// SPDX-License-Identifier: GPL-2.0
#include "write/gzip.h"

#include <stdint.h>

static uint32_t crc32_of(const uint8_t *data, size_t len)
{
	uint32_t crc = 0xffffffff;

	for (size_t i = 0; i < len; i++) {
		crc ^= data[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
	}
	return ~crc;
}

static void write_le(FILE *out, uint32_t value, int bytes)
{
	for (int i = 0; i < bytes; i++)
		putc(value >> 8 * i & 0xff, out);
}

void gzip_write(const void *data, size_t len, FILE *out)
{
	static const uint8_t head[] = { 0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255 };
	const uint8_t *at = data;
	size_t left = len;

	fwrite(head, 1, sizeof(head), out);
	do {
		uint16_t block = left < 0xffff ? left : 0xffff;

		left -= block;
		putc(!left, out);	/* the last block? stored */
		write_le(out, block, 2);
		write_le(out, (uint16_t)~block, 2);
		fwrite(at, 1, block, out);
		at += block;
	} while (left);
	write_le(out, crc32_of(data, len), 4);
	write_le(out, len, 4);
}
