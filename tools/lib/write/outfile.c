// SPDX-License-Identifier: GPL-2.0
#include "write/outfile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/message.h"

bool outfile_open(struct outfile *file, const char *path)
{
	size_t room;
	mode_t mask;
	int fd;

	*file = (struct outfile){ .stream = stdout };
	if (!path || !strcmp(path, "-"))
		return true;
	/* A leading dot keeps collectors of *.prom away from it. */
	room = strlen(path) + sizeof(".XXXXXX") + 1;
	file->temporary = xmalloc(room);
	if (strrchr(path, '/'))
		snprintf(file->temporary, room, "%.*s.%s.XXXXXX",
			 (int)(strrchr(path, '/') + 1 - path), path,
			 strrchr(path, '/') + 1);
	else
		snprintf(file->temporary, room, ".%s.XXXXXX", path);
	fd = mkstemp(file->temporary);
	if (fd < 0) {
		free(file->temporary);
		return false;
	}
	/* mkstemp() makes it private; others are to read the result. */
	mask = umask(0);
	umask(mask);
	fchmod(fd, 0666 & ~mask);
	file->stream = fdopen(fd, "w");
	if (!file->stream)
		die("out of memory");
	file->path = xstrdup(path);
	return true;
}

bool outfile_finish(struct outfile *file)
{
	bool good;
	int error;

	if (!file->path)
		return true;	/* the end of the program checks it */
	errno = 0;
	good = !fflush(file->stream) && !ferror(file->stream) &&
	       !fsync(fileno(file->stream));
	error = errno;
	if (fclose(file->stream) && good) {
		good = false;
		error = errno;
	}
	if (good && rename(file->temporary, file->path)) {
		good = false;
		error = errno;
	}
	if (!good)
		unlink(file->temporary);
	free(file->temporary);
	free(file->path);
	errno = error;
	return good;
}

void outfile_abandon(struct outfile *file)
{
	if (!file->path)
		return;
	fclose(file->stream);
	unlink(file->temporary);
	free(file->temporary);
	free(file->path);
}
