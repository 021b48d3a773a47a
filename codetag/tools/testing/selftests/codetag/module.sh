#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A module that unloads while its allocations live: its memory goes, its lines
# stay, marked as unloaded, until the last byte is freed. Loading it again
# makes new lines.
# tcg: single
. "$(dirname "$0")/codetag.inc"

# vmalloc_has ADDRESS: whether /proc/vmallocinfo has an area around it. The first byte of an address
# is ignored: it can be a KASAN tag, which may differ between the area and addresses in it.
vmalloc_has()
{
	awk -v a="${1#0x}" '
		function place(address) { return substr(address, 3) }
		BEGIN { a = place(a) }
		$0 !~ /unpurged/ {
			split($1, range, "-")
			from = place(substr(range[1], 3))
			to = place(substr(range[2], 3))
			if (length(a) == length(from) && a >= from && a < to)
				found = 1
		}
		END { exit !found }' /proc/vmallocinfo
}

# victims [MARK]: the lines of the victim, those with or without the mark
victims()
{
	case $1 in
	unloaded) grep '\[codetag_victim\]' $ALLOCINFO | grep ' unloaded:yes' ;;
	loaded) grep '\[codetag_victim\]' $ALLOCINFO | grep -v ' unloaded:yes' ;;
	*) grep '\[codetag_victim\]' $ALLOCINFO ;;
	esac
}

lines()
{
	victims "$1" | wc -l
}

driver
have_engine || { unload codetag_test; skip_all "not this profiler"; }
plan 39
echo 1 >/proc/sys/kernel/kptr_restrict
free_ids=$(stat_value ids_module_free)

load codetag_victim pieces=10
compared "loaded"
sites=$(lines loaded)
[ "$sites" -ge 7 ]
check "has lines" $? "only $sites lines"

# Its code may come from a cache of executable memory, which keeps it.
text=.text
! grep -q ' execmem_cache' /proc/kallsyms || text=
sections=
for s in $text .data .bss .rodata alloc_tags __param; do
	f=/sys/module/codetag_victim/sections/$s
	[ -r $f ] && sections="$sections $(cat $f)"
done
bad=
for a in $sections; do
	vmalloc_has "$a" || bad="$bad $a"
done
[ -n "$sections" ] && [ -z "$bad" ]
check "its memory is in vmallocinfo" $? "not there: $bad of $sections"

unload codetag_victim
check "unloads with live allocations" $?
! have_module codetag_victim
check "is no longer in /proc/modules" $?
bad=
for a in $sections; do
	! vmalloc_has "$a" || bad="$bad $a"
done
[ -z "$bad" ]
check "its memory is no longer in vmallocinfo" $? "still there: $bad"
compared "unloaded"
equal "all lines with memory are marked" "7 0" "$(lines unloaded) $(lines loaded)"
run thin victim
compared "every second piece freed"

# Loading again: new lines at zero beside the old ones.
load codetag_victim pieces=0
check "loads again" $?
equal "new lines beside the old" "7 $sites" "$(lines unloaded) $(lines loaded)"
equal "the new lines are at zero" 0 "$(victims loaded | awk '$1 != 0 || $2 != 0' | wc -l)"
compared "the old lines keep their numbers"
unload codetag_victim
equal "lines without memory go at once" "7 0" "$(lines unloaded) $(lines loaded)"

load codetag_victim pieces=4 group=again
compared "new and old lines with memory"
equal "both kinds are there" "7 $sites" "$(lines unloaded) $(lines loaded)"
run drop victim
compared "the old memory freed"
equal "the old lines are gone" "0 $sites" "$(lines unloaded) $(lines loaded)"
unload codetag_victim
compared "unloaded the second time"
equal "marked the second time" "7 0" "$(lines unloaded) $(lines loaded)"

# Three generations at the same time.
load codetag_victim pieces=2 group=third
unload codetag_victim
load codetag_victim pieces=3 group=fourth
compared "three generations"
equal "lines of three generations" "14 $sites" "$(lines unloaded) $(lines loaded)"
run drop third
compared "the middle one freed"
run cpu 1 2>/dev/null
run drop again
run cpu -1
compared "the oldest one freed on another CPU"
equal "only the latest is left" "0 $sites" "$(lines unloaded) $(lines loaded)"
run drop fourth
compared "the latest one freed while loaded"
unload codetag_victim
equal "nothing is left" 0 "$(lines)"

# A single live allocation is enough to keep its line.
load codetag_victim pieces=1 group=one
unload codetag_victim
equal "one piece each" "7 0" "$(lines unloaded) $(lines loaded)"
run drop one
equal "no piece" 0 "$(lines)"

# Freed while the profiler is off.
load codetag_victim pieces=3 group=off
unload codetag_victim
echo 0 >$SWITCH
run thin off
echo 1 >$SWITCH
compared "freed in part while off"
echo 0 >$SWITCH
run drop off
compared "freed while off"
equal "nothing is left after off" 0 "$(lines)"
echo 1 >$SWITCH

# Loaded while the profiler is off: its lines are there when it is on.
echo 0 >$SWITCH
load codetag_victim pieces=0 group=later
echo 1 >$SWITCH
equal "loaded while off" "0 $sites" "$(lines unloaded) $(lines loaded)"
unload codetag_victim
load codetag_victim pieces=2 group=later
compared "memory after that"
run drop later
unload codetag_victim

# Again and again.
bad=
for i in $(seq 1 20); do
	load codetag_victim pieces=2 group="g$i" || bad="$bad $i: load"
	unload codetag_victim || bad="$bad $i: unload"
	[ $i -lt 4 ] || run drop "g$((i - 3))"
	out=$(compare) || bad="$bad
$out"
done
check "again and again" "$([ -z "$bad" ] && echo 0 || echo 1)" "$bad"
for i in 18 19 20; do
	run drop "g$i"
done
equal "nothing is left after all" 0 "$(lines)"
equal "all ids are free again" "$free_ids" "$(stat_value ids_module_free)"
equal "no names were lost" 0 "$(stat_value names_lost)"

audited "audit"
unload codetag_test
finish
