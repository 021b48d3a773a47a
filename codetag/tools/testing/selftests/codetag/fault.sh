#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Faults at call sites: every kind of allocation fails where and as often as the fault says, and
# nowhere else. Nothing is charged for a failed allocation.
# store: any
# timeout: 240
# tcg: single
. "$(dirname "$0")/codetag.inc"

CONTROL=$DEBUGFS/codetag/control
FAULTS=$DEBUGFS/codetag/faults

# arm QUERY: write it to control; QUERY names all settings
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

# last_site FUNCTION: the id of the site at its last line
last_site()
{
	grep "func:$1 " $CONTROL | sort -t : -k 2 -n | sed -n '$s/.* id \([0-9]*\).*/\1/p'
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
plan $((nr + 58))
snapshot

# Every allocating site of the module, one at a time: its allocations fail, and its charge does
# not change. First run all cases once, so that the ledger knows the case of each line.
run hold all
run drop all
awk '
	FILENAME ~ /expect$/ { name[$3] = $1; next }
	$2 == "[codetag_test]" && $1 in name { print name[$1], $NF }
' $CT/expect $CONTROL >"$WORK/sites"
# Strings are allocated by mm/util.c.
for func in kstrdup kstrndup kmemdup_nul __kmemdup_nul; do
	sed -n "s/.* func:$func .* id /kstrdup /p" $CONTROL
done >>"$WORK/sites"

# allowed CASE: how many of its sites may fail without failing the case: krealloc() within the
# object, a pool that has a reserve or an allocator that is not used, a percpu allocation that
# the case does not need
allowed()
{
	case $1 in
	krealloc) echo 3 ;;
	kvrealloc) echo 1 ;;
	mempool) echo 2 ;;
	percpu) echo 1 ;;
	*) echo 0 ;;
	esac
}

# fail_sites CASE: count the sites: those that fail the case in $failing, those that may not fail
# in $skipping, all others in $others; errors are in $bad
fail_sites()
{
	failing=0 skipping=0 others=0 bad=
	for id in $(sed -n "s/^$1 //p" "$WORK/sites"); do
		arm "id $id fault times=-1 verbose=0"
		error=$(hold "$1")
		# shellcheck disable=SC2046
		set -- "$1" $(counts)
		arm 'fault=off'
		run drop "$1" 2>/dev/null
		# The case fails, and no allocation was skipped because it may not fail; or the
		# reverse.
		if [ "$error $4 $5" = "-12 0 armed" ] && [ "$3" -gt 0 ]; then
			failing=$((failing + 1))
		elif [ "$error $5" != "0 armed" ]; then
			bad="$bad $id: error $error, $2 $3 $4 $5;"
		elif [ "$4" -gt 0 ]; then
			skipping=$((skipping + 1))
		else
			others=$((others + 1))
		fi
	done
}

for name in $(cases); do
	why=$(sed -n "s/^$name -95 //p" $CT/cases)
	if [ -n "$why" ]; then
		skip "fails: $name" "$why"
		continue
	fi
	# The worker of a hash table retries until it succeeds, so each site fails once. The
	# case may succeed: if there is no memory for a large table, it begins with a small one.
	if [ "$name" = rhashtable ]; then
		arm 'file cases_*.c fault verbose=0'
		error=$(hold rhashtable)
		failed=$(awk '!/^#/ { n += $2 } END { print n + 0 }' $FAULTS)
		arm 'fault=off'
		run drop rhashtable 2>/dev/null
		[ "$failed" -gt 0 ] && { [ "$error" = 0 ] || [ "$error" = -12 ]; }
		check "fails: rhashtable" $? "error $error, $failed failed"
		continue
	fi
	fail_sites "$name"
	diag "$name: $failing fail, $skipping may not fail, $others do neither"
	if [ -n "$bad" ]; then
		fail "fails: $name" "$bad"
	elif [ "$name" = nolock ]; then
		equal "not asked: nolock" "0 0 2" "$failing $skipping $others"
	elif [ "$name" = nofail ]; then
		equal "may not fail: nofail" "0 4 0" "$failing $skipping $others"
	else
		[ "$failing" -gt 0 ] && [ "$skipping" -eq 0 ] && [ "$others" -le "$(allowed "$name")" ]
		check "fails: $name" $? "$failing fail, $skipping may not fail, $others do neither"
	fi
done
compared "nothing is charged for what failed"
equal "nothing is armed any more" "" "$(grep ' fault ' $CONTROL)"

# Without a filter every caller would fail.
callers="stacktrace-depth=9 require-start=0x1000 require-end=0x2000 reject-start=0x0 reject-end=0x0"
out=$({ echo "func hold_kmalloc fault $callers" >$CONTROL; } 2>&1)
armed=$(grep -c "func:hold_kmalloc .* fault .* $callers" $CONTROL)
if zcat /proc/config.gz | grep -q '^CONFIG_FAULT_INJECTION_STACKTRACE_FILTER=y'; then
	[ "$armed" -gt 0 ]
	check "control shows which callers fail" $? "$out $(grep 'func:hold_kmalloc ' $CONTROL)"
	hold kmalloc >"$WORK/error"
	run drop kmalloc 2>/dev/null
	equal "and no other caller does" "0 0" "$(cat "$WORK/error") $(awk '!/^#/ { n += $2 } END { print n + 0 }' $FAULTS)"
	arm 'fault=off'
else
	printf '%s' "$out" | grep -q "not supported"
	check "callers are refused without CONFIG_FAULT_INJECTION_STACKTRACE_FILTER" $? "$out"
	equal "and nothing is armed" 0 "$(grep -c ' fault ' $CONTROL)"
fi

# One site: an array of pages that vmalloc() gets from several allocations.
vmalloc=$(last_site hold_vmalloc)
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
# 3 MiB at a time
arm "id $vmalloc fault space=$((2 * 0x300000 + 1)) times=-1 verbose=0"
equal "space" "0 0 -12 -12" "$(for i in 1 2 3 4; do hold vmalloc; done | xargs)"
run drop all

# The messages about a failure
arm "id $vmalloc fault times=-1 verbose=0"
dmesg -c >/dev/null
hold vmalloc >/dev/null
equal "verbose=0" "" "$(dmesg)"
arm "id $vmalloc fault times=-1 verbose=2"
hold vmalloc >/dev/null
dmesg | grep -q -i 'call trace:' && dmesg | grep -q ' hold_vmalloc+'
check "verbose=2 shows the stack" $? "$(dmesg)"
# The largest order is asked for with __GFP_NOWARN.
arm "id $vmalloc fault=off; id $(last_site hold_orders) fault verbose=1"
dmesg -c >/dev/null
equal "__GFP_NOWARN: fails" -12 "$(hold alloc_pages)"
equal "__GFP_NOWARN: no report" "" "$(dmesg | grep FAULT_INJECTION)"
run drop all
arm 'fault=off'

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
# The softirq runs in the context of this task, but not on its behalf.
for context in interrupt softirq; do
	arm "fault=off; func from_$context fault task-filter=1 times=-1 verbose=0"
	echo 1 >/proc/self/make-it-fail
	run hold $context
	error=$(sed -n "s/^$context \(-\?[0-9]*\).*/\1/p" $CT/cases)
	echo 0 >/proc/self/make-it-fail
	if [ "$error" = -95 ]; then
		skip "task-filter: never in $context" "$(sed -n "s/^$context -95 //p" $CT/cases)"
	else
		passed=$(awk '!/^#/ { n += $1 } END { print n + 0 }' $FAULTS)
		equal "task-filter: never in $context" "0 0" "$error $passed"
	fi
done
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

# Contiguous pages are looked for in one range after another: the search fails, and not one range.
kfence=/sys/module/kfence/parameters/sample_interval
if [ "$(cat $kfence 2>/dev/null)" = 0 ] && grep -q ' func:kfence_init_late ' $CONTROL; then
	arm 'func kfence_init_late fault verbose=0'
	! { echo 1000 >$kfence; } 2>/dev/null
	check "alloc_contig_pages: fails" $?
	equal "alloc_contig_pages: counted once" "1 1 0" \
		"$(awk '!/^#/ { p += $1; f += $2; s += $3 } END { print p, f, s }' $FAULTS)"
	arm 'fault=off'
	echo 0 >$kfence
else
	skip_rest 2 "no KFENCE that can be switched on" "alloc_contig_pages"
fi

# Allocations that may not fail do not fail.
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

# Other sites.
arm "id $vmalloc fault times=-1 verbose=0"
run hold all
equal "no other site fails" "vmalloc -12" "$(awk '$2 != 0 && $2 != -95 { print $1, $2 }' $CT/cases)"
run drop all

# A refused query changes nothing; a site that is armed again starts with new counts.
before=$(cat $FAULTS)
! echo 'func hold_kmalloc fault; id 1 nonsense' 2>/dev/null >$CONTROL
check "a bad query arms nothing" $? "$(cat $FAULTS)"
equal "all is as it was" "$before" "$(cat $FAULTS)"
arm "id $vmalloc fault times=2 verbose=0"
equal "armed again" "0 0 0 armed" "$(counts)"
arm "func hold_vmalloc fault; id $vmalloc fault=off"
equal "one of many is disarmed" "" "$(grep " id $vmalloc .*fault" $CONTROL)"
equal "the others are not" "$(($(grep -c 'func:hold_vmalloc ' $CONTROL) - 1))" \
	"$(grep -c ' armed .*func:hold_vmalloc' $FAULTS)"
arm 'fault=off'

# A module whose first allocation fails, in its init.
arm 'module codetag_victim func victim_alloc fault verbose=0'
! load codetag_victim 2>/dev/null
check "a module fails in its init" $?
grep -q '^ *1 *1 *0 spent .*\[codetag_victim\] func:victim_alloc' $FAULTS
check "and shows the fault" $? "$(cat $FAULTS)"
echo "remove all" >$DEBUGFS/codetag/queries
load codetag_victim keep=0
check "loads without it" $?
unload codetag_victim
arm 'fault=off'

# A module that a notifier keeps from being loaded
run refuse codetag_victim
arm 'module codetag_victim func victim_alloc fault times=-1 verbose=0'
! load codetag_victim 2>/dev/null
check "a module is refused" $?
equal "and its fault is armed no more" 0 "$(grep -c ' armed ' $FAULTS)"
run refuse none
echo "remove all" >$DEBUGFS/codetag/queries
arm 'fault=off'

# A module that comes and goes.
arm 'module codetag_test func hold_vmalloc fault times=-1 verbose=0'
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

# Armed while its module is leaving, even after codetag's module notifier has run
echo run >"$WORK/go"
while [ -e "$WORK/go" ]; do
	echo 'func victim_alloc fault nth=1000000 verbose=0' 2>/dev/null >$CONTROL
done &
writer=$!
loaded=0
end=$(($(date +%s) + $(lasting 4)))
while [ "$(date +%s)" -lt $end ] || [ $loaded -lt 5 ]; do
	load codetag_victim pieces=1 keep=0 && unload codetag_victim && loaded=$((loaded + 1))
done
rm "$WORK/go"
wait $writer
equal "what is armed while its module leaves is armed no more" 0 "$(grep -c ' armed ' $FAULTS)"
arm 'fault=off'

# Armed and disarmed while threads allocate on all CPUs and a module comes and
# goes.
run churn start
most=0
end=$(($(date +%s) + $(lasting 12)))
while [ "$(date +%s)" -lt $end ]; do
	arm 'file churn.c fault probability=20 times=-1 verbose=0; module codetag_victim fault times=1 verbose=0'
	load codetag_victim pieces=1 keep=0 2>/dev/null && unload codetag_victim
	sleep 0.2
	failed=$(awk '/churn\.c/ { n += $2 } END { print n + 0 }' $FAULTS)
	[ "$failed" -le $most ] || most=$failed
	arm 'file churn.c fault=off'
done
arm 'fault=off'
echo "remove all" >$DEBUGFS/codetag/queries
run churn stop
[ $most -gt 50 ]
check "failures under load" $? "only $most"
run drop all 2>/dev/null
compared_after_churn "nothing is left"
equal "no negative numbers" "" "$(awk 'NR > 2 && ($1 < 0 || $2 < 0)' $ALLOCINFO)"
audited "audit"
unload codetag_test
finish
