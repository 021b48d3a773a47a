/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The smallest image of a machine's memory that has some of everything: an ELF core of half a
 * megabyte, written by hand, for the unit tests and the fuzzer. Its offsets are those of no
 * kernel; its layout table has them.
 */
#ifndef CODETAG_SMALL_IMAGE_H
#define CODETAG_SMALL_IMAGE_H

#include <elf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory_image/image.h"

#define SMALL_PAGES 128
#define SMALL_MEMORY (SMALL_PAGES * DUMP_PAGE)
#define SMALL_HEAD DUMP_PAGE
#define SMALL_SIZE (SMALL_HEAD + SMALL_MEMORY)
#define SMALL_MAP 0xffff888000000000ULL

/* The use of each page */
enum {
	SMALL_LAYOUT = 1, SMALL_TOP, SMALL_NEXT, SMALL_ENTRIES, SMALL_SYMBOLS = 8,
	SMALL_STRUCTS = 16,	/* struct pages: 8 pages */
	SMALL_SLOTS = 24, SMALL_CACHE, SMALL_CHUNK, SMALL_BLOCK, SMALL_TAG_NAMES, SMALL_GROUP,
	SMALL_NAMES = 32,	/* the names of the numbers: 4 pages */
	SMALL_SLAB = 40, SMALL_ALLOCATED = 44,
};

struct small {
	uint8_t *file, *memory;
	uint64_t value[N_COUNT];
};

static inline uint64_t small_at(unsigned int page) { return SMALL_MAP + (uint64_t)page * DUMP_PAGE; }
static inline void *small_pointer(struct small *s, uint64_t va) { return s->memory + (va - SMALL_MAP); }
static inline void small64(struct small *s, uint64_t va, uint64_t v) { memcpy(small_pointer(s, va), &v, 8); }
static inline void small32(struct small *s, uint64_t va, uint32_t v) { memcpy(small_pointer(s, va), &v, 4); }
static inline void small16(struct small *s, uint64_t va, uint16_t v) { memcpy(small_pointer(s, va), &v, 2); }

static const char *const small_names[] = {
#define SMALL_NAME(id, name) [N_##id] = name,
	NUMBERS(SMALL_NAME, SMALL_NAME)
#undef SMALL_NAME
};

/* Members lie 8 bytes apart in the order of the list, symbols 64. */
static inline void small_numbers(struct small *s)
{
	uint64_t symbols = small_at(SMALL_SYMBOLS);

	for (size_t i = 0; i < N_COUNT; i++) {
		const char *dot = strchr(small_names[i], '.');
		size_t before = 0;

		if (!strncmp(small_names[i], "sizeof ", 7)) {
			s->value[i] = 256;
		} else if (dot) {
			for (size_t k = 0; k < i; k++)
				before += !strncmp(small_names[k], small_names[i],
						   (size_t)(dot - small_names[i]) + 1);
			s->value[i] = 8 * before;
		} else {
			s->value[i] = symbols;
			symbols += 64;
		}
	}
#define SET(id, v) (s->value[N_##id] = (v))
	SET(TAGS_END, s->value[N_TAGS]);	/* below */
	SET(ID_UNREPRESENTABLE, 1); SET(ID_UNLOADED, 3); SET(ID_UNTAGGED, 4);
	SET(NR_RESERVED, 5); SET(ID_TAIL, 8); SET(ID_FIRST, 32); SET(STATE_INACCURATE, 1);
	SET(TAG_SIZE, 32); SET(COUNTERS_SIZE, 24); SET(PARTS_SIZE, 16); SET(NR_PARTS, 4); SET(CHUNK_UNIT, 4);
	SET(CHUNK_RESERVED, 0); SET(UNIT_OFFSETS, 0); SET(CPU_OFFSETS, 0);
	SET(STORE_FLAGS, 1); SET(STORE_SLOT, 2); SET(STORE_EXT, 3); SET(EXT_SIZE, 0);
	SET(FOLIO_MAPPING, 96); SET(FOLIO_REFCOUNT, 104); SET(PERCPU_START, 0); SET(PERCPU_END, 0);
	SET(HARDENED, 0); SET(KFENCE_METADATA, 0); SET(AREA_SIZE_OF, 512);
	SET(FOLIO_FLAGS_1, 256); SET(SLAB_CACHE, 64); SET(SLAB_COUNTERS, 72);
	SET(PG_HEAD, 8); SET(PG_RESERVED, 9);
	SET(TYPE_BUDDY, 0xf0); SET(TYPE_OFFLINE, 0xf1); SET(TYPE_TABLE, 0xf2);
	SET(TYPE_GUARD, 0xf3); SET(TYPE_HUGETLB, 0xf4); SET(TYPE_SLAB, 0xf5);
	SET(ZONE_SHIFT, 62); SET(ZONE_MASK, 3); SET(NODE_SHIFT, 52); SET(NODE_MASK, 1023);
	SET(NR_TYPES, 1); SET(BLOCK_BITS, 4); SET(NR_ZONES, 2); SET(DEVICE_ZONE, 3);
	SET(NODE_DATA, 0); SET(SECTION_ONLINE, 4); SET(SECTION_SHIFT, 5); SET(SECTIONS_PER_ROOT, 4); SET(SECTIONS_EXTREME, 0); SET(SECTION_SIZE, 64);
	SET(RED_ZONE, 1 << 10); SET(FEW_FAR_LENGTH, 8); SET(KFENCE_POOL, 0);
	SET(STACK_SIZE, 4096); SET(MODULE_PARTS, 1); SET(MODULE_MEM_SIZE, 16);
	SET(NR_KEYS, 9); SET(SPLIT_DEPTH, 16); SET(VALUE_WORDS, 6); SET(STACK_DEPTH, 16);
	SET(CONTEXT_SIZE, 512); SET(SMALL_KEYS, 15); SET(CPU_SHIFT, 16); SET(ACCOUNTED_SHIFT, 30); SET(GFP_SHIFT, 32);
	SET(HIERARCHY_SHIFT, 48); SET(TASK_NAME, 16); SET(HZ, 100); SET(JIFFIES_BEGIN, 0);
	SET(BLOCK_SIZE, 32); SET(NR_BLOCKS, 2); SET(VM_ALLOCATED, 2); SET(VM_PAGES_SIZE, 4);
	SET(RSS_ANON, 1); SET(STAT_FREE, 0); SET(STAT_ACTIVE_ANON, 1); SET(STAT_INACTIVE_ANON, 2);
	SET(STAT_ACTIVE_FILE, 3); SET(STAT_INACTIVE_FILE, 4); SET(STAT_UNEVICTABLE, 5);
	SET(STAT_ANON, 6); SET(STAT_FILE, 7); SET(STAT_SHMEM, 8); SET(STAT_SLAB_RECLAIMABLE, 9);
	SET(STAT_SLAB, 10); SET(STAT_RECLAIMABLE, 11); SET(STAT_STACKS, 12);
	SET(STAT_PAGE_TABLES, 13); SET(STAT_SECOND_TABLES, 14); SET(STAT_SWAP_CACHE, 15);
	SET(STAT_ZSPAGES, 0); SET(ELF_SYM_SIZE, 24);
	SET(CGROUP_NODE, 128); SET(SLAB_GROUPS, s->value[N_PAGE_GROUP]); SET(GROUP_FLAGS, 7); SET(GROUP_VECTOR, 1);
	/* Arrays that are longer than 64 bytes */
	SET(ONE_NODE, small_at(SMALL_SYMBOLS + 3)); SET(NODE_STAT, s->value[N_ONE_NODE] + 3072);
	SET(SECTIONS, small_at(SMALL_SYMBOLS + 4)); SET(TAGS, small_at(SMALL_SYMBOLS + 5));
	SET(TAGS_END, s->value[N_TAGS] + 2 * 32);
	SET(RESERVED_TAGS, s->value[N_TAGS] + 1024); SET(FEW_FAR, small_at(SMALL_SYMBOLS + 6));
#undef SET
}

static inline void small_table(struct small *s)
{
	struct layout *layout = small_pointer(s, small_at(SMALL_LAYOUT));
	uint64_t name = small_at(SMALL_NAMES), entry = small_at(SMALL_ENTRIES);

	*layout = (struct layout){
		.magic = "codetag layout\n", .version = 2, .word = 8,
		.self = SMALL_LAYOUT * DUMP_PAGE, .tables = SMALL_TOP * DUMP_PAGE,
		.top_shift = 39, .top_bits = 9, .page_shift = 12, .entries = entry, .nr = N_COUNT,
		.direct_map = SMALL_MAP, .memory_map = small_at(SMALL_STRUCTS),
		.counters = small_at(SMALL_SYMBOLS + 7), .nr_cpus = 1, .nr_nodes = 1,
		.objects = 0x7fff0000, .block_order = 4, .flags_shift = 16, .flags_bits = 16,
		.section_roots = 1,
	};
	for (size_t i = 0; i < N_COUNT; i++, entry += 16) {
		small64(s, entry, name);
		small64(s, entry + 8, s->value[i]);
		strcpy(small_pointer(s, name), small_names[i]);
		name += strlen(small_names[i]) + 1;
	}
	/* A page of a gigabyte, the largest size, on x86_64 and on arm64. */
	small64(s, small_at(SMALL_TOP) + (SMALL_MAP >> 39 & 511) * 8, SMALL_NEXT * DUMP_PAGE | 3);
	small64(s, small_at(SMALL_NEXT) + (SMALL_MAP >> 30 & 511) * 8, 0x80 | 1);
}

static inline void small_tag(struct small *s, uint64_t tag, unsigned int line, const char *function)
{
	uint64_t names = small_at(SMALL_TAG_NAMES) + line * 64;

	strcpy(small_pointer(s, names), "mm/small.c");
	strcpy(small_pointer(s, names + 32), function);
	small32(s, tag + s->value[N_TAG_LINE], line);
	small64(s, tag + s->value[N_TAG_FILE], names);
	small64(s, tag + s->value[N_TAG_FUNCTION], names + 32);
}

static inline void small_count(struct small *s, unsigned int id, uint64_t bytes, uint32_t allocs,
			       uint32_t frees)
{
	uint64_t counters = small_at(SMALL_SYMBOLS + 7) + id * s->value[N_COUNTERS_SIZE];

	small64(s, counters + s->value[N_COUNTERS_BYTES], bytes);
	small32(s, counters + s->value[N_COUNTERS_ALLOCS], allocs);
	small32(s, counters + s->value[N_COUNTERS_FREES], frees);
}

static inline void small_parts(struct small *s, unsigned int entry, uint32_t id, uint32_t nr)
{
	uint64_t parts = s->value[N_PARTS] + entry * s->value[N_PARTS_SIZE];

	small32(s, parts + s->value[N_PARTS_ID], id);
	small32(s, parts + s->value[N_PARTS_NR], nr);
}

/* The group "/a b" has the pages, and the root has the first object. */
static inline void small_groups(struct small *s)
{
	const uint64_t *n = s->value;
	uint64_t group = small_at(SMALL_GROUP), cgroup = group + 1024, node = group + 2048;
	uint64_t objcg = group + 3072, vector = group + 3584;

	for (unsigned int i = 0; i < 2; i++, group += 256, cgroup += 256, node += 256) {
		small64(s, group + n[N_GROUP_SUBSYSTEM], n[N_MEMORY_SUBSYSTEM]);
		small64(s, group + n[N_GROUP_CGROUP], cgroup);
		small32(s, cgroup + n[N_CGROUP_LEVEL], i);
		small64(s, cgroup + n[N_CGROUP_NODE], node);
		small64(s, cgroup + n[N_CGROUP_ANCESTORS] + 8 * i, cgroup);
		small64(s, node + n[N_KERNFS_NAME], node + 128);
		small64(s, objcg + 64 * i + n[N_OBJCG_GROUP], group);
	}
	strcpy(small_pointer(s, node - 256 + 128), "a b");
	small64(s, vector, objcg);
	small64(s, small_at(SMALL_STRUCTS) + SMALL_SLAB * 256 + n[N_SLAB_GROUPS], vector | 1);
	small64(s, small_at(SMALL_STRUCTS) + SMALL_ALLOCATED * 256 + n[N_PAGE_GROUP], (objcg + 64) | 2);
}

/*
 * Site 32 has 4 pages and a percpu allocation; site 33 has two of the three objects of a slab.
 * The counters of both have wrapped around; pages of site 32 were split, and their parts freed.
 */
static inline void small_fill(struct small *s)
{
	const uint64_t *n = s->value;
	uint64_t page = small_at(SMALL_STRUCTS) + SMALL_SLAB * 256, chunk = small_at(SMALL_CHUNK);
	uint64_t cache = small_at(SMALL_CACHE), lists = n[N_CHUNK_LISTS] + 32;

	small64(s, n[N_BUILTIN_END], 34);
	small_tag(s, n[N_TAGS], 1, "pages");
	small_tag(s, n[N_TAGS] + 32, 2, "objects");
	small_count(s, 32, 4 * DUMP_PAGE + 16, 5, 10);
	small_parts(s, 3, 32, 7);
	small_parts(s, 2, 0, 1000);
	small_count(s, 33, 2 * 1024, 1, UINT32_MAX);
	small64(s, n[N_RANGES], n[N_RANGES]);
	small64(s, n[N_POSSIBLE], 1);
	small64(s, n[N_MAX_PFN], SMALL_PAGES);
	small32(s, n[N_STORE], 2);
	small64(s, n[N_SLOTS], small_at(SMALL_SLOTS));
	for (unsigned int i = 0; i < 4; i++)
		small64(s, n[N_SECTIONS] + i * 64 + n[N_SECTION_MAP], 4);

	small16(s, small_at(SMALL_SLOTS) + SMALL_ALLOCATED * 2, 8 + 2);
	small16(s, small_at(SMALL_SLOTS) + SMALL_ALLOCATED * 2 + 2, 32);

	small64(s, page + n[N_PAGE_FLAGS], 0);
	small32(s, page + n[N_PAGE_TYPE], 0xf5000000);
	small64(s, page + n[N_SLAB_CACHE], cache);
	small64(s, page + n[N_SLAB_COUNTERS], 3 << 16);
	small64(s, cache + n[N_CACHE_NAME], cache + 512);
	strcpy(small_pointer(s, cache + 512), "small");
	small32(s, cache + n[N_CACHE_SIZE], 1024);
	small32(s, cache + n[N_CACHE_OBJECT_SIZE], 1000);
	small16(s, small_at(SMALL_SLAB + 1) - 8, 33);
	small16(s, small_at(SMALL_SLAB + 1) - 4, 33);

	small32(s, n[N_CHUNK_NR_LISTS], 1);
	small64(s, n[N_CHUNK_LISTS], lists);
	small64(s, lists, chunk + n[N_CHUNK_LIST]);
	small64(s, chunk + n[N_CHUNK_LIST], lists);
	small32(s, chunk + n[N_CHUNK_PAGES], 1);
	small64(s, chunk + n[N_CHUNK_BASE], small_at(60));
	small64(s, chunk + n[N_CHUNK_ALLOCATED], chunk + 1024);
	small64(s, chunk + n[N_CHUNK_BOUNDS], chunk + 2048);
	small64(s, chunk + n[N_CHUNK_POPULATED], 1);
	small64(s, chunk + n[N_CHUNK_IDS], chunk + 3072);
	small64(s, chunk + 3072, small_at(SMALL_BLOCK));
	small64(s, chunk + 1024, 0xf0);		/* 4 units from the fourth on */
	small64(s, chunk + 2048, 0x111);
	small16(s, small_at(SMALL_BLOCK) + 4 * 2, 32);

	small64(s, n[N_INIT_TASK] + n[N_TASK_TASKS], n[N_INIT_TASK] + n[N_TASK_TASKS]);
	small64(s, n[N_INIT_TASK] + n[N_TASK_STACK], small_at(62));
	small64(s, n[N_MODULES], n[N_MODULES]);
	small64(s, n[N_SITES], n[N_SITES]);

	/* Of 128 pages 100 are not kept at boot, and 80 of these are free. */
	small64(s, n[N_TOTAL_PAGES], 100);
	small64(s, n[N_ONE_NODE] + n[N_NODE_ZONES] + n[N_ZONE_MANAGED], 100);
	small64(s, n[N_ONE_NODE] + n[N_NODE_ZONES] + n[N_ZONE_PRESENT], SMALL_PAGES);
	small64(s, n[N_ONE_NODE] + n[N_NODE_ZONES] + n[N_ZONE_STAT], 80);
	small_groups(s);
}

/* SMALL_SIZE bytes, to be freed. */
static inline uint8_t *small_image(void)
{
	struct small s = { .file = calloc(1, SMALL_SIZE) };
	Elf64_Ehdr elf = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_CORE, .e_machine = EM_X86_64, .e_phoff = sizeof(Elf64_Ehdr),
		.e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 1,
	};
	Elf64_Phdr head = {
		.p_type = PT_LOAD, .p_offset = SMALL_HEAD, .p_filesz = SMALL_MEMORY,
		.p_memsz = SMALL_MEMORY,
	};

	if (!s.file)
		abort();
	s.memory = s.file + SMALL_HEAD;
	memcpy(s.file, &elf, sizeof(elf));
	memcpy(s.file + sizeof(elf), &head, sizeof(head));
	small_numbers(&s);
	small_table(&s);
	small_fill(&s);
	return s.file;
}

#endif
