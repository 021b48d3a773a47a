/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The names of the functions of a kernel and its modules in an image: the names that the kernel
 * itself has for the stacks in its log (CONFIG_KALLSYMS).
 */
#ifndef CODETAG_IMAGE_FUNCTIONS_H
#define CODETAG_IMAGE_FUNCTIONS_H

#include "base/text.h"
#include "memory_image/image.h"

struct image_functions;

/* If the kernel has no names, all addresses are printed as numbers. */
struct image_functions *image_functions_read(struct image *image);
void image_functions_free(struct image_functions *functions);

bool image_functions_any(const struct image_functions *functions);

/*
 * Adds "name+0x1f/0x2c [module]". An address in no function becomes "[unknown]", as in the
 * kernel, or a number if the kernel has no names at all.
 */
void image_function_text(struct image_functions *functions, uint64_t address, struct text *text);

#endif
