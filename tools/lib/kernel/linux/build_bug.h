/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _LINUX_BUILD_BUG_H
#define _LINUX_BUILD_BUG_H

#include <assert.h>

#endif
