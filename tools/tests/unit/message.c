// SPDX-License-Identifier: GPL-2.0-only
#include "base/message.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "unit.h"

/* Whether @want is printed to standard error. */
#define says(want, call)						\
({									\
	FILE *file = tmpfile();						\
	int before = dup(STDERR_FILENO);				\
	char got[200] = "";						\
									\
	dup2(fileno(file), STDERR_FILENO);				\
	call;								\
	dup2(before, STDERR_FILENO);					\
	close(before);							\
	rewind(file);							\
	got[fread(got, 1, sizeof(got) - 1, file)] = '\0';		\
	fclose(file);							\
	expect(!strcmp(got, want), "message: %s", #call);	\
})

void test_message(void)
{
	says("one line\n", hint("one %s", "line"));
	says("one?line\n", hint("one%sline", "\n"));
	says("two\nlines\n", hint("two\n%s", "lines"));
	says("not?three?lines\n", hint("not%sthree\nlines", "\n"));
	says("no ?[2J\n", hint("no %s", "\033[2J"));
}
