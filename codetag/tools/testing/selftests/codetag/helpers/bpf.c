// SPDX-License-Identifier: GPL-2.0-only
/*
 * BPF maps, and programs that fill them: bpf FUNCTION... attaches one to each function of
 * the kernel, prints "ready NUMBER", and has them until its standard input ends.
 *
 * Each run of a program adds or replaces an entry of a map, whatever the function was
 * called from: the memory for it comes from BPF's own allocator.
 */
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FUNC_KTIME_GET_NS	5
#define FUNC_MAP_UPDATE_ELEM	2

static long bpf(int command, union bpf_attr *attr)
{
	return syscall(SYS_bpf, command, attr, sizeof(*attr));
}

static int fail(const char *what)
{
	perror(what);
	exit(1);
}

static int map(unsigned int type, unsigned int entries, unsigned int flags)
{
	union bpf_attr attr = {
		.map_type = type,
		.key_size = type == BPF_MAP_TYPE_RINGBUF ? 0 : type == BPF_MAP_TYPE_ARRAY ? 4 : 8,
		.value_size = type == BPF_MAP_TYPE_RINGBUF ? 0 : 64,
		.max_entries = entries,
		.map_flags = flags,
	};
	int fd = bpf(BPF_MAP_CREATE, &attr);

	return fd >= 0 ? fd : fail("BPF_MAP_CREATE");
}

#define INSN(_code, _dst, _src, _off, _imm) \
	{ .code = (_code), .dst_reg = (_dst), .src_reg = (_src), .off = (_off), .imm = (_imm) }

/* map[time % 1024] = 64 bytes of the stack */
static int program(int fd)
{
	struct bpf_insn insns[32] = {
		INSN(BPF_JMP | BPF_CALL, 0, 0, 0, FUNC_KTIME_GET_NS),
		INSN(BPF_ALU64 | BPF_RSH | BPF_K, 0, 0, 0, 8),
		INSN(BPF_ALU64 | BPF_AND | BPF_K, 0, 0, 0, 1023),
		INSN(BPF_STX | BPF_MEM | BPF_DW, 10, 0, -8, 0),
	};
	char log[4096] = "";
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_KPROBE,
		.insns = (unsigned long)insns,
		.license = (unsigned long)"GPL",
		.log_buf = (unsigned long)log,
		.log_size = sizeof(log),
		.log_level = 1,
	};
	int n = 4, i, prog;

	for (i = 16; i <= 72; i += 8)
		insns[n++] = (struct bpf_insn)INSN(BPF_STX | BPF_MEM | BPF_DW, 10, 0, -i, 0);
	insns[n++] = (struct bpf_insn)INSN(BPF_LD | BPF_DW | BPF_IMM, 1, BPF_PSEUDO_MAP_FD, 0, fd);
	insns[n++] = (struct bpf_insn)INSN(0, 0, 0, 0, 0);
	insns[n++] = (struct bpf_insn)INSN(BPF_ALU64 | BPF_MOV | BPF_X, 2, 10, 0, 0);
	insns[n++] = (struct bpf_insn)INSN(BPF_ALU64 | BPF_ADD | BPF_K, 2, 0, 0, -8);
	insns[n++] = (struct bpf_insn)INSN(BPF_ALU64 | BPF_MOV | BPF_X, 3, 10, 0, 0);
	insns[n++] = (struct bpf_insn)INSN(BPF_ALU64 | BPF_ADD | BPF_K, 3, 0, 0, -72);
	insns[n++] = (struct bpf_insn)INSN(BPF_ALU64 | BPF_MOV | BPF_K, 4, 0, 0, 0);
	insns[n++] = (struct bpf_insn)INSN(BPF_JMP | BPF_CALL, 0, 0, 0, FUNC_MAP_UPDATE_ELEM);
	insns[n++] = (struct bpf_insn)INSN(BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0);
	insns[n++] = (struct bpf_insn)INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
	attr.insn_cnt = n;
	prog = bpf(BPF_PROG_LOAD, &attr);
	if (prog < 0)
		fprintf(stderr, "%s\n", log);
	return prog >= 0 ? prog : fail("BPF_PROG_LOAD");
}

static void attach(int prog, const char *function)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.kprobe_func = (unsigned long)function,
		.sample_period = 1,
	};
	FILE *file = fopen("/sys/bus/event_source/devices/kprobe/type", "r");
	int fd;

	if (!file || fscanf(file, "%u", &attr.type) != 1)
		fail("/sys/bus/event_source/devices/kprobe/type");
	fclose(file);
	fd = syscall(SYS_perf_event_open, &attr, -1, 0, -1, 0);
	if (fd < 0)
		fail(function);
	if (ioctl(fd, PERF_EVENT_IOC_SET_BPF, prog) || ioctl(fd, PERF_EVENT_IOC_ENABLE, 0))
		fail("PERF_EVENT_IOC_SET_BPF");
}

int main(int argc, char **argv)
{
	static const unsigned int types[] = {
		BPF_MAP_TYPE_HASH, BPF_MAP_TYPE_PERCPU_HASH, BPF_MAP_TYPE_LRU_HASH,
		BPF_MAP_TYPE_LRU_PERCPU_HASH,
	};
	char line[16];
	int i;

	map(BPF_MAP_TYPE_ARRAY, 4096, 0);
	map(BPF_MAP_TYPE_RINGBUF, 65536, 0);
	for (i = 1; i < argc; i++) {
		unsigned int type = types[(i - 1) % 4];
		unsigned int flags = type == BPF_MAP_TYPE_HASH || type == BPF_MAP_TYPE_PERCPU_HASH ?
				     BPF_F_NO_PREALLOC : 0;

		attach(program(map(type, 4096, flags)), argv[i]);
	}
	printf("ready %d\n", argc - 1);
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin))
		;
	return 0;
}
