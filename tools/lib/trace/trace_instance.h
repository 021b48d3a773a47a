/* SPDX-License-Identifier: GPL-2.0-only */
/* The directory of an ftrace instance of our own, in which the kernel records events. */
#ifndef CODETAG_TRACE_INSTANCE_H
#define CODETAG_TRACE_INSTANCE_H

#include <stdbool.h>

/* Writes @value to the file @name of the instance. On failure returns false; errno says why. */
bool trace_instance_write(const char *dir, const char *name, const char *value);

/* Stops the events and removes the instance. Says so if the kernel refuses. Keeps errno. */
void trace_instance_remove(const char *dir);

#endif
