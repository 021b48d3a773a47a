// SPDX-License-Identifier: GPL-2.0-only
/* Print how fast the time stamp counter of this processor is, in kHz. */
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

#define TENTH	100000000L	/* of a second, in ns */
#define TRIES	1000

struct moment {
	int64_t ns;
	uint64_t tsc;
};

/* Between two looks at the clock that are as close as they get: nobody came in between. */
static struct moment now(void)
{
	struct moment best = {};
	int64_t least = INT64_MAX;
	struct timespec before, after;
	uint64_t tsc;
	int64_t took;

	for (int i = 0; i < TRIES; i++) {
		clock_gettime(CLOCK_MONOTONIC_RAW, &before);
		tsc = __rdtsc();
		clock_gettime(CLOCK_MONOTONIC_RAW, &after);
		took = (after.tv_sec - before.tv_sec) * 10 * TENTH + after.tv_nsec - before.tv_nsec;
		if (took < least) {
			least = took;
			best.ns = before.tv_sec * 10 * TENTH + before.tv_nsec + took / 2;
			best.tsc = tsc;
		}
	}
	return best;
}

int main(void)
{
	struct moment first = now(), last;

	nanosleep(&(struct timespec){ .tv_nsec = TENTH }, NULL);
	last = now();
	printf("%.0f\n", (double)(last.tsc - first.tsc) * 1e6 / (double)(last.ns - first.ns));
	return 0;
}
