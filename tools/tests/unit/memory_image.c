// SPDX-License-Identifier: GPL-2.0-only
#include "unit.h"

#include "../small-image.h"
#include "base/memory.h"
#include "memory_image/groups.h"
#include "memory_image/whose.h"

static void found(void *data, const struct holding *h)
{
	struct image_counters *sum = data;

	sum[h->id].bytes += (int64_t)h->bytes;
	sum[h->id].calls++;
}

static uint8_t *small_of(uint16_t machine)
{
	uint8_t *file = small_image();

	memcpy(file + offsetof(Elf64_Ehdr, e_machine), &machine, sizeof(machine));
	return file;
}

static void expect_whose(const struct image_sites *sites, struct recount *recount, uint64_t address,
			 const char *what, uint16_t id, uint64_t offset)
{
	struct whose whose;

	whose_find(sites, recount, address, &whose);
	expect(!strncmp(whose.what.s, what, strlen(what)) && whose.id == id && whose.offset == offset,
	       "%#llx is %s, id %u, offset %llu", (unsigned long long)address, whose.what.s, whose.id,
	       (unsigned long long)whose.offset);
	text_free(&whose.what);
}

/* The machine is EM_X86_64 or EM_AARCH64: both can read the same tables. */
static void test_small(uint16_t machine)
{
	static const char report[] =
		"allocinfo - version: 2.0\n#     <size>  <calls> <tag info>\n"
		"       16400        2 mm/small.c:1 func:pages \n"
		"        2048        2 mm/small.c:2 func:objects \n";
	struct image_counters *sum = xcalloc(IMAGE_IDS, sizeof(*sum));
	uint8_t *file = small_of(machine);
	const char *why = NULL;
	struct dump *dump = dump_open_memory(file, SMALL_SIZE, &why);
	struct image *image = dump ? image_open_dump(dump, &why) : NULL;
	struct image_sites *sites;
	struct recount recount;
	struct text text = { 0 };

	expect(image, "the image is one: %s", why ? why : "yes");
	if (!image)
		return;
	sites = image_sites_read(image);
	image_allocinfo(sites, &text);
	expect(!strcmp(text.s, report), "the report of the image: %s", text.s);
	recount_init(&recount, image);
	recount.visit = found;
	recount.data = sum;
	recount_all(&recount);
	expect(recount.pages == SMALL_PAGES && recount.objects == 3, "%d pages, %d objects found",
	       (int)recount.pages, (int)recount.objects);
	for (uint32_t id = 0; id < IMAGE_IDS; id++)
		if (sum[id].bytes != sites->counted[id].bytes || sum[id].calls != sites->counted[id].calls)
			expect(false, "id %u: counted %lld, found %lld", id,
			       (long long)sites->counted[id].bytes, (long long)sum[id].bytes);
	expect_whose(sites, &recount, small_at(SMALL_SLAB) + 24, "allocated object of small", 33, 24);
	expect_whose(sites, &recount, small_at(SMALL_SLAB) + 1025, "free object of small", 0, 1);
	expect_whose(sites, &recount, small_at(SMALL_SLAB) + 4000, "end of a slab", 0, 0);
	expect_whose(sites, &recount, small_at(SMALL_ALLOCATED + 3) + 5, "allocated pages of order 2", 32,
		     3 * DUMP_PAGE + 5);
	expect_whose(sites, &recount, small_at(SMALL_ALLOCATED + 1), "allocated pages of order 2", 32,
		     DUMP_PAGE);
	expect_whose(sites, &recount, small_at(SMALL_ALLOCATED + 4), "page that no call site", 0, 0);
	expect_whose(sites, &recount, small_at(60) + 20, "percpu memory of CPU 0", 32, 4);
	expect_whose(sites, &recount, small_at(60) + 36, "percpu memory of CPU 0, free", 0, 36);
	expect_whose(sites, &recount, small_at(62) + 36, "stack of ", 0, 36);
	expect_whose(sites, &recount, 0x1234, "nothing is mapped", 0, 0);
	expect(!image->missing && !image_exhausted(image), "all of it is there");
	recount_free(&recount);
	image_sites_free(sites);
	image_close(image);
	text_free(&text);
	free(sum);
	free(file);
}

/* Fewer allocations than frees, an error of that kernel: the audit sees it, the report shows 0. */
static void test_negative(void)
{
	static const uint32_t frees[] = { 2, UINT32_MAX - 2 };	/* the second one is 3 after a wrap */
	uint8_t *file = small_image();
	const char *why = NULL;
	struct image *image = image_open_dump(dump_open_memory(file, SMALL_SIZE, &why), &why);
	uint64_t counters = small_at(SMALL_SYMBOLS + 7) + 33 * image->n[N_COUNTERS_SIZE];

	for (size_t i = 0; i < sizeof(frees) / sizeof(*frees); i++) {
		struct image_sites *sites;
		struct text text = { 0 };

		memcpy(file + SMALL_HEAD + (counters + image->n[N_COUNTERS_ALLOCS] - SMALL_MAP), &(uint32_t){ 0 }, 4);
		memcpy(file + SMALL_HEAD + (counters + image->n[N_COUNTERS_FREES] - SMALL_MAP), &frees[i], 4);
		sites = image_sites_read(image);
		image_allocinfo(sites, &text);
		expect(sites->counted[33].calls == (i ? 3 : -2), "calls are signed: %lld",
		       (long long)sites->counted[33].calls);
		expect(strstr(text.s, i ? " 3 mm/small.c:2 " : " 0 mm/small.c:2 "), "the report: %s", text.s);
		image_sites_free(sites);
		text_free(&text);
	}
	image_close(image);
	free(file);
}

static void expect_address(struct image *image, uint64_t va, uint64_t want)
{
	uint64_t pa = 0;
	bool mapped = image_translate(image, va, &pa);

	expect(mapped == !!want && (!mapped || pa == want), "%#llx is at %#llx, %d, not %#llx",
	       (unsigned long long)va, (unsigned long long)pa, mapped, (unsigned long long)want);
}

/*
 * Tables of 4 and 5 levels: bit 0 says that an entry is valid. Bit 7 of x86_64 says that it is a
 * large page. On arm64, bit 1 is for tables and for pages of the smallest size.
 */
static void test_tables(uint16_t machine, unsigned int top_shift)
{
	uint64_t valid = machine == EM_AARCH64 ? 3 : 1, large = machine == EM_AARCH64 ? 1 : 0x81;
	uint64_t va = 0xffffc90000000000 | 5ULL << 30 | 7 << 21 | 9 << 12;
	unsigned int table = SMALL_PAGES - 6, shift = top_shift;
	struct small s = { .file = small_of(machine) };
	struct layout *layout;
	struct image *image;
	const char *why = NULL;

	s.memory = s.file + SMALL_HEAD;
	layout = small_pointer(&s, small_at(SMALL_LAYOUT));
	layout->top_shift = top_shift;
	layout->top_bits = top_shift == 48 && machine == EM_AARCH64 ? 4 : 9;
	layout->tables = (uint64_t)table * DUMP_PAGE;
	for (; shift > 12; shift -= 9, table++) {
		uint64_t index = va >> shift & (shift == 48 && machine == EM_AARCH64 ? 15 : 511);

		small64(&s, small_at(table) + index * 8, (table + 1ULL) * DUMP_PAGE | valid);
		if (shift == 21)
			small64(&s, small_at(table) + (index + 1) * 8, 0x40000000 | large);
		/* The table is read before the direct map is known. */
		if (shift == 39)
			small64(&s, small_at(table) + (SMALL_MAP >> 39 & 511) * 8, SMALL_NEXT * DUMP_PAGE | 3);
		else if (shift == 30 && top_shift == 30)
			small64(&s, small_at(table), large);
	}
	small64(&s, small_at(table) + (va >> 12 & 511) * 8, 0x5000 | valid);
	small64(&s, small_at(table) + ((va >> 12 & 511) + 1) * 8, 0x6000 | 1);
	small64(&s, small_at(table) + ((va >> 12 & 511) + 2) * 8, 0x7000 | (valid & ~1ULL));
	image = image_open_dump(dump_open_memory(s.file, SMALL_SIZE, &why), &why);
	expect(image, "an image with tables of %u: %s", top_shift, why ? why : "good");
	if (image) {
		expect_address(image, va + 0x123, 0x5123);
		expect_address(image, va + DUMP_PAGE, machine == EM_AARCH64 ? 0 : 0x6000);
		expect_address(image, va + 2ULL * DUMP_PAGE, 0);
		expect_address(image, va + (1 << 21), 0x40000000 + (9 << 12));
		expect_address(image, va + (2 << 21), 0);
		expect_address(image, va + (1 << 30), 0);
		expect_address(image, SMALL_MAP + 5, 5);
		if (machine == EM_AARCH64) {
			expect_address(image, (va + 0x123) & ~(0x5ULL << 56), 0x5123);
			/* An address of a process */
			expect_address(image, (va + 0x123) & ~(1ULL << 55), 0);
		}
	}
	image_close(image);
	free(s.file);
}

/*
 * Writes the last entry for an address, of the level @shift, and the tables above it. The tables
 * follow one another from the middle of the memory on.
 */
static void map_large(struct small *s, unsigned int *tables, uint64_t va, unsigned int shift, uint64_t entry)
{
	const struct layout *layout = small_pointer(s, small_at(SMALL_LAYOUT));
	unsigned int level = (unsigned int)layout->top_shift, bits = (unsigned int)layout->top_bits;
	uint64_t table = layout->tables, *at;

	for (;; level -= bits) {
		at = (uint64_t *)(void *)(s->memory + table) + (va >> level & ((1U << bits) - 1));
		bits = (unsigned int)layout->page_shift - 3;
		if (level == shift)
			break;
		if (!*at)
			*at = (layout->tables + ((uint64_t)++*tables << layout->page_shift)) | 3;
		table = *at & ~3ULL;
	}
	*at = entry;
}

/* Pages of 16 and of 64 KiB. Of these, the top bits of a physical address are below the others. */
static void test_large_pages(unsigned int page_shift, unsigned int top_shift, unsigned int top_bits)
{
	unsigned int level = 2 * page_shift - 3, tables = 0;
	uint64_t va = SMALL_MAP + (5ULL << level) + (9ULL << page_shift), top = page_shift == 16 ? 3ULL << 48 : 0;
	struct small s = { .file = small_of(EM_AARCH64) };
	struct layout *layout;
	struct image *image;
	const char *why = NULL;

	s.memory = s.file + SMALL_HEAD;
	layout = small_pointer(&s, small_at(SMALL_LAYOUT));
	layout->page_shift = page_shift;
	layout->top_shift = top_shift;
	layout->top_bits = top_bits;
	layout->tables = SMALL_MEMORY / 2;
	memset(s.memory + SMALL_MEMORY / 2, 0, SMALL_MEMORY / 2);
	map_large(&s, &tables, SMALL_MAP, level, 1);
	map_large(&s, &tables, va, page_shift, 0x50000 | top >> 36 | 3);
	image = image_open_dump(dump_open_memory(s.file, SMALL_SIZE, &why), &why);
	expect(image, "an image with pages of %u: %s", page_shift, why ? why : "good");
	if (image) {
		expect_address(image, va + 0x3123, 0x53123 | top);
		expect_address(image, va - 1, 0);
		expect_address(image, va + (1ULL << page_shift), 0);
		expect_address(image, SMALL_MAP + ((uint64_t)SMALL_PAGES << page_shift) + 5, ((uint64_t)SMALL_PAGES << page_shift) + 5);
		expect(image->max_pa == (uint64_t)SMALL_PAGES << page_shift, "%llu bytes of memory",
		       (unsigned long long)image->max_pa);
	}
	image_close(image);
	free(s.file);
}

/* The table may begin in one page and end in the next. */
static void test_crossing(void)
{
	uint64_t pa = (SMALL_PAGES - 7) * DUMP_PAGE - 128;
	struct small s = { .file = small_image() };
	struct layout *layout;
	struct image *image;
	const char *why = NULL;

	s.memory = s.file + SMALL_HEAD;
	layout = small_pointer(&s, small_at(SMALL_LAYOUT));
	layout->self = pa;
	memcpy(s.memory + pa, layout, sizeof(*layout));
	memset(layout, 0, sizeof(*layout));
	image = image_open_dump(dump_open_memory(s.file, SMALL_SIZE, &why), &why);
	expect(image, "a layout table that crosses a page: %s", why ? why : "good");
	image_close(image);
	free(s.file);
}

static void expect_group(void *data, const struct holding *h)
{
	struct image_groups *groups = data;
	const char *path = image_group_path(groups, h->group), *want = "none";

	if (h->address == small_at(SMALL_SLAB))
		want = h->holder == HOLDER_PAGES ? "none" : "/";
	else if (h->holder == HOLDER_PAGES)
		want = "/a\\040b";
	expect(!strcmp(path, want), "%#llx belongs to group %s, not %s", (unsigned long long)h->address,
	       want, path);
}

/* Pages, which may have a pointer to the group itself, objects, and a pointer to no group. */
static void test_groups(void)
{
	struct small s = { .file = small_image() };
	const char *why = NULL;
	struct image *image;
	struct image_groups *groups;
	struct recount recount;

	s.memory = s.file + SMALL_HEAD;
	/* The pages of the slab have a call site, too. */
	small16(&s, small_at(SMALL_SLOTS) + SMALL_SLAB * 2, 32);
	image = image_open_dump(dump_open_memory(s.file, SMALL_SIZE, &why), &why);
	groups = image_groups_open(image);
	expect(groups, "the image has control groups");
	recount_init(&recount, image);
	recount.visit = expect_group;
	recount.data = groups;
	recount.groups = true;
	recount_all(&recount);
	expect(!strcmp(image_group_path(groups, small_at(SMALL_GROUP) + 256), "/a\\040b"), "a group itself");
	expect(!strcmp(image_group_path(groups, small_at(SMALL_CACHE)), "unknown"), "a pointer to no group");
	expect(!strcmp(image_group_path(groups, 0x1234), "unknown"), "an address of nothing");
	image_groups_free(groups);
	image->n[N_PAGE_GROUP] = 0;
	expect(!image_groups_open(image), "an image without control groups");
	recount_free(&recount);
	image_close(image);
	free(s.file);
}

/* Walking a list that leads to itself ends. */
static void test_loop(void)
{
	uint8_t *file = small_image();
	const char *why = NULL;
	struct image *image = image_open_dump(dump_open_memory(file, SMALL_SIZE, &why), &why);
	struct image_sites *sites;
	uint64_t at = image->n[N_RANGES] + 32;

	memcpy(file + SMALL_HEAD + (image->n[N_RANGES] - SMALL_MAP), &at, 8);
	memcpy(file + SMALL_HEAD + (at - SMALL_MAP), &at, 8);
	sites = image_sites_read(image);
	expect(image_exhausted(image) || sites->ranges, "a list with a loop ends");
	image_sites_free(sites);
	image_close(image);
	free(file);
}

/* A slab whose cache cannot be one is left out, and counted. */
static void test_damaged_slab(void)
{
	struct image_counters *sum = xcalloc(IMAGE_IDS, sizeof(*sum));
	uint8_t *file = small_image();
	const char *why = NULL;
	struct image *image = image_open_dump(dump_open_memory(file, SMALL_SIZE, &why), &why);
	struct recount recount;

	/* 0, poison, or a pointer to the struct page itself: there is no cache yet. The last is damage. */
	for (size_t i = 0; i < 4; i++) {
		uint64_t own = small_at(SMALL_STRUCTS) + SMALL_SLAB * 256;
		uint64_t none = (const uint64_t[]){ 0, 0xdead000000000100, own + 8, 0x5a5a5a5a5a5a5a5a }[i];
		uint8_t *word = file + SMALL_HEAD + (own - SMALL_MAP) + image->n[N_SLAB_CACHE];
		uint64_t cache = get64(word, 0);

		memcpy(word, &none, 8);
		recount_init(&recount, image);
		recount.visit = found;
		recount.data = sum;
		recount_all(&recount);
		expect(!sum[33].calls && image->damaged_slabs == (i == 3), "a slab of cache %#llx: %d damaged",
		       (unsigned long long)none, (int)image->damaged_slabs);
		recount_free(&recount);
		memcpy(word, &cache, 8);
	}
	image->damaged_slabs = 0;
	memset(file + SMALL_HEAD + SMALL_CACHE * DUMP_PAGE + image->n[N_CACHE_SIZE], 0, 4);
	recount_init(&recount, image);
	recount.visit = found;
	recount.data = sum;
	recount_all(&recount);
	expect(!sum[33].calls && image->damaged_slabs == 1, "%lld objects, %d damaged slabs",
	       (long long)sum[33].calls, (int)image->damaged_slabs);
	recount_free(&recount);
	image_close(image);
	free(file);
	free(sum);
}

/* Nothing behind a bitmap is read: the dump may lack it. */
static void test_end_of_map(void)
{
	struct small s = { .file = small_image() };
	uint64_t map = small_at(SMALL_PAGES) - 128;
	const char *why = NULL;
	struct image *image;
	struct recount recount;

	s.memory = s.file + SMALL_HEAD;
	image = image_open_dump(dump_open_memory(s.file, SMALL_SIZE, &why), &why);
	small64(&s, small_at(SMALL_CHUNK) + image->n[N_CHUNK_ALLOCATED], map);
	recount_init(&recount, image);
	recount.visit = found;
	recount.data = xcalloc(IMAGE_IDS, sizeof(struct image_counters));
	recount_percpu(&recount);
	expect(!image->missing, "a bitmap at the end of memory is read: %d missing", (int)image->missing);
	recount_free(&recount);
	image_close(image);
	free(recount.data);
	free(s.file);
}

/* x86_64 marks encrypted memory by a bit of the address. */
static void test_encrypted(void)
{
	const struct image image = { .page_shift = 12, .page_size = DUMP_PAGE, .encrypted = 1ULL << 47 };
	uint64_t pa = 0;

	expect(image_entry(&image, 1ULL << 47 | 0x5001, 12, &pa) == ENTRY_MEMORY && pa == 0x5000,
	       "an entry for encrypted memory is of %#llx", (unsigned long long)pa);
}

static void test_refused(void)
{
	uint8_t *file = small_image();
	const char *why = NULL;
	struct dump *dump;

	expect(!dump_open_memory(file, 40, &why) && why, "a head of an ELF file is none: %s", why ? why : "no");
	file[SMALL_HEAD + SMALL_LAYOUT * DUMP_PAGE + 24] ^= 1;	/* self */
	dump = dump_open_memory(file, SMALL_SIZE, &why);
	expect(dump && !image_open_dump(dump, &why), "a copy of the table is none: %s", why ? why : "no");
	free(file);
}

/* The message of image_open_dump() about the small image after @change */
static void refused(void (*change)(uint8_t *file), size_t len, const char *what)
{
	uint8_t *file = small_image();
	const char *why = NULL;
	struct dump *dump;

	change(file);
	dump = dump_open_memory(file, len, &why);
	if (dump)
		expect(!image_open_dump(dump, &why), "refused because it %s", what);
	expect(why && strstr(why, what), "it is refused because it %s: %s", what, why ? why : "no");
	free(file);
}

static void no_change(uint8_t *file) { (void)file; }

static void much_memory(uint8_t *file)
{
	struct small s = { .file = file, .memory = file + SMALL_HEAD };

	small_numbers(&s);
	small64(&s, s.value[N_MAX_PFN], (1ULL << 40) + 1);
}

static void no_memory_map(uint8_t *file)
{
	struct layout *layout = (void *)(file + SMALL_HEAD + SMALL_LAYOUT * DUMP_PAGE);

	layout->memory_map = 0;
}

/* A second segment shares the bytes of the first one, at another address. */
static void share(uint8_t *file)
{
	Elf64_Phdr head;

	file[offsetof(Elf64_Ehdr, e_phnum)] = 2;
	memcpy(&head, file + sizeof(Elf64_Ehdr), sizeof(head));
	head.p_paddr += SMALL_MEMORY;
	memcpy(file + sizeof(Elf64_Ehdr) + sizeof(head), &head, sizeof(head));
}

static enum number changed;

static void far_member(uint8_t *file)
{
	uint64_t entry = SMALL_HEAD + SMALL_ENTRIES * DUMP_PAGE + changed * 16 + 8, value = 65536;

	memcpy(file + entry, &value, sizeof(value));
}

static void near_member(uint8_t *file)
{
	memset(file + SMALL_HEAD + SMALL_ENTRIES * DUMP_PAGE + changed * 16 + 8, 0, 8);
}

static void test_hostile(void)
{
	static const enum number members[] = {
		N_COUNTERS_BYTES, N_COUNTERS_ALLOCS, N_COUNTERS_FREES, N_PARTS_ID, N_PARTS_NR, N_RANGE_LIST, N_RANGE_MOD, N_RANGE_TAGS,
		N_RANGE_NR, N_RANGE_FIRST, N_RANGE_COUNTERS, N_RANGE_BLOCK, N_PAGE_FLAGS,
		N_PAGE_TYPE, N_SLAB_CACHE, N_SLAB_COUNTERS, N_CACHE_NAME, N_CACHE_SIZE, N_CACHE_OBJECT_SIZE,
		N_CACHE_FLAGS, N_CACHE_RED, N_CACHE_VECTOR,
	};

	refused(no_change, SMALL_HEAD + DUMP_PAGE, "is cut or incomplete: no layout table");
	refused(no_change, SMALL_HEAD, "is cut or incomplete: none of its memory");
	refused(no_memory_map, SMALL_SIZE, "SPARSEMEM without VMEMMAP");
	refused(share, SMALL_SIZE, "the same part of the file");
	refused(much_memory, SMALL_SIZE, "more memory than there can be");
	for (size_t i = 0; i < sizeof(members) / sizeof(*members); i++) {
		changed = members[i];
		refused(far_member, SMALL_SIZE, "has a damaged layout table");
	}
	changed = N_SLAB_COUNTERS;
	refused(near_member, SMALL_SIZE, "has a damaged layout table");
}

void test_memory_image(void)
{
	test_small(EM_X86_64);
	test_small(EM_AARCH64);
	test_tables(EM_X86_64, 39);
	test_tables(EM_X86_64, 48);
	test_tables(EM_AARCH64, 30);
	test_tables(EM_AARCH64, 39);
	test_tables(EM_AARCH64, 48);
	test_crossing();
	test_large_pages(14, 47, 1);
	test_large_pages(14, 36, 11);
	test_large_pages(16, 42, 6);
	test_large_pages(16, 42, 10);
	test_groups();
	test_negative();
	test_loop();
	test_damaged_slab();
	test_end_of_map();
	test_encrypted();
	test_refused();
	test_hostile();
}
