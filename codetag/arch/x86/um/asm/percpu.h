/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __UM_PERCPU_H
#define __UM_PERCPU_H

/*
 * There is one CPU, and its interrupts are signals of the host: they come
 * between instructions. An addition that is one instruction needs no more.
 */
#define um_this_cpu_add(_insn, _pcp, _val)				\
do {									\
	typeof(_pcp) __val = (_val);					\
									\
	asm volatile(_insn " %1, %0"					\
		     : "+m" (*raw_cpu_ptr(&(_pcp)))			\
		     : "er" (__val));					\
} while (0)

#define this_cpu_add_4(pcp, val)	um_this_cpu_add("addl", pcp, val)
#ifdef CONFIG_64BIT
#define this_cpu_add_8(pcp, val)	um_this_cpu_add("addq", pcp, val)
#endif

#include <asm-generic/percpu.h>

#endif /* __UM_PERCPU_H */
