// SPDX-License-Identifier: GPL-2.0-only
#include "slab.h"
noinline void twice(void) { kmalloc(900, ""); }
noinline void ext4_only(void) { kmalloc(1000, ""); }
