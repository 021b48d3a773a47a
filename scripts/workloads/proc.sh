#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2086,SC2154	# the runner sets $dir and has step()
# procfs and sysfs: mount, list, read
# query: file fs/proc/*; file fs/sysfs/*; file fs/kernfs/*; file fs/seq_file.c; file fs/fs_context.c; file fs/super.c; file fs/namespace.c; file fs/libfs.c
# flavour: checks
prepare() { :; }

clean() { umount $dir; }

work()
{
	step "mount proc" mount -t proc none $dir
	step "maps" cat $dir/self/maps $dir/self/smaps_rollup $dir/self/status $dir/self/mountinfo
	step "lists" cat $dir/slabinfo $dir/vmallocinfo $dir/interrupts $dir/iomem $dir/partitions $dir/net/unix $dir/locks
	step "fd" ls -l $dir/self/fd $dir/self/task
	step "umount" umount $dir
	step "mount sysfs" mount -t sysfs none $dir
	step "list" ls -R $dir/kernel/mm $dir/block
	step "read" cat $dir/kernel/notes
	step "umount" umount $dir
}
