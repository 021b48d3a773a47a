// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any file as a source of snapshots: text, compressed, an archive, a database. The first byte
 * chooses its name, which makes it a file of an archive or a single one.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/outfile.h"
#include "memory_image/dump.h"
#include "source/source.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

/*
 * libkdumpfile keeps 4 MiB for each dump that it could not open (dump.c says why), and the
 * fuzzer's memory is limited. It does not read ELF files, which begin with 0x7f.
 */
#define MAX_DUMPS 100

static char dir[] = "/dev/shm/codetag-fuzz-XXXXXX", path[sizeof(dir) + 32];

static void at_end(void)
{
	rmdir(dir);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc, (void)argv;
	if (!mkdtemp(dir))
		abort();
	atexit(at_end);
	/* The reader's complaints go to /dev/null; the fuzzer's own output does not. */
	stderr = fopen("/dev/null", "we");
	if (!stderr)
		abort();
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = { "allocinfo", "host.tar", "web1.allocinfo.gz", "x" };
	struct source_files files = { .count = 1 };
	const char *file = path;
	struct snapshot snapshot;
	static size_t dumps;
	int fd;

	if (!size || (size > 1 && data[1] != 0x7f && dump_is(data + 1, size - 1) && ++dumps > MAX_DUMPS))
		return 0;
	snprintf(path, sizeof(path), "%s/%s", dir, names[data[0] % 4]);
	fd = outfile_create_now(path);
	if (write(fd, data + 1, size - 1) < 0)
		abort();
	close(fd);
	files.path = &file;
	source_total(&snapshot, &files);
	snapshot_free(&snapshot);
	unlink(path);
	return 0;
}
