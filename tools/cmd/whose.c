// SPDX-License-Identifier: GPL-2.0
/* codetag whose: the object at an address, and the line that allocated it. */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "image.h"
#include "base/message.h"
#include "memory_image/whose.h"
#include "write/json.h"

struct options {
	struct image_input input;
	bool json;
	const char **address;
	size_t count, room;
};

static const struct argp_option options[] = {
	IMAGE_FILE_OPTION,
	{ "json", 'j', NULL, 0, "Write JSON", 10 },
	{ 0 }
};

/* "ffff888003a1c040", "0xffff888003a1c040", "pfn:3a1c" */
static bool read_address(const char *s, uint64_t *value, bool *pfn)
{
	char *end;

	*pfn = !strncmp(s, "pfn:", 4);
	if (*pfn)
		s += 4;
	if (*s == '-' || *s == '+' || *s == ' ' || !*s)
		return false;
	errno = 0;
	*value = strtoull(s, &end, 16);
	return !errno && !*end && (!*pfn || *value < 1ULL << 40);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;
	uint64_t value;
	bool pfn;

	switch (key) {
	case 'j':
		o->json = true;
		return 0;
	case KEY_IMAGE_FILE:
		o->input.path = arg;
		return 0;
	case ARGP_KEY_ARG:
		if (!read_address(arg, &value, &pfn))
			argp_error(state, "'%s' is not a hexadecimal address", arg);
		GROW(o->address, o->count, o->room);
		o->address[o->count++] = arg;
		return 0;
	case ARGP_KEY_END:
		if (!o->count)
			argp_error(state, "ADDRESS is missing");
		if (!o->input.path)
			argp_error(state, "--image FILE is missing: the dump of kdump, or an image of a virtual machine");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp argp = {
	options, parse, "ADDRESS…",
	"Says what is at an address of the kernel in an image of its memory, and which line "
	"allocated that: an object of a slab cache, pages, the stack of a task, percpu memory, "
	"code or data of the kernel or a module. ADDRESS is hexadecimal; pfn:N is page frame N, "
	"hexadecimal, too."
	"\vExamples:\n"
	"  codetag whose --image vmcore ffff888003a1c040\n"
	"  codetag whose --image vmcore --json pfn:3a1c\n\n"
	"Exit status: 0 success, 1 there is nothing at an address, 2 trouble.",
	NULL, NULL, NULL
};

static void print(const struct options *o, const char *address, const struct whose *whose,
		  struct json *json)
{
	struct text site = { 0 };

	if (!image_site_text(o->input.sites, whose->id, &site))
		text_clear(&site);
	if (o->json) {
		json_object(json, NULL);
		json_string(json, "address", address);
		json_string(json, "what", whose->what.s);
		if (whose->nothing)
			json_null(json, "offset");
		else
			json_int(json, "offset", (int64_t)whose->offset);
		if (site.len)
			json_string(json, "name", site.s);
		else
			json_null(json, "name");
		json_end_object(json);
	} else {
		printf("%s: %s", address, whose->what.s);
		if (!whose->nothing)
			printf(", offset %" PRIu64, whose->offset);
		putchar('\n');
		if (site.len)
			printf("  allocated at %s\n", site.s);
	}
	text_free(&site);
}

int cmd_whose(int argc, char **argv)
{
	struct options o = { 0 };
	struct json json = { .out = stdout };
	int status = STATUS_TROUBLE;
	bool nothing = false;

	argp_parse(&argp, argc, argv, 0, NULL, &o);
	if (image_input_open(&o.input)) {
		if (o.json) {
			json_object(&json, NULL);
			json_array(&json, "rows");
		}
		for (size_t i = 0; i < o.count; i++) {
			struct whose whose;
			uint64_t value = 0;
			bool pfn;

			read_address(o.address[i], &value, &pfn);
			(pfn ? whose_find_pfn : whose_find)(o.input.sites, &o.input.recount, value,
							    &whose);
			nothing |= whose.nothing;
			print(&o, o.address[i], &whose, &json);
			text_free(&whose.what);
		}
		if (o.json) {
			json_end_array(&json);
			json_end_object(&json);
		}
		status = image_input_status(&o.input);
		if (status == STATUS_OK && nothing)
			status = STATUS_FOUND;
	}
	image_input_close(&o.input);
	free(o.address);
	return status;
}
