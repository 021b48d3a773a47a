/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A machine with all that it says about its memory: this one, or what was saved of
 * others. Unlike source.h it is content with what there is: a machine without a profiler
 * has no call sites.
 */
#ifndef CODETAG_HOST_H
#define CODETAG_HOST_H

#include "source/source.h"

struct host_options {
	bool recount;	/* this machine: let the kernel count, see "charged" in the man page */
	bool no_sites;	/* leave out allocinfo */
	bool holders;	/* … and look at its processes and control groups */
	bool pss;	/* … which share what several of them have, see proc(5) */
};

/*
 * The anonymous memory of the processes of this machine, by command; with @pss all they
 * have mapped, each with its share.
 */
void host_read_processes(struct holders *processes, bool pss);

/* This machine. Nothing is said about what is missing. */
void host_read_live(struct snapshot *host, const struct host_options *options);

/*
 * Calls @visit with each machine in @path, which it takes over: a directory with copies
 * of the files of a machine, or with several of those; an archive; a recording; a copy of
 * meminfo or allocinfo with the others beside it. False after a message if that is none.
 */
bool host_read(const char *path, void (*visit)(void *data, struct snapshot *host), void *data);

#endif
