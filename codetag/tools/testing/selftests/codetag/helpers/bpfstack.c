// SPDX-License-Identifier: GPL-2.0-only
/*
 * bpfstack root|user - have a program of BPF put an entry into a map, for which the kernel
 * allocates memory below the program's own frame. As a user it is loaded without any
 * capability, and so has no symbol. Prints "ready" and stays; ends with 4 if users may not.
 */
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FUNC_MAP_UPDATE_ELEM	2

static long bpf(int command, union bpf_attr *attr)
{
	return syscall(SYS_bpf, command, attr, sizeof(*attr));
}

static int fail(const char *what, int status)
{
	perror(what);
	exit(status);
}

#define INSN(_code, _dst, _src, _off, _imm) \
	{ .code = (_code), .dst_reg = (_dst), .src_reg = (_src), .off = (_off), .imm = (_imm) }

int main(int argc, char **argv)
{
	/* Its entries are allocated one by one, where the program runs. */
	union bpf_attr trie = {
		.map_type = BPF_MAP_TYPE_LPM_TRIE, .key_size = 8, .value_size = 64,
		.max_entries = 16, .map_flags = BPF_F_NO_PREALLOC,
	};
	int map, program, fds[2];

	if (argc != 2)
		return 2;
	map = bpf(BPF_MAP_CREATE, &trie);
	if (map < 0)
		return fail("BPF_MAP_CREATE", 1);
	if (!strcmp(argv[1], "user") && setuid(65534))
		return fail("setuid", 1);

	struct bpf_insn insns[] = {
		INSN(BPF_ST | BPF_MEM | BPF_W, 10, 0, -8, 32),
		INSN(BPF_ST | BPF_MEM | BPF_W, 10, 0, -4, 1),
		INSN(BPF_ST | BPF_MEM | BPF_DW, 10, 0, -16, 0),
		INSN(BPF_ST | BPF_MEM | BPF_DW, 10, 0, -24, 0),
		INSN(BPF_ST | BPF_MEM | BPF_DW, 10, 0, -32, 0),
		INSN(BPF_ST | BPF_MEM | BPF_DW, 10, 0, -40, 0),
		INSN(BPF_ST | BPF_MEM | BPF_DW, 10, 0, -48, 0),
		INSN(BPF_ST | BPF_MEM | BPF_DW, 10, 0, -56, 0),
		INSN(BPF_ST | BPF_MEM | BPF_DW, 10, 0, -64, 0),
		INSN(BPF_ST | BPF_MEM | BPF_DW, 10, 0, -72, 0),
		INSN(BPF_LD | BPF_DW | BPF_IMM, 1, BPF_PSEUDO_MAP_FD, 0, map),
		INSN(0, 0, 0, 0, 0),
		INSN(BPF_ALU64 | BPF_MOV | BPF_X, 2, 10, 0, 0),
		INSN(BPF_ALU64 | BPF_ADD | BPF_K, 2, 0, 0, -8),
		INSN(BPF_ALU64 | BPF_MOV | BPF_X, 3, 10, 0, 0),
		INSN(BPF_ALU64 | BPF_ADD | BPF_K, 3, 0, 0, -72),
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, 4, 0, 0, 0),
		INSN(BPF_JMP | BPF_CALL, 0, 0, 0, FUNC_MAP_UPDATE_ELEM),
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0),
		INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
	};
	char log[4096] = "";
	union bpf_attr load = {
		.prog_type = BPF_PROG_TYPE_SOCKET_FILTER,
		.insns = (unsigned long)insns,
		.insn_cnt = sizeof(insns) / sizeof(*insns),
		.license = (unsigned long)"GPL",
		.log_buf = (unsigned long)log, .log_size = sizeof(log), .log_level = 1,
		.prog_name = "named",
	};
	program = bpf(BPF_PROG_LOAD, &load);
	if (program < 0) {
		fprintf(stderr, "%s\n", log);
		return fail("BPF_PROG_LOAD", 4);
	}
	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, fds) ||
	    setsockopt(fds[0], SOL_SOCKET, SO_ATTACH_BPF, &program, sizeof(program)))
		return fail("SO_ATTACH_BPF", 1);
	if (write(fds[1], "x", 1) < 0)
		perror("write");
	printf("ready\n");
	fflush(stdout);
	sleep(60);
	return 0;
}
