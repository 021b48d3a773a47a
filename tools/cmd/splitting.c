// SPDX-License-Identifier: GPL-2.0-only
#include "splitting.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "interval.h"
#include "base/memory.h"
#include "base/message.h"
#include "read/input.h"

/* The directory is empty after a boot, and no site is split then. */
#define LEFT_DIR "/run/codetag"

/* Ages take more contexts than a site has by default. */
#define ACTION "keys=stack,age,task max=4096"

/* The state to restore if the program exits, for example because it is out of memory. */
static struct splitting *active;

static void end_at_exit(void)
{
	if (active)
		splitting_end(active);
}

/* Saved copies of the files have the parameter beside them. */
static struct debugfs_dir interval_dir(const struct debugfs_dir *dir)
{
	return (struct debugfs_dir){
		dir->given ? dir->path : "/sys/module/codetag/parameters", dir->given,
	};
}

static bool write_interval(const struct debugfs_dir *dir, const char *value)
{
	struct debugfs_dir parameters = interval_dir(dir);
	bool opened;
	int error = debugfs_write(&parameters, "age_interval", value, &opened);

	if (error)
		warning("cannot write %s to %s/age_interval: %s", value, parameters.path,
			strerror(error));
	return !error;
}

static bool read_interval(struct splitting *splitting)
{
	struct debugfs_dir parameters = interval_dir(splitting->dir);
	size_t len;

	if (!debugfs_read(&parameters, "age_interval", &splitting->age_interval, &len))
		return false;
	splitting->age_interval[strcspn(splitting->age_interval, "\n")] = '\0';
	return true;
}

static bool has_key(const char *keys, const char *key)
{
	size_t len = strlen(key), end = strcspn(keys, " ");

	for (const char *at = keys; at < keys + end; at += strcspn(at, ", ") + 1)
		if (!strncmp(at, key, len) && strchr(", ", at[len]))
			return true;
	return false;
}

/* If its module is gone meanwhile, nothing is left to do. */
static bool write_line(const struct debugfs_dir *dir, const char *line)
{
	bool opened;
	int error = debugfs_write(dir, "control", line, &opened);

	if (!error || error == ENOENT)
		return true;
	if (error == EOPNOTSUPP || (opened && error == EINVAL)) {
		warning("this kernel cannot split call sites");
		hint("It is built without CONFIG_CODETAG_CONTEXTS, or its codetag is too old.");
	} else if (opened) {
		warning("cannot write to %s/control: %s", dir->path, strerror(error));
	} else {
		debugfs_dir_complain(dir, "control", error);
	}
	return false;
}

static bool is_split_already(const struct control_site *site)
{
	return site->keys && has_key(site->keys, "stack") && has_key(site->keys, "age");
}

/* Written before anything is changed, so that it can be undone after any failure. */
static void note_sites(struct splitting *splitting, const struct control *control)
{
	for (size_t i = 0; i < control->count; i++) {
		const struct control_site *site = &control->site[i];
		struct text back = { 0 };

		if (is_split_already(site))
			continue;
		text_printf(&back, "id %u keys=%s\n", site->id, site->keys ? site->keys : "none");
		GROW(splitting->site, splitting->count, splitting->room);
		splitting->site[splitting->count++].back = back.s;
	}
}

static bool split_all(struct splitting *splitting, const struct control *control)
{
	struct text line = { 0 };
	bool good = true;

	for (size_t i = 0; i < control->count && good; i++) {
		if (is_split_already(&control->site[i]))
			continue;
		text_clear(&line);
		text_printf(&line, "id %u " ACTION "\n", control->site[i].id);
		good = write_line(splitting->dir, line.s);
	}
	text_free(&line);
	return good;
}

/*
 * The note of a run that was killed: its process, the interval, and a line for control for each
 * site. A run removes the file when it has restored everything.
 */
static char *left_path(const struct debugfs_dir *dir)
{
	return dir->given ? debugfs_path(dir, "split-before") : xstrdup(LEFT_DIR "/split-before");
}

/*
 * The start time of a process, which distinguishes it from a later one with its number; 0: it
 * does not exist.
 */
static unsigned long long began(long pid)
{
	unsigned long long ticks = 0;
	char path[64], *text, *at;
	size_t len;

	snprintf(path, sizeof(path), "/proc/%ld/stat", pid);
	if (!input_read_found(path, &text, &len))
		return 0;
	/* Field 22. The name, which is the second field, may contain anything. */
	at = strrchr(text, ')');
	for (int field = 2; at && field < 22; field++) {
		at = strchr(at, ' ');
		at += at != NULL;
	}
	if (at)
		ticks = strtoull(at, NULL, 10);
	free(text);
	return ticks;
}

static bool note_left(const struct splitting *splitting)
{
	char *path = left_path(splitting->dir);
	bool good;
	FILE *file;
	int fd;

	if (!splitting->dir->given)
		mkdir(LEFT_DIR, 0700);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	file = fd < 0 ? NULL : fdopen(fd, "w");
	if (file) {
		fprintf(file, "%ld %llu\n%s\n", (long)getpid(), began(getpid()),
			splitting->age_interval);
		for (size_t i = 0; i < splitting->count; i++)
			fputs(splitting->site[i].back, file);
		good = !ferror(file);
		good = !fclose(file) && good;
	} else {
		good = false;
	}
	if (!good)
		warning("cannot write %s: %s", path, strerror(errno));
	free(path);
	return good;
}

static void forget_left(const struct debugfs_dir *dir)
{
	char *path = left_path(dir);

	unlink(path);
	free(path);
}

/* Restores the state in @text, the content of the note, which is split into lines in place. */
static bool put_back(const struct debugfs_dir *dir, char *text)
{
	char *rest = text, *line, *interval;
	struct text control = { 0 };
	bool good = true;

	strsep(&rest, "\n");
	interval = strsep(&rest, "\n");
	while (rest && (line = strsep(&rest, "\n"))) {
		if (strncmp(line, "id ", 3))
			continue;
		text_clear(&control);
		text_printf(&control, "%s\n", line);
		good &= write_line(dir, control.s);
	}
	text_free(&control);
	return interval && *interval && write_interval(dir, interval) && good;
}

static void splitting_forget(struct splitting *splitting)
{
	for (size_t i = 0; i < splitting->count; i++)
		free(splitting->site[i].back);
	free(splitting->site);
	free(splitting->age_interval);
	*splitting = (struct splitting){ .dir = splitting->dir };
}

enum left splitting_restore(const struct debugfs_dir *dir)
{
	char *path = left_path(dir), *text, *end;
	unsigned long long start;
	enum left left = LEFT_NOTHING;
	size_t len;
	long pid;

	if (!input_read_found(path, &text, &len)) {
		free(path);
		return left;
	}
	pid = strtol(text, &end, 10);
	start = strtoull(end, NULL, 10);
	if (pid > 0 && start && began(pid) == start) {
		warning("codetag leaks --stacks runs already, process %ld", pid);
		left = LEFT_RUNNING;
	} else {
		left = put_back(dir, text) ? LEFT_PUT_BACK : LEFT_FAILED;
		if (left == LEFT_PUT_BACK)
			unlink(path);
	}
	free(text);
	free(path);
	return left;
}

bool splitting_begin(struct splitting *splitting, const struct debugfs_dir *dir,
		     const struct control *control, unsigned int seconds)
{
	static bool registered;
	char interval[16];
	bool good;

	*splitting = (struct splitting){ .dir = dir };
	if (!read_interval(splitting))
		return false;
	note_sites(splitting, control);
	interrupt_catch_all();
	if (!registered)
		atexit(end_at_exit);
	registered = true;
	snprintf(interval, sizeof(interval), "%u", seconds);
	good = note_left(splitting);
	if (good) {
		active = splitting;
		good = write_interval(dir, interval) && split_all(splitting, control);
	} else {
		splitting_forget(splitting);
	}
	if (!good)
		splitting_end(splitting);
	return good;
}

bool splitting_end(struct splitting *splitting)
{
	bool good = true, any = active != NULL;

	active = NULL;
	for (size_t i = 0; i < splitting->count; i++)
		good &= write_line(splitting->dir, splitting->site[i].back);
	if (splitting->age_interval)
		good &= write_interval(splitting->dir, splitting->age_interval);
	/* After a failure the note stays for another attempt. */
	if (any && good)
		forget_left(splitting->dir);
	splitting_forget(splitting);
	return good;
}
