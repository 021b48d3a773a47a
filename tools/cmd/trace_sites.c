// SPDX-License-Identifier: GPL-2.0-only
#include "trace_sites.h"

#include "arguments.h"
#include "command.h"
#include "trace_read.h"
#include "base/message.h"
#include "read/input.h"
#include "source/source.h"
#include "trace/kmem_sites.h"
#ifdef HAVE_ELF
#include "image/objects.h"
#endif

enum { KEY_TRACE = 0x400, KEY_KERNEL };

static const struct argp_option options[] = {
	{ "trace", KEY_TRACE, "FILE", 0,
	  "Instead of call sites the callers of a kmem trace: a log that 'codetag trace' reads, or "
	  "a file of its --save-db", 3 },
#ifdef HAVE_ELF
	{ "kernel", KEY_KERNEL, "BUILD", 0,
	  "For --trace: the build tree of the kernel tells which file a caller is in", 3 },
#endif
	{ 0 }
};

static void check(const struct trace_files *files, struct argp_state *state)
{
	const struct conflict conflicts[] = {
		{ files->build && !files->trace, "--kernel goes with --trace", NULL },
		{ files->choice.given && !files->trace,
		  "--malloc, --cache, --from, --stack and --pages go with --trace", NULL },
	};

	CHECK_CONFLICTS(conflicts, state);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct trace_files *files = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &files->choice;
		return 0;
	case KEY_TRACE:
		files->trace = arg;
		return 0;
	case KEY_KERNEL:
		files->build = arg;
		return 0;
	case ARGP_KEY_END:
		check(files, state);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp_child children[] = {
	{ &trace_choice_argp, 0, NULL, 3 },
	{ 0 }
};

const struct argp trace_files_argp = { options, parse, NULL, NULL, children, NULL, NULL };

static bool read_trace(struct kmem *kmem, const struct trace_files *files, bool waste)
{
	const struct trace_choice *choice = &files->choice;
	const struct trace_source source = { .path = files->trace, .frames = choice->frames };

	if (!source_is_recording(files->trace))
		return trace_read(kmem, &source);
	if (!choice->frames && !choice->pages)
		return trace_load(kmem, files->trace, waste);
	warning("%s: stacks and pages are read from a log", files->trace);
	return false;
}

#ifdef HAVE_ELF
/* The static memory of a file is like a call site of its own. */
static bool add_static(struct allocinfo *info, const char *build)
{
	struct objects objects = { 0 };
	bool good = objects_read(&objects, build) || trace_no_kernel(build);

	if (good)
		objects_sites(&objects, "(static)", info);
	objects_free(&objects);
	return good;
}
#else
static bool add_static(struct allocinfo *info, const char *build)
{
	(void)info, (void)build;
	return false;
}
#endif

bool trace_sites(struct allocinfo *info, const struct trace_files *files,
		 enum kmem_key key, bool with_static, bool *complete)
{
	struct kmem kmem;
	struct kmem_resolved resolved;
	struct kmem_caller total;
	bool good;

	*info = (struct allocinfo){ 0 };
	trace_choice_start(&files->choice, &kmem);
	good = read_trace(&kmem, files, kmem_key_of_waste(key)) &&
	       (!files->build ||
		trace_resolve(&kmem, files->build, &info->strings, &resolved)) &&
	       (!with_static || add_static(info, files->build));
	if (good) {
		kmem_sum(&kmem, &files->choice.filter, &total);
		kmem_sites(&kmem, key, info);
		if (kmem.cut || kmem.bad || kmem.lost || kmem.overwritten) {
			warning("%s: events are missing or not understood: see 'codetag trace'",
				input_name(files->trace));
			*complete = false;
		}
		good = total.allocs || !files->choice.given;
		if (!good)
			warning("%s: no allocation in it is chosen", input_name(files->trace));
	}
	kmem_free(&kmem);
	if (!good)
		allocinfo_free(info);
	return good;
}
