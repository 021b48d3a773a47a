// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test of the plugin without QEMU: the accesses are made up, so what it must count
 * is known. An address here is its physical address.
 */
#include "accesses.c"

static uint64_t physical;
static bool is_io;
static unsigned int passed, failed;

/* What QEMU would answer: bit 0 of @info is a store, the rest its size */
bool qemu_plugin_mem_is_store(qemu_plugin_meminfo_t info)
{
	return info & 1;
}

unsigned int qemu_plugin_mem_size_shift(qemu_plugin_meminfo_t info)
{
	return info >> 1;
}

bool qemu_plugin_hwaddr_is_io(const struct qemu_plugin_hwaddr *address)
{
	(void)address;
	return is_io;
}

uint64_t qemu_plugin_hwaddr_phys_addr(const struct qemu_plugin_hwaddr *address)
{
	return *(const uint64_t *)(const void *)address;
}

struct qemu_plugin_hwaddr *qemu_plugin_get_hwaddr(qemu_plugin_meminfo_t info, uint64_t address)
{
	(void)info;
	physical = address;
	return (struct qemu_plugin_hwaddr *)(void *)&physical;
}

/* Code of three instructions: a NOP, and RDTSC in the range and outside */
static const struct {
	unsigned char bytes[2];
	uint64_t address;
} code[] = { { "\x66\x90", 0x1000 }, { "\x0f\x31", 0x1002 }, { "\x0f\x31", 0x3000 } };
static uint64_t markers[8];
static unsigned int nr_markers;

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb)
{
	(void)tb;
	return sizeof(code) / sizeof(*code);
}

struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t i)
{
	(void)tb;
	return (struct qemu_plugin_insn *)(uintptr_t)(i + 1);
}

const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn)
{
	return code[(uintptr_t)insn - 1].bytes;
}

size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn)
{
	(void)insn;
	return 2;
}

uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn)
{
	return code[(uintptr_t)insn - 1].address;
}

void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn, qemu_plugin_exec_fn fn,
					    enum qemu_plugin_cb_flags flags, void *data)
{
	(void)insn;
	(void)flags;
	if (fn == on_marker)
		markers[nr_markers++] = (uintptr_t)data;
}

void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn *insn,
						enum qemu_plugin_op op, void *counter,
						uint64_t value)
{
	(void)insn;
	(void)op;
	*(uint64_t *)counter += value;
}

void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn, qemu_plugin_mem_fn fn,
				      enum qemu_plugin_cb_flags flags,
				      enum qemu_plugin_mem_rw rw, void *data)
{
	(void)insn;
	(void)fn;
	(void)flags;
	(void)rw;
	(void)data;
}

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, qemu_plugin_tb_fn fn)
{
	(void)id;
	(void)fn;
}

void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, qemu_plugin_exit_fn fn, void *data)
{
	(void)id;
	(void)fn;
	(void)data;
}

static void expect(const char *what, uint64_t is, uint64_t want)
{
	if (is == want) {
		passed++;
		return;
	}
	failed++;
	printf("FAIL %s: %" PRIu64 ", must be %" PRIu64 "\n", what, is, want);
}

static void load(uint64_t address) { on_access(0, 3 << 1, address, NULL); }
static void store(uint64_t address) { on_access(0, 3 << 1 | 1, address, NULL); }

/* Misses of the L1 when these lines of one set are loaded, @n of them */
static uint64_t misses(unsigned int n)
{
	uint64_t before = l1.misses;

	for (unsigned int i = 0; i < n; i++)
		load((uint64_t)i * l1.sets << LINE_SHIFT);
	return l1.misses - before;
}

int main(void)
{
	static char out_arg[] = "out=/dev/null", from[] = "from=0x1000", to[] = "to=0x2000",
		    size[] = "l1=4096", bad[] = "l3=1", ways[] = "l1-ways=0";
	char *args[] = { out_arg, from, to, size };

	expect("an unknown argument", (uint64_t)argument(bad), false);
	expect("no range", (uint64_t)!qemu_plugin_install(0, NULL, 1, args), false);
	fclose(out);
	expect("installed", (uint64_t)!qemu_plugin_install(0, NULL, 4, args), true);
	expect("sets of 4096 bytes, 8 ways", l1.sets, 8);
	expect("sets of 1 MiB, 16 ways", l2.sets, 1024);

	on_translation(0, NULL);
	expect("markers in the range", nr_markers, 1);
	expect("address of the marker", markers[0], 0x1002);
	expect("instructions", instructions, 3);

	load(0);
	expect("loads before the first marker", loads, 0);
	on_marker(0, NULL);

	expect("misses of an empty cache", misses(8), 8);
	expect("misses of a set that is full", misses(8), 0);
	load(8);
	expect("misses in the line that is there", l1.misses, 8);
	/* Nine in eight ways, always the same order: each is gone when its turn comes. */
	expect("misses of one too many", misses(9), 1);
	expect("misses of one too many again", misses(9), 9);
	expect("misses of the L2", l2.misses, 9);
	expect("lines touched", lines, 9);
	expect("loads", loads, 35);

	store(60);
	expect("stores", stores, 1);
	expect("lines of a store across two", lines, 10);
	on_marker(0, NULL);
	load(64);
	load(64);
	expect("lines of the next interval", lines, 11);
	is_io = true;
	load(1 << 20);
	expect("lines of I/O", lines, 11);
	expect("loads of I/O", loads, 38);

	expect("no ways", (uint64_t)(argument(ways) && cache_init(&l1)), false);
	on_exit_of_qemu(0, NULL);
	printf("%u passed, %u failed\n", passed, failed);
	return failed != 0;
}
