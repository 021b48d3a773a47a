// SPDX-License-Identifier: GPL-2.0-only
/*
 * allocinfo test MODULES	test the ioctls of /proc/allocinfo, printing KTAP
 * allocinfo same		do they list the lines of the text? Prints the differences
 *
 * MODULES is the directory of the test modules, of which codetag_test is loaded.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/alloc_tag.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ARRAY_SIZE(_array)	(sizeof(_array) / sizeof((_array)[0]))
#define MASK(_what)		ALLOCINFO_FILTER_MASK_##_what
#define BY_NAME			(MASK(MODNAME) | MASK(FUNCTION) | MASK(FILENAME) | MASK(LINENO))

#define MAX_LINES	16384
#define MAX_TEXT	(4 << 20)

#define RUN	"/sys/kernel/debug/codetag_test/run"

struct list {
	size_t nr;
	struct allocinfo_tag_data of[MAX_LINES];
};

static const char *module_dir;
static const char *skipped;
static bool failed;

/* ---- results ---------------------------------------------------------------- */

#define bad(_fmt, ...) \
	do { \
		printf("# " _fmt "\n", ##__VA_ARGS__); \
		failed = true; \
	} while (0)

/* Ends the program: after this error the other tests make no sense. */
static void bail(const char *what)
{
	printf("Bail out! %s: %s\n", what, strerror(errno));
	exit(1);
}

static void check(bool holds, const char *what, int line)
{
	if (!holds)
		bad("line %d: not %s", line, what);
}

#define expect(_what)	check(_what, #_what, __LINE__)

static void check_error(int got, int want, const char *call, int line)
{
	if (got != want)
		bad("line %d: %s: want \"%s\", got \"%s\"", line, call, strerror(want),
		    strerror(got));
}

#define expect_error(_call, _want)	check_error(_call, _want, #_call, __LINE__)

/* ---- the ioctls: 0 or an error number ------------------------------------------ */

static int open_file(void)
{
	int fd = open("/proc/allocinfo", O_RDONLY);

	if (fd < 0)
		bail("/proc/allocinfo");
	return fd;
}

static int get_at(int fd, __u64 pos, const struct allocinfo_filter *filter,
		  struct allocinfo_tag_data *data)
{
	struct allocinfo_get_at at = { .pos = pos };

	if (filter)
		at.filter = *filter;
	if (ioctl(fd, ALLOCINFO_IOC_GET_AT, &at))
		return errno;
	*data = at.data;
	return 0;
}

static int get_next(int fd, struct allocinfo_tag_data *data)
{
	return ioctl(fd, ALLOCINFO_IOC_GET_NEXT, data) ? errno : 0;
}

static __u64 content_id(int fd)
{
	struct allocinfo_content_id id;

	if (ioctl(fd, ALLOCINFO_IOC_CONTENT_ID, &id))
		bail("ALLOCINFO_IOC_CONTENT_ID");
	return id.id;
}

/* All lines that a filter wants, with get-at for the first one. */
static void read_ioctl(int fd, const struct allocinfo_filter *filter, struct list *list)
{
	int err = get_at(fd, 0, filter, &list->of[0]);

	for (list->nr = 0; !err; err = get_next(fd, &list->of[list->nr]))
		if (++list->nr == MAX_LINES)
			break;
	if (err != ENOENT)
		bad("a list ends with \"%s\" after %zu lines", strerror(err), list->nr);
}

/* As user space gets a name. */
static void copy_end(char *to, const char *name)
{
	size_t len = strlen(name);

	if (len > ALLOCINFO_STR_SIZE - 1)
		name += len - (ALLOCINFO_STR_SIZE - 1);
	memcpy(to, name, strlen(name) + 1);
}

/* ---- the text --------------------------------------------------------------- */

static char text[MAX_TEXT];

static void parse(char *line, struct allocinfo_tag_data *data)
{
	char file[512], func[512], modname[512];
	long long bytes;
	char *at;

	memset(data, 0, sizeof(*data));
	modname[0] = '\0';
	if (sscanf(line, "%lld %llu %511[^:]:%llu [%511[^]]] func:%511s", &bytes,
		   &data->counter.calls, file, &data->tag.lineno, modname, func) != 6) {
		modname[0] = '\0';
		if (sscanf(line, "%lld %llu %511[^:]:%llu func:%511s", &bytes,
			   &data->counter.calls, file, &data->tag.lineno, func) != 5)
			bad("cannot read: %s", line);
	}
	at = strstr(line, "func:") ?: line;
	data->counter.bytes = bytes;
	data->counter.accurate = !strstr(at, " accurate:no ");
	data->counter.pad[ALLOCINFO_PAD_UNLOADED] = !!strstr(at, " unloaded:yes ");
	copy_end(data->tag.modname, modname);
	copy_end(data->tag.function, func);
	copy_end(data->tag.filename, file);
}

static void read_text(int fd, struct list *list)
{
	size_t have = 0;
	char *line, *rest;
	ssize_t got;

	if (lseek(fd, 0, SEEK_SET))
		bail("lseek");
	while (have < sizeof(text) - 1 && (got = read(fd, text + have, sizeof(text) - 1 - have)))
		if (got < 0)
			bail("read");
		else
			have += got;
	text[have] = '\0';
	list->nr = 0;
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		if (strncmp(line, "allocinfo", 9) && *line != '#' && list->nr < MAX_LINES)
			parse(line, &list->of[list->nr++]);
}

/* ---- comparing ---------------------------------------------------------------- */

static bool same_site(const struct allocinfo_tag_data *a, const struct allocinfo_tag_data *b)
{
	return !memcmp(&a->tag, &b->tag, sizeof(a->tag)) &&
	       a->counter.accurate == b->counter.accurate &&
	       !memcmp(a->counter.pad, b->counter.pad, sizeof(a->counter.pad));
}

static bool same_counts(const struct allocinfo_tag_data *a, const struct allocinfo_tag_data *b)
{
	return a->counter.bytes == b->counter.bytes && a->counter.calls == b->counter.calls;
}

static bool same_sites(const struct list *a, const struct list *b)
{
	size_t i;

	for (i = 0; i < a->nr && i < b->nr; i++)
		if (!same_site(&a->of[i], &b->of[i])) {
			bad("line %zu is %s:%llu [%s] %s in one and %s:%llu [%s] %s in the other",
			    i, a->of[i].tag.filename, a->of[i].tag.lineno,
			    a->of[i].tag.modname, a->of[i].tag.function,
			    b->of[i].tag.filename, b->of[i].tag.lineno,
			    b->of[i].tag.modname, b->of[i].tag.function);
			return false;
		}
	if (a->nr != b->nr)
		bad("%zu lines and %zu lines", a->nr, b->nr);
	return a->nr == b->nr;
}

/* Whether @filter selects the line, by definition. */
static bool wanted(const struct allocinfo_filter *filter, const struct allocinfo_tag_data *data)
{
	return !(filter->mask & MASK(MODNAME) &&
		 strcmp(filter->fields.modname, data->tag.modname)) &&
	       !(filter->mask & MASK(FUNCTION) &&
		 strcmp(filter->fields.function, data->tag.function)) &&
	       !(filter->mask & MASK(FILENAME) &&
		 strcmp(filter->fields.filename, data->tag.filename)) &&
	       !(filter->mask & MASK(LINENO) && filter->fields.lineno != data->tag.lineno) &&
	       !(filter->mask & MASK(INACCURATE) &&
		 data->counter.accurate != !filter->inaccurate) &&
	       !(filter->mask & MASK(MIN_SIZE) && data->counter.bytes < filter->min_size) &&
	       !(filter->mask & MASK(MAX_SIZE) && data->counter.bytes > filter->max_size);
}

static struct list all, some, from_text, other;

static bool filter_is_right(int fd, const struct allocinfo_filter *filter)
{
	size_t i;

	other.nr = 0;
	for (i = 0; i < all.nr; i++)
		if (wanted(filter, &all.of[i]))
			other.of[other.nr++] = all.of[i];
	read_ioctl(fd, filter, &some);
	return same_sites(&other, &some);
}

/* ---- modules ---------------------------------------------------------------- */

static void load(const char *name, const char *parameters)
{
	char path[512];
	int fd;

	snprintf(path, sizeof(path), "%s/%s.ko", module_dir, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || syscall(SYS_finit_module, fd, parameters, 0))
		bail(path);
	close(fd);
}

static void unload(const char *name)
{
	if (syscall(SYS_delete_module, name, O_NONBLOCK))
		bail(name);
}

/* Have the test modules free their memory under that name. */
static void free_group(const char *name)
{
	char command[64];
	int fd = open(RUN, O_WRONLY);
	int len = snprintf(command, sizeof(command), "drop %s\n", name);

	if (fd < 0 || write(fd, command, len) != len)
		bail(RUN);
	close(fd);
}

/* ---- errors ------------------------------------------------------------------- */

static void unknown_commands(void)
{
	static const unsigned long commands[] = {
		_IO(ALLOCINFO_IOC_BASE, 0),
		_IOW(ALLOCINFO_IOC_BASE, 0, struct allocinfo_content_id),
		_IOR(ALLOCINFO_IOC_BASE, 0, __u32),
		_IOR(ALLOCINFO_IOC_BASE, 1, struct allocinfo_get_at),
		_IOWR(ALLOCINFO_IOC_BASE, 2, struct allocinfo_tag_data),
		_IOR(ALLOCINFO_IOC_BASE, 3, struct allocinfo_content_id),
		_IOR(ALLOCINFO_IOC_BASE + 1, 0, struct allocinfo_content_id),
		0x5401, /* TCGETS */
	};
	static char arg[4096];
	int fd = open_file();
	size_t i;

	for (i = 0; i < ARRAY_SIZE(commands); i++)
		expect_error(ioctl(fd, commands[i], arg) ? errno : 0, ENOTTY);
	close(fd);
}

static void bad_addresses(void)
{
	void *nowhere = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *readable = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd = open_file();

	expect_error(ioctl(fd, ALLOCINFO_IOC_CONTENT_ID, nowhere) ? errno : 0, EFAULT);
	expect_error(ioctl(fd, ALLOCINFO_IOC_GET_AT, nowhere) ? errno : 0, EFAULT);
	expect_error(ioctl(fd, ALLOCINFO_IOC_GET_NEXT, nowhere) ? errno : 0, EFAULT);
	expect_error(ioctl(fd, ALLOCINFO_IOC_CONTENT_ID, readable) ? errno : 0, EFAULT);
	expect_error(ioctl(fd, ALLOCINFO_IOC_GET_AT, readable) ? errno : 0, EFAULT);
	expect_error(ioctl(fd, ALLOCINFO_IOC_GET_NEXT, readable) ? errno : 0, EFAULT);
	expect_error(ioctl(fd, ALLOCINFO_IOC_GET_NEXT, NULL) ? errno : 0, EFAULT);
	munmap(nowhere, 4096);
	munmap(readable, 4096);
	close(fd);
}

static void unknown_bits(void)
{
	struct allocinfo_get_at at, before;
	int fd = open_file();
	unsigned int bit;

	for (bit = 7; bit < 64; bit++) {
		memset(&at, 0, sizeof(at));
		memset(&at.data, 0x5a, sizeof(at.data));
		at.filter.mask = 1ULL << bit | MASK(MIN_SIZE);
		before = at;
		expect_error(ioctl(fd, ALLOCINFO_IOC_GET_AT, &at) ? errno : 0, EINVAL);
		expect(!memcmp(&at, &before, sizeof(at)));
	}
	close(fd);
}

static void empty_interval(void)
{
	struct allocinfo_filter filter = {
		.mask = MASK(MIN_SIZE) | MASK(MAX_SIZE), .min_size = 1, .max_size = 0,
	};
	int fd = open_file();

	/* That is found before the position is looked at. */
	expect_error(get_at(fd, ~0ULL, &filter, &some.of[0]), EINVAL);
	filter.min_size = 0;
	expect_error(get_at(fd, 0, &filter, &some.of[0]), 0);
	filter.mask = MASK(MIN_SIZE);
	filter.min_size = 1;
	expect_error(get_at(fd, 0, &filter, &some.of[0]), 0);
	close(fd);
}

static void beyond_the_end(void)
{
	int fd = open_file();

	read_ioctl(fd, NULL, &all);
	expect_error(get_at(fd, all.nr - 1, NULL, &some.of[0]), 0);
	expect(same_site(&some.of[0], &all.of[all.nr - 1]));
	expect_error(get_next(fd, &some.of[0]), ENOENT);
	expect_error(get_at(fd, all.nr, NULL, &some.of[0]), ENOENT);
	expect_error(get_at(fd, ~0ULL, NULL, &some.of[0]), ENOENT);
	close(fd);
}

/* A line whose function many lines have, to go through. */
static struct allocinfo_filter of_one_file(size_t *nr)
{
	struct allocinfo_filter filter = { .mask = MASK(FILENAME) };
	size_t i;

	copy_end(filter.fields.filename, "mm/slub.c");
	for (*nr = i = 0; i < all.nr; i++)
		*nr += wanted(&filter, &all.of[i]);
	if (*nr < 3)
		bail("too few lines of mm/slub.c");
	return filter;
}

/* Where get-next goes on after calls that failed is as it is on Linux 7.3. */
static void after_errors(void)
{
	struct allocinfo_filter file, none = { .mask = MASK(FUNCTION) };
	struct allocinfo_filter wrong = { .mask = 1 << 7 };
	struct allocinfo_tag_data first, data;
	int fd = open_file();
	size_t nr;

	copy_end(none.fields.function, "no function has this name");
	read_ioctl(fd, NULL, &all);
	file = of_one_file(&nr);
	expect_error(get_at(fd, 0, &file, &first), 0);

	/* Refused, or beyond all lines: nothing has happened. */
	expect_error(get_at(fd, 5, NULL, &data), 0);
	expect_error(get_at(fd, 0, &wrong, &data), EINVAL);
	expect_error(ioctl(fd, ALLOCINFO_IOC_GET_AT, NULL) ? errno : 0, EFAULT);
	expect_error(get_at(fd, all.nr, &file, &data), ENOENT);
	expect_error(get_next(fd, &data), 0);
	expect(same_site(&data, &all.of[6]));

	/* Beyond the matches of the filter: at the end, and then its first one. */
	expect_error(get_at(fd, nr, &file, &data), ENOENT);
	expect_error(get_next(fd, &data), ENOENT);
	expect_error(get_next(fd, &data), 0);
	expect(same_site(&data, &first));
	expect_error(get_at(fd, 0, &none, &data), ENOENT);
	expect_error(get_next(fd, &data), ENOENT);
	expect_error(get_next(fd, &data), ENOENT);
	close(fd);

	/* A file that was at the beginning is there again. */
	fd = open_file();
	expect_error(get_at(fd, nr, &file, &data), ENOENT);
	expect_error(get_next(fd, &data), 0);
	expect(same_site(&data, &first));
	close(fd);

	/* A line that could not be copied to user space is skipped. */
	fd = open_file();
	expect_error(get_next(fd, &data), 0);
	expect_error(ioctl(fd, ALLOCINFO_IOC_GET_NEXT, NULL) ? errno : 0, EFAULT);
	expect_error(get_next(fd, &data), 0);
	expect(same_site(&data, &all.of[2]));
	close(fd);
}

/* ---- going through the lines -------------------------------------------------- */

static void everything(void)
{
	int fd = open_file();
	size_t round, i;

	read_text(fd, &from_text);
	expect(from_text.nr > 500);
	/* Without get-at, and again from the beginning after the end. */
	for (round = 0; round < 2; round++) {
		for (i = 0; i < MAX_LINES && !get_next(fd, &all.of[i]); i++)
			;
		all.nr = i;
		expect(same_sites(&from_text, &all));
	}
	read_ioctl(fd, NULL, &all);
	expect(same_sites(&from_text, &all));
	close(fd);
}

/* The numbers of lines that do not change meanwhile are those of the text. */
static void numbers(void)
{
	int fd = open_file();
	size_t i, quiet = 0;

	read_text(fd, &from_text);
	read_ioctl(fd, NULL, &all);
	read_text(fd, &other);
	expect(same_sites(&from_text, &all) && same_sites(&other, &all));
	for (i = 0; i < all.nr && !failed; i++) {
		if (!same_counts(&from_text.of[i], &other.of[i]))
			continue;
		quiet++;
		if (!same_counts(&from_text.of[i], &all.of[i]))
			bad("%s:%llu: %llu %llu in the text, %llu %llu by ioctl",
			    all.of[i].tag.filename, all.of[i].tag.lineno,
			    from_text.of[i].counter.bytes, from_text.of[i].counter.calls,
			    all.of[i].counter.bytes, all.of[i].counter.calls);
	}
	expect(quiet > all.nr * 9 / 10);
	close(fd);
}

static void positions(void)
{
	struct allocinfo_tag_data data;
	int fd = open_file();
	size_t i;

	read_ioctl(fd, NULL, &all);
	for (i = 0; i < all.nr && !failed; i += 7) {
		expect_error(get_at(fd, i, NULL, &data), 0);
		expect(same_site(&data, &all.of[i]));
		if (i + 1 == all.nr)
			break;
		expect_error(get_next(fd, &data), 0);
		expect(same_site(&data, &all.of[i + 1]));
	}
	close(fd);
}

static void filter_stays(void)
{
	struct allocinfo_filter filter;
	struct allocinfo_tag_data data;
	int fd = open_file();
	size_t nr, i;

	read_ioctl(fd, NULL, &all);
	filter = of_one_file(&nr);
	read_ioctl(fd, &filter, &some);
	expect(some.nr == nr);
	for (i = 0; i < nr && !failed; i++) {
		expect_error(get_at(fd, i, &filter, &data), 0);
		expect(same_site(&data, &some.of[i]));
		expect_error(get_next(fd, &data), i + 1 < nr ? 0 : ENOENT);
		expect(i + 1 == nr || same_site(&data, &some.of[i + 1]));
	}
	/* Through the end and the beginning, until there is another one. */
	expect_error(get_at(fd, nr - 1, &filter, &data), 0);
	expect_error(get_next(fd, &data), ENOENT);
	expect_error(get_next(fd, &data), 0);
	expect(same_site(&data, &some.of[0]));
	expect_error(get_at(fd, 0, NULL, &data), 0);
	expect_error(get_next(fd, &data), 0);
	expect(same_site(&data, &all.of[1]));
	close(fd);
}

/* Text and ioctls do not know of each other, nor do two open files. */
static void independent(void)
{
	int fd = open_file(), second = open_file(), copy = dup(fd);
	struct allocinfo_tag_data data;
	char buf[1000];

	read_ioctl(fd, NULL, &all);
	expect_error(get_at(fd, 10, NULL, &data), 0);
	expect(read(fd, buf, sizeof(buf)) > 0);
	expect_error(get_next(fd, &data), 0);
	expect(same_site(&data, &all.of[11]));
	expect(lseek(fd, 0, SEEK_SET) == 0);
	expect(pread(fd, buf, sizeof(buf), 4000) > 0);
	expect_error(get_next(second, &data), 0);
	expect(same_site(&data, &all.of[0]));
	expect_error(get_next(copy, &data), 0);
	expect(same_site(&data, &all.of[12]));
	read_text(fd, &from_text);
	expect(same_sites(&from_text, &all));
	expect_error(get_next(fd, &data), 0);
	expect(same_site(&data, &all.of[13]));
	close(copy);
	close(second);
	close(fd);
}

/* Four processes share an open file: each line comes once. */
static void shared_file(void)
{
	const size_t size = sizeof(struct list);
	struct list *shared = mmap(NULL, size, PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int fd = open_file(), child, status;
	size_t i, k, found;

	if (shared == MAP_FAILED)
		bail("mmap");
	read_ioctl(fd, NULL, &all);
	fflush(stdout);
	for (child = 0; child < 4; child++) {
		if (fork())
			continue;
		while ((i = __atomic_fetch_add(&shared->nr, 1, __ATOMIC_RELAXED)) < all.nr)
			if (get_next(fd, &shared->of[i]))
				_exit(1);
		_exit(0);
	}
	while (wait(&status) > 0)
		expect(!status);
	for (i = 0; i < all.nr && !failed; i++) {
		for (found = k = 0; k < all.nr; k++)
			found += same_site(&all.of[i], &shared->of[k]);
		for (k = 0; k < all.nr; k++)
			found -= same_site(&all.of[i], &all.of[k]);
		if (found)
			bad("%s:%llu: other lines than there are", all.of[i].tag.filename,
			    all.of[i].tag.lineno);
	}
	expect_error(get_next(fd, &some.of[0]), ENOENT);
	munmap(shared, size);
	close(fd);
}

static double cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

/* If each call searched from the beginning, the second half would take three times as long. */
static void bounded_work(void)
{
	struct allocinfo_tag_data data;
	double took[2] = {}, start;
	int fd = open_file(), round, half;
	size_t i;

	load("codetag_many", "");
	read_ioctl(fd, NULL, &all);
	for (round = 0; round < 10; round++) {
		expect_error(get_at(fd, 0, NULL, &data), 0);
		for (half = 0; half < 2; half++) {
			start = cpu_seconds();
			for (i = 0; i < all.nr / 2 - 1; i++)
				get_next(fd, &data);
			took[half] += cpu_seconds() - start;
		}
	}
	unload("codetag_many");
	printf("# ten times %zu lines: %.0f ms for the first halves, %.0f ms for the second\n",
	       all.nr, took[0] * 1e3, took[1] * 1e3);
	expect(all.nr > 3000);
	expect(took[1] < took[0] * 2);
	close(fd);
}

/* ---- filters -------------------------------------------------------------------- */

/* Each combination of names, of lines here and there. */
static void filter_by_name(void)
{
	struct allocinfo_filter filter = {};
	int fd = open_file();
	size_t i;

	load("codetag_victim", "pieces=2 group=ioctl");
	read_ioctl(fd, NULL, &all);
	for (i = 0; i < all.nr && !failed; i += 61)
		for (filter.mask = 1; filter.mask <= BY_NAME && !failed; filter.mask++) {
			filter.fields = all.of[i].tag;
			expect(filter_is_right(fd, &filter));
			expect(some.nr);
			/* The end of a name is not the name. */
			if (filter.mask == MASK(FILENAME)) {
				memmove(filter.fields.filename, filter.fields.filename + 1,
					ALLOCINFO_STR_SIZE - 1);
				expect(filter_is_right(fd, &filter));
			}
		}
	unload("codetag_victim");
	free_group("ioctl");
	close(fd);
}

static void filter_by_module(void)
{
	struct allocinfo_filter filter = { .mask = MASK(MODNAME) };
	int fd = open_file();
	size_t i;

	read_ioctl(fd, NULL, &all);
	/* An empty name is that of all built-in code, which has no other. */
	expect(filter_is_right(fd, &filter));
	expect(some.nr > 500);
	for (i = 0; i < some.nr; i++)
		expect(!some.of[i].tag.modname[0]);
	copy_end(filter.fields.modname, "slub");
	expect_error(get_at(fd, 0, &filter, &some.of[0]), ENOENT);
	copy_end(filter.fields.modname, "codetag_test");
	expect(filter_is_right(fd, &filter));
	expect(some.nr > 5);
	/* A name that is not terminated is invalid. */
	memset(filter.fields.modname, 'x', ALLOCINFO_STR_SIZE);
	expect_error(get_at(fd, 0, &filter, &some.of[0]), ENOENT);
	close(fd);
}

/* A module's memory that nobody touches. */
static void filter_by_size(void)
{
	struct allocinfo_filter filter = { .mask = MASK(MODNAME) };
	int fd = open_file();
	size_t i, nr;
	__u64 bytes;

	load("codetag_victim", "pieces=3 group=ioctl");
	copy_end(filter.fields.modname, "codetag_victim");
	read_ioctl(fd, &filter, &all);
	nr = all.nr;
	expect(nr >= 7);
	for (i = 0; i < nr && !failed; i++) {
		bytes = all.of[i].counter.bytes;
		filter.mask = MASK(MODNAME) | MASK(MIN_SIZE);
		filter.min_size = bytes;
		expect(filter_is_right(fd, &filter));
		filter.min_size++;
		expect(filter_is_right(fd, &filter));
		filter.mask = MASK(MODNAME) | MASK(MAX_SIZE);
		filter.max_size = bytes;
		expect(filter_is_right(fd, &filter));
		filter.max_size--;
		expect(!bytes || filter_is_right(fd, &filter));
		filter.mask |= MASK(MIN_SIZE);
		filter.min_size = bytes;
		filter.max_size = bytes;
		expect(filter_is_right(fd, &filter));
		expect(some.nr && some.of[0].counter.bytes == bytes);
		/* Without a name counters are read ahead. */
		filter.mask = MASK(MIN_SIZE) | MASK(MAX_SIZE);
		read_ioctl(fd, &filter, &some);
		for (nr = 0; nr < some.nr && !same_site(&some.of[nr], &all.of[i]); nr++)
			expect(some.of[nr].counter.bytes == bytes);
		expect(nr < some.nr);
		nr = all.nr;
	}
	filter.mask = MASK(MIN_SIZE);
	filter.min_size = ~0ULL;
	expect_error(get_at(fd, 0, &filter, &some.of[0]), ENOENT);
	unload("codetag_victim");
	free_group("ioctl");
	close(fd);
}

static void filter_by_accuracy(void)
{
	struct allocinfo_filter filter = { .mask = MASK(INACCURATE) };
	int fd = open_file();

	read_ioctl(fd, NULL, &all);
	expect(filter_is_right(fd, &filter));
	filter.inaccurate = 1ULL << 40;
	expect(filter_is_right(fd, &filter));
	close(fd);
}

static void long_names(void)
{
	static const char end[] =
		"the_end_of_a_name_that_is_as_long_as_what_user_space_has_room_f";
	struct allocinfo_filter filter = { .mask = MASK(FUNCTION) };
	int fd = open_file();

	load("codetag_names", "");
	read_text(fd, &from_text);
	read_ioctl(fd, NULL, &all);
	expect(same_sites(&from_text, &all));

	/* Those with the same end are found together, alone is none of them. */
	copy_end(filter.fields.function, end);
	expect(filter_is_right(fd, &filter));
	expect(some.nr == 4);
	filter.fields.function[0] = 'x';
	memcpy(filter.fields.function + 1, end, ALLOCINFO_STR_SIZE - 1);
	expect_error(get_at(fd, 0, &filter, &some.of[0]), ENOENT);
	copy_end(filter.fields.function, end);
	filter.fields.function[4] = 'E';
	expect_error(get_at(fd, 0, &filter, &some.of[0]), ENOENT);
	copy_end(filter.fields.function, end);
	filter.fields.function[0] = 's';
	expect(filter_is_right(fd, &filter));
	expect(some.nr == 1);

	filter.mask = MASK(FILENAME);
	copy_end(filter.fields.filename,
		 "ewhere/in/a/directory/that/is/deeper/than/any/other/one/names.c");
	expect(strlen(filter.fields.filename) == 63);
	expect(filter_is_right(fd, &filter));
	expect(some.nr == 1 && !strcmp(some.of[0].tag.function, "short_name"));
	copy_end(filter.fields.filename, "names.c");
	expect_error(get_at(fd, 0, &filter, &some.of[0]), ENOENT);
	unload("codetag_names");
	close(fd);
}

/* ---- lines that come and go --------------------------------------------------- */

/* Another content id than the last one, or the same. */
static void expect_content(int fd, __u64 *last, bool changed, int line)
{
	__u64 id = content_id(fd);
	bool other_id = id != *last;

	if (other_id != changed)
		bad("line %d: content id %llu after %llu", line, id, *last);
	*last = id;
}

static void content_ids(void)
{
	int fd = open_file(), second = open_file();
	__u64 last = content_id(fd);

	read_ioctl(fd, NULL, &all);
	read_text(fd, &from_text);
	expect(content_id(second) == last);
	expect_content(fd, &last, false, __LINE__);
	load("codetag_victim", "pieces=2 group=ioctl");
	expect_content(fd, &last, true, __LINE__);
	read_ioctl(fd, NULL, &all);
	expect_content(fd, &last, false, __LINE__);

	unload("codetag_victim");
	expect_content(fd, &last, true, __LINE__);
	expect_content(second, &last, false, __LINE__);
	/* Nobody unloads anything now, but lines go with the last memory. */
	free_group("ioctl");
	expect_content(fd, &last, true, __LINE__);
	expect_content(fd, &last, false, __LINE__);

	load("codetag_victim", "pieces=0 group=ioctl");
	expect_content(fd, &last, true, __LINE__);
	unload("codetag_victim");
	expect_content(fd, &last, true, __LINE__);
	expect_content(fd, &last, false, __LINE__);
	close(second);
	close(fd);
}

static void unloaded_modules(void)
{
	struct allocinfo_filter filter = { .mask = MASK(MODNAME) };
	int fd = open_file();
	size_t i, gone = 0;

	copy_end(filter.fields.modname, "codetag_victim");
	load("codetag_victim", "pieces=2 group=ioctl");
	unload("codetag_victim");
	load("codetag_victim", "pieces=1 group=again");
	read_text(fd, &from_text);
	read_ioctl(fd, NULL, &all);
	expect(same_sites(&from_text, &all));
	expect(filter_is_right(fd, &filter));
	for (i = 0; i < some.nr; i++)
		gone += some.of[i].counter.pad[ALLOCINFO_PAD_UNLOADED];
	expect(gone == 7 && some.nr >= 14);

	free_group("ioctl");
	read_ioctl(fd, &filter, &some);
	for (i = 0; i < some.nr; i++)
		expect(!some.of[i].counter.pad[ALLOCINFO_PAD_UNLOADED]);
	expect(i >= 7);
	unload("codetag_victim");
	free_group("again");
	read_ioctl(fd, &filter, &some);
	expect(!some.nr);
	close(fd);
}

/* In the middle of a module's lines the module goes, and another one comes. */
static void gone_in_the_middle(void)
{
	struct allocinfo_filter filter = { .mask = MASK(MODNAME) };
	struct allocinfo_tag_data data;
	int fd = open_file(), err;
	size_t i, nr = 0, many = 0;

	read_ioctl(fd, NULL, &all);
	load("codetag_many", "");
	for (i = 0; i < 100 + all.nr; i++) {
		expect_error(get_next(fd, &data), 0);
		if (!strcmp(data.tag.modname, "codetag_many"))
			many++;
		else if (nr < all.nr && !same_site(&data, &all.of[nr++]))
			bad("line %zu is another one", nr);
		if (many == 100)
			break;
	}
	expect(many == 100);
	unload("codetag_many");
	load("codetag_victim", "pieces=0");
	while (!(err = get_next(fd, &data))) {
		expect(strcmp(data.tag.modname, "codetag_many"));
		if (strcmp(data.tag.modname, "codetag_victim"))
			expect(nr < all.nr && same_site(&data, &all.of[nr++]));
	}
	expect(err == ENOENT && nr == all.nr);
	copy_end(filter.fields.modname, "codetag_many");
	expect_error(get_at(fd, 0, &filter, &data), ENOENT);
	unload("codetag_victim");
	close(fd);
}

/* However fast the machine is, some pauses are shorter than a round and some longer. */
static void load_and_unload(void)
{
	unsigned int i;

	for (i = 0; getppid() != 1; i++) {
		load("codetag_victim", "pieces=0");
		usleep(1000 << i % 10);
		unload("codetag_victim");
		usleep(1000 << i % 10);
	}
	exit(0);
}

/*
 * A module comes and goes all the time. Nothing of the others is missed or comes
 * twice, and what was read with the same content id before and after is the same.
 */
static void coming_and_going(void)
{
	struct allocinfo_filter builtin = { .mask = MASK(MODNAME) };
	size_t rounds, same = 0, i;
	int fd = open_file();
	pid_t child;
	__u64 id;

	read_ioctl(fd, &builtin, &from_text);
	fflush(stdout);
	child = fork();
	if (!child)
		load_and_unload();
	for (rounds = 0; !failed && rounds < 1000; rounds++) {
		if (rounds >= 20 && same && same < rounds)
			break;
		id = content_id(fd);
		read_ioctl(fd, NULL, &all);
		some.nr = 0;
		for (i = 0; i < all.nr; i++)
			if (!all.of[i].tag.modname[0])
				some.of[some.nr++] = all.of[i];
		expect(same_sites(&from_text, &some));
		read_text(fd, &other);
		if (content_id(fd) == id) {
			same++;
			expect(same_sites(&all, &other));
		}
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	/* It may have died with the module loaded. */
	syscall(SYS_delete_module, "codetag_victim", O_NONBLOCK);
	printf("# %zu rounds, %zu of them with the same content id\n", rounds, same);
	expect(same && same < rounds);
	close(fd);
}

/* ---- who ---------------------------------------------------------------------- */

static void not_everybody(void)
{
	int status;

	fflush(stdout);
	if (!fork()) {
		if (setgid(65534) || setuid(65534))
			_exit(1);
		_exit(open("/proc/allocinfo", O_RDONLY) >= 0 || errno != EACCES);
	}
	wait(&status);
	expect(!status);
}

#ifdef __x86_64__
static long syscall_32(long nr, long a, long b, long c)
{
	long ret;

	asm volatile("int $0x80" : "=a" (ret) : "a" (nr), "b" (a), "c" (b), "d" (c)
		     : "memory", "r8", "r9", "r10", "r11");
	return ret;
}

/* A system call of a program for 32 bits. A kernel without such calls kills it. */
static void for_32_bits(void)
{
	struct allocinfo_get_at *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
					   MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	struct allocinfo_tag_data *data = (void *)(at + 1);
	struct allocinfo_content_id *id = (void *)(data + 1);
	int fd = open_file();

	if (at == MAP_FAILED)
		bail("mmap");
	if (access("/proc/sys/abi/vsyscall32", F_OK)) {
		skipped = "no programs for 32 bits";
		munmap(at, 4096);
		close(fd);
		return;
	}

	read_ioctl(fd, NULL, &all);
	at->pos = 4;
	expect(!syscall_32(54, fd, ALLOCINFO_IOC_CONTENT_ID, (long)id));
	expect(id->id == content_id(fd));
	expect(!syscall_32(54, fd, ALLOCINFO_IOC_GET_AT, (long)at));
	expect(same_site(&at->data, &all.of[4]));
	expect(!syscall_32(54, fd, ALLOCINFO_IOC_GET_NEXT, (long)data));
	expect(same_site(data, &all.of[5]));
	expect(syscall_32(54, fd, _IO(ALLOCINFO_IOC_BASE, 9), (long)at) == -ENOTTY);
	expect(syscall_32(54, fd, ALLOCINFO_IOC_GET_NEXT, 0) == -EFAULT);
	at->filter.mask = 1 << 7;
	expect(syscall_32(54, fd, ALLOCINFO_IOC_GET_AT, (long)at) == -EINVAL);
	munmap(at, 4096);
	close(fd);
}
#else
static void for_32_bits(void)
{
	skipped = "not x86-64";
}
#endif

/* ---- the program -------------------------------------------------------------- */

static const struct {
	const char *name;
	void (*run)(void);
} tests[] = {
	{ "unknown commands are refused", unknown_commands },
	{ "addresses that are not there are refused", bad_addresses },
	{ "unknown bits are refused", unknown_bits },
	{ "an interval that is none is refused", empty_interval },
	{ "there is nothing beyond the end", beyond_the_end },
	{ "errors leave the position as Linux 7.3 does", after_errors },
	{ "everything that the text lists, in that order", everything },
	{ "the numbers of the text", numbers },
	{ "a line by its number, and the next one", positions },
	{ "a filter stays until there is another one", filter_stays },
	{ "independent of reading and of other open files", independent },
	{ "processes that share an open file", shared_file },
	{ "the next line is not looked for from the beginning", bounded_work },
	{ "chosen by names and lines", filter_by_name },
	{ "chosen by module", filter_by_module },
	{ "chosen by size", filter_by_size },
	{ "chosen by accuracy", filter_by_accuracy },
	{ "names that are too long", long_names },
	{ "content id", content_ids },
	{ "modules that are unloaded with memory", unloaded_modules },
	{ "a module that goes in the middle", gone_in_the_middle },
	{ "modules that come and go all the time", coming_and_going },
	{ "only root can open it", not_everybody },
	{ "programs for 32 bits", for_32_bits },
};

int main(int argc, char *argv[])
{
	struct allocinfo_filter inaccurate = { .mask = MASK(INACCURATE), .inaccurate = 1 };
	bool any = false;
	size_t i;

	if (argc == 2 && !strcmp(argv[1], "same")) {
		everything();
		filter_is_right(open_file(), &inaccurate);
		return failed;
	}
	if (argc != 3 || strcmp(argv[1], "test")) {
		fprintf(stderr, "Usage: allocinfo test MODULES | allocinfo same\n");
		return 2;
	}
	module_dir = argv[2];
	printf("KTAP version 1\n1..%zu\n", ARRAY_SIZE(tests));
	for (i = 0; i < ARRAY_SIZE(tests); i++) {
		failed = false;
		skipped = NULL;
		tests[i].run();
		printf("%sok %zu %s%s%s\n", failed ? "not " : "", i + 1, tests[i].name,
		       skipped ? " # SKIP " : "", skipped ?: "");
		any |= failed;
	}
	return any;
}
