/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A machine with everything that it says about its memory: this machine, or saved files of
 * others. Unlike source.h this needs no call sites: the machine may have no profiler.
 */
#ifndef CODETAG_HOST_H
#define CODETAG_HOST_H

#include "source/source.h"

struct host_options {
	bool recount;	/* this machine: the kernel counts, see "charged" in the man page */
	bool no_sites;	/* leave out allocinfo */
	bool holders;	/* … and read its processes and control groups */
	bool activity;	/* … and what its call sites have allocated and freed, if it counts that */
	bool pss;	/* … whose shared pages are divided among them, see PSS in proc(5) */
};

/*
 * The anonymous memory of the processes of this machine, by command. With @pss it is all memory
 * that they have mapped, divided among those that share it.
 */
void host_read_processes(struct holders *processes, bool pss);

#define BOOT_ID 40

/* The id of this boot of this machine, "" if it cannot be read. */
void host_boot_id(char id[BOOT_ID]);

/* Reads this machine, and says nothing about missing files. */
void host_read_live(struct snapshot *host, const struct host_options *options);

/*
 * Sets the recent activity of the sites of @now, two readings of this machine. Returns how many
 * seconds that is, 0 if the kernel does not count allocations and frees.
 */
double host_activity(struct snapshot *now, const struct snapshot *before);

/*
 * Calls @visit with each machine in @path, which takes it over. @path is an archive, a
 * recording, or a directory with copies of the files of a machine or with several such
 * directories. Or it is a copy of meminfo or allocinfo with the others beside it. Returns false
 * after a message if it is none of these.
 */
bool host_read(const char *path, void (*visit)(void *data, struct snapshot *host), void *data);

#endif
