// SPDX-License-Identifier: GPL-2.0-only
/*
 * QEMU plugin: loads, stores and cache misses between the reads of the time-stamp
 * counter in a range of code.
 *
 * The benchmark reads the counter before and after each measured interval. Each time an
 * RDTSC of its code is executed, the plugin writes a line with its address and the numbers
 * since the first one: instructions, loads, stores, lines that were touched, misses of the
 * L1 data cache, misses of the L2 cache. accesses.py takes the differences. Neither the
 * benchmark nor the kernel has to know of the plugin.
 *
 * A line counts as touched once between two markers. So their number is that of the misses
 * of an unlimited cache that is empty at the marker.
 *
 * Only data counts, not the fetching of instructions. The caches are looked up by
 * physical address, replace what was used least recently, and a store brings its
 * line in as a load does. Nothing is prefetched.
 *
 * For one processor: nothing is locked.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "qemu_plugin.h"

#define LINE_SHIFT	6	/* 64 bytes */

/* @set has for each set its lines, the one that was used last first */
struct cache {
	uint64_t size;
	uint64_t ways;
	uint64_t sets;
	uint64_t *set;
	uint64_t misses;
};

int qemu_plugin_version = 1;

static uint64_t code_start, code_end;
static FILE *out;
static struct cache l1 = { .size = 32 << 10, .ways = 8 };
static struct cache l2 = { .size = 1 << 20, .ways = 16 };
static uint64_t instructions, loads, stores;
static uint64_t lines;

/*
 * For each line the number of the last interval between markers that touched it.
 * Two lines that are 1 GiB apart share one; 0 is the time before the first marker.
 */
static uint32_t touched[1 << 24];
static uint32_t interval;

/* True if the line was there. It is the first of its set now. */
static bool cache_touch(struct cache *c, uint64_t line)
{
	uint64_t *set = c->set + line % c->sets * c->ways;
	/* An empty place is 0, so the line numbers begin with 1. */
	uint64_t tag = line + 1;
	uint64_t i = 0;
	bool hit;

	while (i < c->ways - 1 && set[i] != tag)
		i++;
	hit = set[i] == tag;
	memmove(set + 1, set, i * sizeof(*set));
	set[0] = tag;
	c->misses += !hit;
	return hit;
}

static void on_access(unsigned int cpu, qemu_plugin_meminfo_t info, uint64_t address, void *data)
{
	const struct qemu_plugin_hwaddr *where;
	uint64_t from, size = (uint64_t)1 << qemu_plugin_mem_size_shift(info);

	(void)cpu;
	(void)data;
	/* Skip the boot: it is long, and not measured. */
	if (!interval)
		return;
	if (qemu_plugin_mem_is_store(info))
		stores++;
	else
		loads++;
	where = qemu_plugin_get_hwaddr(info, address);
	if (!where || qemu_plugin_hwaddr_is_io(where))
		return;
	from = qemu_plugin_hwaddr_phys_addr(where);
	for (uint64_t line = from >> LINE_SHIFT; line <= (from + size - 1) >> LINE_SHIFT; line++) {
		uint32_t *last = &touched[line % (sizeof(touched) / sizeof(*touched))];

		lines += *last != interval;
		*last = interval;
		if (!cache_touch(&l1, line))
			cache_touch(&l2, line);
	}
}

static void on_marker(unsigned int cpu, void *data)
{
	(void)cpu;
	interval++;
	fprintf(out, "%" PRIx64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
		" %" PRIu64 "\n", (uint64_t)(uintptr_t)data, instructions, loads, stores, lines,
		l1.misses, l2.misses);
}

static bool is_marker(const struct qemu_plugin_insn *insn)
{
	static const unsigned char rdtsc[] = { 0x0f, 0x31 };
	uint64_t address = qemu_plugin_insn_vaddr(insn);

	return address >= code_start && address < code_end &&
	       qemu_plugin_insn_size(insn) == sizeof(rdtsc) &&
	       !memcmp(qemu_plugin_insn_data(insn), rdtsc, sizeof(rdtsc));
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	size_t n = qemu_plugin_tb_n_insns(tb);

	(void)id;
	for (size_t i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);

		qemu_plugin_register_vcpu_insn_exec_inline(insn, QEMU_PLUGIN_INLINE_ADD_U64,
							   &instructions, 1);
		qemu_plugin_register_vcpu_mem_cb(insn, on_access, QEMU_PLUGIN_CB_NO_REGS,
						 QEMU_PLUGIN_MEM_RW, NULL);
		if (is_marker(insn))
			qemu_plugin_register_vcpu_insn_exec_cb(
				insn, on_marker, QEMU_PLUGIN_CB_NO_REGS,
				(void *)(uintptr_t)qemu_plugin_insn_vaddr(insn));
	}
}

static void on_exit_of_qemu(qemu_plugin_id_t id, void *data)
{
	(void)id;
	(void)data;
	/* A file that is not whole must not look like one: its end says so. */
	fputs("end\n", out);
	if (fclose(out))
		perror("accesses: output");
	free(l1.set);
	free(l2.set);
}

static bool cache_init(struct cache *c)
{
	if (!c->ways || c->size >> LINE_SHIFT < c->ways)
		return false;
	c->sets = (c->size >> LINE_SHIFT) / c->ways;
	c->set = calloc(c->sets, c->ways * sizeof(*c->set));
	return c->set;
}

static bool argument(const char *text)
{
	static const struct {
		const char *name;
		uint64_t *value;
	} numbers[] = {
		{ "from=", &code_start }, { "to=", &code_end },
		{ "l1=", &l1.size }, { "l1-ways=", &l1.ways },
		{ "l2=", &l2.size }, { "l2-ways=", &l2.ways },
	};

	if (!strncmp(text, "out=", 4)) {
		out = fopen(text + 4, "w");
		return out;
	}
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		size_t length = strlen(numbers[i].name);
		char *end;

		if (strncmp(text, numbers[i].name, length))
			continue;
		errno = 0;
		*numbers[i].value = strtoull(text + length, &end, 0);
		return !errno && text[length] && !*end;
	}
	return false;
}

int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info_t *info, int argc, char **argv)
{
	(void)info;
	for (int i = 0; i < argc; i++) {
		if (!argument(argv[i])) {
			fprintf(stderr, "accesses: bad argument: %s\n", argv[i]);
			return -1;
		}
	}
	if (!out || code_start >= code_end || !cache_init(&l1) || !cache_init(&l2)) {
		fputs("accesses: needs out=FILE,from=ADDRESS,to=ADDRESS; may have l1=BYTES,l1-ways=N,"
		      "l2=BYTES,l2-ways=N\n", stderr);
		return -1;
	}
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
	qemu_plugin_register_atexit_cb(id, on_exit_of_qemu, NULL);
	return 0;
}
