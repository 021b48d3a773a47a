// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include "base/number.h"
#include "model/frames.h"
#include "write/export.h"
#include "write/json.h"

/* Two passes over the groups: first the frames with their numbers, then the stacks. */
static void write_stacks(struct export *export, struct json *json,
			 const struct strmap *names)
{
	const char *unit = export->calls ? "none" : "bytes";
	struct frames frames = { 0 };
	int64_t total = 0;

	json_array(json, "profiles");
	json_object(json, NULL);
	json_string(json, "type", "sampled");
	json_string(json, "name", export->calls ? "allocations" : "memory");
	json_string(json, "unit", unit);
	json_array(json, "samples");
	for (size_t i = 0; i < export->count; i++) {
		frames_of(&frames, export->groups, &export->groups->group[i]);
		json_array(json, NULL);
		for (unsigned int f = 0; f < frames.count; f++)
			json_int(json, NULL, strmap_find(names, frames.name[f],
							 strlen(frames.name[f])));
		json_end_array(json);
	}
	json_end_array(json);
	json_array(json, "weights");
	for (size_t i = 0; i < export->count; i++) {
		const struct group *group = &export->groups->group[i];
		int64_t weight = export->calls ? group->now.calls :
						 group->now.bytes;

		if (weight < 0) {
			export->left_out++;
			weight = 0;
		}
		total = add64(total, weight);
		json_int(json, NULL, weight);
	}
	json_end_array(json);
	json_int(json, "startValue", 0);
	json_int(json, "endValue", total);
	json_end_object(json);
	json_end_array(json);
	frames_free(&frames);
}

void export_speedscope(struct export *export, FILE *out)
{
	struct json json = { .out = out };
	struct strmap names = { 0 };
	struct frames frames = { 0 };

	json_object(&json, NULL);
	json_string(&json, "$schema",
		    "https://www.speedscope.app/file-format-schema.json");
	json_string(&json, "name", "kernel memory by call site");
	json_string(&json, "exporter", "codetag");
	json_object(&json, "shared");
	json_array(&json, "frames");
	for (size_t i = 0; i < export->count; i++) {
		frames_of(&frames, export->groups, &export->groups->group[i]);
		for (unsigned int f = 0; f < frames.count; f++) {
			size_t known = names.count;

			if (strmap_add(&names, frames.name[f],
				       strlen(frames.name[f])) < known)
				continue;
			json_object(&json, NULL);
			json_string(&json, "name", frames.name[f]);
			json_end_object(&json);
		}
	}
	json_end_array(&json);
	json_end_object(&json);
	write_stacks(export, &json, &names);
	json_end_object(&json);
	frames_free(&frames);
	strmap_free(&names);
}
