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
#include <sys/mman.h>
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

static void run_child(char **argv, int out)
{
	int in = open("/dev/null", O_RDONLY), fail;

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

/* Waits for @pid; false if it did not end in time. */
static bool wait_for(pid_t pid, double seconds)
{
	int ended = pidfd_open(pid, 0);
	bool good;

	if (ended < 0)
		return true;
	good = interrupt_wait(ended, seconds);
	close(ended);
	return good;
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

static void last_line(int out, struct text *said)
{
	char buffer[4096];
	off_t len = lseek(out, 0, SEEK_END), from = len < (off_t)sizeof(buffer) ? 0 : len - (off_t)sizeof(buffer);
	ssize_t n = pread(out, buffer, sizeof(buffer), from), start;

	while (n > 0 && isspace((unsigned char)buffer[n - 1]))
		n--;
	for (start = n; start > 0 && buffer[start - 1] != '\n'; start--)
		;
	if (n > start)
		text_add(said, buffer + start, (size_t)(n - start));
	if (said->len)
		text_clean(said->s);
}

bool trial_run(struct trial *trial, char **argv, double seconds)
{
	int out = memfd_create("codetag-trial", MFD_CLOEXEC);
	pid_t pid;

	text_clear(&trial->said);
	trial->status = 0;
	trial->hung = trial->stuck = false;
	fflush(stdout);
	pid = out < 0 ? -1 : fork();
	if (pid < 0) {
		warning("cannot start %s: %s", argv[0], strerror(errno));
		if (out >= 0)
			close(out);
		return false;
	}
	if (!pid)
		run_child(argv, out);
	trial->hung = !wait_for(pid, seconds);
	if (!trial->hung) {
		/* The command is reaped first: kill_all() must not take its status. */
		waitpid(pid, &trial->status, 0);
		trial->stuck = !kill_all(0, &trial->status);
	} else {
		trial->stuck = !kill_all(pid, &trial->status);
	}
	last_line(out, &trial->said);
	close(out);
	return !interrupt_caught();
}

void trial_free(struct trial *trial)
{
	text_free(&trial->said);
}
