// SPDX-License-Identifier: GPL-2.0
#include "read/input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/message.h"
#include "base/text.h"

bool input_read(const char *path, char **text, size_t *len)
{
	int fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC) :
				     STDIN_FILENO;
	struct text all = { 0 };
	char chunk[65536];
	int failure = 0;
	ssize_t got;

	if (fd < 0)
		return false;
	text_clear(&all);
	while ((got = read(fd, chunk, sizeof(chunk))) != 0) {
		if (got > 0) {
			text_add(&all, chunk, got);
		} else if (errno != EINTR) {
			failure = errno;
			break;
		}
	}
	if (fd != STDIN_FILENO)
		close(fd);
	if (failure) {
		text_free(&all);
		errno = failure;
		return false;
	}
	*text = all.s;
	*len = all.len;
	return true;
}

void input_complain(const char *path, int error)
{
	warning("cannot read %s: %s", input_name(path), strerror(error));
	if ((error == EACCES || error == EPERM) && geteuid())
		hint("Root may, try again as root.");
	else if (error == EISDIR)
		hint("It has to be a file; a directory is for 'codetag static' and --kernel.");
}

const char *input_name(const char *path)
{
	return strcmp(path, "-") ? path : "standard input";
}

char *input_line(char **at, char *end, size_t *len, bool *complete)
{
	char *line = *at, *newline;

	if (line >= end)
		return NULL;
	newline = memchr(line, '\n', end - line);
	*complete = newline != NULL;
	if (!newline)
		newline = end;
	*newline = '\0';
	*len = newline - line;
	*at = newline + 1;
	return line;
}
