// SPDX-License-Identifier: GPL-2.0-only
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
#include "memory_image/report.h"
#include "read/activity.h"
#include "read/input.h"
#include "read/unpack.h"
#include "source/archive.h"
#include "source/sections.h"

#define CHARGED_PATH "/sys/kernel/debug/codetag/charged"
#define CGROUP_DIR "/sys/fs/cgroup"

/* The largest depth of directories in which hosts are looked for. */
#define DEPTH 3

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

/* The word after @key; NULL if there is none. */
static char *line_after(const char *text, const char *key)
{
	const char *at = strstr(text, key);
	char *found;
	size_t len;

	if (!at)
		return NULL;
	at += strlen(key);
	at += strspn(at, " \t");
	len = strcspn(at, " \t\r\n");
	if (!len)
		return NULL;
	found = xcalloc(len + 1, 1);
	memcpy(found, at, len);
	text_clean(found);
	return found;
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

/* Marks the reclaimable caches, which slabinfo does not tell. */
static void read_reclaim(struct slabinfo *slabs)
{
	for (size_t i = 0; i < slabs->count; i++) {
		struct slab_cache *cache = &slabs->cache[i];
		struct text name = { 0 };
		size_t len;
		char *text;

		text_printf(&name, "%s/reclaim_account", cache->name);
		if (!strchr(cache->name, '/') && read_in("/sys/kernel/slab", name.s, &text, &len)) {
			cache->reclaim = *text == '1' ? RECLAIM_YES : RECLAIM_NO;
			free(text);
		}
		text_free(&name);
	}
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

/* Works for both versions; version 1 has a directory of its own, called memory. */
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

void host_boot_id(char id[BOOT_ID])
{
	size_t len;
	char *text;

	*id = '\0';
	if (!input_read_raw("/proc/sys/kernel/random/boot_id", &text, &len))
		return;
	snprintf(id, BOOT_ID, "%.*s", (int)strcspn(text, "\n"), text);
	free(text);
}

static void read_activity(struct snapshot *host)
{
	struct timespec now;
	const char *why;

	if (!activity_read(&host->info, ACTIVITY_PATH, &why))
		return;
	clock_gettime(CLOCK_MONOTONIC, &now);
	host->counted = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

double host_activity(struct snapshot *now, const struct snapshot *before)
{
	if (!now->counted || !before->counted)
		return 0;
	activity_between(&now->info, &before->info, ACTIVITY_LIVE);
	return (double)(now->counted - before->counted) / 1000;
}

/* MemFree, in bytes; 0 if it cannot be read. */
static int64_t free_memory(void)
{
	struct fields meminfo = { 0 };
	int64_t bytes = 0;

	if (fields_read(&meminfo, "/proc/meminfo")) {
		bytes = fields_number(&meminfo, "MemFree");
		fields_free(&meminfo);
	}
	return bytes;
}

void host_read_live(struct snapshot *host, const struct host_options *options)
{
	int64_t free_before = options->holders ? free_memory() : 0;
	struct utsname names;
	struct timespec now;
	bool counted = options->recount && recount();

	*host = (struct snapshot){ .machine.page_size = sysconf(_SC_PAGESIZE) };
	for (enum member m = 0; m < VERSION; m++) {
		char path[80], *text;
		size_t len;

		/* Otherwise it is from an earlier time, or there is none. */
		if ((m == CHARGED && !counted) || (m == ALLOCINFO && options->no_sites))
			continue;
		snprintf(path, sizeof(path), "/%s/%s", member_files[m].dir, member_files[m].name);
		if (!input_read(path, &text, &len))
			continue;
		if (len)
			member_take(host, m, text, len, path);
		else
			free(text);
	}
	if (options->activity)
		read_activity(host);
	if (options->holders) {
		host->machine.moved = sub64(free_memory(), free_before);
		read_reclaim(&host->machine.slabinfo);
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
	host->hosts = 1;
}

/* The name of the host by the path: fleet/web7/proc and web7.meminfo are of web7. */
static char *host_name(const char *path)
{
	size_t len = strlen(path);
	const char *name;
	char *copy;

	if (!strcmp(path, "-"))
		return xstrdup(input_name(path));

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

/* Whether @path is an ordinary file, compressed or not; @name gets its name with the suffix. */
static bool find(const char *path, struct text *name, struct stat *st)
{
	static const char *const packed[] = { "", ".gz", ".xz", ".zst" };

	for (size_t i = 0; i < sizeof(packed) / sizeof(*packed); i++) {
		text_clear(name);
		text_printf(name, "%s%s", path, packed[i]);
		if (!stat(name->s, st) && !S_ISDIR(st->st_mode))
			return true;
	}
	return false;
}

static void leave_out(const char *path)
{
	warning("%s is left out: it is not an ordinary file", path);
}

/*
 * DIR/proc/meminfo or DIR/meminfo; without @dir @prefix and the name: "web7.meminfo". Returns
 * false if there is neither this nor an allocinfo.
 */
static bool read_files(const char *dir, const char *prefix, struct snapshot *host)
{
	struct text path = { 0 }, name = { 0 };
	bool any = false, has[MEMBERS] = { false };
	char *odd = NULL;
	struct stat st;

	*host = (struct snapshot){ 0 };
	for (enum member m = 0; m < MEMBERS; m++) {
		const struct member_file *file = &member_files[m];
		bool found;
		char *text;
		size_t len;

		if (has[m])
			continue;
		text_clear(&path);
		if (dir)
			text_printf(&path, "%s/%s/%s", dir, file->dir, file->name);
		else
			text_printf(&path, "%s%s", prefix, file->name);
		found = find(path.s, &name, &st);
		if (!found && dir) {
			text_clear(&path);
			text_printf(&path, "%s/%s", dir, file->name);
			found = find(path.s, &name, &st);
		}
		if (!found)
			continue;
		if (!S_ISREG(st.st_mode) || input_leads_into_kernel(name.s)) {
			if (!odd)
				odd = xstrdup(name.s);
			continue;
		}
		any |= m <= ALLOCINFO;
		if (m == MEMINFO)
			host->time = (int64_t)st.st_mtim.tv_sec * 1000;
		if (!input_read_found(name.s, &text, &len)) {
			input_complain(name.s, errno);
			host->incomplete = true;
		} else if (!sections_take_file(host, m, text, len, name.s, has)) {
			host->incomplete = true;
		}
	}
	if (any && odd) {
		leave_out(odd);
		host->incomplete = true;
	}
	free(odd);
	text_free(&path);
	text_free(&name);
	if (any && !host->host)
		host->host = host_name(dir ? dir : prefix);
	if (!any)
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
	host->hosts = 1;
	visit->visit(visit->data, host);
}

static void of_recording(void *data, struct snapshot *host)
{
	hand_over(data, host);
}

struct archive {
	struct visit *visit;
	const char *path;
	bool several;		/* machines: their names are those of their directories */
};

static void of_archive(void *data, struct snapshot *host, const char *name)
{
	const struct archive *archive = data;
	const char *end = archive->several ? strrchr(name, '/') : NULL;
	bool top = end && !strncmp(name, "./", (size_t)(end - name) + 1);
	char *dir = end && !top ? strndup(name, (size_t)(end - name)) : NULL;

	if (!host->host)
		host->host = host_name(dir ? dir : archive->path);
	free(dir);
	hand_over(archive->visit, host);
}

/* Takes over @text. */
static bool read_text(const char *path, char *text, size_t len, struct visit *visit)
{
	struct snapshot host = { 0 };
	bool has[MEMBERS] = { false };
	struct sections sections;

	if (!lines_plain(&text, &len)) {
		input_complain(path, errno);
		free(text);
		return false;
	}
	if (sections_cut(&sections, text, len) && sections.of[MEMINFO].len) {
		free(text);
		sections_take(&sections, &host, path, has);
	} else if (!strncmp(text, "MemTotal:", 9)) {
		member_take(&host, MEMINFO, text, len, path);
	} else {
		sections_free(&sections);
		return source_take(path, text, len, of_recording, visit);
	}
	sections_free(&sections);
	host.host = host_name(path);
	hand_over(visit, &host);
	return true;
}

static bool read_archive(const char *path, char *text, size_t len, struct visit *visit)
{
	struct archive archive = { visit, path, false };
	struct unpacked u;
	bool good = unpack(&u, text, len, is_member, NULL);
	int why = errno;

	free(text);
	if (!good) {
		input_complain(path, why);
		return false;
	}
	/* One file that is compressed */
	if (u.count == 1 && !*u.member[0].path) {
		text = u.member[0].text;
		len = u.member[0].len;
		u.member[0].text = NULL;
		good = read_text(path, text, len, visit);
	} else {
		archive.several = archive_is_of_several(&u);
		good = archive_read(&u, path, MEMINFO, of_archive, &archive);
	}
	unpacked_free(&u);
	return good;
}

/* Takes over @text, which may be empty. */
static void take_text(struct snapshot *host, enum member m, struct text *text, const char *path)
{
	if (text->len && !member_take(host, m, text->s, text->len, path))
		host->incomplete = true;
	else if (!text->len)
		text_free(text);
	*text = (struct text){ 0 };
}

/* The files that the machine would have had. Its control groups are not read. */
static bool read_image(const char *path, struct visit *visit)
{
	struct text allocinfo = { 0 }, stats = { 0 };
	struct snapshot host = { 0 };
	struct image_machine machine;
	bool good = image_machine(path, &machine, &allocinfo, &stats, &host.incomplete);

	if (good) {
		host.machine.profiling = stats.len && strstr(stats.s, "enabled: 0") ? PROFILING_OFF :
										      PROFILING_ON;
		host.machine.page_size = machine.page_size;
		take_text(&host, MEMINFO, &machine.meminfo, path);
		take_text(&host, ALLOCINFO, &allocinfo, path);
		take_text(&host, VMSTAT, &machine.vmstat, path);
		take_text(&host, ZONEINFO, &machine.zoneinfo, path);
		take_text(&host, SLABINFO, &machine.slabinfo, path);
		take_text(&host, VMALLOCINFO, &machine.vmallocinfo, path);
		take_text(&host, IOMEM, &machine.iomem, path);
		take_text(&host, CHARGED, &machine.charged, path);
		take_text(&host, STATS, &stats, path);
		host.machine.processes = machine.processes;
		machine.processes = (struct holders){ 0 };
		host.host = machine.host[0] ? xstrdup(machine.host) : host_name(path);
		host.kernel = xstrdup(machine.release);
		hand_over(visit, &host);
	}
	text_free(&allocinfo);
	text_free(&stats);
	image_machine_free(&machine);
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
	if (image_file(path))
		return read_image(path, visit);
	/* The name "vmallocinfo" ends in "allocinfo", too. */
	for (enum member m = VMALLOCINFO + 1; m-- > MEMINFO; ) {
		const char *end = strstr(name, member_files[m].name);
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
	return read_text(path, text, len, visit);
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
			if (input_leads_into_kernel(name.s) ||
			    (!stat(name.s, &st) && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)))
				leave_out(name.s);
			else
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
