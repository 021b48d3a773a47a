// SPDX-License-Identifier: GPL-2.0-only
#include "trace_read.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "interval.h"
#include "base/message.h"
#include "base/number.h"
#include "read/input.h"
#include "trace/kmem_stack.h"
#include "trace/line_record.h"
#include "trace/trace_dat.h"
#ifdef HAVE_TRACECMD
#include "trace/trace_record.h"
#endif
#ifdef HAVE_SQLITE
#include "trace/kmem_db.h"
#endif

/* The log has events of call sites that were traced. */
static bool of_sites;
/* Something was read, and some of it looks like a trace. */
static bool any_text, any_event;

/* On a terminal, twice a second at most. */
static void show_progress(const struct kmem *kmem, int64_t read, bool end)
{
	static struct timespec last;
	struct timespec now;
	char size[SIZE_TEXT];

	if (!isatty(STDERR_FILENO))
		return;
	clock_gettime(CLOCK_MONOTONIC, &now);
	if (end && last.tv_sec) {
		fputs("\r\033[K", stderr);
	} else if (!end && (now.tv_sec - last.tv_sec) * 1000000000 + now.tv_nsec -
		   last.tv_nsec > 500000000) {
		last = now;
		fprintf(stderr, "\r%s read, %" PRId64 " events, %zu objects alive\033[K",
			size_format(size, read, true), kmem->events,
			kmem->objects);
	}
}

/* Returns false with errno if a line cannot be read. */
static bool read_lines(struct kmem *kmem, FILE *in, unsigned int frames)
{
	struct kmem_stack stack = { .kmem = kmem, .frames = frames };
	size_t room = 0, lines = 0;
	char *line = NULL, *plain;
	int64_t read = 0;
	ssize_t len = 0;
	int error;

	while (!interrupt_caught() && (len = input_next_line(in, &line, &room)) > 0) {
		read += len;
		any_text = true;
		if (line[len - 1] != '\n') {
			/* A number that was cut looks like another number. */
			kmem->cut = !interrupt_caught();
			break;
		}
		line[len - 1] = '\0';
		if (len > 1 && line[len - 2] == '\r')
			line[len - 2] = '\0';
		of_sites |= line_record_is_event(line);
		plain = line_plain(line);
		any_event = any_event || kmem_event_like(plain);
		kmem_stack_line(&stack, plain);
		if (!(++lines & 0xffff))
			show_progress(kmem, read, false);
	}
	error = errno;
	kmem_stack_end(&stack);
	free(line);
	errno = error;
	return len >= 0;
}

static bool is_binary(const char *path)
{
	return input_begins(path, TRACE_DAT_MAGIC, sizeof(TRACE_DAT_MAGIC) - 1);
}

#ifdef HAVE_TRACECMD
/* Reads it in a process of its own, because the library can crash on damaged files. */
static void decode(const char *path, int out)
{
	FILE *stream = fdopen(out, "w");
	int nothing = open("/dev/null", O_WRONLY);
	bool good;

	/* This process ends together with the command. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	dup2(nothing, STDERR_FILENO);
	good = stream && trace_dat_read(path, kmem_event_print, stream) && !fclose(stream);
	_exit(good ? STATUS_OK : STATUS_TROUBLE);
}

static bool read_binary(struct kmem *kmem, const char *path, unsigned int frames)
{
	int ends[2], status = 0;
	pid_t pid;
	FILE *in;

	if (pipe2(ends, O_CLOEXEC) || (pid = fork()) < 0) {
		warning("cannot start to read %s: %s", path, strerror(errno));
		return false;
	}
	if (!pid)
		decode(path, ends[1]);
	close(ends[1]);
	in = fdopen(ends[0], "r");
	if (in) {
		kmem->cut |= !read_lines(kmem, in, frames);
		fclose(in);
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	kmem->cut |= status != 0;
	return true;
}

static bool record(struct kmem *kmem, double seconds, int64_t buffer)
{
	struct trace_record *record;
	struct interval interval;
	const char *why;

	/* No signal may end it while the kernel traces. */
	interrupt_catch_all();
	record = trace_record_start(buffer, &why);
	if (!record) {
		int error = errno;

		warning("cannot trace: %s", why ? why : strerror(error));
		if (!why && (error == EACCES || error == EPERM))
			hint("This needs root.");
		return false;
	}
	interval_start(&interval, seconds);
	interval_wait(&interval);
	why = trace_record_finish(record, kmem);
	if (why)
		warning("%s", why);
	return !why;
}
#else
static bool read_binary(struct kmem *kmem, const char *path, unsigned int frames)
{
	(void)kmem;
	(void)frames;
	warning("this build cannot read %s", path);
	hint("Try: trace-cmd report %s | codetag trace -", path);
	return false;
}

static bool record(struct kmem *kmem, double seconds, int64_t buffer)
{
	(void)kmem;
	(void)seconds;
	(void)buffer;
	return false;
}
#endif

/*
 * A read that may wait for ever ends with a signal, whenever that comes. Not for trace_pipe: it
 * ends when tracing is off, which only a read finds out.
 */
static ssize_t read_waiting(void *fd, char *buffer, size_t size)
{
	return interrupt_wait(*(int *)fd, INFINITY) ? read(*(int *)fd, buffer, size) : 0;
}

static bool read_text(struct kmem *kmem, const char *path, unsigned int frames)
{
	bool is_stdin = !strcmp(path, "-"), good;
	FILE *in = is_stdin ? stdin : input_open(path), *waiting = NULL;
	struct stat st;
	int fd;

	if (!in) {
		int why = errno;

		input_complain(path, why);
		if (why == ENOENT)
			hint("Of this machine the log is /sys/kernel/tracing/trace, where tracefs is "
			     "mounted.");
		return false;
	}
	/* trace_pipe has neither an end nor a size. */
	fd = fileno(in);
	if (!fstat(fd, &st) && !(S_ISREG(st.st_mode) && st.st_size)) {
		interrupt_catch();
		if (!S_ISREG(st.st_mode))
			waiting = fopencookie(&fd, "r", (cookie_io_functions_t){ .read = read_waiting });
	}
	good = read_lines(kmem, waiting ? waiting : in, frames) || interrupt_caught();
	if (interrupt_caught())
		warning("interrupted: this is the part of %s until then", input_name(path));
	else if (!good)
		input_complain(path, errno);
	if (waiting)
		fclose(waiting);
	if (!is_stdin)
		fclose(in);
	return good;
}

void trace_say_cut(const char *path)
{
	warning("%s: not read to its end: it was cut, is damaged, or newer than this build",
		input_name(path));
}

bool trace_read(struct kmem *kmem, const struct trace_source *source)
{
	const char *path = source->path;
	bool good;

	if (source->seconds > 0)
		good = record(kmem, source->seconds, source->buffer);
	else if (is_binary(path))
		good = read_binary(kmem, path, source->frames);
	else
		good = read_text(kmem, path, source->frames);
	show_progress(kmem, 0, true);
	if (good && !kmem->events && any_text && !any_event && !is_binary(path)) {
		warning("%s is not a trace: no line of it is an event", input_name(path));
		good = false;
	} else if (good && !kmem->events && kmem->cut) {
		trace_say_cut(path);
		good = false;
	} else if (good && !kmem->events) {
		warning("there are no kmem events in %s", input_name(path));
		if (of_sites)
			hint("It has events of traced call sites. 'codetag trace --record SECONDS QUERY' "
			     "accounts for these.");
		else if (kmem->other_events)
			hint("There are events of %s.", kmem->pages ? "slab objects" :
			     "pages: --pages counts these");
		if (!of_sites)
			hint("This switches them on: echo 1 > /sys/kernel/tracing/events/kmem/enable");
		good = false;
	}
	return good;
}

#ifdef HAVE_SQLITE
bool trace_load(struct kmem *kmem, const char *path, bool waste)
{
	char *why = kmem_load(kmem, path);

	if (!why && waste && kmem->unasked) {
		warning("%s: the events of call sites do not tell how much was requested, so waste is not known",
			path);
		return false;
	}
	if (why) {
		warning("cannot read %s: %s", path, why);
		hint("Such files are made by 'codetag trace --save-db'.");
	}
	free(why);
	return !why;
}
#else
bool trace_load(struct kmem *kmem, const char *path, bool waste)
{
	(void)kmem, (void)waste;
	warning("%s is a database, and this build cannot read it (sqlite3)", path);
	return false;
}
#endif

bool trace_no_kernel(const char *build)
{
	warning("cannot read the kernel in %s: %s", build, strerror(errno));
	hint("It has to be the directory that the kernel was built in (O=).");
	return false;
}

#ifdef HAVE_ELF
bool trace_resolve(struct kmem *kmem, const char *build, struct arena *strings,
		   struct kmem_resolved *resolved)
{
	return kmem_resolve(kmem, build, strings, resolved) || trace_no_kernel(build);
}
#else
bool trace_resolve(struct kmem *kmem, const char *build, struct arena *strings,
		   struct kmem_resolved *resolved)
{
	(void)kmem, (void)build, (void)strings, (void)resolved;
	return false;
}
#endif
