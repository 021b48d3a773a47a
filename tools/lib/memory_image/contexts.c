// SPDX-License-Identifier: GPL-2.0-only
#include "memory_image/contexts.h"

#include <ctype.h>
#include <inttypes.h>
#include <linux/bits.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "codetag/query.h"

#define MAX_SITES 65536
#define MAX_KEYS 16
#define MAX_WORDS 16
#define MAX_FRAMES 64
#define MAX_TASK 64
#define MAX_STACK_TEXT 65536
#define MAX_GFP_NAMES 128

struct reader;

/* Appends "NAME=VALUE" from the words of a context; returns the number of words of the value. */
typedef size_t put_key(const struct reader *r, const uint64_t *word);

struct reader {
	const struct image_sites *sites;
	struct image *image;
	struct image_functions *functions;
	struct text *out;
	char name[MAX_KEYS][16];	/* of the keys of the kernel in the image, in its order */
	enum codetag_key key[MAX_KEYS];	/* CODETAG_NR_KEYS: of a kernel newer than this program */
	size_t keys;
	uint64_t now;	/* seconds since boot */
	void (*age)(void *data, uint16_t id, const char *age);
	void *data;
};

/* Sums over all processors */
static uint64_t sum_percpu(struct image *image, uint64_t address)
{
	uint64_t sum = 0;

	for (size_t cpu = 0; cpu < image->cpus; cpu++)
		sum += image_u64(image, address + image->cpu_offset[cpu]);
	return sum;
}

static uint64_t not_below_0(int64_t value)
{
	return value > 0 ? (uint64_t)value : 0;
}

/* ---- sites ------------------------------------------------------------------------------ */

static void put_tag(const struct reader *r, uint16_t id)
{
	struct text name = { 0 };
	char *note;

	if (image_site_text(r->sites, id, &name)) {
		/* The list of call sites has this note, the file contexts does not. */
		note = strstr(name.s, " accurate:no");
		if (note)
			memmove(note, note + 12, strlen(note + 12) + 1);
		text_printf(r->out, " %s", name.s);
	}
	text_free(&name);
}

static bool has_frames(enum codetag_key key)
{
	return key < CODETAG_NR_KEYS && CODETAG_FRAME_KEYS & BIT(key);
}

static void put_keys(const struct reader *r, uint32_t split, uint32_t max)
{
	const uint64_t *n = r->image->n;
	/* The bit below the number of frames */
	uint32_t trace = n[N_SPLIT_DEPTH] ? split & 1U << (n[N_SPLIT_DEPTH] - 1) : 0;
	char separator = '=';

	split &= ~trace;
	text_puts(r->out, " keys");
	for (size_t i = 0; i < r->keys; i++) {
		if (!(split >> i & 1))
			continue;
		text_printf(r->out, "%c%s", separator, r->name[i]);
		separator = ',';
		if (has_frames(r->key[i]))
			split |= 1U << 31;
	}
	if (separator == '=')
		text_puts(r->out, "=none");
	if (split >> 31)
		text_printf(r->out, " depth=%u", (split & ~(1U << 31)) >> n[N_SPLIT_DEPTH]);
	if (split)
		text_printf(r->out, " max=%u", max);
	if (trace)
		text_puts(r->out, " trace");
}

static void put_site(const struct reader *r, const char *raw)
{
	const uint64_t *n = r->image->n;
	uint16_t id = get16(raw, n[N_SITE_ID]);
	const struct image_counters *counted = &r->sites->counted[id];

	text_printf(r->out, "# site: %12" PRIu64 " %8" PRIu64 " %8" PRIu64,
		    not_below_0(counted->bytes), not_below_0(counted->calls),
		    sum_percpu(r->image, get64(raw, n[N_SITE_LOST])));
	put_tag(r, id);
	put_keys(r, get32(raw, n[N_SITE_SPLIT]), get32(raw, n[N_SITE_MAX]));
	text_printf(r->out, " contexts=%u\n", get32(raw, n[N_SITE_NR]));
}

/* Calls @each for all sites that are or were split. */
static size_t each_site(struct image *image, void (*each)(void *data, const char *raw), void *data)
{
	const uint64_t *n = image->n;
	uint64_t head = n[N_SITES], at = image_u64(image, head);
	size_t size = n[N_SITE_SIZE], count = 0;
	char *raw = xmalloc(size);

	while (at && at != head && count < MAX_SITES && !image_exhausted(image)) {
		if (!image_read(image, at - n[N_SITE_LIST], raw, size))
			break;
		count++;
		each(data, raw);
		at = get64(raw, n[N_SITE_LIST]);
	}
	free(raw);
	return count;
}

static void add_site(void *data, const char *raw)
{
	put_site(data, raw);
}

struct split_count {
	const struct image *image;
	uint64_t split;
};

static void count_split(void *data, const char *raw)
{
	struct split_count *count = data;

	count->split += get32(raw, count->image->n[N_SITE_SPLIT]) != 0;
}

/* ---- values ------------------------------------------------------------------------------ */

static size_t put_gfp(const struct reader *r, const uint64_t *word)
{
	struct image *image = r->image;
	const uint64_t *n = image->n;
	uint64_t flags = (uint32_t)(*word >> n[N_GFP_SHIFT]);
	const char *separator = "";

	text_puts(r->out, " gfp=");
	for (size_t i = 0; i < MAX_GFP_NAMES && flags && n[N_GFP_NAMES]; i++) {
		uint64_t at = n[N_GFP_NAMES] + i * n[N_FLAGS_SIZE], name = image_u64(image, at + n[N_FLAGS_NAME]);
		uint64_t mask = image_u64(image, at + n[N_FLAGS_MASK]);
		char text[64];

		if (!name)
			break;
		if (!mask || (flags & mask) != mask)
			continue;
		text_printf(r->out, "%s%s", separator, image_string(image, name, text, sizeof(text)));
		separator = "|";
		flags &= ~mask;
	}
	if (flags)
		text_printf(r->out, "%s%#" PRIx64, separator, flags);
	return 1;
}

/* The smallest and largest age of its allocations, in seconds */
static size_t put_age(const struct reader *r, const uint64_t *word)
{
	uint64_t start = (uint32_t)*word, end = start + (*word >> 32);

	text_printf(r->out, " age=%" PRIu64 "-%" PRIu64, r->now > end ? r->now - end : 0,
		    r->now > start ? r->now - start : 0);
	return 1;
}

static size_t put_cpu(const struct reader *r, const uint64_t *word)
{
	text_printf(r->out, " cpu=%u", (unsigned int)(*word >> r->image->n[N_CPU_SHIFT] & 0x3fff));
	return 1;
}

static size_t put_accounted(const struct reader *r, const uint64_t *word)
{
	text_printf(r->out, " accounted=%s", *word >> r->image->n[N_ACCOUNTED_SHIFT] & 1 ? "yes" : "no");
	return 1;
}

static size_t put_node(const struct reader *r, const uint64_t *word)
{
	if ((uint16_t)*word)
		text_printf(r->out, " node=%d", (uint16_t)*word - 1);
	else
		text_puts(r->out, " node=all");
	return 1;
}

static size_t put_task(const struct reader *r, const uint64_t *word)
{
	size_t size = r->image->n[N_TASK_NAME];

	text_puts(r->out, " task=");
	text_add_name(r->out, (const char *)word, size);
	return size / 8;
}

static size_t put_cgroup(const struct reader *r, const uint64_t *word)
{
	if (*word)
		text_printf(r->out, " cgroup=%" PRIu64, *word & ~(UINT64_MAX << r->image->n[N_HIERARCHY_SHIFT]));
	else
		text_puts(r->out, " cgroup=none");
	return 1;
}

static size_t put_size(const struct reader *r, const uint64_t *word)
{
	text_printf(r->out, " size=%" PRIu64, *word);
	return 1;
}

/* All but those that have frames */
static put_key *const put_by_key[CODETAG_NR_KEYS] = {
	[CODETAG_KEY_NODE] = put_node,
	[CODETAG_KEY_CPU] = put_cpu,
	[CODETAG_KEY_ACCOUNTED] = put_accounted,
	[CODETAG_KEY_GFP] = put_gfp,
	[CODETAG_KEY_SIZE] = put_size,
	[CODETAG_KEY_AGE] = put_age,
	[CODETAG_KEY_CGROUP] = put_cgroup,
	[CODETAG_KEY_TASK] = put_task,
};

static enum codetag_key find_key(const char *name)
{
	enum codetag_key key = 0;

	while (key < CODETAG_NR_KEYS && strcmp(name, codetag_key_names[key]))
		key++;
	return key;
}

/* Appends the value of a key of the kernel. Returns its number of words, 0 if they are not known. */
static size_t put_value(const struct reader *r, size_t i, const uint64_t *word)
{
	enum codetag_key key = r->key[i];

	if (key < CODETAG_NR_KEYS && put_by_key[key])
		return put_by_key[key](r, word);
	text_printf(r->out, " %s=?", r->name[i]);
	return 0;
}

/* Values are packed in the order of the keys. */
static void put_values(const struct reader *r, const char *raw)
{
	const uint64_t *n = r->image->n;
	uint32_t split = get32(raw, n[N_CONTEXT_SPLIT]);
	size_t words = n[N_VALUE_WORDS], word = 0;
	uint64_t value[MAX_WORDS + MAX_TASK / 8] = { 0 };
	size_t taken = 1;

	memcpy(value, raw + n[N_CONTEXT_WORDS], 8 * words);
	/* These keys share one word. */
	for (size_t i = 0; i < r->keys; i++) {
		if (!(split & n[N_SMALL_KEYS] & 1U << i))
			continue;
		put_value(r, i, value);
		word = 1;
	}
	/* The values behind one that is not known are not known, either. */
	for (size_t i = 0; i < r->keys && word < words; i++) {
		if (!(split >> i & 1) || n[N_SMALL_KEYS] >> i & 1 || has_frames(r->key[i]))
			continue;
		if (taken)
			taken = put_value(r, i, &value[word]);
		else
			text_printf(r->out, " %s=?", r->name[i]);
		word += taken;
	}
}

/* The frames that are left of a stack whose module is gone. */
static void put_stack_text(const struct reader *r, uint64_t at)
{
	struct image *image = r->image;
	const uint64_t *n = image->n;
	uint64_t bytes = image_u32(image, at + n[N_STACK_TEXT_BYTES]);
	char *text;

	if (bytes <= n[N_STACK_TEXT] || bytes > MAX_STACK_TEXT)
		return;
	bytes -= n[N_STACK_TEXT];
	text = xcalloc(bytes + 1, 1);
	image_read(image, at + n[N_STACK_TEXT], text, bytes);
	for (char *line = text, *end; *line && (end = strchr(line, '\n')); line = end + 1) {
		*end = '\0';
		for (char *s = line; *s; s++)
			if (*s < ' ' || *s >= 0x7f)
				*s = '?';
		if (*line == ' ')
			text_printf(r->out, "%s\n", line);
	}
	free(text);
}

static void put_stack(const struct reader *r, const char *raw)
{
	const uint64_t *n = r->image->n;
	uint64_t text = get64(raw, n[N_CONTEXT_TEXT]);
	uint8_t frames = (uint8_t)raw[n[N_CONTEXT_FRAMES]];

	if (text) {
		put_stack_text(r, text);
		return;
	}
	for (uint64_t i = 0; i < frames && i < n[N_STACK_DEPTH]; i++) {
		text_puts(r->out, " ");
		image_function_text(r->functions, get64(raw, n[N_CONTEXT_STACK] + 8 * i), r->out);
		text_puts(r->out, "\n");
	}
}

static void put_context(const struct reader *r, uint16_t id, const char *raw)
{
	const struct image_counters *counted = &r->sites->counted[id];
	uint64_t allocs = counted->allocs, calls = not_below_0(counted->calls);

	if (!allocs && !calls)
		return;
	text_printf(r->out, "%12" PRIu64 " %8" PRIu64 " %8" PRIu64, not_below_0(counted->bytes), calls,
		    allocs > calls ? allocs : calls);
	put_tag(r, r->sites->site_of[id]);
	put_values(r, raw);
	text_puts(r->out, "\n");
	put_stack(r, raw);
}

static void each_context(const struct reader *r,
			 void (*each)(const struct reader *r, uint16_t id, const char *raw))
{
	struct image *image = r->image;
	const uint64_t *n = image->n;
	char *raw = xmalloc(n[N_CONTEXT_SIZE]);

	for (uint32_t id = (uint32_t)n[N_ID_FIRST]; id < IMAGE_IDS && !image_exhausted(image); id++) {
		uint32_t i = r->sites->range_of[id];
		const struct image_range *range = i ? &r->sites->range[i - 1] : NULL;

		if (!range || !range->block || !r->sites->site_of[id] ||
		    !image_read(image, range->block + n[N_BLOCK_CONTEXTS] +
				(id - range->first) * n[N_CONTEXT_SIZE], raw, n[N_CONTEXT_SIZE]))
			continue;
		each(r, (uint16_t)id, raw);
	}
	free(raw);
}

/* ---- all --------------------------------------------------------------------------------- */

/* Whether all members that are read from a buffer are inside it. */
static bool layout_sane(const struct image *image)
{
	const uint64_t *n = image->n;
	const struct {
		enum number member, of;
		uint64_t size;
	} members[] = {
		{ N_SITE_LIST, N_SITE_SIZE, 8 }, { N_SITE_ID, N_SITE_SIZE, 2 },
		{ N_SITE_SPLIT, N_SITE_SIZE, 4 }, { N_SITE_MAX, N_SITE_SIZE, 4 },
		{ N_SITE_NR, N_SITE_SIZE, 4 }, { N_SITE_LOST, N_SITE_SIZE, 8 },
		{ N_CONTEXT_SPLIT, N_CONTEXT_SIZE, 4 }, { N_CONTEXT_FRAMES, N_CONTEXT_SIZE, 1 },
		{ N_CONTEXT_TEXT, N_CONTEXT_SIZE, 8 },
		{ N_CONTEXT_WORDS, N_CONTEXT_SIZE, 8 * n[N_VALUE_WORDS] },
		{ N_CONTEXT_STACK, N_CONTEXT_SIZE, 8 * n[N_STACK_DEPTH] },
	};

	if (n[N_NR_KEYS] > MAX_KEYS || n[N_VALUE_WORDS] > MAX_WORDS || n[N_STACK_DEPTH] > MAX_FRAMES ||
	    n[N_TASK_NAME] > MAX_TASK || n[N_CPU_SHIFT] > 63 || n[N_ACCOUNTED_SHIFT] > 63 ||
	    n[N_GFP_SHIFT] > 63 || n[N_HIERARCHY_SHIFT] > 63 || n[N_SPLIT_DEPTH] > 31 || !n[N_HZ])
		return false;
	for (size_t i = 0; i < sizeof(members) / sizeof(*members); i++)
		if (n[members[i].member] + members[i].size > n[members[i].of])
			return false;
	return true;
}

/* Returns false if the kernel does not tell its contexts. */
static bool reader_begin(struct reader *r, const struct image_sites *sites, struct text *out)
{
	struct image *image = sites->image;
	const uint64_t *n = image->n;

	*r = (struct reader){ .sites = sites, .image = image, .out = out, .keys = n[N_NR_KEYS] };
	if (!n[N_SITES] || !layout_sane(image))
		return false;
	for (size_t i = 0; i < r->keys; i++) {
		image_string(image, image_u64(image, n[N_KEY_NAMES] + 8 * i), r->name[i], sizeof(r->name[i]));
		r->key[i] = find_key(r->name[i]);
	}
	/* Without the time during which the machine was suspended. */
	r->now = (image_u64(image, n[N_JIFFIES]) - n[N_JIFFIES_BEGIN]) / n[N_HZ];
	return true;
}

bool image_contexts(const struct image_sites *sites, struct image_functions *functions,
		    struct text *text)
{
	struct reader r;

	if (!reader_begin(&r, sites, text))
		return false;
	r.functions = functions;
	text_puts(text, "# contexts - version: 1.0\n"
		  "# site:    <size>  <calls>   <lost> <tag info> <keys>\n"
		  "#     <size>  <calls> <allocs> <tag info> <values>\n");
	each_site(sites->image, add_site, &r);
	each_context(&r, put_context);
	return true;
}

static void tell_age(const struct reader *r, uint16_t id, const char *raw)
{
	char *age;

	text_clear(r->out);
	put_values(r, raw);
	/* Names in other values have no blanks. */
	age = r->out->len ? strstr(r->out->s, " age=") : NULL;
	if (!age)
		return;
	age += strlen(" age=");
	age[strcspn(age, " ")] = '\0';
	r->age(r->data, id, age);
}

bool image_context_ages(const struct image_sites *sites,
			void (*each)(void *data, uint16_t id, const char *age), void *data)
{
	struct text values = { 0 };
	struct reader r;
	bool good = reader_begin(&r, sites, &values);

	r.age = each;
	r.data = data;
	if (good)
		each_context(&r, tell_age);
	text_free(&values);
	return good;
}

uint64_t image_sites_split(const struct image_sites *sites, uint64_t *all)
{
	struct split_count count = { .image = sites->image };

	*all = 0;
	if (sites->image->n[N_SITES] && layout_sane(sites->image))
		*all = each_site(sites->image, count_split, &count);
	return count.split;
}
