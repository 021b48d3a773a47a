#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Reading /proc/allocinfo, stats and audit while modules load and unload.
# timeout: 180
. "$(dirname "$0")/codetag.inc"

driver
plan 9
echo run >"$WORK/go"
echo 0 | tee "$WORK/n1" >"$WORK/n2"

# One loop with memory that outlives the module, one with many lines. With another profiler a module
# must not be unloaded while its allocations live.
pieces=0
have_engine && pieces=3
(
	n=0
	while [ -e "$WORK/go" ]; do
		n=$((n + 1))
		load codetag_victim pieces=$pieces group=race || echo "load victim" >>"$WORK/errors"
		unload codetag_victim || echo "unload victim" >>"$WORK/errors"
		run drop race 2>/dev/null
		echo $n >"$WORK/n1"
	done
) &
one=$!
(
	n=0
	while [ -e "$WORK/go" ]; do
		n=$((n + 1))
		load codetag_many || echo "load many" >>"$WORK/errors"
		unload codetag_many || echo "unload many" >>"$WORK/errors"
		echo $n >"$WORK/n2"
	done
) &
two=$!

# The lines that are there the whole time are there exactly once each time.
fixed()
{
	awk 'NR > 2 && $4 !~ /^\[codetag_(victim|many)\]$/ {
		$1 = ""; $2 = ""; sub(/ accurate:no/, ""); print }' "$1" | sort
}
cat $ALLOCINFO >"$WORK/text"
fixed "$WORK/text" >"$WORK/fixed"
form='^ *-?[0-9]+ +[0-9]+ [^ ]+:[0-9]+( \[[^] ]+\])? func:[^ ]+( accurate:no)?( unloaded:yes)? $'
differ=
unparsed=
negative=
reads=0
enough()
{
	[ "$reads" -ge "$(lasting 6)" ] &&
		[ "$(cat "$WORK/n1")" -ge 5 ] && [ "$(cat "$WORK/n2")" -ge 5 ]
}
end=$(($(date +%s) + $(lasting 20)))
# A busy machine takes longer until there were enough of all.
while now=$(date +%s); [ "$now" -lt $end ] || { ! enough && [ "$now" -lt $((end + 120)) ]; }; do
	if [ $((reads % 2)) -eq 0 ]; then
		cat $ALLOCINFO >"$WORK/text"
	else
		dd if=$ALLOCINFO of="$WORK/text" bs=1500 2>/dev/null
	fi
	fixed "$WORK/text" >"$WORK/again"
	cmp -s "$WORK/fixed" "$WORK/again" ||
		differ="$differ$(diff "$WORK/fixed" "$WORK/again" | head -n 5)"
	unparsed="$unparsed$(tail -n +3 "$WORK/text" | grep -v -E "$form" | head -n 3)"
	negative="$negative$(awk 'NR > 2 && ($1 < 0 || $2 < 0)' "$WORK/text" | head -n 3)"
	[ ! -r $STATS ] || cat $STATS >/dev/null
	reads=$((reads + 1))
done
equal "lines that stay are there once each time" "" "$differ"
equal "every line parses" "" "$unparsed"
equal "no negative numbers" "" "$negative"
audited "audit meanwhile"
rm "$WORK/go"
wait $one $two
n1=$(cat "$WORK/n1")
n2=$(cat "$WORK/n2")
diag "$reads reads, $n1 and $n2 modules"
enough
check "there were enough of all" $? "$reads reads, $n1 and $n2 modules"
equal "all modules loaded and unloaded" "" "$(cat "$WORK/errors" 2>/dev/null)"
compared "nothing is held"
equal "no line is left" 0 "$(grep -c -E '\[codetag_(victim|many)\]' $ALLOCINFO)"
audited "audit"
unload codetag_test
finish
