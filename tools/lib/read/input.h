/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reading whole files into memory; "-" is standard input. Lines are decoded, see read/lines.h.
 */
#ifndef CODETAG_INPUT_H
#define CODETAG_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

#include "read/lines.h"

/*
 * Reads @path to its end, decompresses it if necessary, and adds a NUL. The caller frees
 * *@text. On failure errno is set and nothing has to be freed. Files in /proc and debugfs have
 * no size and are read to their end.
 */
bool input_read(const char *path, char **text, size_t *len);

/* The same; from an archive, such as a sosreport, the file /proc/@name in it. */
bool input_read_proc(const char *path, const char *name, char **text, size_t *len);

/* Reads the file as it is: neither decompressed nor decoded. */
bool input_read_raw(const char *path, char **text, size_t *len);

/*
 * Whether @path is a link to a file or directory of the kernel, such as /proc, or a mount of
 * one. Reading such a file can wait, or take data from another reader. So they are left out
 * unless the user names them.
 */
bool input_leads_into_kernel(const char *path);

/*
 * As input_read(), for an ordinary file that the user has not named: other files may never end.
 */
bool input_read_found(const char *path, char **text, size_t *len);

/* Like fopen() for reading; a compressed file is decompressed. NULL with errno. */
FILE *input_open(const char *path);

/*
 * Reads at most @size bytes from the beginning of the ordinary file @path, and returns their
 * number. Returns 0 for any other file: bytes read from a pipe would be lost.
 */
size_t input_head(const char *path, char *head, size_t size);

/* Whether the ordinary file @path begins with @len bytes of @magic. */
bool input_begins(const char *path, const char *magic, size_t len);

/* Says why @path, which the user named, cannot be read: @error, and what to do about it. */
void input_complain(const char *path, int error);

/* The name of the file in messages. */
const char *input_name(const char *path);

/*
 * Reads a line into *@line, which the caller frees, and adds a NUL. Returns its length with the
 * newline, 0 at the end of the file, or -1 with errno: EMSGSIZE if it is longer than any line of a trace.
 */
ssize_t input_next_line(FILE *in, char **line, size_t *room);

#endif
