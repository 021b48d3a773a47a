// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loads another kernel: kexec [-p] KERNEL INITRAMFS COMMAND_LINE, and starts it, or,
 * with -p, leaves it to be started by a panic.
 */
#include <fcntl.h>
#include <linux/reboot.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ON_CRASH 2		/* KEXEC_FILE_ON_CRASH */

int main(int argc, char **argv)
{
#ifdef SYS_kexec_file_load
	int crash = argc > 1 && !strcmp(argv[1], "-p");
	int kernel, initramfs;

	argv += crash;
	if (argc - crash != 4) {
		fprintf(stderr, "usage: kexec [-p] KERNEL INITRAMFS COMMAND_LINE\n");
		return 2;
	}
	kernel = open(argv[1], O_RDONLY);
	initramfs = open(argv[2], O_RDONLY);
	if (kernel < 0 || initramfs < 0) {
		perror("open");
		return 1;
	}
	if (syscall(SYS_kexec_file_load, kernel, initramfs, strlen(argv[3]) + 1, argv[3],
		    crash ? ON_CRASH : 0)) {
		perror("kexec_file_load");
		return 1;
	}
	if (crash)
		return 0;
	sync();
	syscall(SYS_reboot, LINUX_REBOOT_MAGIC1, LINUX_REBOOT_MAGIC2, LINUX_REBOOT_CMD_KEXEC, NULL);
	perror("reboot");
#else
	(void)argc;
	(void)argv;
	fprintf(stderr, "kexec: not on this architecture\n");
#endif
	return 1;
}
