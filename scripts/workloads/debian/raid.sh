#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2086,SC2154	# the runner sets $dir and has step(), fill() and links()
# loop devices and RAID 1 on them: set up, write, fail a disk, stop
# query: module loop; module raid1; module md_mod; file drivers/md/md*; file block/*
prepare()
{
	# udev would put disks with an old superblock together.
	mkdir -p /etc/mdadm && echo "AUTO -all" >/etc/mdadm/mdadm.conf
	modprobe -a loop raid1 && truncate -s 16M /tmp/disk1 /tmp/disk2
}
clean()
{
	mdadm --stop /dev/md9
	losetup -d /dev/loop4
	losetup -d /dev/loop5
	rm -f /tmp/disk1 /tmp/disk2
	truncate -s 16M /tmp/disk1 /tmp/disk2
}
work()
{
	step "losetup" losetup /dev/loop4 /tmp/disk1
	step "losetup" losetup /dev/loop5 /tmp/disk2
	step "create" mdadm --create /dev/md9 --run --metadata=1.2 --level=1 --raid-devices=2 --assume-clean \
		/dev/loop4 /dev/loop5
	step "write" dd if=/dev/zero of=/dev/md9 bs=64k count=4 oflag=direct
	step "fail" mdadm /dev/md9 --fail /dev/loop5
	step "stop" mdadm --stop /dev/md9
	step "detach" losetup -d /dev/loop4
	step "detach" losetup -d /dev/loop5
}
