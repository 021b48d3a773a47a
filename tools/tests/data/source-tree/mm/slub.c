// SPDX-License-Identifier: GPL-2.0-only
#include "slab.h"
volatile int work;
static noinline void twice(void) { work++; work++; kmalloc(500, "mm/slub.c"); work++; }
static noinline void same(void) { kmalloc(600, "mm/slub.c"); }
void start_mm(void) { twice(); same(); kzalloc(700, "mm/slub.c"); }
