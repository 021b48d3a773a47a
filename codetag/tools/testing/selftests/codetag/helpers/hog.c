// SPDX-License-Identifier: GPL-2.0-only
/*
 * hog MEGABYTES SECONDS [idle] - have memory and use it, all of it once and then
 * until the time is over, or only wait for that: it is the first that the OOM killer
 * takes. It goes before all others, or it would have to wait long for its memory
 * where many want to run.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define PAGE	4096UL

int main(int argc, char **argv)
{
	unsigned long size, i;
	time_t end;
	bool idle;
	char *area;
	FILE *f;

	idle = argc == 4 && !strcmp(argv[3], "idle");
	if (argc != 3 + idle)
		return 2;
	size = strtoul(argv[1], NULL, 0) << 20;
	end = time(NULL) + strtol(argv[2], NULL, 0);
	f = fopen("/proc/self/oom_score_adj", "w");
	if (!f || fprintf(f, "1000\n") < 0 || fclose(f))
		return 1;
	if (setpriority(PRIO_PROCESS, 0, -10))
		return 1;
	area = mmap(NULL, size, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (area == MAP_FAILED)
		return 1;
	for (i = 0; i < size; i += PAGE)
		area[i] = 1;
	while (idle && time(NULL) < end)
		sleep(1);
	while (time(NULL) < end)
		for (i = 0; i < size && time(NULL) < end; i += PAGE)
			area[i]++;
	return 0;
}
