#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Percpu memory has space for ids where it is populated and nowhere else. If there was no memory for
# ids, it works without them, and totals are exact.
#
# In a guest of its own: pages of percpu memory that have no room for ids stay so.
# guest: own
# store: any
. "$(dirname "$0")/codetag.inc"

CONTROL=$DEBUGFS/codetag/control
CGROUP=/tmp/codetag-cgroup

# meminfo FIELD: bytes
meminfo() { awk -v field="$1:" '$1 == field { print $2 * 1024 }' /proc/meminfo; }

driver
plan 11

# sparse NAME: room for ids is half of one CPU's part, and the pointers of some chunks
possible=$(awk -F '[-,]' '{ print $NF + 1 }' /sys/devices/system/cpu/possible)
sparse()
{
	refs=$(stat_value mem_percpu_refs)
	all=$(meminfo Percpu)
	[ "$refs" -gt 0 ] && [ "$refs" -le $((all / possible / 2 + 65536)) ]
	check "$1" $? "$refs bytes, $all of percpu memory on $possible CPUs"
}

sparse "room for ids is where percpu memory is"

if ! [ -e $DEBUGFS/codetag/faults ]; then
	unload codetag_test
	skip_rest 10 "no faults at call sites" "without memory for ids"
	finish
fi
# A few populated pages are always kept in reserve.
if [ "$PAGE" -gt 4096 ]; then
	unload codetag_test
	skip_rest 10 "all that the test holds goes into the reserve" "without memory for ids"
	finish
fi

# held: percpu memory of the sites of the module and of not_representable
held()
{
	# shellcheck disable=SC2046
	set -- $(memory 'func:hold_percpu ') $(grown none)
	echo "$(($1 + $3)) $(($2 + $4))"
}

# about NAME BYTES: so much is held, or a little more: percpu counters of running processes can be
# in memory without space for ids
about()
{
	# shellcheck disable=SC2046
	set -- "$1" "$2" $(held)
	[ "$3" -ge "$2" ] && [ $(($3 - $2)) -le $((possible * 2048)) ]
	check "$1" $? "want $2 bytes, got $3 of $4 allocations"
}

# Little of the populated memory is free just after more had to be populated.
mkdir -p $CGROUP
mount -t cgroup2 none $CGROUP
echo +memory >$CGROUP/cgroup.subtree_control
groups=0
before=$(meminfo Percpu)
while [ "$(meminfo Percpu)" -eq "$before" ] && [ $groups -lt 1000 ]; do
	groups=$((groups + 1))
	mkdir $CGROUP/$groups
done
sparse "and where more of it is"
base none 'codetag:1 func:not_representable'
echo 'func pcpu_mem_zalloc fault times=-1 verbose=0' >$CONTROL
run hold percpu
echo 'fault=off' >$CONTROL
equal "percpu memory is there without room for ids" 0 "$(sed -n 's/^percpu \(-\?[0-9]*\).*/\1/p' $CT/cases)"
[ "$(stat_value percpu_refs_failed)" -gt 0 ]
check "that there was none is counted" $? "$(stat_value percpu_refs_failed)"
some=$(grown none)
[ "${some#* }" -gt 0 ] && [ "$(memory 'func:hold_percpu ')" != "0 0" ]
check "some of it is not representable" $? "$some of $(held)"
want=$(awk '$1 == "percpu" { bytes += $7 } END { printf("%d\n", bytes) }' $CT/expect)
about "all of it is charged" "$want"
audited "audit while it is held"
echo 0 >$SWITCH
run drop percpu
about "it is gone, switched off or not" 0
echo 1 >$SWITCH

# Memory that is populated now has space for ids; memory that was populated before has none.
run hold percpu
about "some room and some not" "$want"
audited "audit while it is held again"
run drop percpu
about "it is gone again" 0
rmdir $CGROUP/[0-9]*
umount $CGROUP
unload codetag_test
finish
