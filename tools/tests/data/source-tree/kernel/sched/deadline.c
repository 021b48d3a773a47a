// SPDX-License-Identifier: GPL-2.0-only
#include "slab.h"
void start_sched(void) { kmalloc(800, "kernel/sched/deadline.c"); }
