// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include "slab.h"
void start_fs(void), start_mm(void), start_sched(void);
noinline void *kmalloc(int size, const char *file)
{
	static long next = 4096;
	printf("x-1 [000] 1.000000: kmalloc: call_site=%lx ptr=%lx bytes_req=%d "
	       "bytes_alloc=%d\n", (long)__builtin_return_address(0),
	       next += size, size, size);
	fprintf(stderr, "%d %s\n", size, file);
	return (void *)next;
}
int main(void)
{
	start_fs();
	start_mm();
	start_sched();
	return kmalloc(100, "init/main.c") == 0;
}
