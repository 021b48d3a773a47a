// SPDX-License-Identifier: GPL-2.0-only
/* codetag whose: the object at an address, and the line that allocated it. */
#include <argp.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "debugfs.h"
#include "image.h"
#include "base/message.h"
#include "image/types.h"
#include "memory_image/whose.h"
#include "write/json.h"

struct options {
	struct image_input input;
	struct debugfs_dir dir;
	const char *types_path;
	struct types *types;	/* NULL: members have no names */
	int64_t references;	/* offset of a cache's number of names, -1: not known */
	bool json;
	bool registers;		/* those of the image's processors, too */
	const char **address;
	size_t count, room;
};

static const struct argp_option options[] = {
	IMAGE_FILE_OPTION,
	{ "types", 't', "FILE", 0,
	  "Name members of structures by the BTF in FILE, such as vmlinux (default for the running "
	  "kernel: " TYPES_OF_KERNEL ")", 9 },
	{ "registers", 'r', NULL, 0,
	  "With --image: also the memory that registers of the processors point to. A register that "
	  "points to nothing is left out", 2 },
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
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->dir;
		return 0;
	case 'j':
		o->json = true;
		return 0;
	case 'r':
		o->registers = true;
		return 0;
	case 't':
		o->types_path = arg;
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
		if (o->registers && !o->input.path)
			argp_error(state, "--registers is for an image");
		if (o->dir.given && o->input.path)
			argp_error(state, "--debugfs is for the running kernel, not for an image");
		if (!o->count && !o->registers)
			argp_error(state, "ADDRESS is missing");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp_child children[] = {
	{ &debugfs_dir_argp, 0, NULL, 8 },
	{ 0 }
};

static const struct argp argp = {
	options, parse, "ADDRESS…\n--image FILE --registers",
	"Names the memory at an address of the running kernel, or of the kernel in an image of its "
	"memory, and the line that allocated it. The running kernel knows objects of slab caches and "
	"pages. An image also tells the stack of a task, percpu memory, code or data of the kernel or "
	"a module. ADDRESS is hexadecimal; pfn:N is page frame N, hexadecimal, too."
	"\vExamples:\n"
	"  codetag whose ffff888003a1c040\n"
	"  codetag whose --image vmcore ffff888003a1c040\n"
	"  codetag whose --image vmcore --registers\n"
	"  codetag whose --image vmcore --types vmlinux ffff888003a1c040\n"
	"  codetag whose --image vmcore --json pfn:3a1c\n\n"
	"Exit status: 0 success, 1 there is nothing at an address, or no register, 2 trouble.",
	children, NULL, NULL
};

/* The memory at an address. A text that is not known is empty. */
struct answer {
	struct whose whose;
	struct text type, member, site;
};

static void answer_free(struct answer *answer)
{
	text_free(&answer->whose.what);
	text_free(&answer->type);
	text_free(&answer->member);
	text_free(&answer->site);
}

static void json_text(struct json *json, const char *key, const struct text *text)
{
	if (text->len)
		json_string(json, key, text->s);
	else
		json_null(json, key);
}

/* @in is the register with the address, NULL: none. */
static void print(const struct options *o, const char *address, const char *in,
		  const struct answer *answer, struct json *json)
{
	const struct whose *whose = &answer->whose;

	if (o->json) {
		json_object(json, NULL);
		json_string(json, "address", address);
		if (in)
			json_string(json, "register", in);
		else
			json_null(json, "register");
		json_string(json, "what", whose->what.s);
		if (whose->nothing)
			json_null(json, "offset");
		else
			json_int(json, "offset", (int64_t)whose->offset);
		json_text(json, "type", &answer->type);
		json_text(json, "member", &answer->member);
		json_text(json, "name", &answer->site);
		json_end_object(json);
	} else {
		printf("%s%s%s: %s", in ? in : "", in ? " " : "", address, whose->what.s);
		if (!whose->nothing)
			printf(", offset %" PRIu64, whose->offset);
		putchar('\n');
		if (answer->type.len)
			printf("  %s%s%s\n", answer->type.s, answer->member.len ? ", member " : "",
			       answer->member.len ? answer->member.s : "");
		if (answer->site.len)
			printf("  allocated at %s\n", answer->site.s);
	}
}

static bool open_types(struct options *o)
{
	const char *path = o->types_path ? o->types_path : o->input.path ? NULL : TYPES_OF_KERNEL;

	o->types = path ? types_open(path, o->types_path) : NULL;
	o->references = o->types ? types_offset(o->types, "kmem_cache", "refcount") : -1;
	return o->types || !o->types_path;
}

/*
 * A cache that the kernel has merged with others of the same size has objects of all their
 * types. So the members of its objects have no names.
 */
static void name_in_image(const struct options *o, struct answer *answer)
{
	const struct image_cache *cache = answer->whose.cache;

	if (cache && o->references >= 0 &&
	    image_u32(o->input.recount.image, cache->address + (uint64_t)o->references) == 1)
		types_find(o->types, cache->name, cache->object_size, answer->whose.offset,
			   &answer->type, &answer->member);
}

/* Whether the types are those of the image's kernel, as far as its layout table tells. */
static bool types_fit(const struct options *o)
{
	const uint64_t *n = o->input.image->n;
	const struct {
		const char *structure, *member;
		uint64_t offset;
	} known[] = {
		{ "task_struct", "comm", n[N_TASK_COMM] }, { "task_struct", "pid", n[N_TASK_PID] },
		{ "task_struct", "tasks", n[N_TASK_TASKS] }, { "task_struct", "stack", n[N_TASK_STACK] },
		{ "task_struct", "signal", n[N_TASK_SIGNAL] }, { "module", "name", n[N_MODULE_NAME] },
	};

	for (size_t i = 0; o->types && i < sizeof(known) / sizeof(*known); i++) {
		if (types_offset(o->types, known[i].structure, known[i].member) == (int64_t)known[i].offset)
			continue;
		warning("%s is not of the kernel in the image: %s of struct %s is elsewhere", o->types_path,
			known[i].member, known[i].structure);
		return false;
	}
	return true;
}

/* A number in a file of a cache, -1 if there is none. */
static int64_t cache_number(const char *cache, const char *file)
{
	struct text path = { 0 };
	long long number;
	FILE *in;

	text_printf(&path, "/sys/kernel/slab/%s/%s", cache, file);
	in = fopen(path.s, "re");
	text_free(&path);
	if (!in || fscanf(in, "%lld", &number) != 1)
		number = -1;
	if (in)
		fclose(in);
	return number;
}

static void name_live(const struct options *o, const char *cache, struct answer *answer)
{
	int64_t size;

	if (!o->types || strchr(cache, '/') || cache_number(cache, "aliases"))
		return;
	size = cache_number(cache, "object_size");
	if (size > 0)
		types_find(o->types, cache, (uint64_t)size, answer->whose.offset, &answer->type,
			   &answer->member);
}

/* Returns false if there is nothing, which is printed unless the address was @in a register. */
static bool print_in_image(struct options *o, const char *address, const char *in, struct json *json)
{
	struct answer answer = { 0 };
	struct whose *whose = &answer.whose;
	uint64_t value = 0;
	bool pfn, nothing;

	read_address(address, &value, &pfn);
	(pfn ? whose_find_pfn : whose_find)(o->input.sites, &o->input.recount, value, whose);
	nothing = whose->nothing;
	if (!image_site_text(o->input.sites, whose->id, &answer.site))
		text_clear(&answer.site);
	name_in_image(o, &answer);
	if (!nothing || !in)
		print(o, address, in, &answer, json);
	answer_free(&answer);
	return !nothing;
}

/*
 * Registers hold addresses and other numbers, and nothing tells them apart. Returns false after a
 * message if the image has none.
 */
static bool print_registers(struct options *o, struct json *json)
{
	struct dump *dump = o->input.image->dump;
	const uint64_t (*registers)[DUMP_REGISTERS];
	size_t cpus = dump_registers(dump, &registers);

	for (size_t i = 0; i < cpus * DUMP_REGISTERS; i++) {
		const char *name = dump_register_name(dump, i % DUMP_REGISTERS);
		uint64_t value = registers[i / DUMP_REGISTERS][i % DUMP_REGISTERS];
		char in[48], address[20];

		if (!name || value < 1ULL << 63)
			continue;
		snprintf(in, sizeof(in), "CPU %zu %s", i / DUMP_REGISTERS, name);
		snprintf(address, sizeof(address), "%" PRIx64, value);
		print_in_image(o, address, in, json);
	}
	if (!cpus)
		warning("%s has no registers of processors", o->input.path);
	return cpus;
}

/*
 * Parses the kernel's answer: "ADDRESS nothing", "ADDRESS OFFSET WHAT: free" or "ADDRESS OFFSET
 * WHAT: SITE". Returns false if it is none of these.
 */
static bool read_answer(const struct options *o, char *text, struct answer *answer)
{
	struct whose *whose = &answer->whose;
	char *line = strchr(text, '\n'), *what, *rest, *end;

	*answer = (struct answer){ 0 };
	if (!line)
		return false;
	line++;
	line[strcspn(line, "\n")] = '\0';
	what = strchr(line, ' ');
	if (!what)
		return false;
	whose->nothing = !strcmp(what, " nothing");
	if (whose->nothing) {
		text_printf(&whose->what, "nothing that a call site holds");
		return true;
	}
	whose->offset = strtoull(what, &end, 10);
	rest = strstr(end, ": ");
	if (end == what || *end != ' ' || !rest)
		return false;
	*rest = '\0';
	rest += 2;
	name_live(o, end + 1, answer);
	if (!strcmp(rest, "free")) {
		text_printf(&whose->what, "free object of %s", end + 1);
		return true;
	}
	text_printf(&whose->what, isdigit((unsigned char)end[1]) || !strcmp(end, " page") ?
		    "allocated %s" : "allocated object of %s", end + 1);
	text_printf(&answer->site, "%s", rest);
	return true;
}

static bool print_live(const struct options *o, int fd, const char *address, struct json *json, bool *nothing)
{
	struct answer answer;
	char text[1024];
	ssize_t len = -1;

	if (write(fd, address, strlen(address)) == (ssize_t)strlen(address))
		len = pread(fd, text, sizeof(text) - 1, 0);
	if (len < 0) {
		warning("%s/whose: %s: %s", o->dir.path, address, strerror(errno));
		return false;
	}
	text[len] = '\0';
	if (!read_answer(o, text, &answer)) {
		warning("%s/whose has an answer that this build does not understand", o->dir.path);
		return false;
	}
	*nothing |= answer.whose.nothing;
	print(o, address, NULL, &answer, json);
	answer_free(&answer);
	return true;
}

/* Asks the running kernel. */
static bool run_live(const struct options *o, struct json *json, bool *nothing)
{
	char *path = debugfs_path(&o->dir, "whose");
	int fd = open(path, O_RDWR | O_CLOEXEC), error = errno;
	bool good = fd >= 0;

	free(path);
	if (!good) {
		debugfs_dir_complain(&o->dir, "whose", error);
		hint("--image FILE looks into an image of memory instead.");
		return false;
	}
	for (size_t i = 0; i < o->count && good; i++)
		good = print_live(o, fd, o->address[i], json, nothing);
	close(fd);
	return good;
}

int cmd_whose(int argc, char **argv)
{
	struct options o = { .dir = DEBUGFS_DIR_INIT };
	struct json json = { .out = stdout };
	bool nothing = false, good;

	argp_parse(&argp, argc, argv, 0, NULL, &o);
	if (!open_types(&o) || (o.input.path && (!image_input_open(&o.input) || !types_fit(&o)))) {
		types_close(o.types);
		image_input_close(&o.input);
		free(o.address);
		return STATUS_TROUBLE;
	}
	if (o.json) {
		json_object(&json, NULL);
		json_array(&json, "rows");
	}
	if (o.input.path) {
		for (size_t i = 0; i < o.count; i++)
			nothing |= !print_in_image(&o, o.address[i], NULL, &json);
		if (o.registers)
			nothing |= !print_registers(&o, &json);
		good = image_input_status(&o.input) == STATUS_OK;
		image_input_close(&o.input);
	} else {
		good = run_live(&o, &json, &nothing);
	}
	if (o.json) {
		json_end_array(&json);
		json_end_object(&json);
	}
	types_close(o.types);
	free(o.address);
	return !good ? STATUS_TROUBLE : nothing ? STATUS_FOUND : STATUS_OK;
}
