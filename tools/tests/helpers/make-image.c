// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes the small image to standard output, for the tests of commands. "linked": the stack of
 * a task leads to the pages and the percpu memory, and the pages lead to the first object.
 * "cut": the layout table lacks an entry. "sparse": the image says that there are 256 GiB, and
 * the caller makes the file as long. "empty": the same without a layout table.
 */
#include "small-image.h"

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	struct small s = { .file = small_image() };

	s.memory = s.file + SMALL_HEAD;
	if (!strcmp(what, "linked")) {
		small64(&s, small_at(62) + 512, small_at(SMALL_ALLOCATED));
		small64(&s, small_at(62) + 520, small_at(60) + 16);
		small64(&s, small_at(SMALL_ALLOCATED) + 512, small_at(SMALL_SLAB));
	} else if (!strcmp(what, "cut")) {
		memset(small_pointer(&s, small_at(SMALL_ENTRIES)), 0, 16);
	}
	if (!strcmp(what, "empty"))
		memset(small_pointer(&s, small_at(SMALL_LAYOUT)), 0, 16);
	if (!strcmp(what, "sparse") || !strcmp(what, "empty")) {
		Elf64_Phdr *head = (Elf64_Phdr *)(s.file + sizeof(Elf64_Ehdr));

		head->p_filesz = head->p_memsz = 256ULL << 30;
	}
	return fwrite(s.file, 1, SMALL_SIZE, stdout) != SMALL_SIZE;
}
