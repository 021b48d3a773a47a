// SPDX-License-Identifier: GPL-2.0-only
/* The caches of a caller's objects, and the callers that hold a cache. */
#include "trace/kmem.h"
#include "trace/line_record.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef HAVE_SQLITE
#include "trace/kmem_db.h"
#endif
#include "unit.h"
#include "analysis/slab_sites.h"

static void add_lines(struct kmem *kmem, const char *const *line, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct kmem_event event;

		kmem_event_parse(&event, line[i]);
		kmem_add(kmem, &event);
	}
}

#define ALLOC(site, ptr, name) \
	"x-1 [000] 1.0: kmem_cache_alloc: call_site=" site " ptr=" ptr name \
	" bytes_req=90 bytes_alloc=96 gfp_flags=GFP_KERNEL"
#define FREE(ptr, name) \
	"x-1 [000] 1.0: kmem_cache_free: call_site=free ptr=" ptr " name=" name

static const char *const lines[] = {
	ALLOC("one", "1", ""), ALLOC("one", "2", ""), FREE("1", "apple"),
	ALLOC("two", "3", ""), ALLOC("two", "4", ""), ALLOC("two", "5", ""),
	FREE("3", "apple"), FREE("4", "pear"),
	ALLOC("none", "6", ""),
	ALLOC("told", "7", " name=pear"), ALLOC("told", "8", " name=apple"),
	ALLOC("told", "9", " name=pear"), FREE("9", "apple"),
	/* A log that was joined from two. */
	ALLOC("one", "a", " name=pear"),
};

/* "cache:alive" for the allocations of a caller, the last one first. */
static const char *uses_of(struct kmem *kmem, const char *caller)
{
	static char text[256];
	uint32_t number = kmem_caller_number(kmem, caller, strlen(caller));
	uint32_t i = kmem->caller[number].first_use;
	size_t len = 0;

	text[0] = '\0';
	for (; i != KMEM_NOBODY; i = kmem->use[i].next) {
		const struct kmem_use *use = &kmem->use[i];
		const char *cache = kmem_use_cache(kmem, use);

		if (!use->is_free)
			len += snprintf(text + len, sizeof(text) - len, "%s:%d ",
					cache ? cache : "?", (int)kmem_use_alive(use));
	}
	return text;
}

static void expect_uses(struct kmem *kmem, const char *caller, const char *want,
			const char *where)
{
	const char *got = uses_of(kmem, caller);

	expect(!strcmp(got, want), "objects of %s %s: %sis %s", caller, where, want, got);
}

static void expect_all(struct kmem *kmem, const char *where)
{
	expect_uses(kmem, "one", "pear:1 apple:1 ", where);
	expect_uses(kmem, "two", "?:1 ", where);
	expect_uses(kmem, "none", "?:1 ", where);
	expect_uses(kmem, "told", "apple:1 pear:1 ", where);
	expect(kmem->wrong_cache.count == 1, "freed into another cache %s: %d", where,
	       (int)kmem->wrong_cache.count);
}

#ifdef HAVE_SQLITE

static void test_saved(const struct kmem *kmem)
{
	char dir[] = "/tmp/codetag-unit-XXXXXX", path[sizeof(dir) + 8];
	struct kmem loaded = { 0 };
	char *why;
	int fd;

	if (!mkdtemp(dir)) {
		expect(false, "a directory for the accounts");
		return;
	}
	snprintf(path, sizeof(path), "%s/db", dir);
	/* The caller creates the file. */
	fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
	if (fd >= 0)
		close(fd);
	why = kmem_save(kmem, path);
	if (!why)
		why = kmem_load(&loaded, path);
	expect(!why, "accounts are saved and loaded: %s", why ? why : "");
	free(why);
	expect_all(&loaded, "as saved");
	kmem_free(&loaded);
	unlink(path);
	rmdir(dir);
}
#endif

/* Caches of 96 bytes; "basket" is too small for the objects of a site. */
static const char slabs_text[] =
	"slabinfo - version: 2.1\n"
	"apple 9 10 96 40 1 : tunables 0 0 0 : slabdata 1 1 0\n"
	"pear 9 10 96 40 1 : tunables 0 0 0 : slabdata 1 1 0\n"
	"basket 2 2 96 40 1 : tunables 0 0 0 : slabdata 1 1 0\n"
	"kmalloc-96 9 40 96 40 1 : tunables 0 0 0 : slabdata 1 1 0\n"
	"page 1 8 4096 8 8 : tunables 0 0 0 : slabdata 1 1 0\n";
static const char info_text[] =
	"allocinfo - version: 2.0\n"
	"288 3 a.c:1 func:fits_three\n"
	"961 10 a.c:2 func:no_multiple\n"
	"1152 12 a.c:3 func:only_kmalloc\n"
	"8192 2 a.c:4 func:pages\n"
	"0 0 a.c:5 func:nothing\n"
	"96 1 codetag:1 func:not_representable\n";

static char *copy(const char *text)
{
	return xstrdup(text);
}

/* "holder/objects/others " of the cache at @index. */
static const char *holders_of(const struct slab_holders *holders,
			      const struct slabinfo *slabs, size_t index)
{
	static char text[256];
	const struct slab_holder *holder;
	size_t count, len = 0;

	text[0] = '\0';
	holder = slab_holders_find(holders, &slabs->cache[index], &count);
	for (size_t i = 0; i < count; i++)
		len += snprintf(text + len, sizeof(text) - len, "%s%s/%d/%u%s ",
				holder[i].certain ? "" : "~", holder[i].name,
				(int)holder[i].objects, holder[i].others,
				holder[i].pages ? "p" : "");
	return text;
}

static void expect_holders(const struct slab_holders *holders,
			   const struct slabinfo *slabs, size_t index, const char *want)
{
	const char *got = holders_of(holders, slabs, index);

	expect(!strcmp(got, want), "holders of %s: %sare %s", slabs->cache[index].name,
	       want, got);
}

static void test_holders(const struct kmem *kmem)
{
	struct slab_holders holders;
	struct allocinfo info;
	struct slabinfo slabs;

	slabinfo_parse(&slabs, copy(slabs_text), strlen(slabs_text));
	allocinfo_parse(&info, copy(info_text), strlen(info_text));
	slab_holders_by_size(&holders, &slabs, &info, 4096);
	expect_holders(&holders, &slabs, 0, "~a.c:1 func:fits_three/3/2 ");
	expect_holders(&holders, &slabs, 2, "");
	expect_holders(&holders, &slabs, 3,
		       "~a.c:3 func:only_kmalloc/12/0 ~a.c:1 func:fits_three/3/2 ");
	expect_holders(&holders, &slabs, 4, "~a.c:4 func:pages/2/0p ");
	slab_holders_free(&holders);

	slab_holders_by_trace(&holders, &slabs, kmem);
	expect_holders(&holders, &slabs, 0,
		       "~none/1/2 one/1/0 told/1/0 ~two/1/2 ");
	expect_holders(&holders, &slabs, 3, "");
	slab_holders_free(&holders);
	allocinfo_free(&info);
	slabinfo_free(&slabs);
}

static const char *name_of_line(void *context, unsigned int id)
{
	(void)context;
	return id == 17 ? "a.c:1 func:f" : "other";
}

/* Events of traced call sites: by line, freed by address. */
static void test_traced(void)
{
	static const char *const traced[] = {
		"# entries-in-buffer/entries-written: 7/9   #P:2\n",
		"sh-1 [001] d..1. 1.000001: alloc: id=17 address=ffff888000000100 bytes=128 gfp=GFP_KERNEL|__GFP_ZERO node=0\n",
		"sh-1 [001] d..1. 1.000002: alloc: id=17 address=ffff888000000180 bytes=128 gfp=GFP_KERNEL node=-1\n",
		"sh-1 [000] d..1. 1.000003: alloc: id=9 address=0000000000000080 bytes=64 gfp=0 node=0\n",
		"sh-1 [000] d..1. 1.000004: free: id=17 address=ffff888000000100 bytes=128 node=0\n",
		"sh-1 [000] d..1. 1.000005: free: id=17 address=ffff888000000900 bytes=128 node=0\n",
		"sh-1 [000] d..1. 1.000006: alloc: id=65536 address=1 bytes=1 gfp=0 node=0\n",
		"sh-1 [000] d..1. 1.000007: free: id=17 bytes=128 node=0\n",
		"sh-1 [000] d..1. 1.000008: other: id=17 address=1 bytes=128\n",
	};
	struct kmem_filter all = { 0 };
	struct kmem_caller total;
	struct kmem kmem = { 0 };

	for (size_t i = 0; i < sizeof(traced) / sizeof(*traced); i++)
		line_record_add(&kmem, traced[i], name_of_line, NULL);
	kmem_sum(&kmem, &all, &total);
	expect(kmem.events == 5 && kmem.bad == 2 && kmem.overwritten == 2,
	       "traced: %d events, %d bad, %d overwritten", (int)kmem.events, (int)kmem.bad,
	       (int)kmem.overwritten);
	expect(kmem.callers == 2 && !strcmp(kmem.caller[0].name, "a.c:1 func:f"), "traced: names");
	expect(total.total_alloc == 320 && total.current_alloc == 192 && total.freed == 1 &&
	       total.remote_freed == 1, "traced: sums");
	expect(kmem.unknown.count == 1, "traced: a free of memory allocated before");
	kmem_free(&kmem);
}

void test_kmem(void)
{
	struct kmem kmem = { 0 };

	add_lines(&kmem, lines, sizeof(lines) / sizeof(*lines));
	expect_all(&kmem, "as read");
#ifdef HAVE_SQLITE
	test_saved(&kmem);
#endif
	test_holders(&kmem);
	kmem_free(&kmem);
	test_traced();
}
