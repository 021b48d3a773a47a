// SPDX-License-Identifier: GPL-2.0-only
/*
 * QEMU plugin: how often each block of code was executed.
 *
 * At the end a line for each block that was: its address, how many instructions it
 * has, how often it began. Code that was translated twice has two. The last line is
 * "end".
 *
 * For one processor: nothing is locked.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "qemu_plugin.h"

struct block {
	uint64_t address;
	uint64_t instructions;
	uint64_t executions;
	struct block *next;
};

int qemu_plugin_version = 1;

static struct block *blocks;
static FILE *out;

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	struct qemu_plugin_insn *first = qemu_plugin_tb_get_insn(tb, 0);
	struct block *block = malloc(sizeof(*block));

	(void)id;
	if (!block) {
		perror("blocks");
		exit(1);
	}
	*block = (struct block){
		.address = qemu_plugin_insn_vaddr(first),
		.instructions = qemu_plugin_tb_n_insns(tb),
		.next = blocks,
	};
	blocks = block;
	qemu_plugin_register_vcpu_insn_exec_inline(first, QEMU_PLUGIN_INLINE_ADD_U64,
						   &block->executions, 1);
}

static void on_exit_of_qemu(qemu_plugin_id_t id, void *data)
{
	(void)id;
	(void)data;
	for (struct block *block = blocks; block; block = block->next)
		if (block->executions)
			fprintf(out, "%" PRIx64 " %" PRIu64 " %" PRIu64 "\n", block->address,
				block->instructions, block->executions);
	/* A file that is not whole must not look like one. */
	fputs("end\n", out);
	if (fclose(out))
		perror("blocks: output");
}

int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info_t *info, int argc, char **argv)
{
	(void)info;
	out = argc == 1 && !strncmp(argv[0], "out=", 4) ? fopen(argv[0] + 4, "w") : NULL;
	if (!out) {
		fputs("blocks: needs out=FILE, which can be written\n", stderr);
		return -1;
	}
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
	qemu_plugin_register_atexit_cb(id, on_exit_of_qemu, NULL);
	return 0;
}
