/* SPDX-License-Identifier: GPL-2.0-only */
void *kmalloc(int size, const char *file);
#define noinline __attribute__((noinline, noclone))
static inline __attribute__((always_inline)) void *kzalloc(int size, const char *file)
{
	return kmalloc(size, file);
}
