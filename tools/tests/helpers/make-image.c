// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes the small image to standard output, for the tests of commands. "linked": the stack of
 * a task leads to the pages and the percpu memory, and the pages lead to the first object.
 * "cut": the layout table lacks an entry. "sparse": the image says that there are 256 GiB, and
 * the caller makes the file as long. "empty": the same without a layout table. "split": site 32
 * is split, see contexts[].
 */
#include "small-image.h"

/* Pages that the small image does not use, and the first id of the contexts */
enum { SPLIT_SITE = 70, SPLIT_BLOCK, SPLIT_COUNTERS, SPLIT_NAMES, SPLIT_GFP, SPLIT_ID = 40 };

/* The keys of the kernel in the image, in its order. "colour" is one that the command does not know. */
enum { NODE, CPU, ACCOUNTED, GFP, SIZE, AGE, CGROUP, COLOUR, TASK, STACK, KEYS };
static const char *const key_names[KEYS] = {
	"node", "cpu", "accounted", "gfp", "size", "age", "cgroup", "colour", "task", "stack",
};

#define KEY(name) (1U << (name))
#define SMALL_WORD(gfp, accounted, cpu, node) \
	((uint64_t)(gfp) << 32 | (uint64_t)(accounted) << 30 | (uint64_t)(cpu) << 16 | (node))

/*
 * The keys and values of each context. Values of NODE to GFP share the first word: a node is counted
 * from 1, 0 means all. The machine runs for 1000 s. An age is the second after boot in which
 * it begins, and how many it lasts. The name of a task is in the words from @task_word on.
 */
static const struct {
	uint32_t split;
	uint64_t word[6];
	size_t task_word;
	char task[16];
} contexts[] = {
	{ KEY(NODE), { SMALL_WORD(0, 0, 0, 3) }, 0, "" },
	{ KEY(NODE) | KEY(CPU) | KEY(ACCOUNTED) | KEY(GFP), { SMALL_WORD(3, 1, 5, 0) }, 0, "" },
	{ KEY(ACCOUNTED) | KEY(GFP) | KEY(SIZE), { SMALL_WORD(0x101, 0, 0, 0), 1500 }, 0, "" },
	{ KEY(CPU) | KEY(SIZE) | KEY(AGE) | KEY(CGROUP) | KEY(TASK),
	  { SMALL_WORD(0, 0, 300, 0), 64, 60ULL << 32 | 400, 1ULL << 48 | 77 }, 4, "a long name" },
	{ KEY(CGROUP) | KEY(STACK) | 16U << 16, { 0 }, 0, "" },
	{ KEY(SIZE) | KEY(COLOUR) | KEY(TASK), { 2, 3 }, 2, "unread" },
};

/* Changes a number of the layout table. */
static void set(struct small *s, enum number number, uint64_t value)
{
	s->value[number] = value;
	small64(s, small_at(SMALL_ENTRIES) + 16 * number + 8, value);
}

static void split_names(struct small *s)
{
	const struct { uint64_t mask; const char *name; } flags[] = { { 3, "GFP_TWO" }, { 1, "GFP_ONE" } };
	uint64_t name = small_at(SPLIT_NAMES) + 512;

	for (unsigned int i = 0; i < KEYS; i++, name += 16) {
		strcpy(small_pointer(s, name), key_names[i]);
		small64(s, s->value[N_KEY_NAMES] + 8 * i, name);
	}
	for (unsigned int i = 0; i < 2; i++, name += 16) {
		uint64_t flag = s->value[N_GFP_NAMES] + i * s->value[N_FLAGS_SIZE];

		strcpy(small_pointer(s, name), flags[i].name);
		small64(s, flag + s->value[N_FLAGS_MASK], flags[i].mask);
		small64(s, flag + s->value[N_FLAGS_NAME], name);
	}
}

static void split(struct small *s)
{
	const uint64_t *n = s->value;
	const size_t nr = sizeof(contexts) / sizeof(*contexts);
	uint64_t site = small_at(SPLIT_SITE), range = site + 512, lost = site + 1024;

	small_numbers(s);
	set(s, N_KEY_NAMES, small_at(SPLIT_NAMES));
	set(s, N_NR_KEYS, KEYS);
	set(s, N_SMALL_KEYS, KEY(NODE) | KEY(CPU) | KEY(ACCOUNTED) | KEY(GFP));
	set(s, N_GFP_NAMES, small_at(SPLIT_GFP));
	set(s, N_BLOCK_PARTS, 2048);	/* behind the counters */
	set(s, N_CONTEXT_STACK, 128);	/* behind the words */
	split_names(s);
	small64(s, n[N_JIFFIES], 1000 * n[N_HZ] + n[N_JIFFIES_BEGIN]);

	small64(s, n[N_SITES], site + n[N_SITE_LIST]);
	small64(s, site + n[N_SITE_LIST], n[N_SITES]);
	small16(s, site + n[N_SITE_ID], 32);
	small32(s, site + n[N_SITE_SPLIT], KEY(SIZE) | KEY(COLOUR) | KEY(STACK) | 16U << 16);
	small32(s, site + n[N_SITE_MAX], 99);
	small32(s, site + n[N_SITE_NR], (uint32_t)nr);
	small64(s, site + n[N_SITE_LOST], lost);
	small64(s, lost, 7);

	small64(s, n[N_RANGES], range + n[N_RANGE_LIST]);
	small64(s, range + n[N_RANGE_LIST], n[N_RANGES]);
	small32(s, range + n[N_RANGE_NR], (uint32_t)nr);
	small16(s, range + n[N_RANGE_FIRST], SPLIT_ID);
	small64(s, range + n[N_RANGE_COUNTERS], small_at(SPLIT_COUNTERS));
	small64(s, range + n[N_RANGE_BLOCK], small_at(SPLIT_BLOCK));
	for (unsigned int i = 0; i < nr; i++) {
		uint64_t context = small_at(SPLIT_BLOCK) + n[N_BLOCK_CONTEXTS] + i * n[N_CONTEXT_SIZE];
		uint64_t counters = small_at(SPLIT_COUNTERS) + i * n[N_COUNTERS_SIZE];
		uint64_t words = context + n[N_CONTEXT_WORDS];

		small64(s, context + n[N_CONTEXT_SITE], site);
		small32(s, context + n[N_CONTEXT_SPLIT], contexts[i].split);
		memcpy(small_pointer(s, words), contexts[i].word, sizeof(contexts[i].word));
		if (contexts[i].split & KEY(TASK))
			memcpy(small_pointer(s, words + 8 * contexts[i].task_word), contexts[i].task,
			       sizeof(contexts[i].task));
		small64(s, counters + n[N_COUNTERS_BYTES], 100 * (i + 1));
		small32(s, counters + n[N_COUNTERS_ALLOCS], i + 3);
		small32(s, counters + n[N_COUNTERS_FREES], 2);
		if (!(contexts[i].split & KEY(STACK)))
			continue;
		*(char *)small_pointer(s, context + n[N_CONTEXT_FRAMES]) = 2;
		small64(s, context + n[N_CONTEXT_STACK], 0xffffffff81000010);
		small64(s, context + n[N_CONTEXT_STACK] + 8, 0xffffffff81000020);
	}
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	struct small s = { .file = small_image() };

	s.memory = s.file + SMALL_HEAD;
	if (!strcmp(what, "linked")) {
		small64(&s, small_at(62) + 512, small_at(SMALL_ALLOCATED));
		small64(&s, small_at(62) + 520, small_at(60) + 16);
		small64(&s, small_at(SMALL_ALLOCATED) + 512, small_at(SMALL_SLAB));
	} else if (!strcmp(what, "split")) {
		split(&s);
	} else if (!strcmp(what, "cut")) {
		memset(small_pointer(&s, small_at(SMALL_ENTRIES)), 0, 16);
	}
	if (!strcmp(what, "empty"))
		memset(small_pointer(&s, small_at(SMALL_LAYOUT)), 0, 16);
	if (!strcmp(what, "sparse") || !strcmp(what, "empty")) {
		Elf64_Phdr *head = (Elf64_Phdr *)(s.file + sizeof(Elf64_Ehdr));

		head->p_filesz = head->p_memsz = 256ULL << 30;
	}
	return fwrite(s.file, 1, SMALL_SIZE, stdout) != SMALL_SIZE;
}
