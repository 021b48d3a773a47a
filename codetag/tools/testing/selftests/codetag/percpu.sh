#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Percpu memory has room for ids where it is populated and nowhere else, and does
# without, with exact totals, where there was no memory for them.
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
plan 10

# Half of one CPU's part, and the pointers of some chunks.
possible=$(awk -F '[-,]' '{ print $NF + 1 }' /sys/devices/system/cpu/possible)
most=$(($(meminfo Percpu) / possible / 2 + 65536))
refs=$(stat_value mem_percpu_refs)
[ "$refs" -gt 0 ] && [ "$refs" -le $most ]
check "room for ids is where percpu memory is" $? "$refs bytes, $(meminfo Percpu) of percpu memory on $possible CPUs"

if ! [ -e $DEBUGFS/codetag/faults ]; then
	unload codetag_test
	skip_rest 9 "no faults at call sites" "without memory for ids"
	finish
fi

# held: what the sites of the module and not_representable have of it
held()
{
	# shellcheck disable=SC2046
	set -- $(memory 'func:hold_percpu ') $(grown none)
	echo "$(($1 + $3)) $(($2 + $4))"
}

# Little of what is populated is free just after more had to be.
mkdir -p $CGROUP
mount -t cgroup2 none $CGROUP
echo +memory >$CGROUP/cgroup.subtree_control
groups=0
before=$(meminfo Percpu)
while [ "$(meminfo Percpu)" -eq "$before" ] && [ $groups -lt 1000 ]; do
	groups=$((groups + 1))
	mkdir $CGROUP/$groups
done
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
want=$(awk '$1 == "percpu" { bytes += $7; calls += $6 } END { printf("%d %d\n", bytes, calls) }' $CT/expect)
equal "all of it is charged" "$want" "$(held)"
audited "audit while it is held"
echo 0 >$SWITCH
run drop percpu
equal "it is gone, switched off or not" "0 0" "$(held)"
echo 1 >$SWITCH

# What is populated now has room, what was before has none.
run hold percpu
equal "some room and some not" "$want" "$(held)"
audited "audit while it is held again"
run drop percpu
equal "it is gone again" "0 0" "$(held)"
rmdir $CGROUP/[0-9]*
umount $CGROUP
unload codetag_test
finish
