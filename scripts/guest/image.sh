#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Work, and images of the memory afterwards: image.sh FILE OPTIONS… [FILE OPTIONS…]
# For test-image, which is on the other side of QEMU's monitor. Prints the content of the kernel's
# files just before the first image, each line behind the name of its file ("allocinfo: "). Prints
# kind, address and line of all that codetag_known has ("known: "), and the objects that codetag_lost has forgotten or
# keeps ("lost: ", "kept: "). The control group /group has memory of all kinds.
CODETAG=/sys/kernel/debug/codetag
ROOT=/tmp/cgroup

# host COMMAND…: have QEMU do something. One write passes all commands: the first can stop the guest.
host()
{
	for port in /sys/class/virtio-ports/*; do
		[ "$(cat "$port/name" 2>/dev/null)" = guest.host ] || continue
		printf '%s\n' "$@" >"/dev/${port##*/}"
		return
	done
	return 1
}

# Wait until memory.stat of the group has the objects that a census finds: the kernel adds up what
# CPUs counted about every two seconds. Each object costs the group 8 bytes more.
until_summed_up()
{
	i=0
	while [ -e $ROOT/group/memory.stat ] && [ $i -lt 30 ]; do
		echo cgroup,kind >$CODETAG/census
		counted=$(awk '/ cgroup=.group( |$)/ && / kind=slab/ { n += $1 + 8 * $2 } END { printf("%d", n) }' \
			$CODETAG/census)
		off=$((counted - $(sed -n 's/^slab //p' $ROOT/group/memory.stat)))
		[ ${off#-} -gt 8192 ] || return
		sleep 1
		i=$((i + 1))
	done
}

mount -t debugfs none /sys/kernel/debug 2>/dev/null
cd /selftests || exit
insmod codetag_test.ko && insmod codetag_victim.ko || exit
# KFENCE starts slowly: a long boot must not use up its objects before codetag_known has one.
kfence=/sys/module/kfence/parameters/sample_interval
[ "$(cat $kfence 2>/dev/null || echo 0)" = 0 ] || echo 1 >$kfence || exit
insmod codetag_known.ko && insmod codetag_lost.ko || exit
# A number of the kernel's data that is equal to the address of lost memory is no pointer.
number=$(dmesg | sed -n 's/.*\] number: \([0-9]*\)$/\1/p')
[ -n "$number" ] && echo "$number" >/proc/sys/vm/user_reserve_kbytes || exit
echo hold all >/sys/kernel/debug/codetag_test/run
# An unloaded module with memory, and contexts of split call sites.
rmmod codetag_victim
echo 'file mm/* keys=stack,node; file fs/* keys=size,age' >$CODETAG/control || exit
# All values at once, of each key that this kernel has
echo 'file lib/* keys=node,cpu,accounted,gfp,size,age,cgroup,task' >$CODETAG/control ||
	echo 'file lib/* keys=node,cpu,accounted,gfp,size,age,task' >$CODETAG/control || exit
mkdir -p /tmp/work
# Not every kernel has ext4.
mount -t ext4 /dev/vda /tmp/work || mount -t tmpfs none /tmp/work || exit
cp -r /bin /selftests /tmp/work || exit
mkdir -p $ROOT /tmp/files
if mount -t cgroup2 none $ROOT 2>/dev/null && echo +memory >$ROOT/cgroup.subtree_control; then
	mkdir $ROOT/group && mount -t tmpfs none /tmp/files || exit
	sh -c "echo \$\$ >$ROOT/group/cgroup.procs
		dd if=/dev/zero of=/tmp/files/file bs=1M count=5 2>/dev/null
		i=0
		while [ \$i -lt 2000 ]; do : >/tmp/files/\$i; i=\$((i + 1)); done"
fi
ls -lR /sys /proc/self >/dev/null 2>&1
dmesg | sed -n 's,.*\(\(known\|lost\|kept\): [a-z_]* [0-9a-f]* [0-9]*\)$,\1,p'
sync
until_summed_up
echo 1 >$CODETAG/charged
for file in $CODETAG/charged $CODETAG/contexts /proc/iomem /proc/vmallocinfo \
	/proc/allocinfo /proc/slabinfo /proc/meminfo /proc/vmstat $ROOT/group/memory.stat; do
	[ ! -e "$file" ] || sed "s/^/${file##*/}: /" "$file"
done
sed 's/^/nodes: /' /sys/devices/system/node/node*/meminfo 2>/dev/null
sed 's/^/zoneinfo: /' /proc/zoneinfo
# Last, because it is compared exactly: contexts that come later take percpu memory.
sed 's/^/stats: /' $CODETAG/stats
host "$@" || exit
# The guest stands still meanwhile.
sleep 2
