#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Names that users choose: no name of a task or a control group breaks a line of the
# contexts. Each line stays printable ASCII, and nothing is missing from the sums.
# store: any
. "$(dirname "$0")/codetag.inc"

CONTROL=$DEBUGFS/codetag/control
groups=/sys/fs/cgroup

driver
[ -e $CONTEXTS ] || { unload codetag_test; skip_all "no contexts"; }
plan 7

# held FILE: bytes of the driver's sites in a list, without the ledger's
held()
{
	awk '/\[codetag_test\]/ && !/ledger\.c/ { sum += $1 == "#" ? $3 : $1 }
	     END { printf "%d\n", sum }' "$1"
}

# named NAME TEXT: what is printable of what a task of that name allocates
named()
{
	sh -c '
		printf "$1" >/proc/self/comm
		echo "hold all" >"$2"' sh "$2" "$CT/run"
	cat $CONTEXTS >"$WORK/contexts"
	cat $ALLOCINFO >"$WORK/rows"
	bad=$(LC_ALL=C grep -c -v '^[ -~]*$' "$WORK/contexts")
	equal "$1: lines are printable" 0 "$bad"
	equal "$1: no byte is missing" "$(held "$WORK/rows")" "$(held "$WORK/contexts")"
	run drop all
}

echo 'module codetag_test keys=task; file ledger.c keys=none' >$CONTROL
named "escape" '\033[2J\033]0;x\007'
named "newline and backslash" 'a\nb\\c d\te'
named "not ASCII" '\302\233 \342\200\256 \377'

if [ -d $groups ] && { mounted $groups || mount -t cgroup2 none $groups; } 2>/dev/null &&
   echo +memory >$groups/cgroup.subtree_control; then
	dir=$groups/$(printf 'a\033[2J b\302\233')
	mkdir "$dir"
	echo 'module codetag_test keys=cgroup; file ledger.c keys=none' >$CONTROL
	sh -c 'echo $$ >"$1/cgroup.procs"; echo "hold all" >"$2"' sh "$dir" "$CT/run"
	bad=$(LC_ALL=C grep -c -v '^[ -~]*$' $CONTEXTS)
	found=$(grep -c -F 'cgroup=/a\033[2J\040b\302\233' $CONTEXTS)
	[ "$bad" = 0 ] && [ "$found" -gt 0 ]
	check "a control group" $? "$bad lines are not printable, $found have the group"
	run drop all
	rmdir "$dir"
else
	skip "a control group" "no control groups"
fi
echo 'module codetag_test keys=none' >$CONTROL
unload codetag_test
finish
