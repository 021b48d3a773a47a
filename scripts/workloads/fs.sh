#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2086,SC2154	# the runner sets $dir and has step()
# ext4 and tmpfs: mount, fill, unmount
# query: file fs/ext4/*; file fs/jbd2/*; file fs/mbcache.c; file mm/shmem.c
clean() { umount $dir; }

# fill: files, directories, links, a file that grows and shrinks
fill()
{
	step "tidy up" rm -rf $dir/w
	step "mkdir" mkdir -p $dir/w/a $dir/w/b
	for i in 1 2 3 4 5 6 7 8; do
		step "write" dd if=/dev/zero of=$dir/w/a/$i bs=64k count=2
	done
	step "symlink" ln -s a/1 $dir/w/link
	step "link" ln $dir/w/a/1 $dir/w/b/1
	step "rename" mv $dir/w/a/2 $dir/w/b/2
	step "truncate" truncate -s 1000 $dir/w/a/3
	step "hole" dd if=/dev/zero of=$dir/w/hole bs=4k count=1 seek=4000
	step "sync" sync
	step "readdir" ls -lR $dir/w
	step "read" cat $dir/w/a/4
	step "remove" rm -r $dir/w
}

work()
{
	step "mount ext4" mount -t ext4 "$GUEST_DISK" $dir
	fill
	step "umount ext4" umount $dir
	step "mount tmpfs" mount -t tmpfs none $dir
	fill
	step "umount tmpfs" umount $dir
}
