/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The memory of a kernel with codetag, by virtual address, and the numbers of its layout
 * table (Documentation/ABI/testing/vmcore-codetag). Nothing in an image is trusted: reads
 * of missing memory fail, and all reads together have a limit, so that no loop in it
 * is endless.
 */
#ifndef CODETAG_IMAGE_H
#define CODETAG_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "memory_image/dump.h"
#include "memory_image/numbers.h"

/* The header of the table, as the kernel has it. */
struct layout {
	char magic[16];
	uint32_t version, word;
	uint64_t self, tables, top_shift, top_bits, page_shift, entries, nr, direct_map, memory_map;
	uint64_t vmalloc, vmalloc_end, counters, nr_cpus, nr_nodes, objects, block_order;
	uint64_t flags_shift, flags_bits, section_roots;
};

/* The largest order of an allocation that is no compound page: of arm64 with pages of 64 KiB. */
#define IMAGE_MAX_ALLOC_ORDER 13

struct image {
	struct dump *dump;
	struct layout layout;
	uint64_t n[N_COUNT];
	uint64_t max_pa;		/* end of the direct map, 0: not known */
	uint64_t kernel, kernel_size, kernel_pa;	/* the kernel's own code and data, in one piece */
	bool arm64;			/* otherwise it is x86_64 */
	uint64_t encrypted;		/* x86_64: the bit of page table entries for encrypted memory */
	unsigned int page_shift;	/* of the machine's pages, not DUMP_PAGE, in which dumps are read */
	uint64_t page_size;

	uint64_t *cpu_offset;		/* address of each possible CPU's memory */
	uint64_t *unit_offset;		/* offset of its memory in a chunk of percpu memory */
	size_t cpus;

	uint64_t budget;		/* bytes that may still be read */
	uint64_t missing;		/* number of reads of pages that the dump does not have */
	uint64_t damaged_slabs;		/* left out, because their description cannot be true */
	uint64_t unnumbered;		/* objects left out, because there are too many */
	struct translation *known;	/* by the low bits of the page's number */
};

/* Returns NULL after a message. */
struct image *image_open(const char *path);

/* Returns NULL if it is no image, with the reason in *@why. */
struct image *image_open_dump(struct dump *dump, const char **why);
void image_close(struct image *image);

/*
 * The kinds of entries of a page table, each of which maps 1 << @shift bytes: the address of
 * the next table, or of memory, in *@pa.
 */
enum entry_kind { ENTRY_NONE, ENTRY_TABLE, ENTRY_MEMORY };

enum entry_kind image_entry(const struct image *image, uint64_t entry, unsigned int shift, uint64_t *pa);

/* Addresses of arm64's kernel have bit 55. Those above it can be a tag of the pointer. */
static inline uint64_t image_untagged(const struct image *image, uint64_t va)
{
	return image->arm64 && va >> 55 & 1 ? va | 0xffULL << 56 : va;
}

/* The offset of an address, virtual or physical, in its page. */
static inline uint64_t image_in_page(const struct image *image, uint64_t address)
{
	return address & (image->page_size - 1);
}

/* The physical address of a virtual one; false if there is none. */
bool image_translate(struct image *image, uint64_t va, uint64_t *pa);

/*
 * Reads @len bytes at @va. Fills the bytes that it cannot read with zeros, and then returns
 * false.
 */
bool image_read(struct image *image, uint64_t va, void *buf, size_t len);

/*
 * The DUMP_PAGE bytes at physical address @pa, a multiple of that. The caller reads @len of
 * them before the next call. NULL if the dump lacks them.
 */
const void *image_page(struct image *image, uint64_t pa, size_t len);

/* Reads one number, 0 if it cannot be read. */
uint64_t image_u64(struct image *image, uint64_t va);
uint32_t image_u32(struct image *image, uint64_t va);
uint16_t image_u16(struct image *image, uint64_t va);

/*
 * Reads a string of less than @room bytes and makes it printable; "" if it cannot be read.
 * Returns @buf.
 */
char *image_string(struct image *image, uint64_t va, char *buf, size_t room);

/* Whether the limit of all reads is used up: then the image has a loop. */
bool image_exhausted(const struct image *image);

/*
 * For loops that may read nothing: counts a step, and returns false when the limit is used up.
 */
bool image_step(struct image *image);

/* Members of a structure that was read into @buf. */
static inline uint64_t get64(const void *buf, uint64_t offset)
{
	uint64_t v;

	__builtin_memcpy(&v, (const char *)buf + offset, sizeof(v));
	return v;
}

static inline uint32_t get32(const void *buf, uint64_t offset)
{
	uint32_t v;

	__builtin_memcpy(&v, (const char *)buf + offset, sizeof(v));
	return v;
}

static inline uint16_t get16(const void *buf, uint64_t offset)
{
	uint16_t v;

	__builtin_memcpy(&v, (const char *)buf + offset, sizeof(v));
	return v;
}

#endif
