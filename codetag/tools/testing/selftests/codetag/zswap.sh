#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Compressed pages of zswap, with each of its allocators: the pages that hold them move in
# memory, and stay with the line that allocated them.
# guest: own
# timeout: 300
. "$(dirname "$0")/codetag.inc"

TRACING=/sys/kernel/tracing
parameters=/sys/module/zswap/parameters
megabytes=24
pages=$((megabytes * 1024 * 1024 / PAGE))

# Pages that zswap has of its allocators
pool_pages() { echo $(($(cat $DEBUGFS/zswap/pool_total_size) / PAGE)); }
# choose ALLOCATOR: have zswap use it; Linux 7.3 has zsmalloc only
choose()
{
	if [ -e $parameters/zpool ]; then
		echo "$1" 2>/dev/null >$parameters/zpool && [ "$(cat $parameters/zpool)" = "$1" ]
	else
		[ "$1" = zsmalloc ]
	fi
}
# moves FUNCTION: trace each page that this function moves from now on
moves()
{
	echo 0 >$TRACING/events/kprobes/enable 2>/dev/null
	echo >$TRACING/kprobe_events
	echo >$TRACING/trace
	echo "r:moved $1 ret=\$retval:s32" >$TRACING/kprobe_events &&
		echo 'ret == 0' >$TRACING/events/kprobes/moved/filter &&
		echo 1 >$TRACING/events/kprobes/moved/enable
}
# area_begin: a large area of shared memory
area_begin()
{
	mkfifo "$WORK/area"
	"$BIN/pages" shared 200 <"$WORK/area" >"$WORK/holes" &
	area=$!
	exec 5>"$WORK/area"
	until_true 60 grep -q ready "$WORK/holes"
}
# area_end: free every second page of the area, compact memory, then free the rest
area_end()
{
	echo thin >&5
	until_true 60 grep -q thin "$WORK/holes"
	for _ in 1 2 3; do
		echo 1 >/proc/sys/vm/compact_memory
	done
	exec 5>&-
	wait $area
	rm "$WORK/area"
}
# as_zswap: whether the lines hold as many pages as zswap says
as_zswap() { [ "$(grown "$allocator")" = "$(($(pool_pages) * PAGE)) $(pool_pages)" ]; }
holds_nothing() { [ "$(grown "$allocator")" = "0 0" ]; }

prepare
if ! echo Y 2>/dev/null >$parameters/enabled || ! [ -r $DEBUGFS/zswap/pool_total_size ]; then
	cleanup
	skip_all "no zswap"
fi
if ! [ -w /proc/sys/vm/compact_memory ] || ! swap_to_zram 128M; then
	cleanup
	skip_all "no swap, or no compaction"
fi
mounted $TRACING || mount -t tracefs none $TRACING
plan 29

echo 50 >$parameters/max_pool_percent
[ ! -w $parameters/shrinker_enabled ] || echo N >$parameters/shrinker_enabled
base zsmalloc ' mm/zsmalloc.c:[0-9]* .*func:alloc_z(spage|pdesc) '
base zbud ' mm/zbud.c:[0-9]* .*func:zbud_alloc '
base z3fold ' mm/z3fold.c:[0-9]* .*func:z3fold_alloc '

# The pool of z3fold stays: Linux 6.12 forgets objects of it that were migrated, and warns
# when it destroys their cache.
for allocator in zsmalloc zbud z3fold; do
	if ! choose $allocator; then
		if [ $allocator = zsmalloc ] || [ -e $parameters/zpool ]; then
			bail "zswap has no $allocator"
		fi
		skip_rest 9 "zswap has no $allocator" "$allocator"
		continue
	fi
	echo Y >$parameters/enabled
	helper anon $megabytes
	tell noise 1200
	tell sum
	contents=$answer
	# Compress half of the pages before the large area is allocated, and half after that.
	tell out 0 $((pages / 2))
	area_begin
	tell out $((pages / 2)) $((pages / 2))
	stored=$(cat $DEBUGFS/zswap/stored_pages)
	[ "$stored" -ge $((pages / 2)) ]
	check "$allocator: pages are compressed" $? "only $stored"
	[ "$(pool_pages)" -gt 500 ]
	check "$allocator: into many pages" $? "$(pool_pages)"
	until_true 10 as_zswap
	check "$allocator: which its line holds" $? "$(pool_pages) pages, $(grown $allocator)"

	case $allocator in
	zsmalloc) moves zs_page_migrate ;;
	z3fold) moves z3fold_page_migrate ;;
	esac
	# Pages move into the holes that the area leaves, if compaction comes by.
	moved=0
	for try in 1 2 3; do
		[ $try = 1 ] || area_begin
		area_end
		moved=$(grep -c 'moved: ' $TRACING/trace)
		[ "$moved" -lt 10 ] || break
	done
	if [ $allocator = zbud ]; then
		skip "$allocator: pages move" "no page of it can be moved"
	else
		[ "$moved" -ge 10 ]
		check "$allocator: pages move" $? "$moved of $(pool_pages)"
		diag "$moved of $(pool_pages) pages have moved, try $try"
	fi
	until_true 10 as_zswap
	check "$allocator: which holds them after it" $? "$(pool_pages) pages, $(grown $allocator)"
	targets_empty "$allocator: nothing stays with the lines that allocate targets of a migration"
	audited "$allocator: audit"

	tell thin
	tell sum
	equal "$allocator: nothing is lost" "$contents" "$answer"
	helper_end
	echo N >$parameters/enabled
	until_true 10 holds_nothing
	check "$allocator: nothing is left" $? "$(grown $allocator)"
done
swapoff /dev/zram0
echo 1 >/sys/block/zram0/reset
rmmod zram 2>/dev/null
targets_empty "nothing stays with the lines that allocate targets of a migration"
audited "audit"
finish
