// SPDX-License-Identifier: GPL-2.0-only
#include "trial.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "interval.h"
#include "base/message.h"

#define MAKE_IT_FAIL "/proc/self/make-it-fail"

/* The time that killed processes may take to end. */
#define KILL_MS 5000

bool trial_prepare(void)
{
	if (access(MAKE_IT_FAIL, W_OK)) {
		warning("cannot write %s: %s", MAKE_IT_FAIL, strerror(errno));
		if (errno == ENOENT)
			hint("The kernel is built without CONFIG_FAULT_INJECTION.");
		return false;
	}
	/*
	 * Processes that its children leave behind become children of this one, so that it
	 * finds them.
	 */
	if (prctl(PR_SET_CHILD_SUBREAPER, 1)) {
		warning("cannot adopt the processes of the command: %s", strerror(errno));
		return false;
	}
	return true;
}

static void child_fails(const char *what)
{
	dprintf(STDERR_FILENO, "%s: %s\n", what, strerror(errno));
	_exit(127);
}

static void run_child(char **argv, int out, pid_t parent)
{
	int in = open("/dev/null", O_RDONLY), fail;

	/* If the sweep is killed, nobody is left to look after the command. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(127);
	setpgid(0, 0);
	signal(SIGPIPE, SIG_DFL);
	if (in < 0 || dup2(in, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 ||
	    dup2(out, STDERR_FILENO) < 0)
		child_fails("dup2");
	fail = open(MAKE_IT_FAIL, O_WRONLY | O_CLOEXEC);
	if (fail < 0 || write(fail, "1", 1) != 1)
		child_fails(MAKE_IT_FAIL);
	execvp(argv[0], argv);
	child_fails(argv[0]);
}

/* The output of the command: only its end is kept, because a command may print for ever. */
struct printed {
	int pipe;	/* -1: nobody can write any more */
	char end[4096];
	size_t len;
};

static void keep(struct printed *printed, const char *s, size_t n)
{
	size_t room = sizeof(printed->end), drop;

	if (n > room) {
		s += n - room;
		n = room;
	}
	drop = printed->len + n > room ? printed->len + n - room : 0;
	memmove(printed->end, printed->end + drop, printed->len - drop);
	memcpy(printed->end + printed->len - drop, s, n);
	printed->len += n - drop;
}

/* Reads the pipe, but not for ever: a process may write without end. */
static void drain(struct printed *printed)
{
	char buffer[65536];
	ssize_t n = 1;

	for (int i = 0; i < 16 && printed->pipe >= 0 && n > 0; i++) {
		n = read(printed->pipe, buffer, sizeof(buffer));
		if (n > 0)
			keep(printed, buffer, (size_t)n);
		if (!n) {
			close(printed->pipe);
			printed->pipe = -1;
		}
	}
}

static bool watch(int events, int fd)
{
	struct epoll_event readable = { .events = EPOLLIN };

	return !epoll_ctl(events, EPOLL_CTL_ADD, fd, &readable);
}

enum ended { ENDED, HANGS, NOT_KNOWN };

/* Waits for @pid, and takes what it prints meanwhile. NOT_KNOWN after a message. */
static enum ended wait_for(pid_t pid, double seconds, struct printed *printed, int *status)
{
	int ended = pidfd_open(pid, 0), events = epoll_create1(EPOLL_CLOEXEC);
	double end = steady_clock() + seconds, left = seconds;
	enum ended how = ENDED;

	if (ended < 0 || events < 0 || !watch(events, ended) || !watch(events, printed->pipe)) {
		warning("cannot wait for the command: %s", strerror(errno));
		how = NOT_KNOWN;
	}
	while (how == ENDED && waitpid(pid, status, WNOHANG) != pid) {
		if (left <= 0 || !interrupt_wait(events, left))
			how = HANGS;
		drain(printed);
		left = end - steady_clock();
	}
	if (ended >= 0)
		close(ended);
	if (events >= 0)
		close(events);
	return how;
}

/* The parent of a process, 0 if the process is gone. */
static pid_t parent_of(const char *pid)
{
	char path[64], line[512], *at;
	FILE *stat;
	int parent = 0;

	snprintf(path, sizeof(path), "/proc/%.20s/stat", pid);
	stat = fopen(path, "re");
	if (!stat)
		return 0;
	/* The name of a process may contain anything. */
	if (fgets(line, sizeof(line), stat) && (at = strrchr(line, ')')))
		sscanf(at, ") %*c %d", &parent);
	fclose(stat);
	return parent;
}

static void kill_children(void)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;

	while (proc && (entry = readdir(proc)))
		if (isdigit((unsigned char)entry->d_name[0]) && parent_of(entry->d_name) == getpid())
			kill(atoi(entry->d_name), SIGKILL);
	if (proc)
		closedir(proc);
}

/*
 * Kills and reaps all remaining children, and theirs, which then become its own; false if some
 * stay.
 */
static bool kill_all(pid_t pid, int *status)
{
	static const struct timespec moment = { .tv_nsec = 10 * 1000 * 1000 };
	int ended;

	for (int ms = 0; ms < KILL_MS; ms += 10) {
		pid_t reaped;

		while ((reaped = waitpid(-1, &ended, WNOHANG)) > 0)
			if (reaped == pid)
				*status = ended;
		if (reaped < 0)
			return true;
		kill_children();
		nanosleep(&moment, NULL);
	}
	return false;
}

static void last_line(const struct printed *printed, struct text *said)
{
	size_t n = printed->len, start;

	while (n > 0 && isspace((unsigned char)printed->end[n - 1]))
		n--;
	for (start = n; start > 0 && printed->end[start - 1] != '\n'; start--)
		;
	text_add(said, printed->end + start, n - start);
	text_clean(said->s);
}

bool trial_run(struct trial *trial, char **argv, double seconds)
{
	struct printed printed = { .pipe = -1 };
	pid_t parent = getpid(), pid = -1;
	enum ended how;
	int ends[2];

	text_clear(&trial->said);
	trial->status = 0;
	trial->hung = trial->stuck = false;
	fflush(stdout);
	if (!pipe2(ends, O_CLOEXEC)) {
		fcntl(ends[0], F_SETFL, O_NONBLOCK);
		printed.pipe = ends[0];
		pid = fork();
		if (!pid)
			run_child(argv, ends[1], parent);
		close(ends[1]);
	}
	if (pid < 0) {
		warning("cannot start %s: %s", argv[0], strerror(errno));
		if (printed.pipe >= 0)
			close(printed.pipe);
		return false;
	}
	how = wait_for(pid, seconds, &printed, &trial->status);
	trial->hung = how == HANGS;
	/* A command that has ended is reaped: kill_all() must not take its status. */
	trial->stuck = !kill_all(how == ENDED ? 0 : pid, &trial->status);
	/* Not to the end: a process that cannot be killed may keep the pipe open. */
	drain(&printed);
	last_line(&printed, &trial->said);
	if (printed.pipe >= 0)
		close(printed.pipe);
	return how != NOT_KNOWN && !interrupt_caught();
}

void trial_free(struct trial *trial)
{
	text_free(&trial->said);
}
