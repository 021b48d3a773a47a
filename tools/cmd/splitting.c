// SPDX-License-Identifier: GPL-2.0
#include "splitting.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "interval.h"
#include "base/memory.h"
#include "base/message.h"
#include "read/input.h"

#define AGE_INTERVAL "/sys/module/codetag/parameters/age_interval"

/* Ages take more contexts than a site has by default. */
#define ACTION "keys=stack,age max=4096"

/* What is left to do if the program ends on its own, out of memory for example. */
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

static bool set_interval(struct splitting *splitting, unsigned int seconds)
{
	struct debugfs_dir parameters = interval_dir(splitting->dir);
	struct text value = { 0 };
	size_t len;
	char *old;
	bool good;

	if (!debugfs_read(&parameters, "age_interval", &old, &len))
		return false;
	old[strcspn(old, "\n")] = '\0';
	text_printf(&value, "%u", seconds);
	good = write_interval(splitting->dir, value.s);
	text_free(&value);
	if (good)
		splitting->age_interval = old;
	else
		free(old);
	return good;
}

static bool has_key(const char *keys, const char *key)
{
	size_t len = strlen(key), end = strcspn(keys, " ");

	for (const char *at = keys; at < keys + end; at += strcspn(at, ", ") + 1)
		if (!strncmp(at, key, len) && strchr(", ", at[len]))
			return true;
	return false;
}

/* Its module may be gone meanwhile, then there is nothing to be done. */
static bool write_line(const struct debugfs_dir *dir, const char *line)
{
	bool opened;
	int error = debugfs_write(dir, "control", line, &opened);

	if (!error || error == ENOENT)
		return true;
	if (error == EOPNOTSUPP || (opened && error == EINVAL)) {
		warning("this kernel cannot split call sites");
		hint("It is older than that, or built without CONFIG_CODETAG_CONTEXTS.");
	} else if (opened) {
		warning("cannot write to %s/control: %s", dir->path, strerror(error));
	} else {
		debugfs_dir_complain(dir, "control", error);
	}
	return false;
}

static bool split_one(struct splitting *splitting, const struct control_site *site)
{
	struct text line = { 0 }, back = { 0 };
	bool good;

	if (site->keys && has_key(site->keys, "stack") && has_key(site->keys, "age"))
		return true;
	text_printf(&line, "id %u " ACTION "\n", site->id);
	text_printf(&back, "id %u keys=%s\n", site->id, site->keys ? site->keys : "none");
	/* Noted before it is done: whatever comes between, it is undone. */
	GROW(splitting->site, splitting->count, splitting->room);
	splitting->site[splitting->count++].back = back.s;
	good = write_line(splitting->dir, line.s);
	text_free(&line);
	return good;
}

bool splitting_begin(struct splitting *splitting, const struct debugfs_dir *dir,
		     const struct control *control, unsigned int seconds)
{
	static bool registered;
	bool good;

	*splitting = (struct splitting){ .dir = dir };
	interrupt_catch_all();
	if (!registered)
		atexit(end_at_exit);
	registered = true;
	active = splitting;
	good = set_interval(splitting, seconds);
	for (size_t i = 0; i < control->count && good; i++)
		good = split_one(splitting, &control->site[i]);
	if (!good)
		splitting_end(splitting);
	return good;
}

bool splitting_end(struct splitting *splitting)
{
	bool good = true;

	active = NULL;
	for (size_t i = 0; i < splitting->count; i++) {
		good &= write_line(splitting->dir, splitting->site[i].back);
		free(splitting->site[i].back);
	}
	splitting->count = 0;
	free(splitting->site);
	splitting->site = NULL;
	if (splitting->age_interval)
		good &= write_interval(splitting->dir, splitting->age_interval);
	free(splitting->age_interval);
	splitting->age_interval = NULL;
	return good;
}
