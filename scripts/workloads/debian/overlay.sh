#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2086,SC2154	# the runner sets $dir and has step(), fill() and links()
# overlayfs on tmpfs: mount, fill, copy up, unmount
# query: module overlay
prepare()
{
	modprobe overlay && mkdir -p /tmp/lower /tmp/upper /tmp/inner && cp -r /usr/share/common-licenses /tmp/lower/
}
clean()
{
	umount $dir
	rm -rf /tmp/upper /tmp/inner
	mkdir -p /tmp/upper /tmp/inner
}
work()
{
	step "mount" mount -t overlay -o lowerdir=/tmp/lower,upperdir=/tmp/upper,workdir=/tmp/inner none $dir
	fill
	links
	step "copy up" sh -c "echo x >>$dir/common-licenses/GPL-2"
	step "rename" mv $dir/common-licenses/MPL-2.0 $dir/renamed
	step "remove" rm -r $dir/common-licenses $dir/w
	step "umount" umount $dir
}
