#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Events for each allocation and each free of traced lines, as many as their counters say, and
# none for other lines.
# guest: own
# store: any
. "$(dirname "$0")/codetag.inc"

CONTROL=$DEBUGFS/codetag/control
ACTIVITY=$DEBUGFS/codetag/activity
PARAMETERS=/sys/module/codetag_traced/parameters
TRACEFS=/sys/kernel/tracing
INSTANCE=$TRACEFS/instances/codetag_traced
KINDS="slab cache bulk large page order comp split alone vmalloc percpu"

# do_all COMMAND NUMBER: for each kind
do_all()
{
	for kind in $KINDS; do
		echo "$1 $kind $2" >$PARAMETERS/run || bail "cannot $1 $kind $2"
	done
}

one()
{
	echo "$*" >$PARAMETERS/run || bail "cannot $*"
}

# refused QUERY: the error
refused()
{
	{ echo "$1" >$CONTROL; } 2>&1 | sed 's/.*: //'
}

# func KIND
func()
{
	case $1 in
	page) echo alloc_page0 ;;
	percpu) echo alloc_pcpu ;;
	*) echo "alloc_$1" ;;
	esac
}

# id_of KIND
id_of()
{
	sed -n "s/.* func:$(func "$1") =[p_] id \([0-9]*\).*/\1/p" $CONTROL
}

# counters KIND: allocations, frees and bytes of its line
counters()
{
	awk -v f="func:$(func "$1")" '$NF == f { print $1, $2 }' $ACTIVITY | tr '\n' ' '
	awk -v f="func:$(func "$1")" '$NF == f { print $1 }' $ALLOCINFO
}

# events ID: allocations, frees and bytes
events()
{
	awk -v id="id=$1" '
		/: (alloc|free): id=/ {
			for (i = 1; i <= NF; i++) {
				if ($i == "alloc:" || $i == "free:")
					kind = $i
				else if ($i ~ /^id=/)
					mine = $i == id
				else if ($i ~ /^bytes=/)
					size = substr($i, 7)
			}
			if (!mine)
				next
			if (kind == "alloc:") {
				allocs++
				bytes += size
			} else {
				frees++
				bytes -= size
			}
		}
		END { print allocs + 0, frees + 0, bytes + 0 }' "$WORK/trace"
}

read_events()
{
	cat $INSTANCE/trace >"$WORK/trace"
}

# as_counted NAME: one result for each kind
as_counted()
{
	read_events
	for kind in $KINDS; do
		equal "$1: $kind" "$(counters "$kind")" "$(events "$(id_of "$kind")")"
	done
}

# traced_ids: how many lines have events
traced_ids()
{
	read_events
	sed -n 's/.*: \(alloc\|free\): id=\([0-9]*\) .*/\2/p' "$WORK/trace" | sort -u | wc -l
}

nr_events()
{
	read_events
	grep -c -E ': (alloc|free): id=' "$WORK/trace"
}

# unpaired KIND: addresses that were allocated as often as freed are left out
unpaired()
{
	awk -v id="id=$(id_of "$1")" '
		/: (alloc|free): id=/ {
			for (i = 1; i <= NF; i++) {
				if ($i == "alloc:" || $i == "free:")
					sign = $i == "alloc:" ? 1 : -1
				else if ($i ~ /^id=/)
					mine = $i == id
				else if ($i ~ /^address=/)
					address = $i
			}
			if (mine)
				n[address] += sign
		}
		END { for (a in n) if (n[a]) odd++; print odd + 0 }' "$WORK/trace"
}

prepare
[ -e $CONTROL ] || skip_all "no $CONTROL"
if [ "$(refused 'func there_is_no_such trace')" = "Operation not supported" ]; then
	skip_all "this kernel cannot trace call sites"
fi
mounted $TRACEFS || mount -t tracefs tracefs $TRACEFS || skip_all "no tracefs"
[ -e $TRACEFS/events/codetag ] || skip_all "no trace events"
plan 66

equal "a bad value" "Invalid argument" "$(refused 'func x trace=1')"
equal "a setting" "Invalid argument" "$(refused 'func x trace rate=1')"
equal "no match" "No such file or directory" "$(refused 'func x_y_z trace')"

mkdir $INSTANCE || bail "cannot make $INSTANCE"
# Six thousand events of 50 bytes, at most
echo 2048 >$INSTANCE/buffer_size_kb
echo 1 >$INSTANCE/events/codetag/enable

# For a module that is loaded later
echo 'module codetag_traced func alloc_* trace' >$CONTROL
check "a trace for a module to come" $?
load codetag_traced || bail "cannot load codetag_traced"
equal "control shows it" 11 "$(grep -c 'func:alloc_.* =p id [0-9]* trace$' $CONTROL)"
equal "nothing is traced yet" 0 "$(nr_events)"

do_all hold 100
audited "audit while traced memory is held"
as_counted "held"
do_all drop 40
as_counted "some freed"
one other 100
equal "no events of other lines" 11 "$(traced_ids)"
do_all drop 60
as_counted "all freed"
audited "audit when all is freed"
odd=
for kind in slab cache bulk large page order comp percpu; do
	odd="$odd$(unpaired "$kind")"
done
equal "each address is freed as often as allocated" 00000000 "$odd"
# Since Linux 7.0 these can be parts of larger pages, which are split after the event.
if grep ": alloc: id=$(id_of vmalloc) " "$WORK/trace" | grep -q -v " bytes=$PAGE "; then
	skip "pages of vmalloc" "they are split"
else
	equal "pages of vmalloc, too" 0 "$(unpaired vmalloc)"
fi
line=$(grep ': alloc: ' "$WORK/trace" | head -n 1)
echo "$line" | grep -q 'gfp=GFP_KERNEL.* node=-\?[0-9]*$'
check "an event has flags and node" $? "$line"

# Together with keys
echo 1 >$INSTANCE/trace
echo 'func alloc_slab keys=size' >$CONTROL
grep -q 'func:alloc_slab =p id [0-9]* keys=size max=1024 trace$' $CONTROL
check "keys leave the trace" $? "$(grep func:alloc_slab $CONTROL)"
one hold slab 100
read_events
equal "events of a line that is split" "100 0" "$(events "$(id_of slab)" | cut -d ' ' -f 1,2)"
grep -q 'func:alloc_slab size=100$' $CONTEXTS
check "its context" $? "$(cat $CONTEXTS)"
echo 'func alloc_slab trace=off' >$CONTROL
grep -q 'func:alloc_slab =p id [0-9]* keys=size max=1024$' $CONTROL
check "and the end of the trace the keys" $? "$(grep func:alloc_slab $CONTROL)"
one hold slab 50
one drop slab 150
read_events
equal "no events of a line that is traced no more" "100 0" \
	"$(events "$(id_of slab)" | cut -d ' ' -f 1,2)"
equal "its memory is uncharged" "0" "$(counters slab | cut -d ' ' -f 3)"
echo 'func alloc_slab keys=none; func alloc_slab trace' >$CONTROL

# Off and on
echo 1 >$INSTANCE/trace
echo 'func alloc_page0 -p' >$CONTROL
one hold page 10
equal "no events of what is not profiled" 0 "$(nr_events)"
echo 'func alloc_page0 =p' >$CONTROL
one hold page 10
read_events
equal "but once it is profiled again" "10 0" "$(events "$(id_of page)" | cut -d ' ' -f 1,2)"
one drop page 20
read_events
equal "what was charged is freed with an event" "10 10 0" "$(events "$(id_of page)")"

# Frees in the exit of the module
echo 1 >$INSTANCE/trace
do_all hold 10
ids=$(for kind in $KINDS; do id_of "$kind"; done)
unload codetag_traced
read_events
left=0
for id in $ids; do
	# shellcheck disable=SC2046
	set -- $(events "$id")
	left=$((left + $3))
done
equal "freed as the module goes" 0 "$left"

load codetag_traced || bail "cannot load codetag_traced again"
equal "remembered" 11 "$(grep -c 'func:alloc_.* trace$' $CONTROL)"
do_all hold 10
echo 1 >$INSTANCE/trace
echo 'trace=off' >$CONTROL
equal "trace=off ends them all" 0 "$(grep -c ' trace$' $CONTROL)"
do_all hold 10
audited "audit after that"
do_all drop 20
equal "without an event" 0 "$(nr_events)"
held=0
for kind in $KINDS; do
	held=$((held + $(counters "$kind" | cut -d ' ' -f 3)))
done
equal "and all is uncharged" 0 "$held"
audited "audit at the end"
equal "no id was damaged" 0 "$(stat_value ids_damaged)"
echo 'remove all' >$DEBUGFS/codetag/queries
until_true 60 no_contexts
check "the ids are given back" $? "$(grep contexts_ $STATS)"
unload codetag_traced

echo 0 >$INSTANCE/events/codetag/enable
rmdir $INSTANCE

# The command
if command -v codetag >/dev/null; then
	(for _ in 1 2 3 4 5 6 7 8 9 10; do sleep 0.2; done) &
	out=$(codetag trace --record 1 --json func prepare_creds 2>&1)
	check "codetag trace --record" $? "$out"
	wait
	equal "the requested sizes are not known" 2 "$(echo "$out" | grep -c '"total_requested": null')"
	codetag disable func prepare_creds
	out=$(codetag trace --record 1 func prepare_creds 2>&1)
	[ $? = 2 ] && echo "$out" | grep -q 'not profiled'
	check "a call site that is not profiled has no events" $? "$out"
	codetag enable func prepare_creds
else
	skip_rest 3 "no codetag command" "codetag trace"
fi
finish
