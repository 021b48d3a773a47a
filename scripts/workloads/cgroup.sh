#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2086,SC2154	# the runner sets $dir and has step()
# control groups: make them, limit memory, run in one, remove them
# query: file kernel/cgroup/*; file mm/memcontrol*.c; file mm/list_lru.c; file mm/shrinker.c; file mm/vmpressure.c; file fs/kernfs/*; file fs/seq_file.c
# flavour: checks
prepare()
{
	mkdir -p /tmp/cgroup && mount -t cgroup2 none /tmp/cgroup && echo +memory >/tmp/cgroup/cgroup.subtree_control
}

clean() { rmdir /tmp/cgroup/a/b /tmp/cgroup/a; }

work()
{
	step "mkdir" mkdir /tmp/cgroup/a
	step "controllers" sh -c 'echo +memory >/tmp/cgroup/a/cgroup.subtree_control'
	step "mkdir below" mkdir /tmp/cgroup/a/b
	step "limit" sh -c 'echo 64M >/tmp/cgroup/a/b/memory.max'
	step "run" sh -c 'echo $$ >/tmp/cgroup/a/b/cgroup.procs && mkdir -p /tmp/x && rmdir /tmp/x && ls /proc/self/fd'
	step "numbers" cat /tmp/cgroup/a/b/memory.stat /tmp/cgroup/a/cgroup.events
	step "rmdir below" rmdir /tmp/cgroup/a/b
	step "rmdir" rmdir /tmp/cgroup/a
}
