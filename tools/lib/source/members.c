// SPDX-License-Identifier: GPL-2.0-only
#include "source/members.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "base/text.h"
#include "read/input.h"
#include "read/unpack.h"

const struct member_file member_files[MEMBERS] = {
	[MEMINFO] = { "proc", "meminfo" },
	[ALLOCINFO] = { "proc", "allocinfo" },
	[VMSTAT] = { "proc", "vmstat" },
	[ZONEINFO] = { "proc", "zoneinfo" },
	[SLABINFO] = { "proc", "slabinfo" },
	[VMALLOCINFO] = { "proc", "vmallocinfo" },
	[IOMEM] = { "proc", "iomem" },
	[SWITCH] = { "proc/sys/vm", "mem_profiling" },
	[CHARGED] = { "sys/kernel/debug/codetag", "charged" },
	[STATS] = { "sys/kernel/debug/codetag", "stats" },
	[BOOT] = { "sys/kernel/debug/codetag", "boot" },
	[VERSION] = { "proc", "version" },
	[HOSTNAME] = { "etc", "hostname" },
	[UNAME] = { "sos_commands/kernel", "uname_-a" },
};

/* Archives have many files called stats: this one has to be in its directory. */
static bool ends_with_codetag(const char *path, const char *name)
{
	size_t len = strlen(path), tail = strlen("codetag/") + strlen(name);

	return len >= tail && !strncmp(path + len - tail, "codetag/", 8) &&
	       !strcmp(path + len - strlen(name), name);
}

static bool is_file(const char *path, enum member m)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	if (m == CHARGED || m == STATS || m == BOOT)
		return ends_with_codetag(path, member_files[m].name);
	if (m == SWITCH || m == HOSTNAME || m == UNAME)
		return !strcmp(name, member_files[m].name);
	return unpack_is_proc(path, member_files[m].name);
}

enum member member_of(const char *path)
{
	enum member m = 0;

	while (m < MEMBERS && !is_file(path, m))
		m++;
	return m;
}

bool is_member(const char *path, const char *arg)
{
	(void)arg;
	return member_of(path) < MEMBERS;
}

/* Word number @n of @text, counted from 0; NULL if there is none. */
static char *word(const char *text, size_t n)
{
	struct text copy = { 0 };
	char *found;

	while (n--) {
		text += strcspn(text, " \t\n");
		text += strspn(text, " \t");
	}
	text_add(&copy, text, strcspn(text, " \t\r\n"));
	found = xstrdup(copy.s);
	text_free(&copy);
	text_clean(found);
	if (*found)
		return found;
	free(found);
	return NULL;
}

static void set_word(char **to, const char *text, size_t n)
{
	if (!*to)
		*to = word(text, n);
}

static void several(struct snapshot *s, enum member m, size_t copies, const char *path)
{
	if (copies < 2)
		return;
	warning("%s has %zu copies of %s: this is the last one", input_name(path), copies,
		member_files[m].name);
	s->incomplete = true;
}

/* Says that a file cannot be used, and that @s lacks it. */
static bool is_whole(struct snapshot *s, const struct bad_lines *bad, const char *path,
		     enum member m)
{
	if (bad_lines_none(bad, path))
		return true;
	hint("The %s of this machine is left out.", member_files[m].name);
	s->incomplete = true;
	return false;
}

static void take_fields(struct snapshot *s, struct fields *fields, enum member m, char *text,
			size_t len, const char *path)
{
	fields_free(fields);
	if (m == MEMINFO)
		meminfo_parse(fields, text, len);
	else
		fields_parse(fields, text, len);
	if (is_whole(s, &fields->bad, path, m))
		several(s, m, fields_last_copy(fields), path);
	else
		fields_free(fields);
}

bool member_take(struct snapshot *s, enum member m, char *text, size_t len, const char *path)
{
	struct machine *machine = &s->machine;

	if (!lines_plain(&text, &len)) {
		input_complain(path, errno);
		free(text);
		return false;
	}
	switch (m) {
	case ALLOCINFO:
		allocinfo_free(&s->info);
		return allocinfo_take(&s->info, text, len, path);
	/* If a file is not complete, the whole of it is left out: sums would be wrong. */
	case MEMINFO:
		take_fields(s, &machine->meminfo, m, text, len, path);
		return true;
	case VMSTAT:
		take_fields(s, &machine->vmstat, m, text, len, path);
		return true;
	case STATS:
		take_fields(s, &machine->stats, m, text, len, path);
		return true;
	case SLABINFO:
		slabinfo_free(&machine->slabinfo);
		slabinfo_parse(&machine->slabinfo, text, len);
		if (is_whole(s, &machine->slabinfo.bad, path, m))
			several(s, m, machine->slabinfo.lists, path);
		else
			slabinfo_free(&machine->slabinfo);
		return true;
	case ZONEINFO:
		zoneinfo_parse(&machine->pages, text, len);
		if (is_whole(s, &machine->pages.bad, path, m))
			several(s, m, machine->pages.copies, path);
		else
			machine->pages = (struct zone_pages){ 0 };
		break;
	case VMALLOCINFO:
		holders_free(&machine->vmalloc);
		vmallocinfo_parse(&machine->vmalloc, machine_page_size(machine), text, len);
		break;
	case IOMEM:
		fields_free(&machine->iomem);
		iomem_parse(&machine->iomem, text, len);
		break;
	case CHARGED:
		charged_parse(&machine->charged, text, len);
		break;
	case BOOT:
		holders_free(&machine->boot);
		boot_parse(&machine->boot, text, len);
		break;
	case SWITCH:
		if (*text == '0' || *text == '1')
			machine->profiling = *text == '0' ? PROFILING_OFF : PROFILING_ON;
		break;
	case VERSION:
		set_word(&s->kernel, text, 2);
		break;
	case HOSTNAME:
		set_word(&s->host, text, 0);
		break;
	case UNAME:
		set_word(&s->host, text, 1);
		set_word(&s->kernel, text, 2);
		break;
	case MEMBERS:
		break;
	}
	free(text);
	return true;
}
