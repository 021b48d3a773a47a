// SPDX-License-Identifier: GPL-2.0-only
#include "chart/page.h"

#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "model/frames.h"
#include "write/json.h"

extern const char page_head[], page_tail[], page_end[];

/* The values of a site from this time on. */
struct page_change {
	size_t time;
	int64_t value[PAGE_ATTRIBUTES];
};

struct page_site {
	const char *name;	/* the end of its key in page.keys */
	struct text stack;	/* the frames, each with a NUL byte after it */
	size_t frames;
	struct page_change *change;
	size_t changes, room;
};

void page_time(struct page *page, double time)
{
	GROW(page->time, page->times, page->time_room);
	page->time[page->times++] = time;
}

static struct page_site *find_site(struct page *page, const char *name,
				   const char *const *stack, size_t frames)
{
	struct text key = { 0 };
	struct page_site *site;
	size_t at, key_len;

	/* In a graph of holders, a call site is below several others. */
	for (size_t i = 0; i < frames; i++)
		text_printf(&key, "%s\n", stack[i]);
	text_puts(&key, name);
	at = strmap_add(&page->keys, key.s, key.len);
	key_len = key.len;
	text_free(&key);
	if (at < page->sites)
		return &page->site[at];
	GROW(page->site, page->sites, page->room);
	site = &page->site[page->sites++];
	*site = (struct page_site){
		.name = page->keys.entry[at].key + key_len - strlen(name), .frames = frames,
	};
	for (size_t i = 0; i < frames; i++)
		text_add(&site->stack, stack[i], strlen(stack[i]) + 1);
	return site;
}

/* The state of a site at a time to which values are added. */
static struct page_change *change_at(struct page_site *site, size_t time)
{
	if (site->changes && site->change[site->changes - 1].time == time)
		return &site->change[site->changes - 1];
	GROW(site->change, site->changes, site->room);
	site->change[site->changes] = (struct page_change){ .time = time };
	return &site->change[site->changes++];
}

void page_add(struct page *page, const char *name, const char *const *stack,
	      size_t frames, const int64_t value[PAGE_ATTRIBUTES])
{
	struct page_change *change;

	change = change_at(find_site(page, name, stack, frames), page->times - 1);
	for (size_t i = 0; i < page->attributes; i++)
		change->value[i] = add64(change->value[i], value[i]);
}

void page_add_groups(struct page *page, const struct groups *groups)
{
	struct frames frames = { 0 };
	struct text name = { 0 };

	for (size_t i = 0; i < groups->count; i++) {
		const struct group *group = &groups->group[i];
		const int64_t value[PAGE_ATTRIBUTES] = { group->now.bytes, group->now.calls };

		frames_of(&frames, groups, group);
		/* The name of a context has a line for each frame. */
		text_clear(&name);
		for (const char *c = group->name; *c; c++)
			text_add(&name, *c == '\n' ? "; " : c, *c == '\n' ? 2 : 1);
		page_add(page, name.s, frames.name, frames.count, value);
	}
	frames_free(&frames);
	text_free(&name);
}

void page_add_sites(struct page *page, const struct allocinfo *info,
		    const struct query *query, enum group_by by)
{
	struct groups groups = { .by = { by, 0 } };

	groups_add(&groups, info, query);
	page_add_groups(page, &groups);
	groups_free(&groups);
}

static void write_change(struct json *json, const struct page *page, size_t time,
			 const int64_t *value)
{
	json_int(json, NULL, (int64_t)time);
	for (size_t i = 0; i < page->attributes; i++)
		json_int(json, NULL, value[i]);
}

/* Writes only differences from the time before; a site that is not there has zeros. */
static void write_values(struct json *json, const struct page *page,
			 const struct page_site *site)
{
	static const int64_t zero[PAGE_ATTRIBUTES];
	const int64_t *last = zero;

	json_array(json, "values");
	for (size_t c = 0; c < site->changes; c++) {
		const struct page_change *change = &site->change[c];

		if (memcmp(last, change->value, sizeof(zero)))
			write_change(json, page, change->time, change->value);
		last = change->value;
		if (change->time + 1 < (c + 1 < site->changes ? change[1].time : page->times) &&
		    memcmp(last, zero, sizeof(zero))) {
			write_change(json, page, change->time + 1, zero);
			last = zero;
		}
	}
	json_end_array(json);
}

static void write_site(struct json *json, const struct page *page,
		       const struct page_site *site)
{
	const char *frame = site->stack.s;

	json_object(json, NULL);
	json_string(json, "name", site->name);
	json_array(json, "stack");
	for (size_t i = 0; i < site->frames; i++, frame += strlen(frame) + 1)
		json_string(json, NULL, frame);
	json_end_array(json);
	write_values(json, page, site);
	json_end_object(json);
}

static bool ever_holds(const struct page_site *site)
{
	static const int64_t zero[PAGE_ATTRIBUTES];

	for (size_t c = 0; c < site->changes; c++)
		if (memcmp(site->change[c].value, zero, sizeof(zero)))
			return true;
	return false;
}

static void write_notes(struct json *json, const struct page *page)
{
	const char *line = page->notes.len ? page->notes.s : "";

	json_array(json, "notes");
	while (*line) {
		size_t len = strcspn(line, "\n");
		char *note = strndup(line, len);

		json_string(json, NULL, note ? note : "");
		free(note);
		line += len + (line[len] == '\n');
	}
	json_end_array(json);
}

static void write_data(struct page *page, FILE *out)
{
	struct json json = { .out = out };

	json_object(&json, NULL);
	json_string(&json, "title", page->title);
	json_string(&json, "subtitle", page->subtitle);
	json_string(&json, "what", page->what);
	json_string(&json, "view", page->view);
	/* The attributes of growth come after those of values, in the same order. */
	json_int(&json, "attribute", (int64_t)(page->shown +
					       (page->growth ? page->attributes : 0)));
	json_array(&json, "attributes");
	for (size_t i = 0; i < page->attributes; i++) {
		json_object(&json, NULL);
		json_string(&json, "key", page->attribute[i].key);
		json_string(&json, "label", page->attribute[i].label);
		json_bool(&json, "bytes", page->attribute[i].bytes);
		json_end_object(&json);
	}
	json_end_array(&json);
	json_array(&json, "times");
	for (size_t i = 0; i < page->times; i++)
		if (page->time[i] > 0)
			json_int(&json, NULL, (int64_t)page->time[i]);
		else
			json_null(&json, NULL);
	json_end_array(&json);
	json_array(&json, "sites");
	for (size_t i = 0; i < page->sites; i++)
		if (ever_holds(&page->site[i]))
			write_site(&json, page, &page->site[i]);
	json_end_array(&json);
	write_notes(&json, page);
	json_end_object(&json);
}

/*
 * Written without indentation, one site a line. No name can end the script, because '<' occurs
 * only in JSON strings, where it is escaped.
 */
static void copy_data(const char *s, FILE *out)
{
	for (; *s; s++) {
		if (*s == '<')
			fputs("\\u003c", out);
		else if (*s == '\n' && !strncmp(s, "\n\t\t{", 4))
			putc('\n', out);
		else if (*s != '\n' && *s != '\t')
			putc(*s, out);
	}
}

bool page_write(struct page *page, FILE *out)
{
	char *data = NULL;
	size_t len;
	FILE *memory = open_memstream(&data, &len);
	bool good;

	if (!memory)
		return false;
	write_data(page, memory);
	good = !fclose(memory);
	if (good) {
		fwrite(page_head, page_tail - page_head, 1, out);
		copy_data(data, out);
		putc('\n', out);
		fwrite(page_tail, page_end - page_tail, 1, out);
	}
	free(data);
	return good && !ferror(out);
}

void page_free(struct page *page)
{
	for (size_t i = 0; i < page->sites; i++) {
		text_free(&page->site[i].stack);
		free(page->site[i].change);
	}
	free(page->site);
	free(page->time);
	strmap_free(&page->keys);
	text_free(&page->notes);
}
