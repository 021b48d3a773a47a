/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _CODETAG_LINUX_TYPES_H
#define _CODETAG_LINUX_TYPES_H

#include_next <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;

#define __aligned(n)	__attribute__((aligned(n)))

#endif
