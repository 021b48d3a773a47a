#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2086,SC2154	# the runner sets $dir and has step(), fill() and links()
# squashfs and iso9660, which are read only: mount, read, unmount
# query: module squashfs; module isofs
prepare()
{
	modprobe -a loop squashfs isofs &&
		mksquashfs /usr/share/common-licenses /tmp/squashfs -quiet -no-progress -noappend &&
		genisoimage -quiet -R -J -o /tmp/iso /usr/share/common-licenses
}
clean() { umount $dir; }
work()
{
	for image in squashfs iso; do
		step "mount $image" mount -o loop,ro /tmp/$image $dir
		step "readdir" ls -lR $dir
		step "read" sh -c "cat $dir/*"
		step "umount" umount $dir
	done
}
