// SPDX-License-Identifier: GPL-2.0
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
 *	exit
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define HUGE	(2UL << 20)

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

static void *map(const char *kind, unsigned long length)
{
	int flags = MAP_PRIVATE | MAP_ANONYMOUS;
	char *p;

	if (!strcmp(kind, "shared")) {
		flags = MAP_SHARED | MAP_ANONYMOUS;
		shared = 1;
	}
	if (!strcmp(kind, "hugetlb"))
		return mmap(NULL, length, PROT_READ | PROT_WRITE,
			    flags | MAP_HUGETLB, -1, 0);
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
		} else {
			printf("unknown\n");
		}
	}
	return 0;
}
