/* SPDX-License-Identifier: GPL-2.0-only */
/* The static footprint of a built kernel tree, from its object files. */
#ifndef CODETAG_OBJECTS_H
#define CODETAG_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strmap.h"
#include "read/allocinfo.h"

struct footprint {
	int64_t text;	/* executable */
	int64_t rodata;	/* read-only */
	int64_t data;	/* writable, in the file */
	int64_t bss;	/* writable, zero */
	int64_t init;	/* sections .init and .exit of all kinds, not counted above */
	int64_t tags;	/* tags, a part of data; TAGS_UNKNOWN in a vmlinux without symbols */
};

#define TAGS_UNKNOWN (-1)

struct object_file {
	char *path;	/* path below the tree, such as "fs/namei.o" */
	const char *module;	/* module that it is linked into; NULL: built in or not known */
	struct footprint size;
};

struct objects {
	struct object_file *object;
	size_t count, room;
	bool single;		/* it is one file, not a tree */
	size_t composites;	/* left out: linked from objects that are counted */
	size_t unreadable;	/* not ELF, or broken */
	size_t bitcode;		/* a build with LTO; then @object has the linked files */
	char **linked;		/* vmlinux.o and modules */
	size_t links, links_room;
	struct strmap part;	/* paths of the objects of modules, from files .mod … */
	struct strmap module_names;	/* … whose names are these … */
	size_t *module_of;	/* … by the number of the part */
	size_t parts_room;

	/* Called for each function, if set before; @path is of the object. */
	void (*function)(void *context, const char *name, const char *path);
	/* Called for each function and variable, if set before. */
	void (*symbol)(void *context, const char *name, const struct footprint *size,
		       const char *path);
	/* Called for each module, file.ko, if set before. */
	void (*module_file)(void *context, const char *path);
	void *context;
};

/*
 * Reads the object files below @dir that become part of the kernel or of a module. If @dir is a
 * file, reads that: an object, a module or a vmlinux. Programs of the build and the boot
 * wrapper are left out. @objects is empty except for the callbacks. Returns false with errno if
 * @dir cannot be read.
 */
bool objects_read(struct objects *objects, const char *dir);
void objects_free(struct objects *objects);

/* Adds each object file to @info as a call site of its own, whose function is @func. */
void objects_sites(const struct objects *objects, const char *func, struct allocinfo *info);

int64_t footprint_total(const struct footprint *size);
void footprint_add(struct footprint *to, const struct footprint *more);

#endif
