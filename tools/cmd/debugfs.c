// SPDX-License-Identifier: GPL-2.0-only
#include "debugfs.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "arguments.h"
#include "base/message.h"
#include "base/text.h"
#include "read/fields.h"
#include "read/input.h"

#define LOCKDOWN_FILE "/sys/kernel/security/lockdown"

const struct argp_child debugfs_children[] = {
	{ &output_argp, 0, NULL, 9 },
	{ 0 }
};

error_t debugfs_parse(int key, char *arg, struct argp_state *state)
{
	struct debugfs_options *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->output;
		return 0;
	case KEY_IMAGE:
		argument_image(arg, state);
		return debugfs_parse('f', arg, state);
	case KEY_DEBUGFS:
		/* The file with the usual name, in another directory. */
		if ((size_t)snprintf(o->path, sizeof(o->path), "%s%s", arg,
				     strrchr(o->file.path, '/')) >= sizeof(o->path))
			argp_error(state, "too long: %s", arg);
		arg = o->path;
		/* fall through */
	case 'f':
	case ARGP_KEY_ARG:
		if (o->file.given)
			argp_error(state, "one file at a time, '%s' is a second one", arg);
		o->file.path = arg;
		o->file.given = true;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

bool debugfs_is_file(const struct debugfs_options *o)
{
	return o->file.given && o->file.path != o->path;
}

/* Explains which requirement is missing. */
static void hint_missing(const char *path)
{
	const char *name = strrchr(path, '/') + 1;
	struct statfs mounted;

	if (!access(DEBUGFS_DIR, F_OK)) {
		if (!strcmp(name, "faults"))
			hint("This kernel is built without CONFIG_CODETAG_FAULT_INJECTION.");
		else if (!strcmp(name, "guards"))
			hint("This kernel is built without CONFIG_CODETAG_GUARD, or its codetag "
			     "is older than this file.");
		else if (!strcmp(name, "contexts") || !strcmp(name, "age_interval"))
			hint("This kernel is built without CONFIG_CODETAG_CONTEXTS, or its codetag "
			     "is older than this file.");
		else
			hint("This kernel was booted with sysctl.vm.mem_profiling=never, or its "
			     "codetag is older than this file.");
	} else if (!statfs("/sys/kernel/debug", &mounted) &&
		   mounted.f_type == DEBUGFS_MAGIC) {
		hint("This kernel has no codetag.");
	} else {
		hint("It needs a kernel with codetag, and debugfs:\n"
		     "mount -t debugfs none /sys/kernel/debug");
	}
}

/* Secure Boot switches lockdown on: "none [integrity] confidentiality". */
static bool hint_lockdown(void)
{
	char line[128] = "", *begin, *end;
	FILE *file = fopen(LOCKDOWN_FILE, "re");

	if (file && !fgets(line, sizeof(line), file))
		line[0] = '\0';
	if (file)
		fclose(file);
	begin = strchr(line, '[');
	end = begin ? strchr(begin, ']') : NULL;
	if (!end || !strncmp(begin, "[none]", 6))
		return false;
	*end = '\0';
	hint("This kernel is locked down (%s, as with Secure Boot): not even root may switch, split, fail\n"
	     "or guard call sites, or start an audit. The counters can still be read.", begin + 1);
	return true;
}

void debugfs_complain(const struct debugfs_file *file, int error)
{
	if (file->given) {
		input_complain(file->path, error);
		if (error == EPERM)
			hint_lockdown();
		if (error == ENOENT)
			hint("If none is named it is looked for in " DEBUGFS_DIR ".");
		return;
	}
	warning("cannot open %s: %s", file->path, strerror(error));
	if (error == EACCES)
		hint("This needs root.");
	else if (error == EPERM && !hint_lockdown())
		hint("This needs root, and a kernel that is not locked down.");
	else if (error == ENOENT)
		hint_missing(file->path);
}

static const struct argp_option dir_options[] = { DEBUGFS_DIR_OPTION, { 0 } };

static error_t parse_dir(int key, char *arg, struct argp_state *state)
{
	struct debugfs_dir *dir = state->input;

	if (key != KEY_DEBUGFS)
		return ARGP_ERR_UNKNOWN;
	dir->path = arg;
	dir->given = true;
	return 0;
}

const struct argp debugfs_dir_argp = {
	dir_options, parse_dir, NULL, NULL, NULL, NULL, NULL
};

char *debugfs_path(const struct debugfs_dir *dir, const char *name)
{
	struct text path = { 0 };

	text_printf(&path, "%s/%s", dir->path, name);
	return path.s;
}

void debugfs_dir_complain(const struct debugfs_dir *dir, const char *name, int error)
{
	char *path = debugfs_path(dir, name);

	debugfs_complain(&(struct debugfs_file){ path, dir->given }, error);
	free(path);
}

bool debugfs_read(const struct debugfs_dir *dir, const char *name, char **text,
		  size_t *len)
{
	char *path = debugfs_path(dir, name);
	bool good = input_read(path, text, len);

	if (!good)
		debugfs_complain(&(struct debugfs_file){ path, dir->given }, errno);
	free(path);
	return good;
}

bool debugfs_read_sites(const struct debugfs_dir *dir, char **text, size_t *len)
{
	char *control = debugfs_path(dir, "control"), *sites = debugfs_path(dir, "sites");
	bool good = input_read(control, text, len);
	int error = errno;

	if (!good && (error == EPERM || error == EACCES))
		good = input_read(sites, text, len);
	free(control);
	free(sites);
	errno = error;
	return good;
}

bool debugfs_read_applied(const struct debugfs_dir *dir, struct applied *applied)
{
	char *path = debugfs_path(dir, "applied"), *text;
	size_t len;
	bool good = input_read(path, &text, &len);

	if (good)
		applied_parse(applied, text, len);
	free(path);
	return good;
}

bool debugfs_read_enabled(const struct debugfs_dir *dir, bool *enabled)
{
	char *path = debugfs_path(dir, "stats");
	const struct field *field;
	struct fields fields;
	bool known = false;

	if (fields_read(&fields, path)) {
		field = fields_find(&fields, "enabled");
		known = field && field->is_number;
		*enabled = known && field->number;
		fields_free(&fields);
	}
	free(path);
	return known;
}

/* Closes @fd unless it is the error of a failed open(). */
static int write_all(int fd, const char *text)
{
	ssize_t len = (ssize_t)strlen(text), written;
	int error = 0;

	if (fd < 0)
		return errno;
	written = write(fd, text, len);
	if (written < 0)
		error = errno;
	else if (written != len)
		error = EIO;
	close(fd);
	return error;
}

int debugfs_write(const struct debugfs_dir *dir, const char *name, const char *text,
		  bool *opened)
{
	char *path = debugfs_path(dir, name);
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	free(path);
	*opened = fd >= 0;
	return write_all(fd, text);
}

int debugfs_write_file(const char *path, const char *text)
{
	return write_all(open(path, O_WRONLY | O_CLOEXEC), text);
}
