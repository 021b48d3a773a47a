#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Switching vm.mem_profiling off and on. Counted memory is uncharged even if it is freed while off.
# Memory that is allocated while off is never counted. The numbers do not drift when profiling is
# switched under load.
# timeout: 240
# tcg: single
. "$(dirname "$0")/codetag.inc"

on()
{
	echo 1 >$SWITCH
}

off()
{
	echo 0 >$SWITCH
}

driver
[ -w $SWITCH ] || { unload codetag_test; skip_all "no $SWITCH"; }
nr=$(($(cases | wc -l) + 1))
plan $((3 * nr + 14))

on
equal "is on" 1 "$(cat $SWITCH)"
off
equal "is off" 0 "$(cat $SWITCH)"
on
! echo 2 2>/dev/null >$SWITCH
check "refuses nonsense" $?
equal "stays on after nonsense" 1 "$(cat $SWITCH)"

# Allocated while on, freed while off.
snapshot
hold_all
compared_cases "on"
off
run thin all
compared_cases "half freed while off"
run drop all
on
compared_cases "freed while off"

# Allocated while off. The rows are expected at zero: pretend nothing is held.
off
run hold all
on
sed 's/^\([^ ]* [^ ]* [^ ]* [^ ]* [^ ]*\) .*/\1 0 0/' $CT/expect >"$WORK/zero"
zero_compare()
{
	real=$CT
	CT=$WORK/fake
	mkdir -p "$CT"
	cp "$WORK/zero" "$CT/expect"
	out=$(compare)
	zero_status=$?
	CT=$real
	return $zero_status
}
zero_compare
check "allocated while off never appears" $? "$out"
run thin all
zero_compare
check "freed after on again, half" $? "$out"
run drop all
zero_compare
check "freed after on again" $? "$out"

# Some on, some off, all mixed.
run hold kmalloc
off
run hold kmem_cache
run hold alloc_pages
on
run hold percpu
off
run drop kmalloc
run hold vmalloc
on
run drop all
compared "mixed"

# Under load: threads allocate and free on all CPUs meanwhile.
run churn start
for i in $(seq 1 40); do
	off
	usleep $((i * 1371 % 30000)) 2>/dev/null || sleep 0.02
	on
	usleep $((i * 4217 % 50000)) 2>/dev/null || sleep 0.02
done
rounds=$(sed -n 's/^rounds: //p' $CT/churn)
nmis=$(sed -n 's/^nmis: //p' $CT/churn)
audited "audit under load"
run churn stop
[ "$rounds" -gt 500 ]
check "there was load" $? "only $rounds rounds"
if [ -z "$nmis" ]; then
	skip "there was load from NMIs" "no allocator for that, or no way to send them"
else
	[ "$nmis" -gt 100 ]
	check "there was load from NMIs" $? "only $nmis NMIs"
fi
compared_after_churn "nothing is left after the load"

negative=$(awk 'NR > 2 && ($1 < 0 || $2 < 0)' $ALLOCINFO)
equal "no negative numbers" "" "$negative"

audited "audit"
unload codetag_test
finish
