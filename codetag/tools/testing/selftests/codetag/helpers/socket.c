// SPDX-License-Identifier: GPL-2.0-only
/*
 * socket FAMILY TIMES - ask for a socket of a family that the kernel does not have, which
 * makes it load the module net-pf-FAMILY, whoever asks
 */
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int fd, i;

	if (argc != 3)
		return 2;
	for (i = 0; i < atoi(argv[2]); i++) {
		fd = socket(atoi(argv[1]), SOCK_DGRAM, 0);
		if (fd >= 0)
			close(fd);
	}
	return 0;
}
