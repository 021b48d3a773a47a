// SPDX-License-Identifier: GPL-2.0-only
#include "progress.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"

void progress_step(struct progress *progress)
{
	struct timespec now;
	long ms;

	progress->done++;
	if (!isatty(STDERR_FILENO))
		return;
	clock_gettime(CLOCK_MONOTONIC, &now);
	ms = (now.tv_sec - progress->shown.tv_sec) * 1000 +
	     (now.tv_nsec - progress->shown.tv_nsec) / 1000000;
	if (progress->shown.tv_sec && ms < 200)
		return;
	progress->shown = now;
	fprintf(stderr, "\r%zu of %zu %s", progress->done, progress->all, progress->what);
}

void progress_end(struct progress *progress)
{
	struct text blanks = { 0 };

	progress->done = 0;
	if (!progress->shown.tv_sec)
		return;
	text_printf(&blanks, "%zu of %zu %s", progress->all, progress->all, progress->what);
	memset(blanks.s, ' ', blanks.len);
	fprintf(stderr, "\r%s\r", blanks.s);
	text_free(&blanks);
	progress->shown.tv_sec = 0;
}
