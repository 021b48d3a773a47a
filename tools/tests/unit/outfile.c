// SPDX-License-Identifier: GPL-2.0-only
#include "base/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit.h"

static char dir[] = "/tmp/codetag-unit-XXXXXX";

static const char *in_dir(const char *name)
{
	static char path[2][64];
	static unsigned int next;

	next = !next;
	snprintf(path[next], sizeof(path[next]), "%s/%s", dir, name);
	return path[next];
}

static void make(const char *name)
{
	close(open(in_dir(name), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
}

static bool refused(const char *name)
{
	int fd = outfile_append(in_dir(name));

	if (fd >= 0)
		close(fd);
	return fd < 0 && errno == EACCES;
}

static void test_append(void)
{
	struct stat st;
	char text[4];
	int fd = outfile_append(in_dir("new"));

	expect(fd >= 0 && !fstat(fd, &st) && (st.st_mode & 0777) == 0600,
	       "a new file to append to is its owner's alone");
	expect(write(fd, "abc", 3) == 3 && pread(fd, text, sizeof(text), 0) == 3,
	       "it can be written and read");
	close(fd);
	fd = outfile_append(in_dir("new"));
	expect(write(fd, "d", 1) == 1 && !fstat(fd, &st) && st.st_size == 4, "more goes to its end");
	close(fd);
	expect(!mkfifo(in_dir("fifo"), 0600) && refused("fifo"), "nothing is appended to a pipe");
	make("twice");
	expect(!link(in_dir("twice"), in_dir("name")) && refused("name"),
	       "nor to a file with several names");
	expect(!symlink("new", in_dir("link")) && (fd = outfile_append(in_dir("link"))) >= 0,
	       "a link of one's own leads to a file of one's own");
	close(fd);
	if (geteuid())
		return;
	make("foreign");
	expect(!chown(in_dir("foreign"), 65534, 65534) && refused("foreign"), "nor to somebody else's file");
	expect(!symlink("new", in_dir("trap")) && !lchown(in_dir("trap"), 65534, 65534) &&
	       refused("trap"), "nor where somebody else's link leads to");
	expect(!mkdir(in_dir("there"), 0755) && !symlink("there", in_dir("way")) &&
	       !lchown(in_dir("way"), 65534, 65534) && refused("way/new") && outfile_create_now(in_dir("way/new")) < 0,
	       "nor is a file made behind one");
}

void test_outfile(void)
{
	static const char *const names[] = {
		"new", "fifo", "twice", "name", "link", "foreign", "trap", "way", "there",
	};

	if (!mkdtemp(dir)) {
		expect(false, "a directory for files");
		return;
	}
	test_append();
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		remove(in_dir(names[i]));
	expect(!rmdir(dir), "no other file is left");
}
