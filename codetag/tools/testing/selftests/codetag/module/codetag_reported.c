// SPDX-License-Identifier: GPL-2.0-only
/*
 * codetag_reported: makes mistakes that the kernel reports, each with an object or a page of a
 * line of its own.
 *
 *	echo kasan > /sys/kernel/debug/codetag_reported
 *
 * The command is one of the names below. Before the mistake the log has the line that allocated:
 *
 *	reported: kasan LINE
 *
 * A command is refused if the kernel does not make that report. A BUG() kills the task that
 * writes, and the module cannot be unloaded after it.
 */
#include <linux/debugfs.h>
#include <linux/jiffies.h>
#include <linux/kfence.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#define SIZE	128

static struct dentry *file;
static char *kept;		/* of do_invalid() */

static void say(const char *name, unsigned int line)
{
	pr_info("reported: %s %u\n", name, line);
}

/* A cache that SLUB checks, whatever it does with others; NULL if it cannot. */
static struct kmem_cache *checked_cache(const char *name)
{
	return IS_ENABLED(CONFIG_SLUB_DEBUG) ?
	       kmem_cache_create(name, SIZE, 0, SLAB_NO_MERGE | SLAB_RED_ZONE |
				 SLAB_CONSISTENCY_CHECKS, NULL) : NULL;
}

/* SLUB has to see this, and not KASAN before it. */
static __no_sanitize_address void change(char *p)
{
	OPTIMIZER_HIDE_VAR(p);
	WRITE_ONCE(*p, READ_ONCE(*p) ^ 0xff);
}

static __no_sanitize_address void look_at(const char *p)
{
	OPTIMIZER_HIDE_VAR(p);
	READ_ONCE(*p);
}

/* A byte behind the object changes. */
static int do_redzone(void)
{
	struct kmem_cache *cache = checked_cache("codetag_reported");
	char *p = cache ? kmem_cache_alloc(cache, GFP_KERNEL) : NULL;

	say("redzone", __LINE__ - 2);
	if (p) {
		change(p + SIZE);
		kmem_cache_free(cache, p);
	}
	kmem_cache_destroy(cache);
	return p ? 0 : -EOPNOTSUPP;
}

/* The object of one cache is freed to another one. */
static int do_cache(void)
{
	struct kmem_cache *other = checked_cache("codetag_other");
	char *p = other ? kmalloc(SIZE, GFP_KERNEL) : NULL;

	say("cache", __LINE__ - 2);
	/* It goes to the cache that it is from, or to none. */
	if (p)
		kmem_cache_free(other, p);
	kmem_cache_destroy(other);
	return p ? 0 : -EOPNOTSUPP;
}

/* A cache goes, and an object of it does not. */
static int do_destroy(void)
{
	struct kmem_cache *cache = checked_cache("codetag_left");
	char *p = cache ? kmem_cache_alloc(cache, GFP_KERNEL) : NULL;

	say("destroy", __LINE__ - 2);
	kmem_cache_destroy(cache);
	return p ? 0 : -EOPNOTSUPP;
}

/* A page is freed that claims to be in a file. Not every kernel looks at pages that are freed. */
static int do_page(void)
{
	struct page *page = IS_ENABLED(CONFIG_DEBUG_VM) ? alloc_page(GFP_KERNEL) : NULL;

	say("page", __LINE__ - 2);
	if (!page)
		return -EOPNOTSUPP;
	page->mapping = (void *)8;
	__free_page(page);
	return 0;
}

/* The byte behind the object is read. */
static int do_kasan(void)
{
	char *p = IS_ENABLED(CONFIG_KASAN) ? kmalloc(SIZE - 28, GFP_KERNEL) : NULL;

	say("kasan", __LINE__ - 2);
	if (!p)
		return -EOPNOTSUPP;
	OPTIMIZER_HIDE_VAR(p);
	READ_ONCE(p[SIZE - 28]);
	kfree(p);
	return 0;
}

/* An object of KFENCE's, charged to the line that uses this; NULL if none comes in time. */
#define kfence_object()							\
({									\
	unsigned long end = jiffies + 20 * HZ;				\
	char *object;							\
									\
	while ((object = kmalloc(SIZE, GFP_KERNEL)) &&			\
	       !is_kfence_address(object)) {				\
		kfree(object);						\
		object = NULL;						\
		if (time_after(jiffies, end))				\
			break;						\
		cond_resched();						\
	}								\
	object;								\
})

/* It ends or begins where its page does: there the next page is read. */
static int do_kfence(void)
{
	char *p = IS_ENABLED(CONFIG_KFENCE) ? kfence_object() : NULL;

	say("kfence", __LINE__ - 2);
	if (!p)
		return IS_ENABLED(CONFIG_KFENCE) ? -EAGAIN : -EOPNOTSUPP;
	look_at(offset_in_page(p) ? p + SIZE : p - 1);
	kfree(p);
	return 0;
}

/* An address within the object is freed: KFENCE refuses, so the object stays. */
static int do_invalid(void)
{
	if (kept)
		return -EBUSY;
	kept = IS_ENABLED(CONFIG_KFENCE) ? kfence_object() : NULL;
	say("invalid", __LINE__ - 1);
	if (!kept)
		return IS_ENABLED(CONFIG_KFENCE) ? -EAGAIN : -EOPNOTSUPP;
	kfree(kept + 8);
	return 0;
}

#if defined(CONFIG_UBSAN) && !defined(CONFIG_UBSAN_TRAP)
/* As the compiler hands it over for a pointer that is not aligned: see lib/ubsan.h. */
struct type_descriptor {
	u16 kind, info;
	char name[8];
};

struct mismatch {
	const char *file;
	u32 line, column;
	struct type_descriptor *type;
	unsigned char log_alignment, kind;
};

void __ubsan_handle_type_mismatch_v1(void *data, void *pointer);

static int do_ubsan(void)
{
	static struct type_descriptor type = { .name = "'int'" };
	struct mismatch data = {
		.file = __FILE__, .line = __LINE__, .type = &type, .log_alignment = 2,
	};
	char *p = kmalloc(SIZE, GFP_KERNEL);

	say("ubsan", __LINE__ - 2);
	if (!p)
		return -ENOMEM;
	__ubsan_handle_type_mismatch_v1(&data, p + 1);
	kfree(p);
	return 0;
}
#else
static int do_ubsan(void)
{
	return -EOPNOTSUPP;
}
#endif

/* More is copied from a program than the object has room for. */
static int do_usercopy(const char __user *from)
{
	char *p = IS_ENABLED(CONFIG_HARDENED_USERCOPY) ? kmalloc(SIZE, GFP_KERNEL) : NULL;
	unsigned long n = SIZE;

	say("usercopy", __LINE__ - 3);
	if (!p)
		return -EOPNOTSUPP;
	OPTIMIZER_HIDE_VAR(p);
	OPTIMIZER_HIDE_VAR(n);
	n = copy_from_user(p + SIZE / 2, from, n);
	kfree(p);
	return n ? -EFAULT : 0;
}

static ssize_t reported_write(struct file *unused, const char __user *from, size_t count,
			      loff_t *pos)
{
	static const struct {
		const char *name;
		int (*make)(void);
	} mistakes[] = {
		{ "redzone", do_redzone }, { "cache", do_cache }, { "destroy", do_destroy },
		{ "page", do_page }, { "kasan", do_kasan }, { "kfence", do_kfence },
		{ "invalid", do_invalid }, { "ubsan", do_ubsan },
	};
	char name[16] = {};
	int ret = -EINVAL;

	if (count >= sizeof(name) || copy_from_user(name, from, count))
		return -EINVAL;
	strim(name);
	for (unsigned int i = 0; i < ARRAY_SIZE(mistakes); i++)
		if (!strcmp(name, mistakes[i].name))
			ret = mistakes[i].make();
	if (!strcmp(name, "usercopy"))
		ret = do_usercopy(from);
	return ret ? : count;
}

static const struct file_operations reported_fops = {
	.owner = THIS_MODULE,
	.write = reported_write,
};

static int __init reported_init(void)
{
	file = debugfs_create_file("codetag_reported", 0200, NULL, NULL, &reported_fops);
	return PTR_ERR_OR_ZERO(file);
}

static void __exit reported_exit(void)
{
	debugfs_remove(file);
	kfree(kept);
}

module_init(reported_init);
module_exit(reported_exit);
MODULE_DESCRIPTION("Mistakes that the kernel reports");
MODULE_LICENSE("GPL");
