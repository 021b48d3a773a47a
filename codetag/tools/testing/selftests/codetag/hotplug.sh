#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# CPUs go and come back: their counts stay.
# timeout: 180
. "$(dirname "$0")/codetag.inc"

online=/sys/devices/system/cpu/cpu1/online

driver
[ -w $online ] || { unload codetag_test; skip_all "no $online"; }
nr=$(($(cases | wc -l) + 1))
plan $((5 * nr + 4))

# The cases of the kernel's own lines are left out: CPUs themselves need memory.
run cpu 1
snapshot
hold_all
sed -i '/^kstrdup /d' "$WORK/cases"
nr_cases=$(wc -l <"$WORK/cases")
run cpu -1
hotplug()
{
	compared_cases "$1"
	# The missing case, so that the number of results stays.
	[ "$nr_cases" -ne $((nr - 1)) ] && skip "$1 kstrdup" "the kernel uses its lines as well"
}
hotplug "allocated on the second CPU"
echo 0 >$online
equal "the second CPU is gone" 0 "$(cat $online)"
hotplug "it is gone"
run thin all
hotplug "half freed on the first"
echo 1 >$online
equal "the second CPU is back" 1 "$(cat $online)"
hotplug "it is back"
run cpu 1
run drop all
run cpu -1
hotplug "freed on the second"

run churn start
for i in 1 2 3 4 5; do
	echo 0 >$online
	sleep 0.2
	echo 1 >$online
	sleep 0.2
done
run churn stop
compare >/dev/null
grep -v '^kstrdup: ' "$WORK/diff" >"$WORK/left"
equal "nothing is left after the load" "" "$(cat "$WORK/left")"
audited "audit"
unload codetag_test
finish
