/* SPDX-License-Identifier: GPL-2.0 */
/* Whole files in memory; "-" is standard input. Their lines are plain ones, see read/lines.h. */
#ifndef CODETAG_INPUT_H
#define CODETAG_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "read/lines.h"

/*
 * Reads @path to its end, unpacks it if it is compressed, and adds a NUL. The caller
 * frees *@text. On failure errno is set and nothing is to be freed. Files under
 * /proc and debugfs have no size and are read until they end.
 */
bool input_read(const char *path, char **text, size_t *len);

/* The same; of an archive, such as a sosreport, the file /proc/@name in it. */
bool input_read_proc(const char *path, const char *name, char **text, size_t *len);

/* Reads it as it is, not unpacked and with whatever is around its lines. */
bool input_read_raw(const char *path, char **text, size_t *len);

/*
 * Whether @path is a link to a file or directory of the kernel, as in /proc, or where such are
 * mounted. Reading one can wait, or take what others would read: to be left out if nobody has
 * named it.
 */
bool input_leads_into_kernel(const char *path);

/* As input_read(), of an ordinary file that nobody has named: another one may never end. */
bool input_read_found(const char *path, char **text, size_t *len);

/* Like fopen(), for reading; a compressed file is unpacked. NULL with errno. */
FILE *input_open(const char *path);

/*
 * Reads at most @size bytes from the beginning of the ordinary file @path, and returns how
 * many; 0 of any other file: bytes read from a pipe are gone.
 */
size_t input_head(const char *path, char *head, size_t size);

/* Whether the ordinary file @path begins with @len bytes of @magic. */
bool input_begins(const char *path, const char *magic, size_t len);

/* Why @path cannot be read, which was named: @error, and what helps against that. */
void input_complain(const char *path, int error);

/* As messages call it. */
const char *input_name(const char *path);

#endif
