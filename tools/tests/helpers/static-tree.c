// SPDX-License-Identifier: GPL-2.0-only
/* The objects that the static footprint is taken of. -D chooses one of them. */
#if defined(INODE)
static int zero[1000];
int data[500] = { 1 };
const int constant[300] = { 1 };
int *f(int i) { return &zero[i]; }
#elif defined(TAGS)
__attribute__((section("alloc_tags"))) long tags[8] = { 1 };
#elif defined(SLUB)
char bss[4096];
static __attribute__((noinline, used)) void twice(void) { }
#elif defined(DCACHE)
static __attribute__((noinline, used)) void twice(void) { }
#elif defined(HOST)
char large[100000];
#elif defined(SECTIONS)
char data[64] = { 1 };
__attribute__((section(".init.data"))) char start[100] = { 1 };
__attribute__((section(".exit.data"))) char end[50] = { 1 };
__attribute__((section(".initcall6.init"), used)) static void *call = 0;
extern __typeof__(data) other __attribute__((alias("data")));
#elif defined(DATA)
int data[500] = { 1 };
#else
#error which one?
#endif
