// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ledger: memory of the test modules, line by line.
 *
 * Rows stay until codetag_test unloads. So a line that allocated once is still
 * looked at, and expected to be zero, after its memory was freed. Names are
 * copied: a row outlives the module that it is about.
 */
#include <linux/cpumask.h>
#include <linux/memcontrol.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "codetag_test.h"

struct ct_row {
	struct list_head list;
	char *group;
	char *module;
	char *file;
	char *func;
	unsigned int line;
	unsigned int gen;
	bool unloaded;
	long bytes;
	long calls;
	struct {
		char cache[CT_CACHE_NAME];
		long objects;
	} slab[CT_ROW_CACHES];
};

/* Protects everything below and the counts of every row. */
static DEFINE_MUTEX(ct_lock);
/* Rows in the order in which they were first used. */
static LIST_HEAD(ct_rows);
/* Items, the latest first. */
static LIST_HEAD(ct_items);
/* Number of the latest generation of any module. */
static unsigned int ct_last_gen;

static void row_free(struct ct_row *row)
{
	kfree(row->group);
	kfree(row->module);
	kfree(row->file);
	kfree(row->func);
	kfree(row);
}

/* Not kstrdup(), which is one of the lines that are looked at. */
static char *copy_string(const char *s)
{
	return kmemdup(s, strlen(s) + 1, GFP_KERNEL);
}

static bool row_is(const struct ct_row *row, const struct ct_where *where)
{
	return row->line == where->line && row->gen == where->gen &&
	       !strcmp(row->group, where->group) &&
	       !strcmp(row->module, where->module) &&
	       !strcmp(row->file, where->file) &&
	       !strcmp(row->func, where->func);
}

/**
 * ct_row - the row of an allocating line
 * @where: the line
 *
 * Return: the row, made at the first use, or NULL when memory is out.
 */
struct ct_row *ct_row(const struct ct_where *where)
{
	struct ct_row *row;

	mutex_lock(&ct_lock);
	list_for_each_entry(row, &ct_rows, list)
		if (row_is(row, where))
			goto out;
	row = kzalloc(sizeof(*row), GFP_KERNEL);
	if (!row)
		goto out;
	row->group = copy_string(where->group);
	row->module = copy_string(where->module);
	row->file = copy_string(where->file);
	row->func = copy_string(where->func);
	row->line = where->line;
	row->gen = where->gen;
	if (!row->group || !row->module || !row->file || !row->func) {
		row_free(row);
		row = NULL;
		goto out;
	}
	list_add_tail(&row->list, &ct_rows);
out:
	mutex_unlock(&ct_lock);
	return row;
}
EXPORT_SYMBOL_GPL(ct_row);

static void row_charge(struct ct_row *row, long bytes, long calls,
		       const char *cache, long objects)
{
	int i;

	row->bytes += bytes;
	row->calls += calls;
	if (!objects)
		return;
	for (i = 0; i < CT_ROW_CACHES; i++) {
		if (row->slab[i].cache[0] && strcmp(row->slab[i].cache, cache))
			continue;
		strscpy(row->slab[i].cache, cache);
		row->slab[i].objects += objects;
		return;
	}
	WARN_ONCE(1, "more than %d caches at one line\n", CT_ROW_CACHES);
}

static struct ct_item *item_new(struct ct_row *row, ct_free_t free, void *ptr,
				unsigned long arg)
{
	struct ct_item *item;

	if (!row || !ptr)
		return NULL;
	item = kzalloc(sizeof(*item), GFP_KERNEL | __GFP_NOFAIL);
	item->row = row;
	item->free = free;
	item->ptr = ptr;
	item->arg = arg;
	return item;
}

static struct ct_item *item_add(struct ct_item *item)
{
	mutex_lock(&ct_lock);
	row_charge(item->row, item->bytes, item->calls, item->cache,
		   item->objects);
	list_add(&item->list, &ct_items);
	mutex_unlock(&ct_lock);
	return item;
}

/**
 * ct_keep - put memory that is not a slab object into the ledger
 * @row: the line that allocated it
 * @free: how to free it
 * @ptr: the memory; nothing happens when it is NULL
 * @arg: for @free
 * @bytes: bytes that the line has to show for it
 * @calls: calls that the line has to show for it
 *
 * Return: the item, or NULL when @ptr is NULL.
 */
struct ct_item *ct_keep(struct ct_row *row, ct_free_t free, void *ptr,
			unsigned long arg, long bytes, long calls)
{
	struct ct_item *item = item_new(row, free, ptr, arg);

	if (!item)
		return NULL;
	item->bytes = bytes;
	item->calls = calls;
	return item_add(item);
}
EXPORT_SYMBOL_GPL(ct_keep);

/**
 * ct_keep_slab - put one slab object into the ledger
 * @row: the line that allocated it
 * @free: how to free it
 * @ptr: the object; nothing happens when it is NULL
 * @arg: for @free
 * @cache: name of its cache
 *
 * Return: the item, or NULL when @ptr is NULL.
 */
struct ct_item *ct_keep_slab(struct ct_row *row, ct_free_t free, void *ptr,
			     unsigned long arg, const char *cache)
{
	struct ct_item *item = item_new(row, free, ptr, arg);

	if (!item)
		return NULL;
	item->calls = 1;
	item->objects = 1;
	strscpy(item->cache, cache);
	return item_add(item);
}
EXPORT_SYMBOL_GPL(ct_keep_slab);

/**
 * ct_keep_vec - put many slab objects into the ledger, to be freed at once
 * @row: the line that allocated them
 * @free: how to free them
 * @vec: the objects
 * @nr: how many
 * @arg: for @free
 * @cache: name of their cache
 *
 * Return: the item, or NULL when @nr is 0.
 */
struct ct_item *ct_keep_vec(struct ct_row *row, ct_free_t free, void **vec,
			    unsigned int nr, unsigned long arg,
			    const char *cache)
{
	struct ct_item *item = item_new(row, free, nr ? vec[0] : NULL, arg);

	if (!item)
		return NULL;
	item->vec = kmemdup_array(vec, nr, sizeof(*vec),
				  GFP_KERNEL | __GFP_NOFAIL);
	item->nr = nr;
	item->calls = nr;
	item->objects = nr;
	strscpy(item->cache, cache);
	return item_add(item);
}
EXPORT_SYMBOL_GPL(ct_keep_vec);

/**
 * ct_charge - charge more to an item
 * @item: the item
 * @bytes: bytes that are not slab objects
 * @calls: calls
 * @cache: slab cache, when there are @objects; the item must not have another
 * @objects: objects of @cache
 */
void ct_charge(struct ct_item *item, long bytes, long calls,
	       const char *cache, long objects)
{
	if (!item)
		return;
	mutex_lock(&ct_lock);
	row_charge(item->row, bytes, calls, cache, objects);
	item->bytes += bytes;
	item->calls += calls;
	if (objects) {
		WARN_ON(item->cache[0] && strcmp(item->cache, cache));
		strscpy(item->cache, cache);
		item->objects += objects;
	}
	mutex_unlock(&ct_lock);
}
EXPORT_SYMBOL_GPL(ct_charge);

/**
 * ct_generation - a module was loaded
 * @module: its name
 *
 * Return: the number that tells its lines from those of earlier loads.
 */
unsigned int ct_generation(const char *module)
{
	unsigned int gen;

	mutex_lock(&ct_lock);
	gen = ++ct_last_gen;
	mutex_unlock(&ct_lock);
	return gen;
}
EXPORT_SYMBOL_GPL(ct_generation);

/**
 * ct_unloaded - a module is about to unload
 * @module: its name
 * @gen: its generation
 */
void ct_unloaded(const char *module, unsigned int gen)
{
	struct ct_row *row;

	mutex_lock(&ct_lock);
	list_for_each_entry(row, &ct_rows, list)
		if (row->gen == gen && !strcmp(row->module, module))
			row->unloaded = true;
	mutex_unlock(&ct_lock);
}
EXPORT_SYMBOL_GPL(ct_unloaded);

/**
 * ct_kmalloc_cache - the cache from which kmalloc() of a size comes
 * @size: at most KMALLOC_MAX_CACHE_SIZE
 *
 * Return: its name.
 */
const char *ct_kmalloc_cache(size_t size)
{
	static const char * const names[] = {
		"kmalloc-8", "kmalloc-16", "kmalloc-32", "kmalloc-64",
		"kmalloc-128", "kmalloc-256", "kmalloc-512", "kmalloc-1k",
		"kmalloc-2k", "kmalloc-4k", "kmalloc-8k", "kmalloc-16k",
		"kmalloc-32k", "kmalloc-64k", "kmalloc-128k",
	};
	size_t max = KMALLOC_MIN_SIZE;
	int i = ilog2(KMALLOC_MIN_SIZE) - 3;

	if (KMALLOC_MIN_SIZE <= 32 && size > 64 && size <= 96)
		return "kmalloc-96";
	if (KMALLOC_MIN_SIZE <= 64 && size > 128 && size <= 192)
		return "kmalloc-192";
	while (size > max) {
		max *= 2;
		i++;
	}
	return names[i];
}
EXPORT_SYMBOL_GPL(ct_kmalloc_cache);

/**
 * ct_kmalloc_cg_cache - the same for kmalloc() with __GFP_ACCOUNT
 * @size: 64, 192 or 1024
 *
 * Return: its name.
 */
const char *ct_kmalloc_cg_cache(size_t size)
{
	if (!IS_ENABLED(CONFIG_MEMCG))
		return ct_kmalloc_cache(size);
	switch (size) {
	case 64:
		return "kmalloc-cg-64";
	case 192:
		return "kmalloc-cg-192";
	default:
		return "kmalloc-cg-1k";
	}
}

/**
 * ct_percpu_bytes - what one percpu allocation costs
 * @size: its size
 *
 * Return: bytes: the object on every possible CPU.
 */
long ct_percpu_bytes(size_t size)
{
	return ALIGN(size, 4) * num_possible_cpus();
}
EXPORT_SYMBOL_GPL(ct_percpu_bytes);

static void item_free(struct ct_item *item)
{
	list_del(&item->list);
	row_charge(item->row, -item->bytes, -item->calls, item->cache,
		   -item->objects);
	item->free(item);
	kfree(item->vec);
	kfree(item);
}

static bool item_of(const struct ct_item *item, const char *group)
{
	return !strcmp(group, "all") || !strcmp(group, item->row->group);
}

static void settle(void)
{
	kvfree_rcu_barrier();
	rcu_barrier();
}

/**
 * ct_drop - free everything that a case holds
 * @group: the case, or "all"
 *
 * Return: number of items that were freed.
 */
int ct_drop(const char *group)
{
	struct ct_item *item, *next;
	int nr = 0;

	mutex_lock(&ct_lock);
	list_for_each_entry_safe(item, next, &ct_items, list) {
		if (!item_of(item, group))
			continue;
		item_free(item);
		nr++;
	}
	mutex_unlock(&ct_lock);
	settle();
	return nr;
}
EXPORT_SYMBOL_GPL(ct_drop);

/**
 * ct_thin - free every second item that a case holds
 * @group: the case, or "all"
 *
 * Return: number of items that were freed.
 */
int ct_thin(const char *group)
{
	struct ct_item *item, *next;
	bool odd = false;
	int nr = 0;

	mutex_lock(&ct_lock);
	list_for_each_entry_safe(item, next, &ct_items, list) {
		if (!item_of(item, group) || item->whole)
			continue;
		odd = !odd;
		if (!odd)
			continue;
		item_free(item);
		nr++;
	}
	mutex_unlock(&ct_lock);
	settle();
	return nr;
}

/**
 * ct_ledger_show - print what /proc/allocinfo has to show
 * @m: where to
 *
 * One row a line: case, module, file:line, function, "unloaded" or "loaded",
 * calls, and the bytes as terms joined by "+". Each term is a number, or a
 * number of objects, "*" and the name of their slab cache.
 *
 * Return: 0.
 */
int ct_ledger_show(struct seq_file *m)
{
	struct ct_row *row;
	int i;

	mutex_lock(&ct_lock);
	list_for_each_entry(row, &ct_rows, list) {
		seq_printf(m, "%s %s %s:%u %s %s %ld %ld", row->group,
			   row->module, row->file, row->line, row->func,
			   row->unloaded ? "unloaded" : "loaded", row->calls,
			   row->bytes);
		for (i = 0; i < CT_ROW_CACHES; i++)
			if (row->slab[i].objects)
				seq_printf(m, "+%ld*%s", row->slab[i].objects,
					   row->slab[i].cache);
		seq_putc(m, '\n');
	}
	mutex_unlock(&ct_lock);
	return 0;
}

/**
 * ct_ledger_empty - whether nothing is held
 *
 * Return: true when the ledger has no item.
 */
bool ct_ledger_empty(void)
{
	bool empty;

	mutex_lock(&ct_lock);
	empty = list_empty(&ct_items);
	mutex_unlock(&ct_lock);
	return empty;
}

/**
 * ct_ledger_forget - free all memory and forget all rows
 */
void ct_ledger_forget(void)
{
	struct ct_row *row, *next;

	ct_drop("all");
	mutex_lock(&ct_lock);
	list_for_each_entry_safe(row, next, &ct_rows, list) {
		list_del(&row->list);
		row_free(row);
	}
	mutex_unlock(&ct_lock);
}
