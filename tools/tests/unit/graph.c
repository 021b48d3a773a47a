// SPDX-License-Identifier: GPL-2.0-only
#include "unit.h"

#include <time.h>
#include <unistd.h>

#include "../small-image.h"
#include "base/memory.h"
#include "memory_image/holders.h"
#include "memory_image/lost.h"
#include "memory_image/paths.h"

/* The contents of the small image, and a stack whose words are the roots */
#define FIRST (small_at(SMALL_SLAB))		/* objects of site 33 */
#define THIRD (small_at(SMALL_SLAB) + 2048)
#define PAGES (small_at(SMALL_ALLOCATED))	/* four pages of site 32 */
#define PERCPU (small_at(60) + 16)		/* of site 32, too */
#define STACK (small_at(62))

struct world {
	uint8_t *file;
	struct image *image;
	struct image_sites *sites;
	struct recount recount;
	struct kernel_objects *objects;
	struct graph *graph;
	struct lost *lost;
};

static void put(struct world *w, uint64_t va, uint64_t value)
{
	memcpy(w->file + SMALL_HEAD + (va - SMALL_MAP), &value, sizeof(value));
}

static void put16(struct world *w, uint64_t va, uint16_t value)
{
	memcpy(w->file + SMALL_HEAD + (va - SMALL_MAP), &value, sizeof(value));
}

static void set_number(struct world *w, enum number number, uint64_t value)
{
	put(w, small_at(SMALL_ENTRIES) + number * 16 + 8, value);
}

static struct world world(void)
{
	return (struct world){ .file = small_image() };
}

static void look(struct world *w)
{
	const char *why = NULL;
	struct dump *dump = dump_open_memory(w->file, SMALL_SIZE, &why);

	w->image = dump ? image_open_dump(dump, &why) : NULL;
	if (!w->image) {
		printf("the image is none: %s\n", why);
		abort();
	}
	w->sites = image_sites_read(w->image);
	recount_init(&w->recount, w->image);
	w->objects = kobjects_read(w->image, w->sites, &w->recount);
	w->graph = graph_read(w->objects, NULL, NULL);
	w->lost = lost_find(w->graph, false);
}

static void end(struct world *w)
{
	lost_free(w->lost);
	graph_free(w->graph);
	kobjects_free(w->objects);
	recount_free(&w->recount);
	image_sites_free(w->sites);
	image_close(w->image);
	free(w->file);
}

static bool is_lost(const struct world *w, uint64_t address)
{
	for (size_t i = 0; i < w->lost->sites; i++)
		for (uint32_t k = 0; k < w->lost->site[i].examples; k++)
			if (kobjects_address(w->objects, w->lost->site[i].example[k]) == address)
				return true;
	return false;
}

/*
 * Maps a page with all levels of tables of the machine; the tables are the pages from 101 on.
 */
static void map(struct world *w, uint64_t va, uint64_t page, unsigned int top_shift)
{
	struct layout *layout = (void *)(w->file + SMALL_HEAD + SMALL_LAYOUT * DUMP_PAGE);
	unsigned int table = 101;

	layout->tables = table * DUMP_PAGE;
	layout->top_shift = top_shift;
	layout->top_bits = 9;
	for (unsigned int shift = top_shift; shift > 12; shift -= 9, table++)
		put(w, small_at(table) + (va >> shift) % 512 * 8, (table + 1) * DUMP_PAGE | 1);
	put(w, small_at(table) + (va >> 12) % 512 * 8, (page - SMALL_MAP) | 1);
	/* The layout table is found through the page tables, too. */
	if (top_shift > 39)
		put(w, small_at(101) + (SMALL_MAP >> top_shift) % 512 * 8, 110 * DUMP_PAGE | 1);
	put(w, small_at(top_shift > 39 ? 110 : 101) + (SMALL_MAP >> 39) % 512 * 8,
	    SMALL_NEXT * DUMP_PAGE | 1);
}

/* The lost ones of the first and third object, the pages, and the percpu memory: "op" */
static void expect_lost(struct world *w, const char *what, const char *lost)
{
	static const struct {
		char letter;
		uint64_t address;
	} all[] = { { '1', 0 }, { '3', 2048 } };
	char is[8] = "";

	look(w);
	for (size_t i = 0; i < 2; i++)
		if (is_lost(w, FIRST + all[i].address))
			strncat(is, &all[i].letter, 1);
	if (is_lost(w, PAGES))
		strcat(is, "p");
	if (is_lost(w, PERCPU))
		strcat(is, "c");
	expect(!strcmp(is, lost) && w->lost->objects == strlen(lost), "%s: lost is '%s', %d objects, not '%s'",
	       what, is, (int)w->lost->objects, lost);
}

static void expect_with(const char *what, uint64_t word, const char *lost)
{
	struct world w = world();

	put(&w, STACK + 512, word);
	expect_lost(&w, what, lost);
	end(&w);
}

static void test_pointers(void)
{
	uint64_t struct_page = small_at(SMALL_STRUCTS) + SMALL_ALLOCATED * 256;

	expect_with("no pointer", 0, "13pc");
	expect_with("to an object", FIRST, "3pc");
	expect_with("into an object", FIRST + 999, "3pc");
	expect_with("to a free object", FIRST + 1024, "13pc");
	expect_with("with bits of xarrays and maple trees", THIRD | 2, "1pc");
	expect_with("with all low bits", THIRD | 0x1f, "1pc");
	expect_with("to pages", PAGES, "13c");
	expect_with("into the last page", PAGES + 3 * DUMP_PAGE + 8, "13c");
	expect_with("to a struct page", struct_page, "13c");
	expect_with("to a struct page, with a bit", struct_page | 1, "13c");
	expect_with("to the struct page of a slab", small_at(SMALL_STRUCTS) + SMALL_SLAB * 256, "13pc");
	expect_with("to percpu memory", PERCPU, "13p");
	expect_with("into percpu memory", PERCPU + 12, "13p");
	expect_with("with a bit of a percpu_ref", PERCPU | 1, "13p");
	expect_with("behind percpu memory", PERCPU + 16, "13pc");
	expect_with("physical", PAGES - SMALL_MAP, "13c");
	expect_with("physical, of the second page", PAGES - SMALL_MAP + DUMP_PAGE, "13pc");
	expect_with("physical, not aligned", PAGES - SMALL_MAP + 8, "13pc");
}

/* Except on stacks a physical address has to be beside another one of the same call site. */
static void test_physical(void)
{
	static const struct {
		const char *what;
		uint64_t beside;
		bool root;
		const char *lost;
	} cases[] = {
		{ "alone, on a stack", 0, true, "13c" },
		{ "alone in an object", 0, false, "13pc" },
		{ "beside itself", SMALL_ALLOCATED * DUMP_PAGE, false, "13pc" },
		{ "beside another one", (80 * DUMP_PAGE), false, "13c" },
		{ "beside a page that is free", (90 * DUMP_PAGE), false, "13pc" },
	};

	for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(*cases); i++) {
		struct world w = world();
		uint64_t at = cases[i / 2].root ? STACK + 512 : FIRST + 1024 + 512;

		/* Page 80 is of site 32, too, and something leads to it. */
		put16(&w, small_at(SMALL_SLOTS) + 80 * 2, 32);
		put(&w, small_at(SMALL_STRUCTS) + 80 * 256 + 104, 1);
		put(&w, STACK, small_at(80));
		put16(&w, small_at(SMALL_SLAB + 1) - 6, 33);
		put(&w, STACK + 8, FIRST + 1024);
		put(&w, at, PAGES - SMALL_MAP);
		if (cases[i / 2].beside)
			put(&w, i % 2 ? at + 8 : at - 8, cases[i / 2].beside);
		expect_lost(&w, cases[i / 2].what, cases[i / 2].lost);
		end(&w);
	}
}

/* A pointer in a struct page has no offset in the page that the struct describes. */
static void test_struct_page(void)
{
	struct world w = world();
	struct pointers *pointers;
	uint8_t *chosen;

	put(&w, small_at(SMALL_STRUCTS) + SMALL_ALLOCATED * 256 + 120, FIRST);
	look(&w);
	chosen = xcalloc(w.graph->nodes, 1);
	chosen[kobjects_at(w.objects, FIRST)] = 1;
	pointers = pointers_find(w.graph, chosen, false);
	for (size_t i = 0; i < pointers->rows; i++)
		expect(pointers->row[i].example != PAGES || pointers->row[i].example_offset == EDGE_ELSEWHERE,
		       "a pointer in a struct page is at %u", pointers->row[i].example_offset);
	expect(pointers->rows && pointers->row[0].example == PAGES, "a struct page holds an object");
	pointers_free(pointers);
	free(chosen);
	end(&w);
}

/* A page with nothing but entries of page tables holds what these lead to. */
static void test_page_table(void)
{
	static const struct {
		const char *what;
		uint64_t entry, beside;
		const char *lost;
	} cases[] = {
		{ "an entry", 0x63, 0, "13c" },
		{ "with a bit at the top", 1ULL << 63 | 0x63, 0, "13c" },
		{ "beside another one", 0x63, 91 * DUMP_PAGE | 0x63, "13c" },
		{ "beside an entry for nothing", 0x63, 0x62, "13pc" },
		{ "beside a pointer", 0x63, SMALL_MAP, "13pc" },
		{ "not present", 0x62, 0, "13pc" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct world w = world();

		put16(&w, small_at(SMALL_SLOTS) + 80 * 2, 32);
		put(&w, small_at(SMALL_STRUCTS) + 80 * 256 + 104, 1);
		put(&w, STACK, small_at(80));
		put(&w, small_at(80) + 800, (PAGES - SMALL_MAP) | cases[i].entry);
		put(&w, small_at(80) + 1600, cases[i].beside);
		expect_lost(&w, cases[i].what, cases[i].lost);
		end(&w);
	}
}

/* The pointers in an object count if something leads to the object. */
static void test_chains(void)
{
	struct world w = world();

	put(&w, FIRST + 64, THIRD);
	put(&w, THIRD + 8, PAGES);
	expect_lost(&w, "a chain that nothing leads to", "13pc");
	for (size_t i = 0; i < w.lost->sites; i++)
		expect(w.lost->site[i].heads == 1, "the first of a chain is its head: site %zu has %d", i,
		       (int)w.lost->site[i].heads);
	end(&w);

	w = world();
	put(&w, FIRST + 64, THIRD);
	put(&w, THIRD + 64, FIRST);
	expect_lost(&w, "a ring", "13pc");
	end(&w);

	w = world();
	put(&w, STACK + 8, FIRST);
	put(&w, FIRST + 64, THIRD);
	put(&w, THIRD + 8, PAGES + DUMP_PAGE);
	put(&w, PAGES + 2 * DUMP_PAGE, PERCPU);
	expect_lost(&w, "a chain", "");
	end(&w);

	w = world();
	put(&w, STACK + 8, PERCPU);
	put(&w, PERCPU + 8, THIRD);
	expect_lost(&w, "what percpu memory holds", "1p");
	end(&w);
}

static void test_rules(void)
{
	uint64_t struct_page = small_at(SMALL_STRUCTS) + SMALL_ALLOCATED * 256, offset;
	struct world w = world();

	put(&w, STACK, PAGES);
	put(&w, struct_page + 40, FIRST);
	put(&w, struct_page + 256 + 40, THIRD);
	expect_lost(&w, "words of struct pages belong to their pages", "c");
	end(&w);

	w = world();
	put(&w, small_at(SMALL_STRUCTS) + 70 * 256 + 40, FIRST);
	expect_lost(&w, "words of the struct page of a free page belong to nobody", "13pc");
	end(&w);

	w = world();
	put(&w, STACK, PAGES);
	put(&w, PAGES + 80, FIRST);
	put(&w, struct_page + 96, 0x1234);
	expect_lost(&w, "what pages of users contain leads nowhere", "13c");
	end(&w);

	w = world();
	put(&w, small_at(70), FIRST);
	put(&w, small_at(71), THIRD);
	put(&w, small_at(72), PAGES);
	put(&w, small_at(SMALL_STRUCTS) + 70 * 256, 1 << 9);
	put(&w, small_at(SMALL_STRUCTS) + 71 * 256 + 104, 1);
	expect_lost(&w, "reserved pages are roots, and used ones that no site has", "pc");
	end(&w);

	/* The saved stack pointer */
	w = world();
	look(&w);
	offset = w.image->n[N_INIT_TASK] + w.image->n[N_TASK_SP];
	end(&w);
	w = world();
	put(&w, STACK + 512, FIRST);
	put(&w, STACK + 1024, THIRD);
	put(&w, offset, STACK + 520);
	expect_lost(&w, "of a stack only what is in use", "1pc");
	end(&w);
	w = world();
	put(&w, STACK + 512, FIRST);
	put(&w, offset, STACK + 521);
	expect_lost(&w, "all of it if the stack pointer is none", "3pc");
	end(&w);
}

/* The pointer to the next free object, left over from before the object was allocated */
/*
 * What kvfree_rcu() has written into a page counts while the page is on a list. In one that is
 * kept for later only the first word does.
 */
static void test_kept_pages(void)
{
	static const struct {
		const char *what, *function;
		bool listed;
		uint64_t first, other;
		const char *lost;
		uint64_t number;	/* of addresses; other is in the 59th */
	} cases[] = {
		{ "pages of anybody", "pages", false, 0, 512, "3c", 0 },
		{ "pages that are kept", "fill_page_cache_func", false, 0, 512, "13c", 0 },
		{ "pages that are kept, the next one", "fill_page_cache_func", false, 1, 512, "3c", 0 },
		{ "pages of another function that are kept", "add_ptr_to_bulk_krc_lock", false, 0, 512, "13c", 0 },
		{ "pages on a list", "fill_page_cache_func", true, 0, 512, "3c", 60 },
		{ "pages on a list, behind the last one", "fill_page_cache_func", true, 0, 512, "13c", 59 },
		{ "pages on a list, no number", "fill_page_cache_func", true, 0, 512, "3c", 1 << 20 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct world w = world();
		uint64_t name = small_at(SMALL_TAG_NAMES) + 64 + 32;

		put(&w, STACK + 512, PAGES);
		strcpy((char *)w.file + SMALL_HEAD + (name - SMALL_MAP), cases[i].function);
		put(&w, PAGES + cases[i].other, FIRST);
		if (cases[i].first)
			put(&w, PAGES, FIRST);
		if (cases[i].listed) {
			/* Both neighbours are the head of the list. */
			put(&w, PAGES, STACK + 520);
			put(&w, PAGES + 8, STACK + 520);
			put(&w, STACK + 520, PAGES);
			put(&w, STACK + 528, PAGES);
			put(&w, PAGES + 32, cases[i].number);
		}
		expect_lost(&w, cases[i].what, cases[i].lost);
		end(&w);
	}
}

/* The last reader of a rw_semaphore stays its owner. */
static void test_owner(void)
{
	static const struct {
		const char *what;
		uint64_t count, queue;
		const char *lost;
	} cases[] = {
		{ "an owner that is gone", 0, 24, "13pc" },
		{ "an owner", 256, 24, "3pc" },
		{ "an owner, but no semaphore", 0, 32, "3pc" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct world w = world();

		put(&w, STACK + 512, cases[i].count);
		put(&w, STACK + 520, FIRST | 1);
		put(&w, STACK + 536, STACK + 512 + cases[i].queue);
		put(&w, STACK + 544, STACK + 512 + cases[i].queue);
		expect_lost(&w, cases[i].what, cases[i].lost);
		end(&w);
	}
}

/* Slabs are linked by the two words before their freelist. */
static void test_slab_links(void)
{
	struct world w = world();
	uint64_t page, freelist, size, map;

	look(&w);
	freelist = w.image->n[N_SLAB_COUNTERS] - 8;
	size = w.image->n[N_PAGE_SIZE_OF];
	map = w.image->layout.memory_map;
	end(&w);
	page = map + (FIRST - SMALL_MAP) / DUMP_PAGE * size;
	for (unsigned int before = 8; before <= 24; before += 8) {
		w = world();
		put(&w, page + freelist - before, map + (PAGES - SMALL_MAP) / DUMP_PAGE * size);
		expect_lost(&w, "links of slabs", before <= 16 ? "13pc" : "13c");
		end(&w);
	}
}

/* Two requests of a block device, of 128 bytes; 64 of these are the request, the rest is the driver's. */
static void test_requests(void)
{
	static const struct {
		const char *what;
		uint64_t users, at, other;	/* where in each; 0: the other one has none */
		const char *lost;
	} cases[] = {
		{ "a pointer of a free request", 0, 32, 0, "1c" },
		{ "pointers of free requests", 0, 32, 32, "1c" },
		{ "a pointer of a request", 1, 32, 0, "c" },
		{ "a pointer of the driver, of a free request", 0, 72, 0, "1c" },
		{ "pointers of the driver, of each request", 0, 72, 72, "c" },
		{ "a pointer of the driver, of a request", 1, 72, 0, "c" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct world w = world();

		set_number(&w, N_REQUEST_SIZE, 64);
		set_number(&w, N_REQUEST_QUEUE, 0);
		set_number(&w, N_REQUEST_CTX, 8);
		set_number(&w, N_REQUEST_REF, 16);
		set_number(&w, N_CTX_QUEUE, 0);
		set_number(&w, N_QUEUE_TAGS, 16);
		set_number(&w, N_TAGS_DATA_SIZE, 0);
		put(&w, STACK + 512, PAGES);
		put(&w, STACK + 1024, THIRD);
		put(&w, STACK + 1032, 40);
		put(&w, THIRD + 16, STACK + 1032);
		for (uint64_t request = PAGES; request <= PAGES + 256; request += 256) {
			put(&w, request, THIRD);
			put(&w, request + 8, STACK + 1024);
			put(&w, request + 16, cases[i].users);
		}
		put(&w, PAGES + cases[i].at, FIRST);
		if (cases[i].other)
			put(&w, PAGES + 256 + cases[i].other, FIRST + 8);
		expect_lost(&w, cases[i].what, cases[i].lost);
		end(&w);
	}
}

static void test_free_pointer(void)
{
	struct world w = world();
	uint64_t offset;

	look(&w);
	offset = small_at(SMALL_CACHE) + w.image->n[N_CACHE_OFFSET];
	end(&w);
	for (unsigned int hardened = 0; hardened < 2; hardened++) {
		w = world();
		put(&w, offset, 64);
		put(&w, STACK, FIRST);
		put(&w, FIRST + 64, THIRD);
		set_number(&w, N_HARDENED, hardened);
		expect_lost(&w, hardened ? "hardened, it is a pointer" : "a stale one is none",
			    hardened ? "pc" : "3pc");
		end(&w);
	}
	w = world();
	put(&w, offset, 64);
	put(&w, STACK, FIRST);
	put(&w, FIRST + 64, THIRD + 8);
	expect_lost(&w, "into an object it cannot be one", "pc");
	end(&w);
	/* No list of free objects leads to what the third object has there. */
	w = world();
	put(&w, offset, 64);
	put(&w, STACK, FIRST);
	put(&w, FIRST + 64, THIRD);
	put(&w, THIRD + 64, PAGES);
	expect_lost(&w, "a call site that writes there", "c");
	end(&w);
}

/* The first object is a vmap_area, the third the vm_struct of the pages: a tree has the first. */
static void test_area(void)
{
	uint64_t va = 0xffa0000012345000;

	for (unsigned int top_shift = 39; top_shift <= 48; top_shift += 9) {
		for (unsigned int known = 0; known < 2; known++) {
			struct world w = world();

			map(&w, va, PAGES, top_shift);
			put(&w, STACK, FIRST);
			put(&w, FIRST, va);
			put(&w, FIRST + 8, va + DUMP_PAGE);
			put(&w, FIRST + 16, THIRD);
			put(&w, THIRD, va);
			put(&w, THIRD + 8, 2 * DUMP_PAGE);
			put(&w, STACK + 8, known ? va + 5 : 0);
			expect_lost(&w, known ? "an address in an area leads to all of it" :
				    "the tree of areas does not", known ? "c" : "3pc");
			end(&w);
		}
	}
}

/* An area of two pages: the stack leads to its vmap_area, the first object, and no further. */
static struct world with_area(uint64_t va)
{
	struct world w = world();

	map(&w, va, PAGES, 39);
	put(&w, STACK, FIRST);
	put(&w, FIRST, va);
	put(&w, FIRST + 8, va + 2 * DUMP_PAGE);
	put(&w, FIRST + 16, THIRD);
	put(&w, THIRD, va);
	put(&w, THIRD + 8, 3 * DUMP_PAGE);
	return w;
}

/* Memory may have addresses from before it was allocated. */
static void test_area_pointers(void)
{
	static const struct {
		const char *what;
		uint64_t offset, other;	/* of the pointer, and of another one 64 bytes behind it */
		bool on_stack;
		const char *lost;
	} cases[] = {
		{ "where an area begins", 0, 0, false, "c" },
		{ "a structure in its first page", 4088, 0, false, "c" },
		{ "with a mark", 4088 | 2, 0, false, "c" },
		{ "a byte of its first page", 4093, 0, false, "3pc" },
		{ "behind its first page", DUMP_PAGE, 0, false, "3pc" },
		{ "behind its first page, on a stack", DUMP_PAGE + 5, 0, true, "3pc" },
		{ "a byte of its first page, on a stack", 4093, 0, true, "c" },
		{ "beside an older one", 16, DUMP_PAGE + 5, false, "3pc" },
		{ "beside an older one, on a stack", 16, DUMP_PAGE + 5, true, "c" },
		{ "where an area begins, beside an older one", 0, DUMP_PAGE + 5, false, "c" },
	};
	uint64_t va = 0xffa0000012345000;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct world w = with_area(va);
		uint64_t at = cases[i].on_stack ? STACK + 512 : FIRST + 1024 + 512;

		put16(&w, small_at(SMALL_SLAB + 1) - 6, 33);
		put(&w, STACK + 8, FIRST + 1024);
		put(&w, at, va + cases[i].offset);
		if (cases[i].other)
			put(&w, at + 64, va + cases[i].other);
		expect_lost(&w, cases[i].what, cases[i].lost);
		end(&w);
	}
}

/* The second object is a vmap_area, too, and of no area: it ends where the other one begins. */
static void test_free_area(void)
{
	uint64_t va = 0xffa0000012345000;

	for (unsigned int first = 0; first < 2; first++) {
		struct world w = with_area(va);

		put16(&w, small_at(SMALL_SLAB + 1) - 6, 33);
		put(&w, STACK + 8, FIRST + 1024);
		put(&w, FIRST + 1024, first ? 1 : va - 2 * DUMP_PAGE);
		put(&w, FIRST + 1024 + 8, va);
		put(&w, FIRST + 1024 + 16, THIRD);
		expect_lost(&w, first ? "what is free before all areas" : "a free area", "3pc");
		end(&w);
	}

	for (unsigned int at = 0; at < 2; at++) {
		struct world w = with_area(va);

		put16(&w, small_at(SMALL_SLAB + 1) - 6, 33);
		put(&w, STACK + 8, FIRST + 1024);
		put(&w, FIRST + 1024, va - (at ? DUMP_PAGE : 0));
		put(&w, FIRST + 1024 + 8, va + (at ? 0 : 2 * DUMP_PAGE));
				put(&w, FIRST + 1024 + 24, at ? va : 0);
		expect_lost(&w, at ? "other words of a free area" : "both ends of an area in use", "c");
		end(&w);
	}
}

/* The first chunk of percpu memory has small pointers; here they are from 0x40000 on. */
static void test_small_percpu(void)
{
	static const struct {
		const char *what;
		uint64_t word[4];
		unsigned int at[4];	/* offset of each, the first is the pointer */
		const char *lost;
	} cases[] = {
		{ "a small percpu pointer", { 0x40010 }, { 0 }, "13p" },
		{ "with a bit", { 0x40013 }, { 0 }, "13p" },
		{ "beside one number", { 0x40010, 0x40123 }, { 0, 8 }, "13p" },
		{ "among numbers", { 0x40010, 0x40123, 0x40207 }, { 0, 24, 48 }, "13pc" },
		{ "among numbers, near a pointer", { 0x40010, 0x40123, 0x40207, SMALL_MAP }, { 0, 24, 48, 32 }, "13p" },
		{ "among numbers, far from one", { 0x40010, 0x40123, 0x40207, SMALL_MAP }, { 0, 24, 48, 40 }, "13pc" },
		{ "between numbers", { 0x40010, 0x40123, 0x40207 }, { 128, 64, 192 }, "13pc" },
		{ "numbers that are not near", { 0x40010, 0x40123, 0x40207 }, { 0, 72, 80 }, "13p" },
		{ "sizes", { 0x40010, 0x40000, 0x40000 }, { 0, 8, 16 }, "13p" },
		{ "smaller and larger ones", { 0x40010, 0x3fff8, 0x41008, 0x123 }, { 0, 8, 16, 24 }, "13p" },
		{ "many pointers", { 0x40010, 0x40010, 0x40011, 0x40013 }, { 0, 8, 16, 24 }, "13p" },
	};

	for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(*cases); i++) {
		size_t c = i / 2;
		bool root = i % 2;	/* one of the kernel's own, or the second object */
		struct world w = world();

		set_number(&w, N_CPU_OFFSETS, small_at(70));
		put(&w, small_at(70), small_at(60) - 0x40000);
		put16(&w, small_at(SMALL_SLAB + 1) - 6, 33);
		put(&w, STACK, FIRST + 1024);
		for (unsigned int k = 0; k < 4; k++)
			if (cases[c].word[k])
				put(&w, (root ? STACK : FIRST + 1024) + 512 + cases[c].at[k],
				    cases[c].word[k]);
		expect_lost(&w, cases[c].what, root ? "13p" : cases[c].lost);
		end(&w);
	}
}

/* A stack in vmalloc space, with four and five levels of page tables */
static void test_stack_in_vmalloc(void)
{
	uint64_t va = 0xffa0000012345000;
	struct world w = world();
	uint64_t stack;

	look(&w);
	stack = w.image->n[N_INIT_TASK] + w.image->n[N_TASK_STACK];
	end(&w);
	for (unsigned int top_shift = 39; top_shift <= 48; top_shift += 9) {
		w = world();
		map(&w, va, small_at(70), top_shift);
		put(&w, stack, va);
		put(&w, small_at(70) + 800, THIRD);
		expect_lost(&w, top_shift == 39 ? "a stack, four levels" : "a stack, five levels", "1pc");
		end(&w);
	}
}

/* Pages 80 to 83, each allocated alone by site 32: only the address of the first exists. */
static void test_split(void)
{
	struct world w = world();
	uint64_t slots = small_at(SMALL_SLOTS) + 80 * 2;
	uint64_t references = small_at(SMALL_STRUCTS) + 80 * 256 + 104;

	put(&w, references, 1);
	put(&w, slots, 0x0020002000200020);
	put(&w, STACK, small_at(80) + 16);
	put(&w, small_at(83), FIRST);
	expect_lost(&w, "split pages follow the first", "3pc");
	end(&w);

	w = world();
	put(&w, references, 1);
	put(&w, slots, 0x0020002000200020);
	put(&w, STACK, small_at(SMALL_STRUCTS) + 80 * 256);
	look(&w);
	expect(w.lost->objects == 4 + 3, "a struct page leads to its page alone: %d lost",
	       (int)w.lost->objects);
	end(&w);

	w = world();
	put(&w, references, 1);
	put(&w, slots, 0x0020002000200020);
	put(&w, STACK, small_at(81));
	look(&w);
	expect(w.lost->objects == 4 + 3, "an odd page begins nothing: %d lost", (int)w.lost->objects);
	end(&w);
}

/* The stack holds the first object, that the third one, and both hold the pages. */
static void test_retained(void)
{
	struct world w = world();
	struct dominators *dominators;
	struct pointers *pointers;
	struct retained *retained;
	struct paths *paths;
	uint32_t first, pages;
	uint8_t *chosen;

	put(&w, STACK, FIRST);
	put(&w, FIRST + 64, THIRD);
	put(&w, FIRST + 72, PAGES);
	put(&w, THIRD + 72, PAGES);
	look(&w);
	first = kobjects_at(w.objects, FIRST);
	pages = kobjects_at(w.objects, PAGES);
	dominators = dominators_find(w.graph);
	expect(dominators->above[pages] == first, "what two ways lead to is below where they part");
	paths = paths_find(w.graph, dominators, NULL);
	expect(paths->path[0].all_bytes == 2 * 1024 + 4 * DUMP_PAGE + 16, "all paths have %d bytes",
	       (int)paths->path[0].all_bytes);
	chosen = xcalloc(w.graph->nodes, 1);
	chosen[kobjects_at(w.objects, THIRD)] = 1;
	retained = retained_find(w.graph, chosen, false);
	expect(retained->objects == 1 && retained->bytes == 1024, "the third object retains itself");
	retained_free(retained);
	chosen[first] = 1;
	retained = retained_find(w.graph, chosen, false);
	expect(retained->objects == 3 && retained->bytes == 2048 + 4 * DUMP_PAGE && retained->rows == 2,
	       "both retain all: %d objects", (int)retained->objects);
	retained_free(retained);

	memset(chosen, 0, w.graph->nodes);
	chosen[pages] = 1;
	pointers = pointers_find(w.graph, chosen, false);
	expect(pointers->rows == 1 && pointers->row[0].group == 33 && pointers->row[0].pointers == 2 &&
	       pointers->row[0].holders == 2 && pointers->row[0].objects == 1 && !pointers->unheld,
	       "two objects of a site point to the pages");
	pointers_free(pointers);
	free(chosen);
	paths_free(paths);
	dominators_free(dominators);
	end(&w);
}

/* kB of memory that is no file's; 0: not known */
static long private_memory(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[128];
	long kb = 0;

	while (f && fgets(line, sizeof(line), f) && sscanf(line, "RssAnon: %ld", &kb) != 1)
		;
	if (f)
		fclose(f);
	return kb;
}

/* Writes to pages 256 MiB apart, which are reserved. That at 200 GiB leads to percpu memory. */
static bool write_far_pages(int fd, uint64_t size)
{
	const uint64_t reserved = 1 << 9, pointer = PERCPU, noise = 0x0123456789abcdef;

	for (uint64_t pfn = 1 << 16; pfn < size / DUMP_PAGE; pfn += 1 << 16) {
		/* Not to struct pages, which are from 4 to 12 GiB */
		if (pfn >= 1 << 20 && pfn < 3 << 20)
			continue;
		if (pwrite(fd, &reserved, 8, (off_t)(SMALL_HEAD + (4ULL << 30) + pfn * 128)) != 8 ||
		    pwrite(fd, pfn == 200 << 18 ? &pointer : &noise, 8,
			   (off_t)(SMALL_HEAD + pfn * DUMP_PAGE)) != 8)
			return false;
	}
	return true;
}

/* 256 GiB, nearly all of them holes, and a struct page for each page. */
static void test_larger_than_memory(void)
{
	char path[] = "/tmp/codetag-unit-XXXXXX";
	uint64_t size = 256ULL << 30, sections = small_at(100);
	struct world w = world();
	int fd = mkstemp(path);
	const char *why = NULL;
	struct timespec from, to;
	struct image *image;
	struct dump *dump;
	Elf64_Phdr head;
	struct layout *layout;
	uint64_t max_pfn;
	bool written;

	look(&w);
	max_pfn = w.image->n[N_MAX_PFN];
	end(&w);
	w = world();
	/* Struct pages of 128 bytes from 4 GiB on, and 64 sections of 4 GiB each */
	memcpy(&head, w.file + sizeof(Elf64_Ehdr), sizeof(head));
	head.p_filesz = head.p_memsz = size;
	memcpy(w.file + sizeof(Elf64_Ehdr), &head, sizeof(head));
	layout = (void *)(w.file + SMALL_HEAD + SMALL_LAYOUT * DUMP_PAGE);
	layout->memory_map = SMALL_MAP + (4ULL << 30);
	layout->section_roots = 16;
	set_number(&w, N_PAGE_SIZE_OF, 128);
	set_number(&w, N_SECTION_SHIFT, 20);
	set_number(&w, N_SECTIONS, sections);
	for (unsigned int i = 0; i < 64; i++)
		put(&w, sections + i * 64, 4);
	put(&w, max_pfn, size / DUMP_PAGE);
	written = write(fd, w.file, SMALL_SIZE) == SMALL_SIZE &&
		  !ftruncate(fd, (off_t)(SMALL_HEAD + size)) && write_far_pages(fd, size);
	close(fd);
	dump = written ? dump_open(path, &why) : NULL;
	image = dump ? image_open_dump(dump, &why) : NULL;
	expect(image, "a sparse image of 256 GiB: %s", why ? why : "opened");
	if (image) {
		struct image_sites *sites = image_sites_read(image);
		struct recount recount;
		struct kernel_objects *objects;
		struct graph *graph;
		long before = private_memory(), used;
		uint8_t *reached;

		clock_gettime(CLOCK_MONOTONIC, &from);
		recount_init(&recount, image);
		objects = kobjects_read(image, sites, &recount);
		graph = graph_read(objects, NULL, NULL);
		clock_gettime(CLOCK_MONOTONIC, &to);
		expect(recount.pages == size / DUMP_PAGE && !image_exhausted(image),
		       "all %llu pages are looked at", (unsigned long long)recount.pages);
		printf("# %.1f s\n", (double)(to.tv_sec - from.tv_sec) +
		       (double)(to.tv_nsec - from.tv_nsec) / 1e9);
		used = private_memory() - before;
		expect(before && used < 32 << 10, "they take little memory: %ld kB", used);
		reached = xcalloc(graph->nodes, 1);
		graph_reach(graph, NULL, reached);
		expect(objects->percpus == 1 && reached[1], "the page at 200 GiB is read");
		free(reached);
		graph_free(graph);
		kobjects_free(objects);
		recount_free(&recount);
		image_sites_free(sites);
		image_close(image);
	}
	unlink(path);
	free(w.file);
}

void test_graph(void)
{
	test_pointers();
	test_physical();
	test_struct_page();
	test_page_table();
	test_chains();
	test_rules();
	test_kept_pages();
	test_owner();
	test_slab_links();
	test_requests();
	test_free_pointer();
	test_split();
	test_area();
	test_area_pointers();
	test_free_area();
	test_small_percpu();
	test_stack_in_vmalloc();
	test_retained();
	test_larger_than_memory();
}
