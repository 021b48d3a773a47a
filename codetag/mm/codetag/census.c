// SPDX-License-Identifier: GPL-2.0-only
/*
 * /sys/kernel/debug/codetag/census: the memory of call sites by place and kind.
 *
 * Counters of call sites know nothing of nodes, zones or control groups. So writing the
 * names of keys to this file walks all pages, slab objects and percpu allocations, and adds
 * up those that have the same values. The machine goes on working meanwhile: memory that is
 * allocated, freed or moved may be counted or not, or twice.
 *
 * Only the list of caches is locked, and percpu memory for a slice of a chunk. A page can get
 * another user while it is looked at. So pointers that are found there are followed by
 * functions that survive a bad address. A cache is looked up in the list. The control group
 * of a page is looked up under RCU, see page_memcg_check(). That of a slab object is looked
 * up in a table of all groups, because the slab may be gone while its pointers are followed.
 */
#define pr_fmt(fmt) "codetag: " fmt

#include <linux/bsearch.h>
#include <linux/cgroup.h>
#include <linux/err.h>
#include <linux/init.h>
#include <linux/jhash.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/memcontrol.h>
#include <linux/memory_hotplug.h>
#include <linux/mm.h>
#include <linux/mmzone.h>
#include <linux/printk.h>
#include <linux/sched/signal.h>
#include <linux/seq_buf.h>
#include <linux/sizes.h>
#include <linux/sort.h>
#include <linux/string.h>
#include <linux/string_helpers.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>
#include "internal.h"
#include "recount.h"
#include "result.h"
#include "tags.h"

/* Pages of a slice. The walk may reschedule between two slices. */
#define SLICE_PAGES	(SZ_4M / PAGE_SIZE)

/* Rows of the table, a power of two. It takes 2.5 MiB. */
#define ROWS		65536

/* A fuller table is slow to search. Memory that finds no row is summed in "others". */
#define ROWS_FULL	(ROWS / 8 * 7)

enum census_key {
	BY_KIND,
	BY_NODE,
	BY_ZONE,
	BY_MIGRATETYPE,
	BY_ORDER,
	BY_CACHE,
	BY_CGROUP,
	BY_SITE,	/* the last one: its text has blanks */
	NR_KEYS,
};

static const char * const key_names[NR_KEYS] = {
	[BY_KIND]	 = "kind",
	[BY_NODE]	 = "node",
	[BY_ZONE]	 = "zone",
	[BY_MIGRATETYPE] = "migratetype",
	[BY_ORDER]	 = "order",
	[BY_CACHE]	 = "cache",
	[BY_CGROUP]	 = "cgroup",
	[BY_SITE]	 = "site",
};

/**
 * struct census_row - memory with the same values
 * @cgroup:	id of the control group, 0: none
 * @cache:	one more than the index of the cache, 0: none
 * @id:		the id, 0: not asked for
 * @node:	one more than the node, 0: none
 * @kind:	'p'ages, 's'lab, per'c'pu; 0: not asked for
 * @zone:	one more than the zone
 * @type:	one more than the migratetype
 * @order:	one more than the order
 * @padding:	always 0
 * @bytes:	size
 * @calls:	how many; 0: the row is not used
 */
struct census_row {
	/* The values, compared as bytes: */
	u64 cgroup;
	u32 cache;
	u16 id;
	u16 node;
	u8 kind;
	u8 zone;
	u8 type;
	u8 order;
	u8 padding[4];
	/* Up to here */
	u64 bytes;
	u64 calls;
};

#define VALUES_SIZE	offsetof(struct census_row, bytes)
static_assert(VALUES_SIZE == 24);

/* Instead of the id of a control group: it was created or removed during the walk. */
#define GROUP_UNKNOWN	U64_MAX

/**
 * struct census_group - a control group
 * @memcg:	the group, with a reference
 * @id:		its id
 */
struct census_group {
	struct mem_cgroup *memcg;
	u64 id;
};

/* The name of a cache */
struct census_cache {
	char name[64];
};

/**
 * struct census - one census
 * @rc:		the recount
 * @content:	codetag_content_id before the walk
 * @keys:	bits of the keys that were asked for
 * @row:	hash table with ROWS elements
 * @used:	rows that are used
 * @others:	what found no row
 * @cache:	names of the caches, which can be gone when they are printed
 * @group:	all control groups, sorted by address; NULL: not needed
 * @nr_groups:	how many there are
 * @took:	time for all of it, in ns
 * @longest:	time of the longest slice, in ns
 */
struct census {
	struct codetag_recount rc;
	u64 content;
	unsigned int keys;
	struct census_row *row;
	unsigned int used;
	struct codetag_held others;
	struct census_cache *cache;
	struct census_group *group;
	size_t nr_groups;
	u64 took;
	u64 longest;
};

/* ---- the walk -------------------------------------------------------------------- */

static struct census_row *find_row(struct census_row *row, const struct census_row *values)
{
	unsigned int i = jhash2((const u32 *)values, VALUES_SIZE / sizeof(u32), 0) % ROWS;

	while (row[i].calls && memcmp(&row[i], values, VALUES_SIZE))
		i = (i + 1) % ROWS;
	return &row[i];
}

#ifdef CONFIG_MEMCG
static int compare_groups(const void *a, const void *b)
{
	const struct census_group *x = a, *y = b;

	return x->memcg < y->memcg ? -1 : x->memcg > y->memcg;
}

/* All control groups. Their references keep others from getting their addresses. */
static int find_groups(struct census *census)
{
	struct mem_cgroup *memcg = NULL;
	size_t nr = 0;

	while ((memcg = mem_cgroup_iter(NULL, memcg, NULL)))
		nr++;
	/* Some may be created meanwhile. */
	nr += nr / 8 + 8;
	census->group = kvcalloc(nr, sizeof(*census->group), GFP_KERNEL);
	if (!census->group)
		return -ENOMEM;
	while ((memcg = mem_cgroup_iter(NULL, memcg, NULL))) {
		if (census->nr_groups == nr) {
			mem_cgroup_iter_break(NULL, memcg);
			break;
		}
		css_get(&memcg->css);
		census->group[census->nr_groups].memcg = memcg;
		census->group[census->nr_groups++].id = cgroup_id(memcg->css.cgroup);
	}
	sort(census->group, census->nr_groups, sizeof(*census->group), compare_groups, NULL);
	return 0;
}

static void put_groups(struct census *census)
{
	size_t i;

	for (i = 0; i < census->nr_groups; i++)
		css_put(&census->group[i].memcg->css);
	kvfree(census->group);
}

/* The control group of an object, from what its slab says; 0 for none. */
static u64 cgroup_of_object(const struct census *census, struct obj_cgroup *objcg)
{
	struct census_group key, *group;

	if (!objcg)
		return 0;
	objcg = kasan_reset_tag(objcg);
	if (!virt_addr_valid(objcg) || get_kernel_nofault(key.memcg, &objcg->memcg))
		return GROUP_UNKNOWN;
	group = bsearch(&key, census->group, census->nr_groups, sizeof(key), compare_groups);
	return group ? group->id : GROUP_UNKNOWN;
}

/* The control group of a page, 0 for none. */
static u64 cgroup_of_page(struct page *page)
{
	struct mem_cgroup *memcg;
	u64 id = 0;

	rcu_read_lock();
	memcg = page_memcg_check(page);
	if (memcg)
		id = cgroup_id(memcg->css.cgroup);
	rcu_read_unlock();
	return id;
}
#else
static int find_groups(struct census *census)
{
	return 0;
}

static void put_groups(struct census *census)
{
}

static u64 cgroup_of_object(const struct census *census, struct obj_cgroup *objcg)
{
	return 0;
}

static u64 cgroup_of_page(struct page *page)
{
	return 0;
}
#endif

static void census_add(struct codetag_recount *rc, const struct codetag_holding *holding)
{
	struct census *census = container_of(rc, struct census, rc);
	struct page *page = holding->page;
	struct census_row values = {}, *row;
	unsigned int keys = census->keys;

	if (keys & BIT(BY_KIND))
		values.kind = !page ? 'c' : holding->cache >= 0 ? 's' : 'p';
	if (keys & BIT(BY_SITE))
		values.id = codetag_site_id(holding->id);
	if (keys & BIT(BY_CACHE))
		values.cache = holding->cache + 1;
	if (page && keys & BIT(BY_NODE))
		values.node = page_to_nid(page) + 1;
	if (page && keys & BIT(BY_ZONE))
		values.zone = page_zonenum(page) + 1;
	if (page && keys & BIT(BY_MIGRATETYPE))
		values.type = get_pageblock_migratetype(page) + 1;
	if (page && keys & BIT(BY_ORDER))
		values.order = (holding->cache < 0 ? holding->order : compound_order(page)) + 1;
	if (page && keys & BIT(BY_CGROUP))
		values.cgroup = holding->cache < 0 ? cgroup_of_page(page) :
				cgroup_of_object(census, holding->objcg);

	row = find_row(census->row, &values);
	if (!row->calls) {
		if (census->used >= ROWS_FULL) {
			census->others.bytes += holding->bytes;
			census->others.calls++;
			return;
		}
		census->used++;
		*row = values;
	}
	row->bytes += holding->bytes;
	row->calls++;
}

/* After a slice that began at @start */
static int rest(struct census *census, u64 start)
{
	census->longest = max(census->longest, ktime_get_mono_fast_ns() - start);
	cond_resched();
	return signal_pending(current) ? -EINTR : 0;
}

static int census_walk(struct census *census)
{
	u64 start, begin = ktime_get_mono_fast_ns();
	unsigned long pfn, end = 0;
	struct codetag_percpu_pos pos = {};
	struct zone *zone;
	bool more;
	size_t i;
	int ret;

	census->cache = kvcalloc(codetag_recount_nr_caches(), sizeof(*census->cache), GFP_KERNEL);
	if (!census->cache)
		return -ENOMEM;
	for (i = 0; i < codetag_recount_nr_caches(); i++)
		strscpy(census->cache[i].name, codetag_recount_cache(i));
	census->rc.objcgs = census->keys & BIT(BY_CGROUP);
	if (census->rc.objcgs) {
		ret = find_groups(census);
		if (ret)
			return ret;
	}

	for_each_populated_zone(zone)
		end = max(end, zone_end_pfn(zone));

	do {
		start = ktime_get_mono_fast_ns();
		more = codetag_recount_percpu_live(&census->rc, &pos);
		if (rest(census, start))
			return -EINTR;
	} while (more);
	for (pfn = 0; pfn < end; pfn += SLICE_PAGES) {
		start = ktime_get_mono_fast_ns();
		codetag_recount_pages(&census->rc, pfn, min(pfn + SLICE_PAGES, end));
		if (rest(census, start))
			return -EINTR;
	}
	census->took = ktime_get_mono_fast_ns() - begin;
	return 0;
}

/* ---- the result ------------------------------------------------------------------ */

/* Users choose names: blanks, backslashes and all but printable ASCII become octal. */
static void put_name(struct seq_buf *out, const char *name)
{
	char *buf;
	size_t room = seq_buf_get_buf(out, &buf);
	int len = string_escape_mem(name, strlen(name), buf, room,
				    ESCAPE_OCTAL | ESCAPE_NAP | ESCAPE_APPEND, " \\");

	seq_buf_commit(out, len < room ? len : -1);
}

#ifdef CONFIG_MEMCG
static void put_cgroup(struct seq_buf *out, u64 id)
{
	/* Ids of version 1 are not those that cgroup_get_from_id() knows. */
	bool named = id && id != GROUP_UNKNOWN && cgroup_subsys_on_dfl(memory_cgrp_subsys);
	char *path = named ? kmalloc(PATH_MAX, GFP_KERNEL) : NULL;
	struct cgroup *cgrp = path ? cgroup_get_from_id(id) : ERR_PTR(-ENOENT);

	if (!IS_ERR(cgrp) && cgroup_path(cgrp, path, PATH_MAX) > 0)
		put_name(out, path);
	else if (id == GROUP_UNKNOWN)
		seq_buf_puts(out, "unknown");
	else if (id)
		seq_buf_printf(out, "%llu", id);
	else
		seq_buf_puts(out, "none");
	if (!IS_ERR(cgrp))
		cgroup_put(cgrp);
	kfree(path);
}
#else
static void put_cgroup(struct seq_buf *out, u64 id)
{
	seq_buf_puts(out, "none");
}
#endif

/* As in /proc/allocinfo. */
static void put_site(struct seq_buf *out, u16 id)
{
	struct codetag_info info;

	/* A module that is gone has no names. */
	if (!codetag_info_of(id, &info) || !info.ct->function) {
		seq_buf_printf(out, "id:%u", id);
		return;
	}
	seq_buf_printf(out, "%s:%u", info.ct->filename, info.ct->lineno);
	if (info.modname)
		seq_buf_printf(out, " [%s]", info.modname);
	seq_buf_printf(out, " func:%s", info.ct->function);
	if (info.unloaded)
		seq_buf_puts(out, " unloaded:yes");
}

static const char *zone_name(unsigned int zone)
{
	return zone < MAX_NR_ZONES ? NODE_DATA(first_online_node)->node_zones[zone].name : NULL;
}

/* False if it has none. */
static bool put_value(struct seq_buf *out, enum census_key key, const struct census *census,
		      const struct census_row *row)
{
	const char *text = NULL;

	switch (key) {
	case BY_KIND:
		text = row->kind == 'p' ? "pages" : row->kind == 's' ? "slab" : "percpu";
		break;
	case BY_NODE:
		if (row->node)
			seq_buf_printf(out, "%u", row->node - 1);
		return row->node;
	case BY_ZONE:
		text = row->zone ? zone_name(row->zone - 1) : NULL;
		break;
	case BY_MIGRATETYPE:
		if (row->type && row->type <= MIGRATE_TYPES)
			text = migratetype_names[row->type - 1];
		break;
	case BY_ORDER:
		if (row->order)
			seq_buf_printf(out, "%u", row->order - 1);
		return row->order;
	case BY_CACHE:
		if (row->cache)
			put_name(out, census->cache[row->cache - 1].name);
		return row->cache;
	case BY_CGROUP:
		put_cgroup(out, row->cgroup);
		return true;
	default:
		put_site(out, row->id);
		return true;
	}
	if (text)
		seq_buf_puts(out, text);
	return text;
}

static void put_key(struct seq_buf *out, enum census_key key, const struct census *census,
		    const struct census_row *row)
{
	seq_buf_printf(out, " %s=", key_names[key]);
	if (!put_value(out, key, census, row))
		seq_buf_puts(out, "-");
}

static int more_bytes(const void *a, const void *b)
{
	const struct census_row *x = a, *y = b;

	return x->bytes < y->bytes ? 1 : x->bytes > y->bytes ? -1 : memcmp(x, y, VALUES_SIZE);
}

/* Make the table a list, the largest first. */
static void sort_rows(struct census *census)
{
	unsigned int from, to = 0;

	for (from = 0; from < ROWS; from++)
		if (census->row[from].calls)
			census->row[to++] = census->row[from];
	sort(census->row, to, sizeof(*census->row), more_bytes, NULL);
}

static void census_print(struct seq_buf *out, const void *data)
{
	const struct census *census = data;
	enum census_key key;
	bool changed;
	unsigned int i;

	seq_buf_puts(out, "# census - version: 1.0\n#     <size>  <calls> <keys>\n");
	codetag_lock();
	for (i = 0; i < census->used; i++) {
		if (seq_buf_has_overflowed(out))
			break;
		seq_buf_printf(out, "%12llu %8llu", census->row[i].bytes, census->row[i].calls);
		for (key = 0; key < NR_KEYS; key++)
			if (census->keys & BIT(key))
				put_key(out, key, census, &census->row[i]);
		seq_buf_puts(out, "\n");
		cond_resched();
	}
	changed = census->content != codetag_content_id;
	codetag_unlock();
	if (census->others.calls)
		seq_buf_printf(out, "%12llu %8llu others\n", census->others.bytes,
			       census->others.calls);
	/* Ids of a module may be those of another one now. */
	if (changed && census->keys & BIT(BY_SITE))
		seq_buf_puts(out, "# call sites came or went meanwhile: some lines may be wrong\n");
	seq_buf_printf(out, "# %lu pages, %lu objects in %llu us, ",
		       census->rc.pages, census->rc.objects,
		       div_u64(census->took, NSEC_PER_USEC));
	seq_buf_printf(out, "at most %llu us without rescheduling\n",
		       div_u64(census->longest, NSEC_PER_USEC));
}

static const char census_usage[] = "keys, such as node,zone,";

static int read_keys(const char *request, unsigned int *keys)
{
	unsigned int i;
	size_t len;

	*keys = 0;
	for (; *request; request += len + (request[len] == ',')) {
		len = strcspn(request, ",");
		for (i = 0; i < NR_KEYS; i++)
			if (strlen(key_names[i]) == len && !memcmp(key_names[i], request, len))
				break;
		if (i == NR_KEYS) {
			pr_warn_ratelimited("census: '%*pE' is no key\n",
					    (int)min(len, 32), request);
			return -EINVAL;
		}
		*keys |= BIT(i);
	}
	if (!*keys)
		pr_warn_ratelimited("census: write %s to start one\n", census_usage);
	return *keys ? 0 : -EINVAL;
}

static int census_run(struct codetag_result *result)
{
	struct census census = { .rc.visit = census_add };
	int ret = read_keys(result->request, &census.keys);

	if (ret)
		return ret;
	census.row = kvcalloc(ROWS, sizeof(*census.row), GFP_KERNEL);
	if (!census.row)
		return -ENOMEM;
	codetag_lock();
	census.content = codetag_content_id;
	codetag_unlock();
	get_online_mems();
	ret = -ENOMEM;
	if (codetag_recount_prepare()) {
		ret = census_walk(&census);
		codetag_recount_done();
	}
	put_online_mems();
	put_groups(&census);
	/* The owner of codetag_lock() may wait for slab_mutex, so that is not held any more. */
	if (!ret) {
		sort_rows(&census);
		ret = codetag_result_set(result, census_print, &census);
	}
	kvfree(census.cache);
	kvfree(census.row);
	return ret;
}

static struct codetag_result census_result = {
	.name	= "census",
	.work	= "census",
	.usage	= census_usage,
	.run	= census_run,
};

static int __init census_init(void)
{
	codetag_result_create(&census_result);
	return 0;
}
late_initcall(census_init);
