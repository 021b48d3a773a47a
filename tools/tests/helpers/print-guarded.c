// SPDX-License-Identifier: GPL-2.0-only
/* Prints a file to standard output, which is guarded as that of codetag. */
#include <stdio.h>
#include "base/terminal.h"
int main(int argc, char **argv)
{
	FILE *in = fopen(argv[argc - 1], "r");
	int c;
	terminal_guard();
	while ((c = getc(in)) != EOF)
		putchar(c);
	return fflush(stdout);
}
