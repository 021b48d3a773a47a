// SPDX-License-Identifier: GPL-2.0-only
#include "trace/trace_dat.h"

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <trace-cmd.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/message.h"
#include "trace/kmem_tep.h"

/* CPU time within which the library has to reach the next record. */
#define PATIENCE 5			/* in seconds; one more … */
#define PATIENCE_SIZE (20 << 20)	/* … for each so many bytes, which may be compressed */

/* The limit for the whole file: two such times, and a second for each so many bytes. */
#define PATIENCE_ALL_SIZE (1 << 18)

struct reader {
	struct kmem_tep *tep;
	uint64_t *next;		/* by CPU: the least offset in the file of its next record */
	size_t cpus, room;
	int64_t left;		/* bytes that further records can have */
};

/* For each record the library looks at each CPU. */
#define MOST_CPUS 4096

static volatile sig_atomic_t records;	/* counts up and may wrap around */
static sig_atomic_t turns = 2;		/* number of periods that are left */

/* A damaged length can lead the library in a circle. */
static void watch(int signal)
{
	static sig_atomic_t before;

	(void)signal;
	if (records == before || !turns--)
		_exit(STATUS_TROUBLE);
	before = records;
}

static void start_watch(const char *path)
{
	struct sigaction action = { .sa_handler = watch, .sa_flags = SA_RESTART };
	struct itimerval timer = { 0 };
	struct stat st;

	timer.it_value.tv_sec = PATIENCE;
	if (!stat(path, &st)) {
		timer.it_value.tv_sec += st.st_size / PATIENCE_SIZE;
		turns += (sig_atomic_t)(st.st_size / PATIENCE_ALL_SIZE / timer.it_value.tv_sec);
	}
	timer.it_interval = timer.it_value;
	sigaction(SIGPROF, &action, NULL);
	setitimer(ITIMER_PROF, &timer, NULL);
}

static int add(struct tracecmd_input *input, struct tep_record *record, int cpu,
	       void *context)
{
	struct reader *reader = context;

	(void)input;
	records = (records + 1) & 0xffff;
	while (cpu >= 0 && (size_t)cpu >= reader->cpus) {
		GROW(reader->next, reader->cpus, reader->room);
		reader->next[reader->cpus++] = 0;
	}
	/* A circle may contain records. */
	if (cpu < 0 || record->offset < reader->next[cpu])
		return -1;
	/* Several CPUs may have the same records. */
	reader->left -= record->size;
	if (reader->left < 0)
		return -1;
	reader->next[cpu] = record->offset + 1;
	kmem_tep_read(reader->tep, record, cpu);
	return 0;
}

/* At most the size of the file, unless it is compressed, which is new in version 7. */
static int64_t most_bytes(const char *path)
{
	char head[12] = "";
	FILE *file = fopen(path, "re");
	struct stat st = { 0 };
	bool known = file && fread(head, 1, sizeof(head), file) == sizeof(head) &&
		     !fstat(fileno(file), &st) && head[10] < '7' && !head[11];

	if (file)
		fclose(file);
	return known ? st.st_size : INT64_MAX;
}

bool trace_dat_read(const char *path, kmem_sink *sink, void *context)
{
	struct reader reader = { .left = most_bytes(path) };
	struct tracecmd_input *input;
	bool good;

	tracecmd_set_loglevel(TEP_LOG_NONE);
	tep_set_loglevel(TEP_LOG_NONE);
	start_watch(path);
	input = tracecmd_open(path, TRACECMD_FL_LOAD_NO_PLUGINS);
	if (!input)
		return false;
	if (tep_get_cpus(tracecmd_get_tep(input)) > MOST_CPUS) {
		tracecmd_close(input);
		return false;
	}
	reader.tep = xcalloc(1, sizeof(*reader.tep));
	reader.tep->sink = sink;
	reader.tep->context = context;
	reader.tep->tep = tracecmd_get_tep(input);
	good = !tracecmd_iterate_events(input, NULL, 0, add, &reader);
	kmem_tep_free(reader.tep);
	free(reader.next);
	tracecmd_close(input);
	return good;
}
