// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which part of the kernel a source file belongs to, by its path. For queries; the codetag
 * command is built with the same file.
 */
#include <linux/array_size.h>
#include <linux/build_bug.h>
#include <linux/string.h>
#include "query.h"

/*
 * The longest prefix that fits wins. A name that ends in '/' gets the next
 * directory of the path appended; when there is none the bare name stands.
 */
static const struct {
	const char *prefix;
	const char *name;
} rules[] = {
	{ "arch/", "arch/" },
	{ "block/", "block layer" },
	{ "certs/", "keys and certificates" },
	{ "codetag", "codetag" },
	{ "crypto/", "crypto" },
	{ "drivers/", "drivers/" },
	{ "drivers/base/", "driver core" },
	{ "drivers/block/", "block drivers" },
	{ "drivers/gpu/", "graphics" },
	{ "drivers/net/", "network drivers" },
	{ "drivers/nvme/", "block drivers" },
	{ "drivers/scsi/", "block drivers" },
	{ "drivers/video/", "graphics" },
	{ "fs/", "file systems" },
	{ "fs/btrfs/", "fs/btrfs" },
	{ "fs/debugfs/", "kernfs and pseudo file systems" },
	{ "fs/ext4/", "fs/ext4" },
	{ "fs/f2fs/", "fs/f2fs" },
	{ "fs/fuse/", "fs/fuse" },
	{ "fs/jbd2/", "fs/ext4" },
	{ "fs/kernfs/", "kernfs and pseudo file systems" },
	{ "fs/nfs", "fs/nfs" },
	{ "fs/overlayfs/", "fs/overlayfs" },
	{ "fs/proc/", "kernfs and pseudo file systems" },
	{ "fs/smb/", "fs/smb" },
	{ "fs/sysfs/", "kernfs and pseudo file systems" },
	{ "fs/tracefs/", "kernfs and pseudo file systems" },
	{ "fs/xfs/", "fs/xfs" },
	{ "include/", "headers" },
	{ "init/", "boot" },
	{ "io_uring/", "io_uring" },
	{ "ipc/", "ipc" },
	{ "kernel/", "kernel core" },
	{ "kernel/bpf/", "bpf" },
	{ "kernel/cgroup/", "cgroups" },
	{ "kernel/events/", "perf events" },
	{ "kernel/fork.c", "processes" },
	{ "kernel/irq/", "interrupts" },
	{ "kernel/module/", "modules" },
	{ "kernel/rcu/", "rcu" },
	{ "kernel/sched/", "scheduler" },
	{ "kernel/time/", "time" },
	{ "kernel/trace/", "tracing" },
	{ "lib/", "library" },
	{ "mm/", "memory management" },
	{ "mm/filemap.c", "page cache" },
	{ "mm/memory.c", "user memory" },
	{ "mm/huge_memory.c", "user memory" },
	{ "mm/percpu", "percpu allocator" },
	{ "mm/readahead.c", "page cache" },
	{ "mm/shmem.c", "tmpfs and shared memory" },
	{ "mm/slab", "slab allocator" },
	{ "mm/slub.c", "slab allocator" },
	{ "mm/vmalloc.c", "vmalloc" },
	{ "net/", "networking" },
	{ "net/core/", "networking core" },
	{ "net/ipv4/", "ipv4 and ipv6" },
	{ "net/ipv6/", "ipv4 and ipv6" },
	{ "net/netfilter/", "netfilter" },
	{ "rust/", "rust" },
	{ "samples/", "samples" },
	{ "security/", "security" },
	{ "sound/", "sound" },
	{ "virt/", "virtualisation" },
};

/* Appends @len bytes at @at as far as there is room; returns where it ends. */
static size_t append(char *name, size_t at, const char *s, size_t len)
{
	if (len > CODETAG_SUBSYSTEM_MAX - at)
		len = CODETAG_SUBSYSTEM_MAX - at;
	memcpy(name + at, s, len);
	name[at + len] = '\0';
	return at + len;
}

/**
 * codetag_subsystem - name the part of the kernel that a source file belongs to
 * @name:	room for CODETAG_SUBSYSTEM_MAX bytes and a NUL byte
 * @path:	the path, as the compiler was given it, without "./" in front
 * @modname:	the module of the file, NULL: not known
 *
 * For a module outside the tree the compiler has the path from the root of the file
 * system. On newer kernels it is from the directory of the module.
 *
 * Context: Any.
 */
void codetag_subsystem(char *name, const char *path, const char *modname)
{
	size_t prefix = 0, len, next, at = 0;
	const char *found = NULL;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rules); i++) {
		len = strlen(rules[i].prefix);
		if (len > prefix && !strncmp(path, rules[i].prefix, len)) {
			found = rules[i].name;
			prefix = len;
		}
	}
	if (!found && modname) {
		at = append(name, at, "module ", strlen("module "));
		append(name, at, modname, strlen(modname));
		return;
	}
	if (!found)
		found = "other";
	len = strlen(found);
	next = found[len - 1] == '/' ? strcspn(path + prefix, "/") : 0;
	if (next && path[prefix + next] == '/') {
		at = append(name, at, found, len);
		append(name, at, path + prefix, next);
	} else {
		append(name, at, found, found[len - 1] == '/' ? len - 1 : len);
	}
}
