// SPDX-License-Identifier: GPL-2.0
#include "source/host.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/message.h"
#include "base/number.h"
#include "base/text.h"
#include "read/input.h"
#include "read/unpack.h"

#define CHARGED_PATH "/sys/kernel/debug/codetag/charged"
#define CGROUP_DIR "/sys/fs/cgroup"

/* Hosts in directories of directories. */
#define DEPTH 3

enum file { MEMINFO, ALLOCINFO, VMSTAT, ZONEINFO, SLABINFO, VMALLOCINFO, IOMEM, SWITCH,
	    CHARGED, STATS, VERSION, HOSTNAME, UNAME, FILES };

static const struct {
	const char *dir, *name;	/* below the root of the machine */
} files[FILES] = {
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
	[VERSION] = { "proc", "version" },
	[HOSTNAME] = { "etc", "hostname" },
	[UNAME] = { "sos_commands/kernel", "uname_-a" },
};

/* The word @n of @text, counted from 0; NULL if there is none. */
static char *word(const char *text, size_t n)
{
	char *found;

	while (n--) {
		text += strcspn(text, " \t\n");
		text += strspn(text, " \t");
	}
	found = xcalloc(strcspn(text, " \t\r\n") + 1, 1);
	memcpy(found, text, strcspn(text, " \t\r\n"));
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

/*
 * Takes over @text. What depends on the page size comes last, so the order of the files
 * matters. A text that is no allocinfo is as if there was none.
 */
static void take(struct snapshot *host, enum file file, char *text, size_t len)
{
	struct machine *machine = &host->machine;

	switch (file) {
	case MEMINFO:
		fields_free(&machine->meminfo);
		fields_parse(&machine->meminfo, text, len);
		return;
	case VMSTAT:
		fields_free(&machine->vmstat);
		fields_parse(&machine->vmstat, text, len);
		return;
	case STATS:
		fields_free(&machine->stats);
		fields_parse(&machine->stats, text, len);
		return;
	case SLABINFO:
		slabinfo_free(&machine->slabinfo);
		slabinfo_parse(&machine->slabinfo, text, len);
		return;
	case ALLOCINFO:
		allocinfo_free(&host->info);
		allocinfo_parse(&host->info, text, len);
		return;
	case ZONEINFO:
		zoneinfo_parse(&machine->pages, text, len);
		break;
	case VMALLOCINFO:
		vmallocinfo_parse(&machine->vmalloc, machine_page_size(machine), text, len);
		break;
	case IOMEM:
		fields_free(&machine->iomem);
		iomem_parse(&machine->iomem, text, len);
		break;
	case CHARGED:
		charged_parse(&machine->charged, text, len);
		break;
	case SWITCH:
		machine->profiling = *text == '0' ? PROFILING_OFF : PROFILING_ON;
		break;
	case VERSION:
		set_word(&host->kernel, text, 2);
		break;
	case HOSTNAME:
		set_word(&host->host, text, 0);
		break;
	case UNAME:
		set_word(&host->host, text, 1);
		set_word(&host->kernel, text, 2);
		break;
	case FILES:
		break;
	}
	free(text);
}

/* A machine without call sites says what it has instead. */
static void finish(struct snapshot *host)
{
	enum profiling *profiling = &host->machine.profiling;

	host->hosts = 1;
	if (*profiling == PROFILING_UNKNOWN && host->info.count)
		*profiling = PROFILING_ON;
	for (size_t i = 0; i < host->info.count && *profiling == PROFILING_ON; i++)
		if (host->info.site[i].bytes)
			return;
	if (*profiling == PROFILING_ON)
		*profiling = PROFILING_OFF;
}

static bool recount(void)
{
	bool done;
	int fd = open(CHARGED_PATH, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return false;
	done = write(fd, "1", 1) == 1;
	close(fd);
	return done;
}

static char *line_after(const char *text, const char *key)
{
	const char *at = strstr(text, key);

	return at ? word(at + strlen(key) + strspn(at + strlen(key), " \t"), 0) : NULL;
}

static bool read_in(const char *dir, const char *name, char **text, size_t *len)
{
	struct text path = { 0 };
	bool good;

	text_printf(&path, "%s/%s", dir, name);
	good = input_read(path.s, text, len);
	text_free(&path);
	return good;
}

void host_read_processes(struct holders *processes, bool pss)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;

	while (proc && (entry = readdir(proc))) {
		char dir[32], *text, *shares, *name, *kilobytes;
		const char *number;
		int64_t bytes = 0;
		size_t len;

		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		snprintf(dir, sizeof(dir), "/proc/%.20s", entry->d_name);
		if (!read_in(dir, "status", &text, &len))
			continue;
		name = line_after(text, "Name:");
		kilobytes = line_after(text, "\nRssAnon:");
		if (pss && read_in(dir, "smaps_rollup", &shares, &len)) {
			free(kilobytes);
			kilobytes = line_after(shares, "\nPss:");
			free(shares);
		}
		number = kilobytes;
		if (name && kilobytes && number_read(&number, &bytes) && bytes > 0)
			holders_add(processes, name, strlen(name), mul64(bytes, 1024), 1);
		free(name);
		free(kilobytes);
		free(text);
	}
	if (proc)
		closedir(proc);
	holders_sort(processes);
}

/* Of both versions; those of version 1 are in a directory of their own, called memory. */
static void read_cgroups(struct machine *machine, const char *dir, unsigned int depth)
{
	DIR *d = opendir(dir);
	struct dirent *entry;

	while (d && (entry = readdir(d))) {
		struct text path = { 0 };
		struct cgroup *cgroup;
		const char *number;
		int64_t bytes = 0;
		size_t len;
		char *text;

		if (entry->d_name[0] == '.' || entry->d_type != DT_DIR)
			continue;
		text_printf(&path, "%s/%s", dir, entry->d_name);
		if (read_in(path.s, "memory.current", &text, &len) ||
		    read_in(path.s, "memory.usage_in_bytes", &text, &len)) {
			number = text;
			number_read(&number, &bytes);
			free(text);
			GROW(machine->cgroup, machine->cgroups, machine->cgroups_room);
			cgroup = &machine->cgroup[machine->cgroups++];
			*cgroup = (struct cgroup){
				.name = xstrdup(path.s + strlen(CGROUP_DIR) + 1), .bytes = bytes,
			};
			text_clean(cgroup->name);
			if (read_in(path.s, "memory.stat", &text, &len))
				fields_parse(&cgroup->stat, text, len);
			if (depth)
				read_cgroups(machine, path.s, depth - 1);
		}
		text_free(&path);
	}
	if (d)
		closedir(d);
}

void host_read_live(struct snapshot *host, const struct host_options *options)
{
	struct utsname names;
	struct timespec now;
	bool counted = options->recount && recount();

	*host = (struct snapshot){ 0 };
	for (enum file file = 0; file < VERSION; file++) {
		char path[80], *text;
		size_t len;

		/* Else it is of some time before, or there is none. */
		if ((file == CHARGED && !counted) || (file == ALLOCINFO && options->no_sites))
			continue;
		snprintf(path, sizeof(path), "/%s/%s", files[file].dir, files[file].name);
		if (input_read(path, &text, &len))
			take(host, file, text, len);
	}
	if (options->holders) {
		host_read_processes(&host->machine.processes, options->pss);
		read_cgroups(&host->machine, CGROUP_DIR, 2);
	}
	if (!uname(&names)) {
		host->host = xstrdup(names.nodename);
		host->kernel = xstrdup(names.release);
	}
	clock_gettime(CLOCK_REALTIME, &now);
	host->time = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
	if (host->machine.profiling == PROFILING_UNKNOWN && access(ALLOCINFO_PATH, F_OK))
		host->machine.profiling = PROFILING_NONE;
	finish(host);
}

/* Where it lies: fleet/web7/proc and web7.meminfo are of web7. */
static char *host_name(const char *path)
{
	size_t len = strlen(path);
	const char *name;
	char *copy;

	while (len > 1 && strchr("/.-_", path[len - 1]))
		len--;
	if (len > 5 && !strncmp(path + len - 5, "/proc", 5))
		len -= 5;
	name = path + len;
	while (name > path && name[-1] != '/')
		name--;
	copy = xcalloc((size_t)(path + len - name) + 1, 1);
	memcpy(copy, name, (size_t)(path + len - name));
	text_clean(copy);
	return copy;
}

static bool read_found(const char *path, char **text, size_t *len)
{
	static const char *const packed[] = { "", ".gz", ".xz", ".zst" };
	struct text name = { 0 };
	bool found = false;

	for (size_t i = 0; i < sizeof(packed) / sizeof(*packed) && !found; i++) {
		text_clear(&name);
		text_printf(&name, "%s%s", path, packed[i]);
		found = input_read_found(name.s, text, len);
	}
	text_free(&name);
	return found;
}

/*
 * DIR/proc/meminfo, or DIR/meminfo; without @dir, @prefix and the name: "web7.meminfo".
 * False if neither this nor an allocinfo is there.
 */
static bool read_files(const char *dir, const char *prefix, struct snapshot *host)
{
	struct text path = { 0 };
	struct stat st;
	bool any = false;

	*host = (struct snapshot){ 0 };
	for (enum file file = 0; file < FILES; file++) {
		char *text;
		size_t len;
		bool found;

		text_clear(&path);
		if (dir)
			text_printf(&path, "%s/%s/%s", dir, files[file].dir, files[file].name);
		else
			text_printf(&path, "%s%s", prefix, files[file].name);
		found = read_found(path.s, &text, &len);
		if (!found && dir) {
			text_clear(&path);
			text_printf(&path, "%s/%s", dir, files[file].name);
			found = read_found(path.s, &text, &len);
		}
		if (!found)
			continue;
		if (file <= ALLOCINFO)
			any = true;
		if (file == MEMINFO && !stat(path.s, &st))
			host->time = (int64_t)st.st_mtim.tv_sec * 1000;
		take(host, file, text, len);
	}
	text_free(&path);
	if (any && !host->host)
		host->host = host_name(dir ? dir : prefix);
	if (any)
		finish(host);
	else
		snapshot_free(host);
	return any;
}

struct visit {
	void (*visit)(void *data, struct snapshot *host);
	void *data;
	size_t count;
};

static void hand_over(struct visit *visit, struct snapshot *host)
{
	visit->count++;
	visit->visit(visit->data, host);
}

static void of_recording(void *data, struct snapshot *host)
{
	finish(host);
	hand_over(data, host);
}

static enum file member_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	enum file file = 0;

	while (file < FILES && (strncmp(files[file].dir, "proc", 4) || file == SWITCH ?
				strcmp(name, files[file].name) != 0 :
				!unpack_is_proc(path, files[file].name)))
		file++;
	return file;
}

static bool is_member(const char *path, const char *arg)
{
	(void)arg;
	return member_of(path) < FILES;
}

/* Where the machine of the member @path is: what is before /proc/. */
static size_t root_length(const char *path)
{
	const char *proc = strstr(path, "/proc/"), *slash = strrchr(path, '/');

	if (proc)
		return (size_t)(proc - path) + 1;
	return slash && strncmp(path, "proc/", 5) ? (size_t)(slash - path) + 1 : 0;
}

static bool read_archive(const char *path, char *text, size_t len, struct visit *visit)
{
	struct unpacked u;
	bool good = unpack(&u, text, len, is_member, NULL);
	int why = errno;

	free(text);
	if (!good) {
		input_complain(path, why);
		return false;
	}
	for (size_t i = 0; i < u.count; i++) {
		size_t root = root_length(u.member[i].path);
		struct snapshot host = { 0 };

		if (!*u.member[i].path || member_of(u.member[i].path) != MEMINFO)
			continue;
		for (enum file file = 0; file < FILES; file++) {
			for (size_t k = 0; k < u.count; k++) {
				struct unpacked_member *m = &u.member[k];

				if (!m->text || member_of(m->path) != file ||
				    strncmp(m->path, u.member[i].path, root))
					continue;
				take(&host, file, m->text, m->len);
				m->text = NULL;
			}
		}
		if (!host.host)
			host.host = host_name(path);
		finish(&host);
		hand_over(visit, &host);
	}
	/* One file that is compressed. */
	good = visit->count || (u.count == 1 && !*u.member[0].path);
	if (!visit->count && good) {
		struct snapshot host = { .host = host_name(path) };

		take(&host, strncmp(u.member[0].text, "MemTotal:", 9) ? ALLOCINFO : MEMINFO,
		     u.member[0].text, u.member[0].len);
		u.member[0].text = NULL;
		finish(&host);
		hand_over(visit, &host);
	}
	unpacked_free(&u);
	if (!good)
		warning("%s: there is no proc/meminfo in it", input_name(path));
	return good;
}

static bool read_file(const char *path, struct visit *visit)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	struct snapshot host = { 0 };
	size_t len;
	char *text;

	if (source_is_recording(path))
		return source_read(path, NULL, of_recording, visit);
	for (enum file file = MEMINFO; file <= ALLOCINFO; file++) {
		const char *end = strstr(name, files[file].name);
		struct text prefix = { 0 };
		bool good;

		if (!end || access(path, R_OK))
			continue;
		text_clear(&prefix);
		text_add(&prefix, path, (size_t)(end - path));
		if (!prefix.len)
			text_puts(&prefix, "./");
		good = read_files(NULL, prefix.s, &host);
		text_free(&prefix);
		if (good) {
			hand_over(visit, &host);
			return true;
		}
	}
	if (!input_read_raw(path, &text, &len)) {
		input_complain(path, errno);
		return false;
	}
	if (unpack_is_packed(text, len))
		return read_archive(path, text, len, visit);
	if (strncmp(text, "MemTotal:", 9)) {
		free(text);
		return source_read(path, NULL, of_recording, visit);
	}
	take(&host, MEMINFO, text, len);
	host.host = host_name(path);
	finish(&host);
	hand_over(visit, &host);
	return true;
}

static bool read_path(const char *path, unsigned int depth, struct visit *visit)
{
	struct snapshot host;
	struct dirent **entry;
	struct stat st;
	bool good = true;
	int count;

	if (!strcmp(path, "-") || stat(path, &st) || !S_ISDIR(st.st_mode))
		return read_file(path, visit);
	if (read_files(path, NULL, &host)) {
		hand_over(visit, &host);
		return true;
	}
	count = depth ? scandir(path, &entry, NULL, alphasort) : 0;
	if (count < 0) {
		input_complain(path, errno);
		return false;
	}
	for (int i = 0; i < count; i++) {
		struct text name = { 0 };

		if (entry[i]->d_name[0] != '.') {
			text_printf(&name, "%s/%s", path, entry[i]->d_name);
			good = read_path(name.s, depth - 1, visit) && good;
			text_free(&name);
		}
		free(entry[i]);
	}
	if (depth)
		free(entry);
	return good;
}

bool host_read(const char *path, void (*visit)(void *data, struct snapshot *host), void *data)
{
	struct visit v = { visit, data, 0 };
	bool good = read_path(path, DEPTH, &v);

	if (good && !v.count) {
		warning("%s: there is no meminfo of a machine in it", path);
		return false;
	}
	return good;
}
