/* SPDX-License-Identifier: GPL-2.0-only */
/* The files of the profiler in debugfs, or saved copies of them. */
#ifndef CODETAG_DEBUGFS_H
#define CODETAG_DEBUGFS_H

#include <argp.h>
#include <stdbool.h>

#include "output.h"
#include "read/control.h"

#define DEBUGFS_DIR "/sys/kernel/debug/codetag"

struct debugfs_file {
	const char *path;
	bool given;	/* the user named it: it is not the one of this machine */
};

#define DEBUGFS_FILE(name) { .path = DEBUGFS_DIR "/" name }

/* The command line of commands that show one such file. */
struct debugfs_options {
	struct debugfs_file file;
	struct output output;
	char path[4096];	/* --debugfs DIR: the file in that directory */
};

#define KEY_DEBUGFS 0x400
#define DEBUGFS_DIR_OPTION \
	{ "debugfs", KEY_DEBUGFS, "DIR", 0, \
	  "Use the files in DIR (default: " DEBUGFS_DIR ")", 8 }

/*
 * An option for FILE whose name tells the kind of the file. The file is recognised without the
 * option, too.
 */
#define KEY_IMAGE 0x401
#define IMAGE_OPTION \
	{ "image", KEY_IMAGE, "FILE", 0, \
	  "Read FILE, an image of a machine's memory: a dump of kdump, makedumpfile or QEMU", 1 }

/*
 * For the argp of such a command: option 'f' or an argument is the file, the
 * input is a struct debugfs_options.
 */
error_t debugfs_parse(int key, char *arg, struct argp_state *state);
extern const struct argp_child debugfs_children[];

/*
 * Whether the user named FILE, by the option or an argument. Then it is not a file in the
 * kernel's directory.
 */
bool debugfs_is_file(const struct debugfs_options *o);

/* Explains why @file could not be opened, and what to do. */
void debugfs_complain(const struct debugfs_file *file, int error);

/* All these files of one machine. */
struct debugfs_dir {
	const char *path;
	bool given;
};

#define DEBUGFS_DIR_INIT { .path = DEBUGFS_DIR }

/* An argp child: its input is a struct debugfs_dir. */
extern const struct argp debugfs_dir_argp;

/* The path of a file in the directory; the caller frees it. */
char *debugfs_path(const struct debugfs_dir *dir, const char *name);

/* Reads a whole file of the directory like input_read(); false after a message. */
bool debugfs_read(const struct debugfs_dir *dir, const char *name, char **text,
		  size_t *len);

/*
 * Reads the list of call sites from "control". On a locked-down kernel nobody can open that,
 * and "sites" has the same list. Prints no message; errno is that of "control".
 */
bool debugfs_read_sites(const struct debugfs_dir *dir, char **text, size_t *len);

/* Reads the queries that were applied last; false, without a message, if the kernel does not list them. */
bool debugfs_read_applied(const struct debugfs_dir *dir, struct applied *applied);

/* Whether the profiler as a whole is on; false if that is not known. */
bool debugfs_read_enabled(const struct debugfs_dir *dir, bool *enabled);

/*
 * Writes @text to the kernel in one piece. *@opened says whether the file could be opened at
 * all. Returns 0 or an errno.
 */
int debugfs_write(const struct debugfs_dir *dir, const char *name, const char *text,
		  bool *opened);

/* Likewise, for an existing file, by its path. */
int debugfs_write_file(const char *path, const char *text);

/* Calls debugfs_complain() for a file in the directory. */
void debugfs_dir_complain(const struct debugfs_dir *dir, const char *name, int error);

#endif
