/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A file with the physical memory of a machine: an ELF core of kdump or of QEMU's
 * dump-guest-memory, or, with libkdumpfile, a file that makedumpfile or QEMU has compressed.
 */
#ifndef CODETAG_DUMP_H
#define CODETAG_DUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DUMP_PAGE 4096

struct dump;

/* Whether @head, the first @len bytes of a file, are those of a dump. */
bool dump_is(const void *head, size_t len);
#define DUMP_HEAD 64

/* Returns NULL if it cannot be read; *@why then is the reason, which need not be freed. */
struct dump *dump_open(const char *path, const char **why);

/* The same with an ELF core in memory, which has to stay there. */
struct dump *dump_open_memory(const void *data, size_t len, const char **why);

void dump_close(struct dump *dump);

/*
 * The DUMP_PAGE bytes at physical address @pa, a multiple of that. NULL if the dump does
 * not have them. Valid until the next call.
 */
const void *dump_page(struct dump *dump, uint64_t pa);

enum dump_machine { DUMP_UNKNOWN, DUMP_X86_64, DUMP_ARM64 };

enum dump_machine dump_machine(const struct dump *dump);

/*
 * The registers of all processors, as far as the dump has them: for each processor those of
 * user_regs_struct of its machine, and zeros. Returns the number of processors.
 */
#define DUMP_REGISTERS 34
size_t dump_registers(struct dump *dump, const uint64_t (**registers)[DUMP_REGISTERS]);

/* The name of a general register, "rbx"; NULL: it is none. */
const char *dump_register_name(const struct dump *dump, size_t i);

/* Which of them is the stack pointer. */
size_t dump_stack_pointer(const struct dump *dump);

/* One above the highest physical address. */
uint64_t dump_end(const struct dump *dump);

/* The bytes of memory that the headers announce. */
uint64_t dump_size(const struct dump *dump);

/* Whether the file lacks a part that its headers announce, as far as reads have shown. */
bool dump_is_cut(const struct dump *dump);

/* The physical address at or after @pa from which there is memory; false at the end. */
bool dump_next(const struct dump *dump, uint64_t *pa);

/* The same, but without holes of a sparse file, which are zeros. */
bool dump_next_data(struct dump *dump, uint64_t *pa);

/* The number in a line of VMCOREINFO, written to @base; false if there is no line of this name. */
bool dump_info(struct dump *dump, const char *name, int base, uint64_t *value);

#endif
