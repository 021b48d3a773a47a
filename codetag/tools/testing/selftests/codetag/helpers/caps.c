// SPDX-License-Identifier: GPL-2.0-only
/*
 * caps NUMBER|none|user=UID COMMAND [ARGUMENT ...] - run a command with one capability,
 * with none, or as another user
 *
 * The user stays the same otherwise, as with user 0 of a container.
 */
#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int fail(const char *what)
{
	fprintf(stderr, "caps: %s: %s\n", what, strerror(errno));
	return 125;
}

int main(int argc, char **argv)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { 0 };
	int keep, i;

	if (argc < 3)
		return 125;
	if (!strncmp(argv[1], "user=", 5)) {
		if (setuid(atoi(argv[1] + 5)))
			return fail("setuid");
		execvp(argv[2], argv + 2);
		return fail(argv[2]);
	}
	keep = strcmp(argv[1], "none") ? atoi(argv[1]) : -1;
	for (i = 0; !prctl(PR_CAPBSET_READ, i) || prctl(PR_CAPBSET_READ, i) == 1; i++)
		if (i != keep && prctl(PR_CAPBSET_DROP, i))
			return fail("bounding set");
	if (keep >= 0) {
		data[keep / 32].effective = 1U << keep % 32;
		data[keep / 32].permitted = 1U << keep % 32;
	}
	if (syscall(SYS_capset, &head, data))
		return fail("capset");
	execvp(argv[2], argv + 2);
	return fail(argv[2]);
}
