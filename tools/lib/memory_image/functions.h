/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Names of the functions of a kernel in an image, and of its modules: those that the kernel
 * itself has, for stacks in its log (CONFIG_KALLSYMS).
 */
#ifndef CODETAG_IMAGE_FUNCTIONS_H
#define CODETAG_IMAGE_FUNCTIONS_H

#include "base/text.h"
#include "memory_image/image.h"

struct image_functions;

/* Without any if the kernel has none; then all addresses are numbers. */
struct image_functions *image_functions_read(struct image *image);
void image_functions_free(struct image_functions *functions);

bool image_functions_any(const struct image_functions *functions);

/*
 * Adds "name+0x1f/0x2c [module]". An address that no function has becomes "[unknown]", as the
 * kernel shows it, or a number if it has no names at all.
 */
void image_function_text(struct image_functions *functions, uint64_t address, struct text *text);

#endif
