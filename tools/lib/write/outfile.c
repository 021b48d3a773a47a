// SPDX-License-Identifier: GPL-2.0
#include "write/outfile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/message.h"

/* A new file that takes the place of @path, which is absent or an ordinary file. */
static bool open_beside(struct outfile *file, const char *path)
{
	const char *slash = strrchr(path, '/');
	size_t room = strlen(path) + sizeof("..XXXXXX");
	mode_t mask;
	int fd;

	/* A leading dot keeps collectors of *.prom away from it. */
	file->temporary = xmalloc(room);
	snprintf(file->temporary, room, "%.*s.%s.XXXXXX", slash ? (int)(slash + 1 - path) : 0,
		 path, slash ? slash + 1 : path);
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

bool outfile_open(struct outfile *file, const char *path)
{
	struct stat st;
	char *real;
	bool good;

	*file = (struct outfile){ .stream = stdout };
	if (!path || !strcmp(path, "-"))
		return true;
	/* To take the place of a device, a pipe or a symbolic link would be wrong. */
	if (lstat(path, &st) && errno == ENOENT)
		return open_beside(file, path);
	real = realpath(path, NULL);
	if (real && !stat(real, &st) && S_ISREG(st.st_mode)) {
		good = open_beside(file, real);
	} else {
		file->stream = fopen(path, "we");
		good = file->stream;
		if (good)
			file->path = xstrdup(path);
	}
	free(real);
	return good;
}

/* Why something could not be written before: it is not going to be kept, so write again. */
static void find_error(FILE *stream)
{
	clearerr(stream);
	errno = 0;
	fputc('\n', stream);
	fflush(stream);
	if (!errno)
		errno = EIO;
}

bool outfile_finish(struct outfile *file)
{
	bool good;
	int error;

	if (!file->path)
		return true;	/* the end of the program checks it */
	good = !ferror(file->stream);
	if (!good)
		find_error(file->stream);
	else
		good = !fflush(file->stream) &&
		       (!file->temporary || !fsync(fileno(file->stream)));
	error = errno;
	if (fclose(file->stream) && good) {
		good = false;
		error = errno;
	}
	if (good && file->temporary && rename(file->temporary, file->path)) {
		good = false;
		error = errno;
	}
	if (!good && file->temporary)
		unlink(file->temporary);
	free(file->temporary);
	free(file->path);
	errno = error;
	return good;
}

bool outfile_end(struct outfile *file, const char *name, bool good)
{
	/* Who says that it is not good may have met with what comes out here. */
	if (!good && !ferror(file->stream)) {
		outfile_abandon(file);
		return false;
	}
	if (outfile_finish(file))
		return true;
	warning("cannot write %s: %s", name, strerror(errno));
	return false;
}

void outfile_abandon(struct outfile *file)
{
	if (!file->path)
		return;
	fclose(file->stream);
	if (file->temporary)
		unlink(file->temporary);
	free(file->temporary);
	free(file->path);
}
