#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# "codetag sweep" finds the error path of the module codetag_leaky that leaks. It finds hangs,
# complaints in the kernel's log and bad exit statuses. It goes on after a crash, and leaves
# neither faults nor processes behind.
# store: any
# timeout: 240
# tcg: single
# allow: refcount_t: a test says
. "$(dirname "$0")/codetag.inc"

prepare
command -v codetag >/dev/null || { cleanup; skip_all "no codetag command"; }
[ -e "$DEBUGFS/codetag/faults" ] || { cleanup; skip_all "no faults"; }
[ -w /proc/self/make-it-fail ] || { cleanup; skip_all "no make-it-fail"; }
load codetag_leaky || { cleanup; skip_all "no module codetag_leaky"; }
plan 28

journal=$WORK/journal
operate="echo 1 >/sys/module/codetag_leaky/parameters/run"

# sweep STATUS NAME OPTION... -- COMMAND: its output is in $out
sweep()
{
	want=$1 name=$2
	shift 2
	out=$(codetag sweep "$@" 2>&1)
	got=$?
	check "$name" $((got != want)) "status $got, expected $want: $out"
}

# nothing_left: no faults, and no queries that would bring them back
nothing_left()
{
	! grep -v '^#' "$DEBUGFS/codetag/faults" && ! grep fault "$DEBUGFS/codetag/queries"
}

sweep 1 "one of three error paths leaks" --ktap module codetag_leaky -- sh -c "$operate"
equal "each failed once" 3 "$(echo "$out" | grep -c '^\(not \)\?ok ')"
lines=$(echo "$out" | sed -n 's/.*codetag_leaky\.c:\([0-9]*\) .*allocation 1$/\1/p' | sort -n)
second=$(echo "$lines" | sed -n 2p) third=$(echo "$lines" | sed -n 3p)
equal "only the third" "$third" "$(echo "$out" |
	sed -n 's/^not ok .*codetag_leaky\.c:\([0-9]*\) .*/\1/p')"
equal "which forgets the second" "$second" "$(echo "$out" |
	sed -n 's/^# leak: 2048 bytes each time at .*codetag_leaky\.c:\([0-9]*\) .*/\1/p')"
nothing_left
check "no fault is left" $?

# A journal: allocations that it has are not tried again.
sweep 1 "with a journal" --leaks 0 --allow 0 --journal "$journal" module codetag_leaky -- sh -c "$operate"
equal "each status is a finding" 3 "$(grep -c '^status	1	.*	status [1-9]' "$journal")"
sweep 0 "what is known is no news" --leaks 0 --allow 0 --known "$journal" module codetag_leaky -- sh -c "$operate"
sed -i -e '/^status.*c:'"$third"' /d' -e '/^begin.*c:'"$third"' /s/[^	]*$/another boot/' "$journal"
cp "$journal" "$WORK/before"
sweep 1 "after a crash of the machine" --leaks 0 --allow 0 --journal "$journal" \
	module codetag_leaky -- sh -c "$operate"
equal "what had begun is the crash" 1 "$(grep -c '^crash	1	.*c:'"$third"' ' "$journal")"
equal "and nothing is done twice" "$(wc -l <"$WORK/before")" "$(grep -vc '^crash' "$journal")"
sed -i '/^crash/d; /^begin.*another boot/d' "$journal"
sed -n 's/^status	\(1	.*c:'"$second"' [^	]*\)	.*/begin	\1	/p' "$journal" |
	sed "s/\$/$(cat /proc/sys/kernel/random/boot_id)/" >>"$journal"
sed -i '/^status.*c:'"$second"' /d' "$journal"
sweep 1 "a sweep that was killed" --leaks 0 --allow 0 --journal "$journal" \
	module codetag_leaky -- sh -c "$operate"
equal "is no crash" 0 "$(grep -c '^crash' "$journal")"
sweep 2 "another sweep's journal" --leaks 0 --journal "$journal" module codetag_leaky -- true
echo "$out" | grep -q 'not the journal of this sweep'
check "is refused" $? "$out"

# The command copes, or does not
sweep 0 "an error that is expected" --leaks 0 --allow 0,1,2 module codetag_leaky -- sh -c "$operate"
sweep 1 "a hang" --leaks 0 --timeout 3 module codetag_leaky -- sh -c "$operate || sleep 1000"
equal "is told of each" 3 "$(echo "$out" | grep -c '^hang .*more than 3 seconds')"
sweep 1 "a complaint of the kernel" --leaks 0 module codetag_leaky -- \
	sh -c "$operate || echo 'refcount_t: a test says' >/dev/kmsg"
equal "is in the table" 3 "$(echo "$out" | grep -c '^log .*a test says')"
sweep 2 "a command that fails by itself" --leaks 0 module codetag_leaky -- false
sweep 2 "call sites that the command does not pass" --leaks 0 file no/such/file.c -- true

# A leak at a call site that is not profiled could not be seen.
codetag disable module codetag_leaky
sweep 2 "call sites that are not profiled" module codetag_leaky -- sh -c "$operate"
echo "$out" | grep -q 'not profiled' && ! echo "$out" | grep -q 'were passed\|call sites passed'
check "are refused before the first run" $? "$out"
codetag enable module codetag_leaky

# Nothing stays
codetag sweep --leaks 0 module codetag_leaky -- sh -c "sleep 7777 & $operate" >/dev/null 2>&1
! pgrep -f 'sleep 777[7]' >/dev/null
check "what the command leaves running is killed" $?
codetag sweep --leaks 0 --timeout 300 module codetag_leaky -- sh -c "$operate || sleep 100" >/dev/null 2>&1 &
pid=$!
for _ in $(seq 100); do
	! pgrep -f 'sleep 10[0]' >/dev/null || break
	sleep 0.1
done
kill -TERM $pid
wait $pid
nothing_left
check "nor a fault when it is ended" $?

# Faults that existed before the sweep
echo 'module codetag_leaky fault nth=1000' >"$DEBUGFS/codetag/control"
sweep 2 "faults of somebody else are refused" --leaks 0 module codetag_leaky -- sh -c "$operate"
equal "and stay" 4 "$(grep -c armed "$DEBUGFS/codetag/faults")"
echo 'fault=off' >"$DEBUGFS/codetag/control"
echo 'remove all' >"$DEBUGFS/codetag/queries"
unload codetag_leaky
finish
