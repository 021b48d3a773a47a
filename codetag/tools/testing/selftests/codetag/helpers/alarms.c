// SPDX-License-Identifier: GPL-2.0-only
/*
 * Load for alarms.sh, until it is killed. Without a leak: used memory is given back.
 *	pipes		pipes, with data in them, that are closed again
 *	timewait	connections over loopback that are closed: TIME_WAIT
 * With one, a program that forgets:
 *	pipe		a pipe with a page of data each time
 *	scm		a file in flight that nobody receives
 *	sockbuf		data in a socket that nobody reads
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define PAUSE_US 200000

static char page[4096];

static void pipes(void)
{
	for (;;) {
		for (int i = 0; i < 20; i++) {
			int fd[2];

			if (pipe(fd))
				exit(1);
			if (write(fd[1], page, sizeof(page)) < 0)
				exit(1);
			close(fd[0]);
			close(fd[1]);
		}
		usleep(PAUSE_US / 10);
	}
}

static void timewait(void)
{
	struct sockaddr_in name = { .sin_family = AF_INET };
	socklen_t len = sizeof(name);
	int listener = socket(AF_INET, SOCK_STREAM, 0);

	name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(listener, (struct sockaddr *)&name, len) || listen(listener, 16) ||
	    getsockname(listener, (struct sockaddr *)&name, &len))
		exit(1);
	for (;;) {
		int there = socket(AF_INET, SOCK_STREAM, 0), here;

		if (connect(there, (struct sockaddr *)&name, len))
			exit(1);
		here = accept(listener, NULL, NULL);
		close(there);
		close(here);
		usleep(PAUSE_US / 10);
	}
}

static void leak_pipe(void)
{
	for (;;) {
		int fd[2];

		if (pipe(fd) || write(fd[1], page, sizeof(page)) < 0)
			exit(1);
		usleep(PAUSE_US);
	}
}

/* Each file is in the queue of a socket pair of its own, and closed here. */
static void leak_scm(void)
{
	for (;;) {
		char control[CMSG_SPACE(sizeof(int))] = "";
		struct iovec data = { page, 1 };
		struct msghdr message = {
			.msg_iov = &data, .msg_iovlen = 1,
			.msg_control = control, .msg_controllen = sizeof(control),
		};
		struct cmsghdr *head = CMSG_FIRSTHDR(&message);
		int fd[2], pair[2];

		if (pipe(fd) || socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
			exit(1);
		head->cmsg_level = SOL_SOCKET;
		head->cmsg_type = SCM_RIGHTS;
		head->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(head), &fd[0], sizeof(int));
		if (sendmsg(pair[0], &message, 0) < 0)
			exit(1);
		close(fd[0]);
		close(fd[1]);
		usleep(PAUSE_US);
	}
}

static void leak_sockbuf(void)
{
	for (;;) {
		int pair[2];

		if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) ||
		    send(pair[0], page, 1000, 0) < 0 || send(pair[0], page, 1000, 0) < 0)
			exit(1);
		usleep(PAUSE_US);
	}
}

static const struct {
	const char *name;
	void (*run)(void);
} loads[] = {
	{ "pipes", pipes }, { "timewait", timewait },
	{ "pipe", leak_pipe }, { "scm", leak_scm }, { "sockbuf", leak_sockbuf },
};

int main(int argc, char **argv)
{
	struct rlimit files = { 65536, 65536 };

	setrlimit(RLIMIT_NOFILE, &files);
	for (size_t i = 0; argc == 2 && i < sizeof(loads) / sizeof(*loads); i++)
		if (!strcmp(argv[1], loads[i].name))
			loads[i].run();
	fprintf(stderr, "usage: alarms pipes|timewait|pipe|scm|sockbuf\n");
	return 2;
}
