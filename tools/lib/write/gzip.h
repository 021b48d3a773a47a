/* SPDX-License-Identifier: GPL-2.0-only */
/* A gzip file (RFC 1952). */
#ifndef CODETAG_GZIP_H
#define CODETAG_GZIP_H

#include <stddef.h>
#include <stdio.h>

void gzip_write(const void *data, size_t len, FILE *out);

#endif
