#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The file charged: the charges of pages, slab objects, percpu allocations and vmalloc
# areas add up to the memory of all call sites, and agree with other sources.
. "$(dirname "$0")/codetag.inc"

CHARGED=$DEBUGFS/codetag/charged

# kind NAME [CACHE]: bytes and number
kind()
{
	awk -v kind="$1" -v name="$2" '
		$3 == kind && (name == "" || $4 == name) { bytes = $1; nr = $2 }
		END { printf("%d %d\n", bytes, nr) }' "$WORK/charged"
}

bytes()
{
	set -- $(kind "$@")
	echo "$1"
}

number()
{
	set -- $(kind "$@")
	echo "$2"
}

take()
{
	echo 1 >$CHARGED && cat $CHARGED >"$WORK/charged"
}

# sums: whether the kinds add up to the counters of the sites. Memory of processes that the shell
# has started is freed late, so start none, and try again.
sums()
{
	for try in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		echo 1 >$CHARGED
		all=0 all_calls=0 sites=none sites_calls=none
		while read -r size calls kind _; do
			case $kind in
			sites)
				sites=$size sites_calls=$calls ;;
			pages|slab|percpu)
				all=$((all + size)) all_calls=$((all_calls + calls)) ;;
			esac
		done <$CHARGED
		[ "$all $all_calls" != "$sites $sites_calls" ] || return 0
	done
	echo "kinds $all $all_calls, sites $sites $sites_calls, $try times" >"$WORK/sums"
	return 1
}

driver
[ -r $CHARGED ] || { unload codetag_test; skip_all "no $CHARGED"; }
plan 14

equal "mode" "-rw-------" "$(ls -l $CHARGED | cut -c 1-10)"
equal "a read counts nothing" "# no count has run" "$(head -n 1 $CHARGED)"
take
equal "head" "# charged - version: 1.0" "$(head -n 1 "$WORK/charged")"
bad=$(sed 1,2d "$WORK/charged" | grep -v -E '^ *[0-9]+ +[0-9]+ (sites|pages|vmalloc|percpu|slab|cache [^ ].*)$')
equal "lines" "" "$bad"
sums
check "all kinds add up to all sites" $? "$(cat "$WORK/sums" 2>/dev/null)"
equal "caches add up to slab" "$(kind slab)" \
	"$(awk '$3 == "cache" { bytes += $1; nr += $2 } END { printf("%d %d\n", bytes, nr) }' "$WORK/charged")"

# Objects of caches that only the driver has.
for case in kmem_cache kmem_cache_sizes; do
	run hold $case
done
take
equal "the driver's caches have what its sites hold" \
	"$(memory 'func:hold_cache(s|_sizes) ')" \
	"$(awk '$3 == "cache" && $4 ~ /^ct_/ { bytes += $1; nr += $2 }
		END { printf("%d %d\n", bytes, nr) }' "$WORK/charged")"

# Each kind grows by its new allocations.
was=$(bytes vmalloc)
run hold vmalloc
held=$(memory 'func:hold_vmalloc ')
take
grown=$(($(bytes vmalloc) - was))
# Stacks of tasks are vmalloc areas, too.
[ $grown -ge $((${held% *} - (1 << 18))) ] && [ $grown -le $((${held% *} + (1 << 18))) ]
check "vmalloc areas" $? "$grown more; sites $held"
[ "$(bytes vmalloc)" -le "$(bytes pages)" ]
check "these are pages" $? "$(head "$WORK/charged")"
was=$(bytes percpu)
run hold percpu
held=$(memory 'func:hold_percpu ')
take
grown=$(($(bytes percpu) - was))
[ $grown -ge $((${held% *} - 4096)) ] && [ $grown -le $((${held% *} + 4096)) ]
check "percpu" $? "$grown more; sites $held"
sums
check "they still add up" $? "$(cat "$WORK/sums" 2>/dev/null)"

# Compare with other files: pages of vmalloc areas, and the memory of percpu chunks and slabs.
pages=$(awk '/ vmalloc/ { for (i = 3; i <= NF; i++) if (sub("^pages=", "", $i)) n += $i }
	END { printf("%d\n", n) }' /proc/vmallocinfo)
[ "$(bytes vmalloc)" -le $((pages * PAGE + (1 << 18))) ] &&
	[ "$(bytes vmalloc)" -ge $((pages * PAGE - (1 << 18))) ]
check "pages of /proc/vmallocinfo" $? "$(bytes vmalloc) of $((pages * PAGE))"
slabs=$(awk '$1 == "Slab:" { print $2 * 1024 }' /proc/meminfo)
[ "$(bytes slab)" -le "$slabs" ] && [ "$(bytes slab)" -ge $((slabs / 4)) ]
check "no more objects than slabs" $? "$(bytes slab) of $slabs"
run drop all
audited "audit"
unload codetag_test
finish
