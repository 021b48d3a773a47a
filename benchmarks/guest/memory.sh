#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# In the guest: free memory after boot, what objects take, what files take.

sync
echo 3 >/proc/sys/vm/drop_caches
sleep 1
sed -n 's/^\(Mem[TF][a-z]*\|Slab\|Percpu\|KernelStack\): *\([0-9]*\) kB/meminfo \1 \2/p' /proc/meminfo

mkdir -p /sys/fs/cgroup
mount -t cgroup2 none /sys/fs/cgroup
if grep -q memory /sys/fs/cgroup/cgroup.controllers; then
	echo +memory >/sys/fs/cgroup/cgroup.subtree_control
	mkdir /sys/fs/cgroup/bench
	echo $$ >/sys/fs/cgroup/bench/cgroup.procs
fi
sed 's/^/object /' /sys/kernel/debug/alloc_bench/memory

# Empty files of a tmpfs: a dentry, an inode, and what belongs to them.
mkdir /tmp/files
free() { sed -n 's/^MemFree: *\([0-9]*\) kB/\1/p' /proc/meminfo; }
before=$(free)
(cd /tmp/files && seq 1 20000 | xargs touch)
echo "object file 1 20000 $(((before - $(free)) * 1024))"
[ ! -f /sys/kernel/debug/codetag/stats ] || sed 's/^/stats /' /sys/kernel/debug/codetag/stats
