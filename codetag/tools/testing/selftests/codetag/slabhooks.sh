#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The hooks of SLUB see each slab object and its caller: the tracepoints, and memory control groups.
# store: any
# timeout: 120
. "$(dirname "$0")/codetag.inc"

TRACING=/sys/kernel/tracing
CGROUP=/tmp/codetag-cgroup

driver
mounted $TRACING || mount -t tracefs none $TRACING 2>/dev/null
if ! [ -d $TRACING/events/kmem/kmalloc ]; then
	unload codetag_test
	skip_all "no tracepoints"
fi

# traced CASE FUNCTION ALLOC FREE: compare the traced and the counted events
traced()
{
	echo >$TRACING/trace
	for event in "$3" "$4"; do
		echo 1 >$TRACING/events/kmem/"$event"/enable
	done
	run hold "$1"
	counted=$(memory "func:$2 ")
	run drop "$1"
	for event in "$3" "$4"; do
		echo 0 >$TRACING/events/kmem/"$event"/enable
	done
	awk -v alloc=": $3: call_site=$2+" -v free=": $4: " -v counted="$counted" '
	function field(name) {
		return match($0, " " name "=[^ ]*") ?
		       substr($0, RSTART + length(name) + 2, RLENGTH - length(name) - 2) : ""
	}
	index($0, alloc) {
		bytes += field("bytes_alloc")
		calls++
		held[field("ptr")]++
		next
	}
	index($0, free) && held[field("ptr")] > 0 {
		held[field("ptr")]--
		frees++
	}
	END {
		printf("counted %s, traced %d %d, freed %d\n", counted, bytes, calls, frees)
		exit !(counted == bytes " " calls && calls == frees && calls > 0)
	}' $TRACING/trace
}

plan 6
out=$(traced kmalloc hold_kmalloc kmalloc kfree)
check "kmalloc() and kfree() are traced" $? "$out"
out=$(traced kmem_cache hold_caches kmem_cache_alloc kmem_cache_free)
check "kmem_cache_alloc() and kmem_cache_free() are traced" $? "$out"

# slab OPERATOR BYTES: wait until this many bytes of slab objects are accounted to
# the group; the kernel is in no hurry to sum up
slab()
{
	tries=80
	while sum=$(awk '$1 == "slab" { print $2 }' $CGROUP/held/memory.stat) &&
	      ! [ "$sum" "$1" "$2" ] && [ $tries -gt 0 ]; do
		tries=$((tries - 1))
		usleep 100000
	done
	[ "$sum" "$1" "$2" ]
	check "$3" $? "$sum bytes, want $1 $2"
}

mkdir -p $CGROUP
if mount -t cgroup2 none $CGROUP 2>/dev/null &&
   echo +memory >$CGROUP/cgroup.subtree_control 2>/dev/null; then
	mkdir $CGROUP/held
	(exec sh -c "echo \$\$ >$CGROUP/held/cgroup.procs; echo hold kmalloc_account >$CT/run")
	read -r bytes calls <<-EOF
	$(memory 'func:hold_kmalloc_account ')
	EOF
	# A processor may keep its accounted bytes to itself, up to a page.
	slack=$((PAGE * $(nproc)))
	[ "$calls" -gt 0 ] && [ "$bytes" -gt $((2 * slack)) ]
	check "there is something to account" $? "$bytes bytes in $calls calls"
	slab -ge $((bytes - slack)) "objects are accounted"
	run drop kmalloc_account
	slab -le $slack "freed objects are not"
	rmdir $CGROUP/held
	umount $CGROUP
else
	umount $CGROUP 2>/dev/null
	skip_rest 3 "no memory controller" "accounting"
fi
rmdir $CGROUP

audited "audit"
unload codetag_test
finish
