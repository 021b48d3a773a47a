#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# In the guest: the cost of reading /proc/allocinfo and of loading a module as the number of call
# sites grows. Lines: growth, modules, tags, ticks of a read, ticks of loading a module. Before
# these: records, tags, ticks of reading the records by the ioctls, if the kernel has them.
#
# growth.sh MODULES: how many modules with 3500 call sites to load, one by one
whole=/lib/bench/whole

line()
{
	tags=$(grep -c : /proc/allocinfo) || tags=0
	read=$($whole read /proc/allocinfo) || read=-
	load=$($whole insmod /lib/bench/alloc_bench_mod.ko) || load=-
	rmmod alloc_bench_mod
	echo "growth $1 $((tags - 1)) $read $load"
}

# The first module that is loaded also pays for setup that happens once.
$whole insmod /lib/bench/alloc_bench_mod.ko >/dev/null
rmmod alloc_bench_mod
possible=$(sed -n 's/.* bench_possible=\([0-9]*\).*/\1/p' /proc/cmdline)
if [ "$possible" ] && [ "$(cat /sys/devices/system/cpu/possible)" != "0-$((possible - 1))" ]; then
	echo "not $possible possible processors: $(cat /sys/devices/system/cpu/possible)" >&2
	exit 1
fi
tags=$(grep -c : /proc/allocinfo) || tags=1
status=0
records=$($whole records /proc/allocinfo) || status=$?
case $status in
0) echo "records $((tags - 1)) $records" ;;
3) ;;
*) exit 1 ;;
esac
line 0
i=0
while [ $i -lt "$1" ]; do
	i=$((i + 1))
	$whole insmod /lib/bench/bench_tags_$i.ko >/dev/null || { echo "growth $i refused"; break; }
	line $i
done
