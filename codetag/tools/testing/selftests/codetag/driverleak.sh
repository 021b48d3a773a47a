#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# nandsim leaks the names of its partitions when the allocation of one of them fails. The line that
# allocates them, in kvasprintf(), serves the whole kernel, and nandsim is no longer loaded at the
# end. The codetag command, if it is installed, still names nandsim.
# guest: own
# store: any
# tcg: single
# timeout: 240
. "$(dirname "$0")/codetag.inc"

CONTROL=$DEBUGFS/codetag/control

prepare
[ -r $CONTEXTS ] || skip_all "no contexts"
[ -w $DEBUGFS/codetag/faults ] || skip_all "no faults"
command -v codetag >/dev/null || skip_all "no codetag command"
modprobe nand 2>/dev/null || skip_all "no nandsim"
plan 3

# attempt: load nandsim with 24 partitions; the allocation of the twentieth name fails. Busybox
# tries twice, and succeeds the second time.
attempt()
{
	echo 'func kvasprintf fault nth=20 verbose=0' >$CONTROL
	modprobe nandsim parts=1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1 2>/dev/null
	rmmod nandsim 2>/dev/null
}

held()
{
	awk '/ func:kvasprintf( |$)/ { n += $1 } END { print n }' $ALLOCINFO
}

attempt
before=$(held)
attempt
now=$(held)
[ $((now - before)) -ge 512 ]
check "something stays" $? "$before, then $now"

: >"$WORK/go"
while [ -e "$WORK/go" ]; do
	attempt
	sleep 0.2
done &
codetag leaks --stacks --for 60 >"$WORK/leaks"
status=$?
# On a busy machine there are few attempts, and the command asks to watch for longer.
if [ $status -eq 0 ] && grep -q -e '--for' "$WORK/leaks"; then
	codetag leaks --stacks --for 120 >"$WORK/leaks"
	status=$?
fi
rm "$WORK/go"
wait
echo 'fault=off' >$CONTROL
equal "there is a leak" 1 $status
grep -q '^ *1\. .*\[nandsim\].* leaks' "$WORK/leaks"
check "it is nandsim's" $? "$(cat "$WORK/leaks")"
finish
