#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Faults at call sites: every kind of allocation fails where it is told to, as
# often as it is told to, nowhere else, and nothing is charged for it.
# timeout: 240
# tcg: single
. "$(dirname "$0")/codetag.inc"

CONTROL=$DEBUGFS/codetag/control
FAULTS=$DEBUGFS/codetag/faults

# arm QUERY: the rest of the settings is up to the caller
arm()
{
	echo "$1" >$CONTROL || bail "cannot arm: $1"
}

# hold CASE: error of the case, 0 if it could allocate
hold()
{
	run hold "$1"
	sed -n "s/^$1 \(-\?[0-9]*\).*/\1/p" $CT/cases
}

# counts: passed, failed, skipped and state of the only fault there is
counts()
{
	awk '!/^#/ { print $1, $2, $3, $4 }' $FAULTS
}

driver
if ! [ -e $FAULTS ]; then
	if [ -e $CONTROL ]; then
		plan 1
		out=$({ echo 'fault' >$CONTROL; } 2>&1)
		printf '%s' "$out" | grep -q "not supported"
		check "refused without CONFIG_CODETAG_FAULT_INJECTION" $? "$out"
		unload codetag_test
		finish
	fi
	unload codetag_test
	skip_all "no $FAULTS"
fi
nr=$(cases | wc -l)
plan $((nr + 36))
cat $CT/cases >"$WORK/cases"

# Every allocator at every site of the module, one case at a time. The worker of
# a hash table tries until it succeeds; strings are allocated by mm/util.c.
snapshot
for name in $(cases); do
	case $name in
	rhashtable) arm 'file cases_*.c fault verbose=0' ;;
	kstrdup) arm 'file mm/util.c func kstr* fault times=-1 verbose=0' ;;
	*) arm 'file cases_*.c fault times=-1 verbose=0' ;;
	esac
	error=$(hold "$name")
	failed=$(awk '!/^#/ { n += $2 } END { print n + 0 }' $FAULTS)
	arm 'fault=off'
	# A table is small, instead, and grows when there is memory.
	[ "$name $error" != "rhashtable 0" ] || [ "$failed" -eq 0 ] || error=-12
	case $error in
	-12) pass "fails: $name" ;;
	-95) skip "fails: $name" "$(sed -n "s/^$name -95 //p" $CT/cases)" ;;
	*) fail "fails: $name" "error $error" ;;
	esac
done
run drop all 2>/dev/null
compared "nothing is charged for what failed"
equal "nothing is armed any more" "" "$(grep ' fault ' $CONTROL)"

# One site: an array of pages that vmalloc() gets from several allocations.
vmalloc=$(sed -n 's/.*func:hold_vmalloc .* id //p' $CONTROL | head -n 1)
[ -n "$vmalloc" ] || bail "no site in hold_vmalloc"

arm "id $vmalloc fault nth=2 verbose=0"
equal "nth=2 is shown" " fault nth=2 verbose=0 task-filter=0" \
	"$(sed -n "s/.* id $vmalloc\( fault.*\)/\1/p" $CONTROL)"
equal "nth=2: the first one" 0 "$(hold vmalloc)"
equal "nth=1 is left" " fault nth=1 verbose=0 task-filter=0" \
	"$(sed -n "s/.* id $vmalloc\( fault.*\)/\1/p" $CONTROL)"
equal "nth=2: the second one" -12 "$(hold vmalloc)"
equal "nth=2: the third one" 0 "$(hold vmalloc)"
equal "nth=2: counted" "2 1 0 spent" "$(counts)"
sleep 1
equal "and disarmed" "" "$(grep " id $vmalloc fault" $CONTROL)"

arm "id $vmalloc fault times=2"
dmesg -c >/dev/null
equal "times=2: the first one" -12 "$(hold vmalloc)"
left=" fault probability=100 interval=1 times=1 space=0 verbose=1 task-filter=0"
equal "times=1 is left" "$left" \
	"$(sed -n "s/.* id $vmalloc\( fault.*\)/\1/p" $CONTROL)"
equal "times=2: the second one" -12 "$(hold vmalloc)"
equal "times=2: the third one" 0 "$(hold vmalloc)"
equal "times=2: counted" "2 2 0 spent" "$(counts)"
place=$(sed -n "s/ .* id $vmalloc\$//p" $CONTROL)
[ "$(dmesg | grep -c 'FAULT_INJECTION: forcing a failure')" -eq 2 ] &&
	dmesg | grep -q "name $place hold_vmalloc,"
check "reported with file, line and function" $? "$(dmesg | tail -n 5)"

arm "id $vmalloc fault interval=2 times=-1 verbose=0"
equal "interval=2" "0 -12 0 -12" "$(for i in 1 2 3 4; do hold vmalloc; done | xargs)"
arm "id $vmalloc fault probability=0 times=-1 verbose=0"
equal "probability=0" "0 0 0" "$(for i in 1 2 3; do hold vmalloc; done | xargs)"
equal "probability=0: counted" "3 0 0 armed" "$(counts)"
arm "id $vmalloc fault probability=50 times=-1 verbose=0"
for i in $(seq 1 60); do hold vmalloc; done >"$WORK/half"
run drop vmalloc
failed=$(grep -c -e -12 "$WORK/half")
[ "$failed" -gt 10 ] && [ "$failed" -lt 50 ]
check "probability=50" $? "$failed of 60"
arm "id $vmalloc fault space=100000000 times=-1 verbose=0"
equal "space" 0 "$(hold vmalloc)"

# Tasks.
arm "id $vmalloc fault task-filter=1 times=-1 verbose=0"
equal "task-filter: another task" 0 "$(hold vmalloc)"
echo 1 >/proc/self/make-it-fail
run hold vmalloc
error=$(sed -n 's/^vmalloc \(-\?[0-9]*\).*/\1/p' $CT/cases)
echo 0 >/proc/self/make-it-fail
equal "task-filter: this task" -12 "$error"
arm "id $vmalloc fault probability=0 verbose=0"
echo 1 >/proc/self/fail-nth
run hold vmalloc
error=$(sed -n 's/^vmalloc \(-\?[0-9]*\).*/\1/p' $CT/cases)
echo 0 >/proc/self/fail-nth
equal "fail-nth" -12 "$error"
arm "file cases_slab.c func *interrupt* fault task-filter=1 times=-1 verbose=0"
echo 1 >/proc/self/make-it-fail
run hold interrupt
error=$(sed -n 's/^interrupt \(-\?[0-9]*\).*/\1/p' $CT/cases)
echo 0 >/proc/self/make-it-fail
equal "never in an interrupt under a task filter" 0 "$error"
arm 'fault=off'
run drop all

# Both halves of kvmalloc(): a failure of the first is served by the second.
kv=$(sed -n 's/.*func:hold_kvmalloc .* id //p' $CONTROL | xargs)
some=
for id in $kv; do
	arm "id $id fault nth=1 verbose=0"
	first=$(hold kvmalloc)
	run drop kvmalloc 2>/dev/null
	arm "id $id fault times=2 verbose=0"
	both=$(hold kvmalloc)
	run drop kvmalloc 2>/dev/null
	arm 'fault=off'
	[ "$first $both" != "0 -12" ] || some="$some $id"
	[ "$both" = -12 ] || some=none
done
[ -n "$some" ] && [ "$some" != none ]
check "kvmalloc: the second half serves, until it fails too" $? "of $kv: $some"

# What may not fail does not.
if [ -b "$GUEST_DISK" ] && mkdir -p /tmp/disk && mount "$GUEST_DISK" /tmp/disk; then
	arm 'func journal_alloc_journal_head fault times=-1 verbose=0'
	echo x >/tmp/disk/x && sync && rm /tmp/disk/x && umount /tmp/disk
	check "__GFP_NOFAIL: works" $?
	skipped=$(awk '!/^#/ { n += $3 } END { print n + 0 }' $FAULTS)
	[ "$skipped" -gt 0 ]
	check "__GFP_NOFAIL: counted as skipped" $? "$(cat $FAULTS)"
	arm 'fault=off'
else
	skip_rest 2 "no disk" "__GFP_NOFAIL"
fi

# A module that comes and goes, and other sites.
arm 'module codetag_test func hold_vmalloc fault times=-1 verbose=0'
equal "no other site fails" 0 "$(hold kmalloc)"
run drop all
unload codetag_test
grep -q 'unloaded .*func:hold_vmalloc' $FAULTS
check "the fault of an unloaded module is kept" $? "$(cat $FAULTS)"
load codetag_test
equal "armed again when it is loaded" -12 "$(hold vmalloc)"
! grep -q ' unloaded ' $FAULTS
check "and replaced" $? "$(cat $FAULTS)"
arm 'fault=off'
echo "remove all" >$DEBUGFS/codetag/queries
equal "fault=off" 0 "$(hold vmalloc)"
equal "and forgotten" "" "$(counts)"
! echo 'fault nth=0' 2>/dev/null >$CONTROL && ! echo 'fault probability=101' 2>/dev/null >$CONTROL
check "bad settings are refused" $?
run drop all
compared "nothing is left"
audited "audit"
unload codetag_test
finish
