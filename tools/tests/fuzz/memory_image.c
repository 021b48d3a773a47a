// SPDX-License-Identifier: GPL-2.0-only
/*
 * Damaged images of memory: whatever they contain, reading ends, and no access is out of
 * bounds. An input that begins with 0 is an ELF file. Other inputs change a small image in
 * pieces: place (3 bytes), length (1), and the bytes.
 */
#include "../small-image.h"
#include "memory_image/contexts.h"
#include "memory_image/functions.h"
#include "memory_image/groups.h"
#include "memory_image/holders.h"
#include "memory_image/lost.h"
#include "memory_image/machine.h"
#include "memory_image/paths.h"
#include "memory_image/slabs.h"
#include "memory_image/stats.h"
#include "memory_image/whose.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Each name that is handed out ends. */
static void found(void *data, const struct holding *h)
{
	struct image_groups *groups = data;

	if (h->cache && strlen(h->cache->name) > SMALL_SIZE)
		abort();
	if (groups && !*image_group_path(groups, h->group))
		abort();
}

/* In any case each object is on one path. */
static void read_graph(struct image *image, const struct image_sites *sites,
		       struct recount *recount)
{
	struct kernel_objects *objects = kobjects_read(image, sites, recount);
	struct graph *graph = graph_read(objects, NULL, NULL);
	struct dominators *dominators = dominators_find(graph);
	struct paths *paths = paths_find(graph, dominators, NULL);
	struct lost *lost = lost_find(graph, true);
	uint8_t *chosen = calloc(graph->nodes, 1);
	struct pointers *pointers;
	struct retained *retained;
	struct text name = { 0 };

	if (paths->path[0].all_objects != objects->live)
		abort();
	for (size_t i = 1; i < paths->count; i++)
		graph_group_name(graph, paths->path[i].group, &name);
	for (uint32_t node = 1; node < objects->nodes; node += 2)
		chosen[node] = !!objects->id[node];
	pointers = pointers_find(graph, chosen, false);
	retained = retained_find(graph, chosen, false);
	if (retained->objects < pointers->chosen || lost->objects > objects->live)
		abort();
	retained_free(retained);
	pointers_free(pointers);
	free(chosen);
	text_free(&name);
	lost_free(lost);
	paths_free(paths);
	dominators_free(dominators);
	graph_free(graph);
	kobjects_free(objects);
}

/* The texts of the kernel's files */
static void read_files(struct image *image, const struct image_sites *sites, struct recount *recount)
{
	struct image_functions *functions = image_functions_read(image);
	struct image_machine machine;
	struct text text = { 0 };
	uint64_t all;

	image_contexts(sites, functions, &text);
	image_sites_split(sites, &all);
	image_stats(sites, recount, &text);
	image_slabinfo(recount, &text);
	for (uint64_t at = image->n[N_TEXT]; at < image->n[N_TEXT] + 4096; at += 500)
		image_function_text(functions, at, &text);
	if (image_machine_read(&machine, sites, recount, functions))
		image_machine_free(&machine);
	image_functions_free(functions);
	text_free(&text);
}

static void read_all(const void *file, size_t size)
{
	const char *why = NULL;
	struct dump *dump = dump_open_memory(file, size, &why);
	struct image *image = dump ? image_open_dump(dump, &why) : NULL;
	struct image_sites *sites;
	struct recount recount;
	struct text text = { 0 };
	struct image_groups *groups;

	if (!image) {
		if (!why)
			abort();
		return;
	}
	sites = image_sites_read(image);
	image_allocinfo(sites, &text);
	recount_init(&recount, image);
	groups = image_groups_open(image);
	recount.visit = found;
	recount.data = groups;
	recount.groups = groups;
	recount_all(&recount);
	recount.groups = false;
	image_groups_free(groups);
	for (unsigned int page = 0; page < SMALL_PAGES; page += 4) {
		struct whose whose;

		whose_find(sites, &recount, small_at(page) + 20, &whose);
		if (!whose.what.len)
			abort();
		text_free(&whose.what);
		image_migratetype(&recount, page);
	}
	read_graph(image, sites, &recount);
	read_files(image, sites, &recount);
	recount_free(&recount);
	image_sites_free(sites);
	image_close(image);
	text_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t *small, *file;

	if (size && !data[0]) {
		read_all(data + 1, size - 1);
		return 0;
	}
	if (!small) {
		small = small_image();
		file = malloc(SMALL_SIZE);
	}
	memcpy(file, small, SMALL_SIZE);
	while (size > 4) {
		size_t at = (data[0] | (size_t)data[1] << 8 | (size_t)data[2] << 16) % SMALL_SIZE;
		size_t len = data[3] < size - 4 ? data[3] : size - 4;

		if (len > SMALL_SIZE - at)
			len = SMALL_SIZE - at;
		memcpy(file + at, data + 4, len);
		data += 4 + len;
		size -= 4 + len;
	}
	read_all(file, SMALL_SIZE);
	return 0;
}
