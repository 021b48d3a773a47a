#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2086,SC2154	# the runner sets $dir and has step(), fill() and links()
# namespaces: user, mount, network, pid, ipc, uts, cgroup and time; a program in all of them
# query: file kernel/nsproxy.c; file kernel/*namespace*.c; file kernel/ucount.c; file kernel/utsname.c; file kernel/time/namespace.c; file fs/namespace.c; file fs/fs_context.c; file ipc/*; file net/core/*; file net/ipv4/*; file net/ipv6/*; file net/unix/*; file net/netlink/*
work()
{
	step "unshare" unshare -U -r -m -n -p -f -i -u -C -T sh -c \
		'mount -t tmpfs none /mnt && mount -t proc none /proc && ip link set lo up && hostname w && umount /mnt'
}
