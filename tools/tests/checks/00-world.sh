# SPDX-License-Identifier: GPL-2.0
# A world in which time passes only while the command sleeps, so that a busy machine
# changes nothing, and no test waits.

make_world() {
	[ ! -e "$scratch/world.so" ] || return 0
	gcc -shared -fPIC -o "$scratch/world.so" -x c - <<-'C'
		#define _GNU_SOURCE
		#include <errno.h>
		#include <fcntl.h>
		#include <signal.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		#include <sys/syscall.h>
		#include <sys/wait.h>
		#include <time.h>
		#include <unistd.h>
		static struct timespec now = { 1000000000, 0 };
		int clock_gettime(clockid_t clock, struct timespec *time)
		{
			*time = now;
			return 0;
		}
		int clock_nanosleep(clockid_t clock, int flags, const struct timespec *until, struct timespec *left)
		{
			char command[64];
			int event;

			now = *until;
			snprintf(command, sizeof(command), "exec bash -c '. \"$WORLD\"; pretend %ld'",
				 (long)now.tv_sec - 1000000000);
			unsetenv("LD_PRELOAD");
			event = WEXITSTATUS(system(command));
			if (!event)
				return 0;
			if (event > 64)
				abort();
			raise(event);
			return EINTR;
		}
		ssize_t write(int fd, const void *data, size_t len)
		{
			char link[32], path[4096] = "";
			int note;

			snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
			if (!getenv("WRITTEN") || readlink(link, path, sizeof(path) - 1) < 0 ||
			    (!strstr(path, "/control") && !strstr(path, "/age_interval")))
				return syscall(SYS_write, fd, data, len);
			note = open(getenv("WRITTEN"), O_WRONLY | O_APPEND);
			syscall(SYS_write, note, data, len);
			if (((const char *)data)[len - 1] != '\n')
				syscall(SYS_write, note, "\n", 1);
			close(note);
			return len;
		}
	C
}

# in_world COMMAND...: at second 0, and whenever it has slept, `pretend SECOND` changes what
# there is; if that returns a number, this is the signal that comes. Variables of the test that
# it needs have to be exported. What is written to files of the kernel is noted in $WRITTEN,
# if that is set. A command that hangs is ended.
in_world() {
	local status
	make_world && pretend 0 || return 2
	declare -f pretend >"$scratch/pretend"
	WORLD=$scratch/pretend ASAN_OPTIONS=$ASAN_OPTIONS:verify_asan_link_order=0 \
		timeout 300 env LD_PRELOAD="$scratch/world.so" "$@"
	status=$?
	[ $status -ne 124 ] || echo 'it was still running after 300 s' >&2
	return $status
}
