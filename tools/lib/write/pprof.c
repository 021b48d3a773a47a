// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include "base/text.h"
#include "model/frames.h"
#include "write/export.h"
#ifdef HAVE_ZLIB
#include "write/gzip.h"
#endif

/* Field numbers of profile.proto. */
enum {
	PROFILE_SAMPLE_TYPE = 1, PROFILE_SAMPLE = 2, PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5, PROFILE_STRING = 6, PROFILE_TIME = 9,
	PROFILE_DEFAULT_TYPE = 14,
	VALUE_TYPE = 1, VALUE_UNIT = 2,
	SAMPLE_LOCATION = 1, SAMPLE_VALUE = 2,
	LOCATION_ID = 1, LOCATION_LINE = 4,
	LINE_FUNCTION = 1, LINE_LINE = 2,
	FUNCTION_ID = 1, FUNCTION_NAME = 2, FUNCTION_SYSTEM = 3, FUNCTION_FILE = 4,
};

static void varint(struct text *out, uint64_t value)
{
	char byte;

	do {
		byte = (char)((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
		text_add(out, &byte, 1);
		value >>= 7;
	} while (value);
}

static void number(struct text *out, int field, uint64_t value)
{
	varint(out, (uint64_t)field << 3);
	varint(out, value);
}

static void bytes(struct text *out, int field, const char *s, size_t len)
{
	varint(out, (uint64_t)field << 3 | 2);
	varint(out, len);
	text_add(out, s, len);
}

/* A function has a place in a file; a directory or file has none. */
struct location {
	uint64_t function;
	uint32_t line;
};

struct pprof {
	struct text out;
	struct strmap strings;		/* "" is number 0 */
	struct strmap functions;	/* name, newline, file */
	struct strmap locations;	/* that, newline, line */
};

static uint64_t string(struct pprof *pprof, const char *s)
{
	return strmap_add(&pprof->strings, s, strlen(s));
}

static void value_type(struct pprof *pprof, int field, const char *type,
		       const char *unit)
{
	struct text message = { 0 };

	number(&message, VALUE_TYPE, string(pprof, type));
	number(&message, VALUE_UNIT, string(pprof, unit));
	bytes(&pprof->out, field, message.s, message.len);
	text_free(&message);
}

/* Ids start from 1. */
static uint64_t function_id(struct pprof *pprof, const char *name, const char *file)
{
	struct text key = { 0 }, message = { 0 };
	size_t known = pprof->functions.count, i;

	text_printf(&key, "%s\n%s", name, file);
	i = strmap_add(&pprof->functions, key.s, key.len);
	if (i == known) {
		number(&message, FUNCTION_ID, i + 1);
		number(&message, FUNCTION_NAME, string(pprof, name));
		number(&message, FUNCTION_SYSTEM, string(pprof, name));
		number(&message, FUNCTION_FILE, string(pprof, file));
		bytes(&pprof->out, PROFILE_FUNCTION, message.s, message.len);
	}
	text_free(&key);
	text_free(&message);
	return i + 1;
}

static uint64_t location_id(struct pprof *pprof, const char *name,
			    const char *file, uint32_t line)
{
	struct text key = { 0 }, message = { 0 }, line_message = { 0 };
	size_t known = pprof->locations.count, i;

	text_printf(&key, "%s\n%s\n%u", name, file, line);
	i = strmap_add(&pprof->locations, key.s, key.len);
	if (i == known) {
		number(&line_message, LINE_FUNCTION, function_id(pprof, name, file));
		number(&line_message, LINE_LINE, line);
		number(&message, LOCATION_ID, i + 1);
		bytes(&message, LOCATION_LINE, line_message.s, line_message.len);
		bytes(&pprof->out, PROFILE_LOCATION, message.s, message.len);
	}
	text_free(&key);
	text_free(&line_message);
	text_free(&message);
	return i + 1;
}

static void sample(struct pprof *pprof, const struct groups *groups,
		   const struct group *group, struct frames *frames)
{
	bool site = groups->by.by == BY_SITE || groups->by.by == BY_ROW;
	struct text message = { 0 }, ids = { 0 }, values = { 0 };
	unsigned int f = frames->count;

	/* The innermost frame comes first. */
	if (site) {
		f--;
		varint(&ids, location_id(pprof, group->site->func,
					 group->site->file, group->site->line));
	}
	while (f--)
		varint(&ids, location_id(pprof, frames->name[f], "", 0));
	varint(&values, group->now.calls);
	varint(&values, group->now.bytes);
	bytes(&message, SAMPLE_LOCATION, ids.s, ids.len);
	bytes(&message, SAMPLE_VALUE, values.s, values.len);
	bytes(&pprof->out, PROFILE_SAMPLE, message.s, message.len);
	text_free(&ids);
	text_free(&values);
	text_free(&message);
}

void export_pprof(struct export *export, FILE *out)
{
	struct pprof pprof = { 0 };
	struct frames frames = { 0 };

	string(&pprof, "");
	value_type(&pprof, PROFILE_SAMPLE_TYPE, "inuse_objects", "count");
	value_type(&pprof, PROFILE_SAMPLE_TYPE, "inuse_space", "bytes");
	for (size_t i = 0; i < export->count; i++) {
		const struct group *group = &export->groups->group[i];

		frames_of(&frames, export->groups, group);
		sample(&pprof, export->groups, group, &frames);
	}
	if (export->time_ns)
		number(&pprof.out, PROFILE_TIME, export->time_ns);
	number(&pprof.out, PROFILE_DEFAULT_TYPE,
	       string(&pprof, export->calls ? "inuse_objects" : "inuse_space"));
	for (size_t i = 0; i < pprof.strings.count; i++)
		bytes(&pprof.out, PROFILE_STRING, pprof.strings.entry[i].key,
		      strlen(pprof.strings.entry[i].key));
#ifdef HAVE_ZLIB
	gzip_write(pprof.out.s, pprof.out.len, out);
#else
	/* Readers of profiles accept uncompressed ones, too. */
	fwrite(pprof.out.s, 1, pprof.out.len, out);
#endif

	frames_free(&frames);
	text_free(&pprof.out);
	strmap_free(&pprof.strings);
	strmap_free(&pprof.functions);
	strmap_free(&pprof.locations);
}
