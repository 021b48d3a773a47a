// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whole-system cases, from user space: the cost of the profiler for programs.
 *
 * whole read FILE: ticks of reading a file
 * whole records FILE: ticks of reading the records of an allocinfo by its ioctls. The exit status is
 * 3 if the kernel has none
 * whole insmod FILE: ticks of loading a module
 * whole rate PROCESSES MILLISECONDS: how often in a second so many processes together make,
 * fill and remove a pipe and a mapping
 * whole [SAMPLES [CASE]]: runs every case SAMPLES times and prints a line for each in
 * the format of the kernel's cases: name, samples, then per operation in
 * thousandths of a tick of the time-stamp counter: median, least, greatest.
 * No case ever lets the only processor go idle, as idle time would be counted.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../codetag/include/uapi/linux/alloc_tag.h"

#define MAX_SAMPLES 64
#define MAX_PROCESSES 1024

#ifdef __aarch64__
/* In nanoseconds, for the counter is slower than one of instructions. */
static uint64_t now(void)
{
	uint64_t ticks, hz;

	__asm__ volatile("isb; mrs %0, cntvct_el0" : "=r" (ticks) : : "memory");
	__asm__("mrs %0, cntfrq_el0" : "=r" (hz));
	return ticks * (1000000000 / hz);
}
#else
static uint64_t now(void)
{
	uint32_t low, high;

	__asm__ volatile("lfence; rdtsc" : "=a" (low), "=d" (high) : : "memory");
	return (uint64_t)high << 32 | low;
}
#endif

static void full(ssize_t got, size_t want)
{
	if (got < 0 || (size_t)got != want)
		err(1, "short read or write");
}

static void reap(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid || status)
		errx(1, "a child failed");
}

static pid_t start(void)
{
	pid_t pid = fork();

	if (pid < 0)
		err(1, "fork");
	return pid;
}

static void fork_exit(unsigned int ops)
{
	while (ops--) {
		pid_t pid = start();

		if (!pid)
			_exit(0);
		reap(pid);
	}
}

static void fork_exec_exit(unsigned int ops)
{
	while (ops--) {
		pid_t pid = start();

		if (!pid) {
			execl("/proc/self/exe", "whole", "exit", NULL);
			_exit(1);
		}
		reap(pid);
	}
}

static void file_create(unsigned int ops)
{
	static char data[16384];
	char name[64];
	int fd;

	snprintf(name, sizeof(name), "/tmp/whole.%d", getpid());
	while (ops--) {
		fd = open(name, O_CREAT | O_EXCL | O_WRONLY, 0600);
		if (fd < 0)
			err(1, "%s", name);
		full(write(fd, data, sizeof(data)), sizeof(data));
		close(fd);
		if (unlink(name))
			err(1, "%s", name);
	}
}

/* An operation is a fault. */
static void page_fault(unsigned int ops)
{
	size_t size = 4096UL * ops, i;
	volatile char *map = mmap(NULL, size, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (map == MAP_FAILED)
		err(1, "mmap");
	madvise((void *)map, size, MADV_NOHUGEPAGE);
	for (i = 0; i < size; i += 4096)
		map[i] = 1;
	munmap((void *)map, size);
}

static void pipe_ping_pong(unsigned int ops)
{
	int there[2], back[2];
	pid_t pid;
	char c = 0;

	if (pipe(there) || pipe(back))
		err(1, "pipe");
	pid = start();
	while (ops--) {
		if (pid) {
			full(write(there[1], &c, 1), 1);
			full(read(back[0], &c, 1), 1);
		} else {
			full(read(there[0], &c, 1), 1);
			full(write(back[1], &c, 1), 1);
		}
	}
	if (!pid)
		_exit(0);
	reap(pid);
	close(there[0]);
	close(there[1]);
	close(back[0]);
	close(back[1]);
}

/* An operation is 16 KiB through a connection. */
static void tcp_stream(unsigned int ops)
{
	static char data[16384];
	struct sockaddr_in address = { .sin_family = AF_INET };
	socklen_t size = sizeof(address);
	int listener, out, in;
	pid_t pid;

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	listener = socket(AF_INET, SOCK_STREAM, 0);
	if (listener < 0 || bind(listener, (void *)&address, size) || listen(listener, 1) ||
	    getsockname(listener, (void *)&address, &size))
		err(1, "tcp");
	pid = start();
	if (!pid) {
		out = socket(AF_INET, SOCK_STREAM, 0);
		if (out < 0 || connect(out, (void *)&address, size))
			err(1, "connect");
		while (ops--)
			full(write(out, data, sizeof(data)), sizeof(data));
		_exit(0);
	}
	in = accept(listener, NULL, NULL);
	if (in < 0)
		err(1, "accept");
	while (ops--)
		full(recv(in, data, sizeof(data), MSG_WAITALL), sizeof(data));
	close(in);
	close(listener);
	reap(pid);
}

/*
 * 8 processes that each send to 8 others through socket pairs, as hackbench
 * does it. An operation is a message.
 */
static void storm(unsigned int ops)
{
	enum { SIDE = 8, SIZE = 100 };
	int pairs[SIDE][2];
	pid_t pids[2 * SIDE];
	unsigned int i, j;
	char data[SIZE] = { 0 };

	for (i = 0; i < SIDE; i++)
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, pairs[i]))
			err(1, "socketpair");
	for (i = 0; i < SIDE; i++) {
		pids[i] = start();
		if (!pids[i]) {
			for (j = 0; j < ops / SIDE; j++)
				full(recv(pairs[i][0], data, SIZE, MSG_WAITALL), SIZE);
			_exit(0);
		}
	}
	for (i = 0; i < SIDE; i++) {
		pids[SIDE + i] = start();
		if (!pids[SIDE + i]) {
			for (j = 0; j < ops / SIDE; j++)
				full(write(pairs[j % SIDE][1], data, SIZE), SIZE);
			_exit(0);
		}
	}
	for (i = 0; i < 2 * SIDE; i++)
		reap(pids[i]);
	for (i = 0; i < SIDE; i++) {
		close(pairs[i][0]);
		close(pairs[i][1]);
	}
}

static const struct whole_case {
	const char *name;
	unsigned int ops;
	void (*run)(unsigned int ops);
} cases[] = {
	{ "fork+exit",		40,	fork_exit },
	{ "fork+exec+exit",	40,	fork_exec_exit },
	{ "file-create",	200,	file_create },
	{ "page-fault",		2000,	page_fault },
	{ "pipe-ping-pong",	1000,	pipe_ping_pong },
	{ "tcp-stream",		200,	tcp_stream },
	{ "storm",		3200,	storm },
};

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void read_text(int fd)
{
	static char data[65536];
	ssize_t got;

	do {
		got = read(fd, data, sizeof(data));
	} while (got > 0);
	if (got < 0)
		err(1, "read");
}

static void read_records(int fd)
{
	struct allocinfo_get_at first = { .pos = 0 };
	struct allocinfo_tag_data next;

	if (ioctl(fd, ALLOCINFO_IOC_GET_AT, &first))
		err(errno == ENOTTY ? 3 : 1, "ioctl");
	while (!ioctl(fd, ALLOCINFO_IOC_GET_NEXT, &next))
		;
	if (errno != ENOENT)
		err(1, "ioctl");
}

/* The median of five times, without the time of a first one. */
static int read_file(const char *name, void (*read_all)(int fd))
{
	uint64_t ticks[6], from;
	unsigned int i;
	int fd;

	for (i = 0; i < 6; i++) {
		from = now();
		fd = open(name, O_RDONLY);
		if (fd < 0)
			err(1, "%s", name);
		read_all(fd);
		close(fd);
		ticks[i] = now() - from;
	}
	qsort(ticks + 1, 5, sizeof(*ticks), compare);
	printf("%llu\n", (unsigned long long)ticks[3]);
	return 0;
}

static void churn(void)
{
	static char data[65536];
	volatile char *map;
	int end[2];
	size_t i;

	if (pipe(end))
		err(1, "pipe");
	full(write(end[1], data, sizeof(data)), sizeof(data));
	full(read(end[0], data, sizeof(data)), sizeof(data));
	close(end[0]);
	close(end[1]);
	map = mmap(NULL, sizeof(data), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (map == MAP_FAILED)
		err(1, "mmap");
	for (i = 0; i < sizeof(data); i += 4096)
		map[i] = 1;
	munmap((void *)map, sizeof(data));
}

struct work {
	_Alignas(64) volatile int go;
	struct {
		_Alignas(64) volatile uint64_t count;
	} done[MAX_PROCESSES];
};

static double seconds(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}

static int rate(int processes, int milliseconds)
{
	struct work *work = mmap(NULL, sizeof(*work), PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pid[MAX_PROCESSES];
	double from, time;
	uint64_t sum = 0;
	int i, status;

	if (work == MAP_FAILED || processes < 1 || processes > MAX_PROCESSES || milliseconds < 1)
		errx(2, "between 1 and %d processes, and a time", MAX_PROCESSES);
	for (i = 0; i < processes; i++) {
		pid[i] = start();
		if (pid[i])
			continue;
		while (!work->go)
			sched_yield();
		for (;; work->done[i].count++)
			churn();
	}
	from = seconds();
	work->go = 1;
	usleep(milliseconds * 1000);
	for (i = 0; i < processes; i++)
		sum += work->done[i].count;
	time = seconds() - from;
	for (i = 0; i < processes; i++) {
		kill(pid[i], SIGKILL);
		if (waitpid(pid[i], &status, 0) != pid[i] || !WIFSIGNALED(status))
			errx(1, "a child failed");
	}
	printf("rate %d %.1f\n", processes, sum / time);
	return 0;
}

static int insmod(const char *name)
{
	int fd = open(name, O_RDONLY);
	uint64_t from = now();

	if (fd < 0 || syscall(SYS_finit_module, fd, "", 0))
		err(1, "%s", name);
	printf("%llu\n", (unsigned long long)(now() - from));
	return 0;
}

int main(int argc, char **argv)
{
	uint64_t ticks[MAX_SAMPLES];
	unsigned int i, j, samples = 7;

	if (argc > 1 && !strcmp(argv[1], "exit"))
		return 0;
	if (argc == 3 && !strcmp(argv[1], "read"))
		return read_file(argv[2], read_text);
	if (argc == 3 && !strcmp(argv[1], "records"))
		return read_file(argv[2], read_records);
	if (argc == 4 && !strcmp(argv[1], "rate"))
		return rate(atoi(argv[2]), atoi(argv[3]));
	if (argc == 3 && !strcmp(argv[1], "insmod"))
		return insmod(argv[2]);
	if (argc > 1)
		samples = atoi(argv[1]);
	if (samples < 1 || samples > MAX_SAMPLES)
		errx(2, "between 1 and %d samples", MAX_SAMPLES);

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct whole_case *c = &cases[i];

		if (argc > 2 && strcmp(c->name, argv[2]))
			continue;
		c->run(c->ops);
		for (j = 0; j < samples; j++) {
			uint64_t from = now();

			c->run(c->ops);
			ticks[j] = (now() - from) * 1000 / c->ops;
		}
		qsort(ticks, samples, sizeof(*ticks), compare);
		printf("%s %u %llu %llu %llu -\n", c->name, samples,
		       (unsigned long long)ticks[samples / 2], (unsigned long long)ticks[0],
		       (unsigned long long)ticks[samples - 1]);
	}
	return 0;
}
