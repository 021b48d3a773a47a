#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Lockdown, as with Secure Boot: what Documentation/security.md says works and does not, in
# both modes, and the command says why.
# guest: own
# store: any
. "$(dirname "$0")/codetag.inc"

prepare
have_engine || { cleanup; skip_all "not this profiler"; }
lock=/sys/kernel/security/lockdown
mounted /sys/kernel/security || mount -t securityfs securityfs /sys/kernel/security 2>/dev/null
[ -w $lock ] || { cleanup; skip_all "no lockdown"; }
dir=$DEBUGFS/codetag
plan 60

# says NAME COMMAND...: it fails, and names lockdown
says()
{
	name=$1
	shift
	out=$("$@" 2>&1)
	[ $? -eq 2 ] && echo "$out" | grep -q 'locked down'
	check "$name says that lockdown is the reason" $? "$out"
}

# works NAME COMMAND...
works()
{
	name=$1
	shift
	out=$("$@" 2>&1)
	check "$name works" $? "$out"
}

echo 'file fs/pipe.c keys=task' >"$dir/control"
# Keep a pipe open all the time.
sleep 600 | sleep 600 &
trap 'kill %1 2>/dev/null' EXIT
for mode in integrity confidentiality; do
	echo $mode >$lock
	for file in $ALLOCINFO "$dir/contexts" "$dir/sites" "$dir/faults" "$dir/stats" \
		"$dir/activity" "$dir/applied" "$dir/boot"; do
		cat "$file" >/dev/null 2>&1
		check "$mode: ${file##*/} is read" $?
	done
	for file in control queries helpers audit charged census whose; do
		! cat "$dir/$file" >/dev/null 2>&1
		check "$mode: $file is not" $?
	done
	if command -v codetag >/dev/null; then
		works "$mode: report" codetag report
		works "$mode: status" codetag status
		works "$mode: contexts" codetag contexts
		says "$mode: split" codetag split file fs/pipe.c size
		says "$mode: fault" codetag fault --nth 1 file fs/pipe.c
		says "$mode: audit" codetag audit
		says "$mode: census" codetag census
		says "$mode: remembered" codetag remembered
		says "$mode: reset" codetag reset
		works "$mode: fault --list" codetag fault --list
		works "$mode: where" codetag where
	else
		skip_rest 11 "no codetag command" "$mode: the command"
	fi
	cat "$SWITCH" >"$WORK/switch" && cat "$WORK/switch" >"$SWITCH"
	check "$mode: the switch is written" $?
	cat $AUDIT_MAX >"$WORK/limit" && cat "$WORK/limit" >$AUDIT_MAX
	check "$mode: a parameter is written" $?
	equal "$mode: is on" "[$mode]" "$(grep -o '\[[a-z]*\]' $lock)"
	grep -q 'keys=task' "$dir/contexts"
	check "$mode: what was split before stays so" $?
done
finish
