// SPDX-License-Identifier: GPL-2.0-only
#include "memory_image/image.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/message.h"

#define MAGIC "codetag layout\n"
#define VERSION 2
#define ALIGNMENT 64

/* Bits of an entry of page tables */
#define ENTRY_PRESENT 1ULL
#define X86_64_LARGE 0x80ULL
#define X86_64_ADDRESS 0x000ffffffffff000ULL
/* On arm64: a table, or a page of the smallest size. Without it, an entry is larger memory. */
#define ARM64_TABLE 2ULL
/*
 * With tables for 52 bits; otherwise the top two bits are 0. With pages of 64 KiB, bits 48 to 51 of
 * the address are bits 12 to 15 of the entry.
 */
#define ARM64_ADDRESS 0x0003fffffffff000ULL
#define ARM64_ADDRESS_64K 0x0000ffffffff0000ULL
#define ARM64_TOP_64K 0xf000ULL
#define ARM64_TOP_64K_SHIFT 36
#define LARGEST_SHIFT 42

#define KNOWN 16384
#define MAX_CPUS 8192
#define MAX_ENTRIES 1024
#define MAX_NAME 64
#define MAX_STATIC_PERCPU (64 << 20)
/* Physical addresses have 52 bits. */
#define MAX_PHYSICAL (1ULL << 52)

/* No structure or array of structures is larger. */
#define MAX_OFFSET 65536

struct translation {
	uint64_t va, pa;	/* address of a page, + 1; 0: none */
};

static const struct {
	const char *name;
	const char *missing;	/* its name in messages; NULL: a kernel may lack it */
} numbers[] = {
#define NUMBER_ALWAYS(id, name) \
	[N_##id] = { name, "has no entry '" name "' in its layout table: the image is damaged or cut" },
#define NUMBER_MAY(id, name) [N_##id] = { name, NULL },
	NUMBERS(NUMBER_ALWAYS, NUMBER_MAY)
};

/* ---- reading --------------------------------------------------------------------- */

static bool charge(struct image *image, size_t len)
{
	if (image->budget < len) {
		image->budget = 0;
		return false;
	}
	image->budget -= len;
	return true;
}

bool image_exhausted(const struct image *image)
{
	return !image->budget;
}

bool image_step(struct image *image)
{
	return charge(image, 8);
}

static bool read_physical(struct image *image, uint64_t pa, void *buf, size_t len)
{
	size_t offset = pa % DUMP_PAGE;
	const uint8_t *page;

	if (offset + len > DUMP_PAGE || !charge(image, len + 8))
		return false;
	page = dump_page(image->dump, pa - offset);
	if (!page) {
		image->missing++;
		return false;
	}
	memcpy(buf, page + offset, len);
	return true;
}

const void *image_page(struct image *image, uint64_t pa, size_t len)
{
	const void *page = charge(image, len + 8) ? dump_page(image->dump, pa) : NULL;

	image->missing += !page && image->budget;
	return page;
}

static uint64_t arm64_address(const struct image *image, uint64_t entry)
{
	if (image->page_shift == 16)
		return (entry & ARM64_ADDRESS_64K) | (entry & ARM64_TOP_64K) << ARM64_TOP_64K_SHIFT;
	return entry & ARM64_ADDRESS & ~(image->page_size - 1);
}

enum entry_kind image_entry(const struct image *image, uint64_t entry, unsigned int shift, uint64_t *pa)
{
	bool memory = shift == image->page_shift, good = entry & ENTRY_PRESENT;

	if (image->arm64) {
		good = good && (!memory || entry & ARM64_TABLE);
		memory |= !(entry & ARM64_TABLE);
		*pa = arm64_address(image, entry);
	} else {
		memory |= shift <= 30 && entry & X86_64_LARGE;
		*pa = entry & X86_64_ADDRESS & ~image->encrypted;
	}
	if (!good || (memory && shift > LARGEST_SHIFT))
		return ENTRY_NONE;
	if (memory)
		*pa &= ~((1ULL << shift) - 1);
	return memory ? ENTRY_MEMORY : ENTRY_TABLE;
}

static bool walk(struct image *image, uint64_t va, uint64_t *pa)
{
	uint64_t table = image->layout.tables, i, entry;
	unsigned int shift = (unsigned int)image->layout.top_shift;
	enum entry_kind kind = ENTRY_TABLE;

	i = va >> shift & ((1ULL << image->layout.top_bits) - 1);
	for (;;) {
		if (!read_physical(image, table + i * 8, &entry, sizeof(entry)))
			return false;
		kind = image_entry(image, entry, shift, &table);
		if (kind != ENTRY_TABLE)
			break;
		shift -= image->page_shift - 3;
		i = va >> shift & (image->page_size / 8 - 1);
	}
	*pa = table + (va & ((1ULL << shift) - 1));
	return kind == ENTRY_MEMORY;
}

bool image_translate(struct image *image, uint64_t va, uint64_t *pa)
{
	struct translation *known;
	uint64_t page, at;

	va = image_untagged(image, va);
	page = va / DUMP_PAGE * DUMP_PAGE;
	known = &image->known[va / DUMP_PAGE % KNOWN];
	/*
	 * A page that is not mapped there, such as KFENCE's free objects, still has its memory.
	 */
	if (va >= image->layout.direct_map && va - image->layout.direct_map < image->max_pa) {
		*pa = va - image->layout.direct_map;
		return true;
	}
	/* Addresses without this bit are those of processes, which have tables of their own. */
	if (image->arm64 && !(va >> 55 & 1))
		return false;
	/* Parts of the page tables that map it can lie anywhere, and be missing. */
	if (va >= image->kernel && va - image->kernel < image->kernel_size) {
		*pa = va - image->kernel + image->kernel_pa;
		return true;
	}
	if (known->va != page + 1) {
		if (!walk(image, page, &at))
			return false;
		*known = (struct translation){ page + 1, at };
	}
	*pa = known->pa + va % DUMP_PAGE;
	return true;
}

bool image_read(struct image *image, uint64_t va, void *buf, size_t len)
{
	uint8_t *to = buf;
	bool good = true;

	while (len) {
		size_t part = DUMP_PAGE - va % DUMP_PAGE;
		uint64_t pa;

		if (part > len)
			part = len;
		if (image_exhausted(image) || !image_translate(image, va, &pa) ||
		    !read_physical(image, pa, to, part)) {
			memset(to, 0, part);
			good = false;
		}
		to += part;
		va += part;
		len -= part;
	}
	return good;
}

uint64_t image_u64(struct image *image, uint64_t va)
{
	uint64_t v;

	image_read(image, va, &v, sizeof(v));
	return v;
}

uint32_t image_u32(struct image *image, uint64_t va)
{
	uint32_t v;

	image_read(image, va, &v, sizeof(v));
	return v;
}

uint16_t image_u16(struct image *image, uint64_t va)
{
	uint16_t v;

	image_read(image, va, &v, sizeof(v));
	return v;
}

char *image_string(struct image *image, uint64_t va, char *buf, size_t room)
{
	size_t done = 0;

	/* Not beyond the page with the end: there may be no further page. */
	while (done < room) {
		size_t part = DUMP_PAGE - va % DUMP_PAGE;

		if (part > room - done)
			part = room - done;
		if (!image_read(image, va, buf + done, part))
			break;
		if (memchr(buf + done, '\0', part)) {
			for (char *s = buf; *s; s++)
				if ((unsigned char)*s < ' ' || (unsigned char)*s >= 0x7f)
					*s = '?';
			return buf;
		}
		done += part;
		va += part;
	}
	buf[0] = '\0';
	return buf;
}

/* ---- the layout table ------------------------------------------------------------- */

/* The table can cross a boundary of DUMP_PAGE bytes. */
static bool read_layout(struct image *image, uint64_t pa)
{
	struct layout *layout = &image->layout;
	size_t first = DUMP_PAGE - pa % DUMP_PAGE;

	if (first > sizeof(*layout))
		first = sizeof(*layout);
	return pa % ALIGNMENT == 0 && read_physical(image, pa, layout, first) &&
	       (first == sizeof(*layout) ||
		read_physical(image, pa + first, (char *)layout + first, sizeof(*layout) - first)) &&
	       !memcmp(layout->magic, MAGIC, sizeof(MAGIC)) && layout->self == pa;
}

/*
 * Found by its magic. Copies of the table in files, which memory contains as well, do not have
 * the right address in them. The table is in the kernel's data, so it is in one page, or in two
 * at the end of a page.
 */
static bool find_layout(struct image *image)
{
	for (uint64_t pa = 0; image_step(image) && dump_next_data(image->dump, &pa); pa += DUMP_PAGE) {
		const uint8_t *page = dump_page(image->dump, pa);

		for (size_t i = 0; page && i < DUMP_PAGE; i += ALIGNMENT) {
			if (memcmp(page + i, MAGIC, sizeof(MAGIC)))
				continue;
			if (read_layout(image, pa + i))
				return true;
			page = dump_page(image->dump, pa);
			if (!page)
				break;
		}
	}
	return false;
}

/* An offset or size, by its name; all others are addresses or constants. */
static bool is_offset(const char *name)
{
	return strchr(name, '.') || strchr(name, ' ');
}

/* Where the kernel's own code and data are, from the entries of the table, which are in it */
static void find_kernel(struct image *image)
{
	uint64_t entries = image->layout.entries, start = image->n[N_TEXT], end = image->n[N_KERNEL_END];
	uint64_t pa;

	if (entries < start || entries >= end || !image_translate(image, entries, &pa))
		return;
	image->kernel = start;
	image->kernel_size = end - start;
	image->kernel_pa = pa - (entries - start);
}

static bool page_size_known(const struct image *image)
{
	uint64_t shift = image->layout.page_shift;

	return shift == 12 || (image->arm64 && (shift == 14 || shift == 16));
}

/* Two to five levels. Only the top table can have less than a page of entries. */
static bool tables_known(const struct image *image)
{
	unsigned int bits = image->page_shift - 3;
	uint64_t shift = image->layout.top_shift;

	return shift > image->page_shift && shift <= 48 && (shift - image->page_shift) % bits == 0 &&
	       image->layout.top_bits && image->layout.top_bits <= bits;
}

static const char *read_numbers(struct image *image)
{
	const struct layout *layout = &image->layout;
	bool seen[N_COUNT] = { false };

	if (layout->version != VERSION)
		return "has a layout table of another version: use the codetag command of that kernel";
	if (layout->word != 8 || !page_size_known(image))
		return "is of a machine whose words are not 64 bits, or whose pages are not 4 KiB (arm64: 4, 16 or 64)";
	image->page_shift = (unsigned int)layout->page_shift;
	image->page_size = 1ULL << image->page_shift;
	if (!tables_known(image))
		return "has page tables that are not supported, or a damaged layout table";
	if (!layout->memory_map)
		return "is of a kernel whose struct pages are not one array (SPARSEMEM without VMEMMAP), "
		       "which is not supported";
	if (layout->nr > MAX_ENTRIES || layout->nr_cpus > MAX_CPUS || layout->nr_nodes > 4096 ||
	    layout->block_order > 20 ||
	    layout->flags_shift > 63 || layout->flags_bits > 16)
		return "has a damaged layout table";
	for (uint64_t i = 0; i < layout->nr; i++) {
		char name[MAX_NAME];
		uint64_t entry[2];

		if (!image_read(image, layout->entries + i * sizeof(entry), entry, sizeof(entry)) ||
		    !*image_string(image, entry[0], name, sizeof(name)))
			return "lacks memory of its layout table: the image is damaged or cut";
		for (size_t k = 0; k < N_COUNT; k++) {
			if (strcmp(name, numbers[k].name))
				continue;
			if (is_offset(name) && entry[1] > MAX_OFFSET)
				return "has a damaged layout table";
			image->n[k] = entry[1];
			seen[k] = true;
		}
	}
	for (size_t k = 0; k < N_COUNT; k++)
		if (!seen[k] && numbers[k].missing)
			return numbers[k].missing;
	find_kernel(image);
	return NULL;
}

/* All members that get64() and the like take from a buffer with the whole structure. */
static const struct {
	enum number member, size_of;
	size_t size;
} members[] = {
	{ N_COUNTERS_BYTES, N_COUNTERS_SIZE, 8 }, { N_COUNTERS_ALLOCS, N_COUNTERS_SIZE, 4 },
	{ N_COUNTERS_FREES, N_COUNTERS_SIZE, 4 },
	{ N_PARTS_ID, N_PARTS_SIZE, 4 }, { N_PARTS_NR, N_PARTS_SIZE, 4 },
	{ N_RANGE_LIST, N_RANGE_SIZE, 8 }, { N_RANGE_MOD, N_RANGE_SIZE, 8 },
	{ N_RANGE_TAGS, N_RANGE_SIZE, 8 }, { N_RANGE_NR, N_RANGE_SIZE, 4 },
	{ N_RANGE_FIRST, N_RANGE_SIZE, 2 }, { N_RANGE_COUNTERS, N_RANGE_SIZE, 8 },
	{ N_RANGE_BLOCK, N_RANGE_SIZE, 8 },
	{ N_PAGE_FLAGS, N_PAGE_SIZE_OF, 8 }, { N_PAGE_TYPE, N_PAGE_SIZE_OF, 4 },
	{ N_SLAB_CACHE, N_PAGE_SIZE_OF, 8 }, { N_SLAB_COUNTERS, N_PAGE_SIZE_OF, 8 },
	{ N_FOLIO_MAPPING, N_PAGE_SIZE_OF, 8 },
	{ N_FOLIO_REFCOUNT, N_PAGE_SIZE_OF, 4 },
	{ N_CACHE_NAME, N_CACHE_STRUCT_SIZE, 8 }, { N_CACHE_SIZE, N_CACHE_STRUCT_SIZE, 4 },
	{ N_CACHE_OBJECT_SIZE, N_CACHE_STRUCT_SIZE, 4 },
	{ N_CACHE_FLAGS, N_CACHE_STRUCT_SIZE, 4 }, { N_CACHE_RED, N_CACHE_STRUCT_SIZE, 4 },
	{ N_CACHE_VECTOR, N_CACHE_STRUCT_SIZE, 1 }, { N_CACHE_OFFSET, N_CACHE_STRUCT_SIZE, 4 },
	{ N_AREA_START, N_AREA_SIZE_OF, 8 }, { N_AREA_END, N_AREA_SIZE_OF, 8 },
	{ N_AREA_VM, N_AREA_SIZE_OF, 8 },
	{ N_VM_ADDRESS, N_VM_SIZE_OF, 8 }, { N_VM_SIZE, N_VM_SIZE_OF, 8 },
	{ N_ELF_SYM_VALUE, N_ELF_SYM_SIZE, 8 }, { N_ELF_SYM_NAME, N_ELF_SYM_SIZE, 4 },
	{ N_ELF_SYM_SECTION, N_ELF_SYM_SIZE, 2 },
};

static bool members_sane(const struct image *image)
{
	for (size_t i = 0; i < sizeof(members) / sizeof(*members); i++)
		if ((image->n[members[i].size_of] || numbers[members[i].size_of].missing) &&
		    image->n[members[i].member] + members[i].size > image->n[members[i].size_of])
			return false;
	return true;
}

/* Numbers that are used as divisors, shifts or factors. */
static bool numbers_sane(const struct image *image)
{
	const uint64_t *n = image->n;

	return n[N_TAG_SIZE] && n[N_COUNTERS_SIZE] <= 256 && n[N_PARTS_SIZE] <= 256 &&
	       n[N_NR_PARTS] <= 1 << 20 && n[N_PAGE_SIZE_OF] >= 32 &&
	       n[N_PAGE_SIZE_OF] <= 256 && n[N_CHUNK_UNIT] && n[N_CHUNK_UNIT] <= 64 &&
	       n[N_PG_HEAD] < 64 && n[N_SLAB_COUNTERS] >= 8 &&
	       n[N_PG_RESERVED] < 64 && n[N_ZONE_SHIFT] < 64 &&
	       n[N_NODE_SHIFT] < 64 && n[N_SECTION_SHIFT] < 32 && n[N_NR_ZONES] <= 16 &&
	       n[N_NR_TYPES] <= 16 && n[N_BLOCK_BITS] <= 64 && n[N_ID_FIRST] <= 64 &&
	       n[N_ID_TAIL] < n[N_ID_FIRST] && n[N_NR_RESERVED] <= n[N_ID_TAIL] &&
	       n[N_FEW_FAR_LENGTH] <= 65536 && n[N_STACK_SIZE] <= 1 << 20 &&
	       n[N_MODULE_PARTS] <= 32 && n[N_PERCPU_END] >= n[N_PERCPU_START] &&
	       n[N_PERCPU_END] - n[N_PERCPU_START] <= MAX_STATIC_PERCPU &&
	       image->layout.objects && (!n[N_SECTIONS] || image->layout.section_roots) &&
	       (!n[N_SECTIONS] || (n[N_SECTION_SIZE] && n[N_SECTIONS_PER_ROOT]));
}

static const char *read_cpus(struct image *image)
{
	uint64_t words[MAX_CPUS / 64] = { 0 };
	uint64_t units = image->n[N_UNIT_OFFSETS] ? image_u64(image, image->n[N_UNIT_OFFSETS]) : 0;
	size_t nr = (size_t)image->layout.nr_cpus;

	image_read(image, image->n[N_POSSIBLE], words, (nr + 63) / 64 * 8);
	image->cpu_offset = xcalloc(nr ? nr : 1, sizeof(*image->cpu_offset));
	image->unit_offset = xcalloc(nr ? nr : 1, sizeof(*image->unit_offset));
	for (size_t cpu = 0; cpu < nr; cpu++) {
		if (!(words[cpu / 64] >> cpu % 64 & 1))
			continue;
		if (image->n[N_CPU_OFFSETS])
			image->cpu_offset[image->cpus] =
				image_u64(image, image->n[N_CPU_OFFSETS] + 8 * cpu);
		if (units)
			image->unit_offset[image->cpus] = image_u64(image, units + 8 * cpu);
		image->cpus++;
	}
	return image->cpus ? NULL : "says that the machine has no CPU";
}

struct image *image_open_dump(struct dump *dump, const char **why)
{
	struct image *image = xcalloc(1, sizeof(*image));
	uint64_t pa, pages = 0;

	image->dump = dump;
	image->known = xcalloc(KNOWN, sizeof(*image->known));
	/* Much more than any image needs, and soon used up in a loop. */
	image->budget = 16 * dump_size(dump) + (1 << 20);
	image->arm64 = dump_machine(dump) == DUMP_ARM64;
	dump_info(dump, "NUMBER(sme_mask)", 10, &image->encrypted);
	if (dump_machine(dump) == DUMP_UNKNOWN)
		*why = "is of an architecture that is not supported: x86_64 and arm64 are";
	else if (!(dump_info(dump, "CODETAG_LAYOUT", 16, &pa) && read_layout(image, pa)) &&
		 !find_layout(image))
		*why = dump_is_cut(dump) ?
		       "is cut or incomplete: no layout table is in the part that is there" :
		       "has no layout table: the kernel has no codetag, an older one, or had just begun to boot";
	else
		*why = read_numbers(image);
	if (!*why && !(members_sane(image) && numbers_sane(image)))
		*why = "has a damaged layout table";
	if (!*why)
		*why = read_cpus(image);
	if (!*why) {
		pages = image_u64(image, image->n[N_MAX_PFN]);
		if (pages > MAX_PHYSICAL >> image->page_shift)
			*why = "says that the machine has more memory than there can be: it is damaged";
	}
	if (*why) {
		image_close(image);
		return NULL;
	}
	image->max_pa = pages << image->page_shift;
	return image;
}

struct image *image_open(const char *path)
{
	struct image *image = NULL;
	const char *why;
	struct dump *dump = dump_open(path, &why);

	if (dump)
		image = image_open_dump(dump, &why);
	if (!image)
		warning("%s: %s", path, why);
	return image;
}

void image_close(struct image *image)
{
	if (!image)
		return;
	dump_close(image->dump);
	free(image->cpu_offset);
	free(image->unit_offset);
	free(image->known);
	free(image);
}
