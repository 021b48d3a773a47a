#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Guards: KFENCE takes every Nth object of a chosen line and of no other, without a sample
# interval. It reports an access to such an object after its free or behind its end. Of a chosen
# line's pages every Nth allocation is kept for a while after its free, and an access is reported.
# guest: own
# store: any
# tcg: single
# allow: BUG: KFENCE: (use-after-free read in (run_late|copy_freed|_*(arch_)?copy_to_user|rep_movs_alternative)|memory corruption in run_beyond)|BUG: freed pages: (read after free|write after free|written after free|freed again)
. "$(dirname "$0")/codetag.inc"

CONTROL=$DEBUGFS/codetag/control
GUARDS=$DEBUGFS/codetag/guards
PARAMETERS=/sys/module/codetag_guarded/parameters
TRACING=/sys/kernel/tracing
INTERVAL=/sys/module/kfence/parameters/sample_interval

# taken COMMAND NUMBER: run a command of the module, and print how many objects KFENCE held
taken()
{
	echo "$*" >$PARAMETERS/run || { echo failed; return; }
	cat $PARAMETERS/taken
}

# counts FUNCTION: passed, guarded, missed, rate and state of its guard
counts()
{
	awk -v f="func:$1" '$NF == f { print $1, $2, $3, $4, $5 }' $GUARDS
}

# refused QUERY: the error
refused()
{
	{ echo "$1" >$CONTROL; } 2>&1 | sed 's/.*: //'
}

# reports TEXT: how often KFENCE has said so
reports()
{
	dmesg | grep -c "KFENCE: $1"
}

prepare
# KFENCE's reports are wanted.
echo 0 >/proc/sys/kernel/panic_on_warn
if ! [ -e $GUARDS ]; then
	[ -e $CONTROL ] || skip_all "no $CONTROL"
	plan 1
	equal "refused without CONFIG_CODETAG_GUARD" "Operation not supported" "$(refused guard)"
	finish
fi
# A kernel that samples has a pool already.
interval=$(cat $INTERVAL)
[ "$interval" = 0 ] || echo 0 >$INTERVAL
plan 69

equal "a bad rate" "Invalid argument" "$(refused 'func x guard rate=0')"
equal "a bad word" "Invalid argument" "$(refused 'func x guard=on')"
equal "no match" "No such file or directory" "$(refused 'func x_y_z guard')"

[ "$interval" != 0 ] || [ ! -e $DEBUGFS/kfence ]
check "these made no pool" $?

# For a module that is loaded later, with the pool that the first guard makes.
echo 'module codetag_guarded func suspect guard rate=10' >$CONTROL
check "a guard for a module to come" $?
load codetag_guarded || bail "cannot load codetag_guarded"
equal "KFENCE does not sample" 0 "$(cat $INTERVAL)"
grep -q 'func:suspect =p id [0-9]* guard rate=10$' $CONTROL
check "control shows it" $? "$(grep func:suspect $CONTROL)"

equal "every tenth object" 10 "$(taken suspect 100)"
equal "none of another line" 0 "$(taken other 2000)"
equal "counts" "100 10 0 10 armed" "$(counts suspect)"

# Both faults within ten times the rate
taken late 100 >/dev/null
got=$(reports 'use-after-free read in run_late')
[ "$got" -ge 1 ]
check "a use after free is reported" $? "$got reports"
taken beyond 100 >/dev/null
got=$(reports 'memory corruption in run_beyond')
[ "$got" -ge 1 ]
check "a write behind the end is reported" $? "$got reports"
dmesg | grep -A60 'KFENCE: use-after-free read in run_late' | grep -q 'suspect+'
check "the report names the allocation" $? "$(dmesg | grep -A40 'KFENCE: use-after' | head -n 40)"

# Once more than every object: the pool is used up, and allocations go on.
echo 'func run_hold guard' >$CONTROL
got=$(taken hold 300)
[ "$got" -gt 100 ] && [ "$got" -lt 300 ]
check "until the pool is used up" $? "$got of 300"
equal "the others come from their slab" "300 $got $((300 - got)) 1 armed" "$(counts run_hold)"
audited "audit while KFENCE holds them"
row=$(awk '$NF == "func:run_hold" { print $2 }' $ALLOCINFO)
equal "all are charged to their line" 300 "$row"
taken drop 1 >/dev/null
equal "and uncharged" 0 "$(awk '$NF == "func:run_hold" { print $2 }' $ALLOCINFO)"
audited "audit after they are freed"
[ "$(taken hold 100)" -gt 90 ]
check "the pool is there again" $? "$(counts run_hold)"
taken drop 1 >/dev/null

# Kinds of allocations
echo 'func run_bulk guard rate=4' >$CONTROL
got=$(taken bulk 20)
# Since 7.2 KFENCE is asked once for 16 objects.
case $got in
80|5) pass "objects that come in bulk" ;;
*) fail "objects that come in bulk" "$(counts run_bulk)" ;;
esac
echo 'func run_large guard; func run_pages guard' >$CONTROL
equal "none that is larger than a page" 0 "$(taken large 20)"
equal "no pages" 0 "$(taken pages 20)"
equal "large objects do not pass the guard" "0 0 0 1 armed" "$(counts run_large)"
equal "pages are kept when they are freed" "20 20 0 1 armed" "$(counts run_pages)"

unmaps=
page=$PAGE
equal "they are charged to the guards" $((20 * page)) "$(kept)"
audited "audit while pages are kept"
# Each has two frees in a trace, so it has two allocations there.
if { mounted $TRACING || mount -t tracefs tracefs $TRACING; } 2>/dev/null && [ -e $TRACING/events/kmem ]; then
	echo >$TRACING/trace
	echo 1 >$TRACING/events/kmem/mm_page_alloc/enable
	taken pages 20 >/dev/null
	echo 0 >$TRACING/events/kmem/mm_page_alloc/enable
	got=$(grep -c 'mm_page_alloc: .* order=[01] .*gfp_flags=none' $TRACING/trace)
	[ "$got" -ge 20 ]
	check "an event for each allocation that is kept" $? "$got"
else
	skip "an event for each allocation that is kept" "no trace events"
fi
echo 'func suspect_pages guard rate=10' >$CONTROL
taken pages_late 100 >/dev/null
equal "every tenth allocation of pages" "100 10 0 10 armed" "$(counts suspect_pages)"
# Elsewhere, and on arm64 without this, the kernel maps memory in large pages that stay.
case $(uname -m) in
x86_64) unmaps=y ;;
aarch64) { cat /proc/cmdline; zcat /proc/config.gz; } 2>/dev/null |
	grep -q 'rodata=full\|RODATA_FULL_DEFAULT_ENABLED=y' && unmaps=y ;;
esac
if [ "$unmaps" ]; then
	got=$(dmesg | grep -c 'BUG: freed pages: read after free in run_pages_late')
	[ "$got" -ge 1 ]
	check "a read after free is reported" $? "$got reports; $(dmesg | tail -n 5)"
	dmesg | grep -A2 'BUG: freed pages: read after free' | grep -q "At byte $((page + 100)) of $((2 * page)) that .*func:suspect_pages had"
	check "with the byte and the line" $? "$(dmesg | grep -A9 'BUG: freed pages' | head -n 12)"
	dmesg | grep -A9 'BUG: freed pages: read after free' | grep -q 'run_pages_late+'
	check "and the stack of the free" $? "$(dmesg | grep -A12 'BUG: freed pages' | head -n 14)"
else
	skip_rest 3 "pages are not unmapped" "an access to freed pages"
fi
echo 'func suspect_pages guard' >$CONTROL
taken pages_soon 5 >/dev/null
equal "all of five are kept" "5 5 0 1 armed" "$(counts suspect_pages)"
taken pages_twice 2 >/dev/null
equal "two second frees are reported" 2 "$(dmesg | grep -c 'BUG: freed pages: freed again')"
if [ "$unmaps" ]; then
	equal "copies of freed pages from and to user space go on" 0 "$(taken pages_copy 10)"
	dmesg | grep -A40 'BUG: freed pages: read after free in [a-z_]*\(copy\|rep_movs\)' | grep -q 'copy_freed+'
	check "one to user space is reported" $? "$(dmesg | tail -n 40)"
	dmesg | grep -A40 'BUG: freed pages: write after free in [a-z_]*\(copy\|rep_movs\)' | grep -q 'copy_freed+'
	check "one from user space is reported" $? "$(dmesg | tail -n 40)"
	got=$(dmesg | grep -c 'BUG: freed pages: read')
	equal "a read that expects invalid addresses fails" 0 "$(taken pages_probe 1)"
	equal "and is not reported" "$got" "$(dmesg | grep -c 'BUG: freed pages: read')"
else
	skip_rest 5 "pages are not unmapped" "a copy to user space"
fi
audited "audit after these"
# The guards' own line, too: what it gives back is not kept once more.
echo 'file mm/codetag/guard_page.c guard; func *_pages guard=off' >$CONTROL
for _ in 1 2 3 4 5 6 7 8 9 10; do
	[ "$(kept)" -eq 0 ] && break
	sleep 1
done
equal "without a guard nothing is kept" 0 "$(kept)"
got=$(dmesg | grep -cE 'BUG: freed pages: (written after free|write after free in run_pages_soon)')
echo 'file mm/codetag/guard_page.c guard=off' >$CONTROL
equal "each write at once is found" 5 "$got"
audited "audit after that"

echo 'func suspect_compound guard' >$CONTROL
taken compound_late 10 >/dev/null
equal "compound pages" "10 10 0 1 armed" "$(counts suspect_compound)"
equal "they are kept with all of their bytes" $((40 * page)) "$(kept)"
audited "audit while these are kept"
if [ "$unmaps" ]; then
	dmesg | grep -A2 'BUG: freed pages: read after free in run_compound_late' |
		grep -q "At byte $((3 * page + 100)) of $((4 * page)) that .*func:suspect_compound had"
	check "a read of the last page is reported" $? "$(dmesg | grep -A9 'BUG: freed pages' | tail -n 12)"
else
	skip "a read of the last page is reported" "pages are not unmapped"
fi
echo 'func suspect_compound guard=off' >$CONTROL

# A fault and a guard, each with its own off
if [ -e $DEBUGFS/codetag/faults ]; then
	echo 'func run_hold fault nth=2' >$CONTROL
	{ echo "hold 3" >$PARAMETERS/run; } 2>/dev/null
	equal "a fault beside the guard fails" 1 "$(awk '!/^#/ { print $2 }' $DEBUGFS/codetag/faults)"
	grep -q 'func:run_hold .* guard rate=1$' $CONTROL
	check "and leaves the guard" $? "$(grep func:run_hold $CONTROL)"
	echo 'func run_hold fault' >$CONTROL
	grep -q 'func:run_hold .* fault .* guard rate=1$' $CONTROL
	check "control shows both" $? "$(grep func:run_hold $CONTROL)"
	echo 'func run_hold guard=off' >$CONTROL
	grep -q 'func:run_hold .* fault [^g]*$' $CONTROL
	check "the guard goes alone" $? "$(grep func:run_hold $CONTROL)"
	echo 'fault=off' >$CONTROL
	taken drop 1 >/dev/null
else
	skip_rest 4 "no CONFIG_CODETAG_FAULT_INJECTION" "a fault beside a guard"
fi
echo 'func suspect guard rate=1' >$CONTROL
equal "a new rate replaces the old" "50 0 1 armed" "$(taken suspect 50 >/dev/null; counts suspect | cut -d ' ' -f 2-)"

case $(uname -m) in
x86_64|i?86|aarch64)
	equal "a copy of a freed object to user space goes on" 1 "$(taken object_copy 1)"
	dmesg | grep -A40 'KFENCE: use-after-free read in [a-z_]*\(copy\|rep_movs\)' | grep -q 'run_object_copy+'
	check "it is reported, too" $? "$(dmesg | tail -n 40)"
	;;
*) skip_rest 2 "here copies of objects fail" "a copy of a freed object" ;;
esac

# Guards work independently of profiling.
echo 'func suspect -p' >$CONTROL
equal "of a line that is not profiled" 50 "$(taken suspect 50)"
echo 'func suspect keys=size' >$CONTROL
equal "of one that is not profiled, but split" 50 "$(taken suspect 50)"
echo 'func suspect =p' >$CONTROL
equal "of a line that is split" 50 "$(taken suspect 50)"
audited "audit after that"
echo 'func suspect keys=none' >$CONTROL

# KFENCE samples after all.
echo 1 >$INTERVAL
equal "a sample interval can be set" 1 "$(cat $INTERVAL)"
before=$(sed -n 's/^total allocations: *//p' $DEBUGFS/kfence/stats)
for i in 1 2 3 4 5 6 7 8 9 10; do
	taken other 100 >/dev/null
	usleep 5000
done
now=$(sed -n 's/^total allocations: *//p' $DEBUGFS/kfence/stats)
[ $((now - before)) -ge 3 ]
check "KFENCE samples" $? "$((now - before)) objects"
equal "the guard works beside it" 50 "$(taken suspect 50)"
echo 0 >$INTERVAL
equal "and without it again" 50 "$(taken suspect 50)"
equal "nothing is sampled any more" 0 "$(taken other 2000)"

echo 'func suspect guard=off' >$CONTROL
equal "no guard, no objects" 0 "$(taken suspect 2000)"
equal "no counts" "" "$(counts suspect)"
unload codetag_guarded
grep -q ' unloaded .*func:run_bulk$' $GUARDS
check "counts of an unloaded module" $? "$(cat $GUARDS)"
echo 'guard=off' >$CONTROL
equal "guard=off removes them" 1 "$(wc -l <$GUARDS)"
load codetag_guarded || bail "cannot load codetag_guarded again"
equal "the query for the module came again" 20 "$(taken suspect 200)"
audited "audit at the end"
echo 'remove all' >$DEBUGFS/codetag/queries
echo 'guard=off' >$CONTROL
[ "$interval" = 0 ] || echo "$interval" >$INTERVAL
unload codetag_guarded
finish
