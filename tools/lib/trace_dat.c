// SPDX-License-Identifier: GPL-2.0
#include "trace_dat.h"

#include <trace-cmd.h>

#include "kmem_tep.h"
#include "memory.h"

static int add(struct tracecmd_input *input, struct tep_record *record, int cpu,
	       void *reader)
{
	(void)input;
	kmem_tep_read(reader, record, cpu);
	return 0;
}

bool trace_dat_read(const char *path, kmem_sink *sink, void *context)
{
	struct kmem_tep *reader;
	struct tracecmd_input *input;
	bool good;

	tracecmd_set_loglevel(TEP_LOG_NONE);
	tep_set_loglevel(TEP_LOG_NONE);
	input = tracecmd_open(path, TRACECMD_FL_LOAD_NO_PLUGINS);
	if (!input)
		return false;
	reader = xcalloc(1, sizeof(*reader));
	reader->sink = sink;
	reader->context = context;
	reader->tep = tracecmd_get_tep(input);
	good = !tracecmd_iterate_events(input, NULL, 0, add, reader);
	kmem_tep_free(reader);
	tracecmd_close(input);
	return good;
}
