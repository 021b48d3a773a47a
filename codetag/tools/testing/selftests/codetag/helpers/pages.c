// SPDX-License-Identifier: GPL-2.0-only
/*
 * pages KIND MEGABYTES - have user pages and do with them what stdin says
 *
 * KIND is anon, huge (anon with MADV_HUGEPAGE), shared or hugetlb. When all
 * pages are there it prints "ready ADDRESS END" and then, for each line of
 * stdin, one line:
 *
 *	free FIRST COUNT	give back COUNT pages from page FIRST on
 *	thin			give back every second page
 *	move NODE		move all pages to a node
 *	touch			write to all pages
 *	spin SECONDS		do so all the time
 *	noise BYTES		write so many random bytes into each page
 *	out FIRST COUNT		have COUNT pages from page FIRST on written to swap
 *	sum			add up the bytes of the pages that "thin" leaves
 *	poison PAGE		say that a page is broken; prints its frame number
 *	offline PAGE		have a page replaced that is about to break; likewise
 *	device			move all pages to the memory of the device of test_hmm
 *	system			have the device move them back
 *	fork			a child reads all pages and writes to every second one
 *	exit
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/ioctl.h>
#include <linux/types.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define HUGE	(2UL << 20)

#ifndef MADV_SOFT_OFFLINE
#define MADV_SOFT_OFFLINE	101
#endif
#ifndef MADV_PAGEOUT
#define MADV_PAGEOUT		21
#endif

/* lib/test_hmm_uapi.h, which is not installed */
struct hmm_dmirror_cmd {
	__u64 addr;
	__u64 ptr;
	__u64 npages;
	__u64 cpages;
	__u64 faults;
};

#define HMM_DMIRROR_MIGRATE_TO_DEV	_IOWR('H', 0x02, struct hmm_dmirror_cmd)
#define HMM_DMIRROR_MIGRATE_TO_SYS	_IOWR('H', 0x03, struct hmm_dmirror_cmd)

static char *area;
static unsigned long size;
static unsigned long page_size;
static int shared;

static void touch(void)
{
	unsigned long i;

	for (i = 0; i < size; i += page_size)
		area[i] = 1;
}

/* Fills pages with reproducible pseudo-random bytes, which cannot be compressed. */
static void noise(unsigned long bytes)
{
	__u64 state = 88172645463325252ULL;
	unsigned long i, k;

	for (i = 0; i < size; i += page_size) {
		for (k = 0; k < bytes && k < page_size; k++) {
			state ^= state << 13;
			state ^= state >> 7;
			state ^= state << 17;
			area[i + k] = state;
		}
	}
}

static unsigned long sum(void)
{
	unsigned long i, k, n = 0;

	for (i = page_size; i < size; i += 2 * page_size)
		for (k = 0; k < page_size; k++)
			n += (unsigned char)area[i + k] * (k + 1);
	return n;
}

static int give_back(unsigned long first, unsigned long count)
{
	return madvise(area + first * page_size, count * page_size,
		       shared ? MADV_REMOVE : MADV_DONTNEED);
}

static long move(int node)
{
	const unsigned long nr = size / page_size;
	void **pages = calloc(nr, sizeof(*pages));
	int *nodes = calloc(nr, sizeof(*nodes));
	int *status = calloc(nr, sizeof(*status));
	long there = 0;
	unsigned long i;
	int try;

	if (!pages || !nodes || !status)
		return -1;
	for (i = 0; i < nr; i++) {
		pages[i] = area + i * page_size;
		nodes[i] = node;
	}
	/* A page that is just on its way to a list cannot move: try again. */
	for (try = 0; try < 10 && there < (long)nr; try++) {
		if (try)
			usleep(50000);
		if (syscall(SYS_move_pages, 0, nr, pages, nodes, status, 2) < 0)
			return -1;
		for (there = 0, i = 0; i < nr; i++)
			there += status[i] == node;
	}
	free(pages);
	free(nodes);
	free(status);
	return there;
}

/* Whoever breaks a page of its own is told by a signal, which would end it. */
static void survive(int number)
{
	(void)number;
}

/* The frame number of a page, and the answer of the kernel to the request. */
static void broken(const char *what, unsigned long page, int advice)
{
	char *addr = area + page * page_size;
	int fd = open("/proc/self/pagemap", O_RDONLY);
	__u64 entry = 0;
	int ret;

	if (fd < 0 || pread(fd, &entry, sizeof(entry), (unsigned long)addr / page_size *
			    sizeof(entry)) != sizeof(entry))
		entry = 0;
	close(fd);
	signal(SIGBUS, survive);
	ret = madvise(addr, page_size, advice) ? -errno : 0;
	printf("%s %llu %d\n", what, (unsigned long long)(entry & ((1ULL << 55) - 1)), ret);
}

/* How many pages have moved. */
static long device(unsigned long request)
{
	static int fd = -1;
	struct hmm_dmirror_cmd cmd = { .addr = (unsigned long)area, .npages = size / page_size };
	void *copy;
	int ret;

	if (fd < 0)
		fd = open("/dev/hmm_dmirror0", O_RDWR);
	if (fd < 0)
		return -errno;
	/* The device hands over what it has got. */
	copy = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (copy == MAP_FAILED)
		return -errno;
	cmd.ptr = (unsigned long)copy;
	ret = ioctl(fd, request, &cmd) ? -errno : 0;
	munmap(copy, size);
	return ret ? ret : (long)cmd.cpages;
}

static int child(void)
{
	int status = -1;
	unsigned long i;
	pid_t pid = fork();

	if (!pid) {
		for (i = 0; i < size; i += page_size)
			if (area[i] != 1)
				_exit(1);
		for (i = 0; i < size; i += 2 * page_size)
			area[i] = 2;
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	for (i = 0; i < size; i += page_size)
		if (area[i] != 1)
			return 2;
	return status;
}

static void *map(const char *kind, unsigned long length)
{
	int flags = MAP_PRIVATE | MAP_ANONYMOUS;
	char *p;

	if (!strcmp(kind, "shared")) {
		flags = MAP_SHARED | MAP_ANONYMOUS;
		shared = 1;
	}
	if (!strcmp(kind, "hugetlb")) {
		page_size = HUGE;
		return mmap(NULL, length, PROT_READ | PROT_WRITE,
			    flags | MAP_HUGETLB, -1, 0);
	}
	p = mmap(NULL, length + HUGE, PROT_READ | PROT_WRITE, flags, -1, 0);
	if (p == MAP_FAILED)
		return p;
	p = (char *)(((unsigned long)p + HUGE - 1) & ~(HUGE - 1));
	if (madvise(p, length, strcmp(kind, "huge") ? MADV_NOHUGEPAGE : MADV_HUGEPAGE) &&
	    !strcmp(kind, "huge"))
		return MAP_FAILED;
	return p;
}

int main(int argc, char **argv)
{
	unsigned long first, count;
	long seconds, end;
	char line[80];
	int node;

	if (argc != 3)
		return 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	page_size = sysconf(_SC_PAGESIZE);
	size = strtoul(argv[2], NULL, 0) << 20;
	area = map(argv[1], size);
	if (area == MAP_FAILED) {
		printf("failed %s\n", strerror(errno));
		return 1;
	}
	touch();
	printf("ready 0x%lx 0x%lx\n", (unsigned long)area, (unsigned long)area + size);
	while (fgets(line, sizeof(line), stdin)) {
		if (!strncmp(line, "exit", 4))
			break;
		if (sscanf(line, "free %lu %lu", &first, &count) == 2) {
			printf("free %d\n", give_back(first, count));
		} else if (!strncmp(line, "thin", 4)) {
			for (first = 0; first < size / page_size; first += 2)
				give_back(first, 1);
			printf("thin 0\n");
		} else if (sscanf(line, "move %d", &node) == 1) {
			printf("move %ld\n", move(node));
		} else if (!strncmp(line, "touch", 5)) {
			touch();
			printf("touch 0\n");
		} else if (sscanf(line, "spin %ld", &seconds) == 1) {
			for (end = time(NULL) + seconds; time(NULL) < end;)
				touch();
			printf("spin 0\n");
		} else if (sscanf(line, "noise %lu", &count) == 1) {
			noise(count);
			printf("noise 0\n");
		} else if (sscanf(line, "out %lu %lu", &first, &count) == 2) {
			printf("out %d\n", madvise(area + first * page_size, count * page_size,
						   MADV_PAGEOUT));
		} else if (!strncmp(line, "sum", 3)) {
			printf("sum %lu\n", sum());
		} else if (sscanf(line, "poison %lu", &first) == 1) {
			broken("poison", first, MADV_HWPOISON);
		} else if (sscanf(line, "offline %lu", &first) == 1) {
			broken("offline", first, MADV_SOFT_OFFLINE);
		} else if (!strncmp(line, "device", 6)) {
			printf("device %ld\n", device(HMM_DMIRROR_MIGRATE_TO_DEV));
		} else if (!strncmp(line, "system", 6)) {
			printf("system %ld\n", device(HMM_DMIRROR_MIGRATE_TO_SYS));
		} else if (!strncmp(line, "fork", 4)) {
			printf("fork %d\n", child());
		} else {
			printf("unknown\n");
		}
	}
	return 0;
}
