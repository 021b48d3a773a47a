// SPDX-License-Identifier: GPL-2.0-only
#include "slab.h"
static noinline void twice(void) { kmalloc(200, "fs/namei.c"); }
static noinline void same(void) { kmalloc(300, "fs/namei.c"); }
void start_fs(void) { twice(); same(); kzalloc(400, "fs/namei.c"); }
