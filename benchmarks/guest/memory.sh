#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# In the guest: free memory after boot, and the memory that objects and files take.

# Free pages, in the buddy allocator and on the lists of CPUs
available()
{
	cat /proc/sys/vm/stat_refresh
	awk '$1 == "nr_free_pages" { sum += $2 } $1 == "count:" { sum += $2 } END { print sum }' /proc/zoneinfo
}

# Only the initramfs of a kernel with a profiler has these files, and they take memory.
rm -f /lib/bench/bench_tags_*
sync
echo 3 >/proc/sys/vm/drop_caches
sleep 1
sed -n 's/^\(Mem[TF][a-z]*\|Slab\|Percpu\|KernelStack\): *\([0-9]*\) kB/meminfo \1 \2/p' /proc/meminfo
echo "meminfo Available $(($(available) * 4))"

mkdir -p /sys/fs/cgroup
mount -t cgroup2 none /sys/fs/cgroup
if grep -q memory /sys/fs/cgroup/cgroup.controllers; then
	echo +memory >/sys/fs/cgroup/cgroup.subtree_control
	mkdir /sys/fs/cgroup/bench
	echo $$ >/sys/fs/cgroup/bench/cgroup.procs
fi
insmod /lib/bench/alloc_bench_mod.ko || exit 1
hold=/sys/kernel/debug/alloc_bench_mod/hold

shrink()
{
	for cache in /sys/kernel/slab/*/shrink; do
		echo 1 >"$cache"
	done
}

# object KIND SIZE COUNT: the memory that COUNT of these objects take
object()
{
	shrink
	echo "prepare $3" >$hold || return 0
	from=$(available)
	if echo "$1 $2 $3" >$hold; then
		echo "object $1 $2 $3 $(((from - $(available)) * 4096))"
	fi
	echo release >$hold
}

for size in 8 16 32 64 96 128 192 256; do
	object kmalloc $size 100000
done
for size in 512 1024 2048; do
	object kmalloc $size 30000
done
for size in 4096 8192; do
	object kmalloc $size 10000
done
object kmalloc-acct 8 100000
object kmalloc-acct 64 100000
object kmalloc-acct 1024 30000
object cache 200 100000
object pages 4096 10000
object percpu 8 50000

# Empty files of a tmpfs: a dentry, an inode, and what belongs to them.
mkdir /tmp/files
shrink
from=$(available)
(cd /tmp/files && seq 1 20000 | xargs touch)
echo "object file 1 20000 $(((from - $(available)) * 4096))"
[ ! -f /sys/kernel/debug/codetag/stats ] || sed 's/^/stats /' /sys/kernel/debug/codetag/stats
