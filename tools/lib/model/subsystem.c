// SPDX-License-Identifier: GPL-2.0
#include "model/subsystem.h"

#include <string.h>

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

void subsystem_of_path(struct text *name, const char *path)
{
	const char *found = NULL;
	size_t prefix = 0, len;

	for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++) {
		len = strlen(rules[i].prefix);
		if (len > prefix && !strncmp(path, rules[i].prefix, len)) {
			found = rules[i].name;
			prefix = len;
		}
	}
	if (!found) {
		text_puts(name, "other");
		return;
	}
	len = strlen(found);
	if (found[len - 1] == '/') {
		size_t next = strcspn(path + prefix, "/");

		if (path[prefix + next] == '/') {
			text_puts(name, found);
			text_add(name, path + prefix, next);
		} else {
			text_add(name, found, len - 1);
		}
		return;
	}
	text_puts(name, found);
}

void subsystem_name(struct text *name, const struct site *site)
{
	const char *path = site->file;

	if (site_reserved(site)) {
		text_puts(name, "codetag");
		return;
	}
	/* Code of a module outside the tree has a path of its own. */
	if (path[0] == '/' && site->module) {
		text_puts(name, "module ");
		text_puts(name, site->module);
		return;
	}
	subsystem_of_path(name, path);
}
