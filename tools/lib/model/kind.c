// SPDX-License-Identifier: GPL-2.0-only
#include "model/kind.h"

#include <string.h>

#include "base/glob.h"
#include "model/container.h"

/* Linux 6.10 to 7.x; the first that matches counts. */
static const struct {
	const char *file, *func;	/* patterns */
	enum kind kind;
} rules[] = {
	{ "mm/codetag/*", "*", KIND_ALLOCATOR },
	{ "codetag", "*", KIND_ALLOCATOR },
	{ "mm/slub.c", "*", KIND_ALLOCATOR },
	{ "mm/percpu*.c", "*", KIND_ALLOCATOR },
	{ "mm/page_ext.c", "*", KIND_ALLOCATOR },

	{ "mm/filemap.c", "*", KIND_CACHE },
	{ "mm/readahead.c", "*", KIND_CACHE },
	{ "include/linux/pagemap.h", "*", KIND_CACHE },
	{ "fs/buffer.c", "*", KIND_CACHE },
	{ "fs/dcache.c", "*d_alloc*", KIND_CACHE },
	{ "fs/inode.c", "alloc_inode", KIND_CACHE },
	{ "fs/mbcache.c", "mb_cache_entry_create", KIND_CACHE },
	{ "fs/iomap/buffered-io.c", "*", KIND_CACHE },
	{ "fs/ext4/extents_status.c", "*", KIND_CACHE },
	{ "fs/xfs/xfs_buf*.c", "*", KIND_CACHE },
	{ "fs/btrfs/extent_io.c", "*", KIND_CACHE },
	{ "fs/fat/cache.c", "*", KIND_CACHE },
	{ "fs/quota/dquot.c", "*", KIND_CACHE },
	{ "lib/radix-tree.c", "radix_tree_node_alloc", KIND_CACHE },
	{ "lib/xarray.c", "*", KIND_CACHE },

	{ "mm/shmem.c", "shmem_alloc_*", KIND_USER },
	{ "mm/memory.c", "*", KIND_USER },
	{ "include/linux/highmem.h", "vma_alloc_*", KIND_USER },
	{ "mm/huge_memory.c", "*", KIND_USER },
	{ "mm/khugepaged.c", "*", KIND_USER },
	{ "mm/migrate*.c", "*", KIND_USER },
	{ "mm/mempolicy.c", "*folio*", KIND_USER },
	{ "mm/swap*.c", "*", KIND_USER },
	{ "mm/rmap.c", "*", KIND_USER },
	{ "mm/hugetlb.c", "*folio*", KIND_USER },
	{ "mm/vma*.c", "*", KIND_USER },
	{ "kernel/fork.c", "vm_area_*", KIND_USER },
	{ "kernel/fork.c", "vma_lock_alloc", KIND_USER },
	{ "lib/maple_tree.c", "mt_alloc_*", KIND_USER },
	{ "arch/*/mm/pgtable.c", "*", KIND_USER },
	{ "include/asm-generic/pgalloc.h", "*", KIND_USER },
	{ "arch/*/include/asm/pgalloc.h", "*", KIND_USER },
	{ "drivers/block/zram/*", "*", KIND_USER },
	{ "mm/zsmalloc.c", "*", KIND_USER },

	{ "mm/vmalloc.c", "alloc_vmap_area", KIND_LATER },
	{ "mm/vmalloc.c", "va_clip", KIND_LATER },
	{ "mm/vmalloc.c", "preload_this_cpu_lock", KIND_LATER },
	{ "mm/vmalloc.c", "new_vmap_block", KIND_LATER },
	{ "fs/jbd2/journal.c", "*journal_head*", KIND_LATER },
	{ "fs/jbd2/journal.c", "jbd2_alloc", KIND_LATER },
	{ "fs/jbd2/transaction.c", "*", KIND_LATER },
	{ "fs/jbd2/revoke.c", "insert_revoke_hash", KIND_LATER },
	{ "net/ipv4/inet_timewait_sock.c", "*", KIND_LATER },
	{ "net/ipv4/inet_hashtables.c", "inet_bind*_bucket_create", KIND_LATER },
	{ "net/ipv4/inetpeer.c", "*", KIND_LATER },
	{ "net/ipv4/tcp_metrics.c", "tcpm_new", KIND_LATER },
	{ "net/core/dst.c", "*", KIND_LATER },
	{ "net/core/neighbour.c", "neigh_alloc", KIND_LATER },
	{ "kernel/rcu/tree*.c", "*", KIND_LATER },
};

/* File systems call it the same. */
static bool is_inode(const struct site *site)
{
	return (glob_match("fs/*", site->file) || !strcmp(site->file, "block/bdev.c")) &&
	       (glob_match("*alloc_inode", site->func) || glob_match("*inode_alloc", site->func) ||
		glob_match("*write_begin", site->func));
}

enum kind site_kind(const struct site *site)
{
	const char *file = site_path(site->file);

	if (site_contains(site))
		return KIND_ALLOCATOR;
	for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++)
		if (glob_match(rules[i].file, file) && glob_match(rules[i].func, site->func))
			return rules[i].kind;
	return is_inode(site) ? KIND_CACHE : KIND_KERNEL;
}

static const struct {
	const char *word, *text;
} kinds[KINDS] = {
	[KIND_KERNEL] = { "kernel", "stays until the kernel's code frees it" },
	[KIND_CACHE] = { "cache", "the kernel drops it when memory is short" },
	[KIND_USER] = { "user", "it belongs to processes and tmpfs" },
	[KIND_LATER] = { "later", "the kernel frees it by itself after a time" },
	[KIND_ALLOCATOR] = { "allocator", "others allocate from it, or it is the profiler's" },
};

const char *kind_word(enum kind kind)
{
	return kinds[kind].word;
}

const char *kind_text(enum kind kind)
{
	return kinds[kind].text;
}
