#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The file census: all memory of call sites by place and kind, while the machine works.
# Its sums are those of the kernel's own counters of nodes, zones, caches and groups.
# boot: numa=fake=2
# store: any
# disk: 64M
. "$(dirname "$0")/codetag.inc"

grouped=
CENSUS=$DEBUGFS/codetag/census
ROOT=/tmp/cgroup
GROUP=$ROOT/group

# take KEYS: a census, kept in a file
take()
{
	echo "$1" >$CENSUS && cat $CENSUS >"$WORK/census"
}

# handed_over BYTES: whether slab objects of the topmost group have at least these bytes
handed_over()
{
	take cgroup,kind
	[ "$(bytes cgroup=/ kind=slab)" -ge "$1" ]
}

# column N [WORD...]: the sum of this column in the rows that have all these words
column()
{
	n=$1
	shift
	awk -v n="$n" -v words="$*" '
		/^ *[0-9]/ {
			count = split(words, word, " ")
			for (i = 1; i <= count; i++)
				if (index($0 " ", " " word[i] " ") == 0)
					next
			sum += $n
		}
		END { printf("%d\n", sum) }' "$WORK/census"
}

# bytes [WORD...], calls [WORD...]: bytes and allocations of the rows with these words
bytes() { column 1 "$@"; }
calls() { column 2 "$@"; }

# group_stat NAME...: the sum of these numbers of the group
group_stat()
{
	awk -v names=" $* " 'index(names, " " $1 " ") { n += $2 } END { printf("%d\n", n) }' \
		$GROUP/memory.stat
}

# near NAME WANT GOT: they differ by at most 2 % of the memory, because numbers change meanwhile
near()
{
	[ "$3" -gt 0 ] && [ $(($2 - $3)) -le $slack ] && [ $(($3 - $2)) -le $slack ]
	check "$1" $? "want $2, got $3, within $slack"
}

# objects_of_group: bytes of the group's objects by the last census, as memory.stat counts them
objects_of_group()
{
	# Each object costs the group 8 bytes more, for the pointer to it.
	echo $(($(bytes cgroup=/group kind=slab) + 8 * $(calls cgroup=/group kind=slab)))
}

# summed_up: whether memory.stat has the objects of a census within the slack. The kernel adds up
# what CPUs counted about every two seconds, and at once only above 64 pages for each CPU.
summed_up()
{
	take cgroup,kind
	off=$(($(group_stat slab) - $(objects_of_group)))
	[ ${off#-} -le $slack ]
}

# node_used NODE: bytes of zones that are not free, nor in the lists of CPUs
node_used()
{
	awk -v node="$1," -v page="$PAGE" '
		$1 == "Node" { on = $2 == node }
		on && $1 == "pages" && $2 == "free" { used -= $3 }
		on && $1 == "managed" { used += $2 }
		on && $1 == "count:" { used -= $2 }
		END { printf("%d\n", used * page) }' /proc/zoneinfo
}

driver
[ -e $CENSUS ] || { unload codetag_test; skip_all "no $CENSUS"; }
plan 30
slack=$(awk '/^MemTotal:/ { printf("%d", $2 * 1024 / 50) }' /proc/meminfo)

equal "mode" "-rw-------" "$(ls -l $CENSUS | cut -c 1-10)"
equal "a read counts nothing" "# no census has run" "$(head -n 1 $CENSUS)"
for bad in "nosuch" "" "node,nosuch" "node zone"; do
	! echo "$bad" 2>/dev/null >$CENSUS
	check "no keys: '$bad'" $?
done
equal "and none has run" "# no census has run" "$(head -n 1 $CENSUS)"

hold_all
take kind || bail "no census"
equal "head" "# census - version: 1.0" "$(head -n 1 "$WORK/census")"
all=$(bytes)
near "pages, objects and percpu memory are all that call sites hold" \
	"$(awk 'NR > 2 { n += $1 } END { printf("%d", n) }' $ALLOCINFO)" "$all"
for keys in node zone migratetype order cache cgroup site node,zone,cache; do
	take $keys && sum=$(bytes)
	near "as much by $keys" "$all" "$sum"
done

take kind,node
near "pages of node 0 as zoneinfo has them" "$(node_used 0)" "$(bytes kind=pages node=0)"
if [ -d /sys/devices/system/node/node1 ]; then
	near "pages of node 1 as zoneinfo has them" "$(node_used 1)" "$(bytes kind=pages node=1)"
else
	skip "pages of node 1 as zoneinfo has them" "only one node"
fi

# Rows of a single call site
take site,kind,order
line=$(grep ' kind=pages .*hold_bulk' "$WORK/census" | head -n 1)
[ -n "$line" ]
check "a call site is named" $? "$(head "$WORK/census")"
if [ -e "$CONTEXTS" ]; then
	before=$(grep -c 'func:hold_bulk' "$WORK/census")
	run drop all
	echo 'func hold_bulk keys=size,cpu,gfp' >$DEBUGFS/codetag/control
	run hold all
	take site,kind,order
	echo 'func hold_bulk keys=none' >$DEBUGFS/codetag/control
	after=$(grep 'func:hold_bulk' "$WORK/census" | grep -v 'unloaded:yes' | grep -c '\[codetag_test\]')
	equal "and it is as many rows when it is split" "$before" "$after"
else
	skip "and it is as many rows when it is split" "no contexts"
fi
take cache,kind
want=$(awk '$1 == "kernfs_node_cache" { print $2 * $4 }' /proc/slabinfo)
[ -n "$want" ] || want=$(bytes cache=kernfs_node_cache)
near "objects of a cache as slabinfo has them" "$want" "$(bytes cache=kernfs_node_cache)"
tail -n 1 "$WORK/census" |
	grep -q -E '^# [0-9]+ pages, [0-9]+ objects in [0-9]+ us, at most [0-9]+ us without rescheduling$'
check "how long it took" $? "$(tail -n 1 "$WORK/census")"
diag "$(tail -n 1 "$WORK/census")"

if grep -q '^memory	' /proc/cgroups && mkdir -p $ROOT &&
	mount -t cgroup2 none $ROOT 2>/dev/null; then
	echo +memory >$ROOT/cgroup.subtree_control && mkdir $GROUP || bail "no group"
	mount -t tmpfs none /mnt 2>/dev/null || { mkdir -p /mnt && mount -t tmpfs none /mnt; }
	sh -c "echo \$\$ >$GROUP/cgroup.procs
		dd if=/dev/zero of=/mnt/file bs=1M count=9 2>/dev/null
		dd if=/dev/vda of=/dev/null bs=1M count=10 2>/dev/null
		i=0
		while [ \$i -lt 2000 ]; do : >/mnt/\$i; i=\$((i + 1)); done"
	# For each CPU and kind of slab the group may have less than a page that is not added yet.
	slack=$((4 * PAGE))
	until_true 20 summed_up
	near "the objects of a group as memory.stat has them" "$(group_stat slab)" "$(objects_of_group)"
	slack=$((1024 * 1024))
	near "the pages of a group as memory.stat has them" \
		"$(group_stat anon file kernel_stack pagetables vmalloc)" "$(bytes cgroup=/group kind=pages)"
	[ "$(group_stat slab)" -gt $((1024 * 1024)) ]
	check "the group has many of them" $? "$(group_stat slab) bytes"
	# The objects of a group that is gone belong to the group above it.
	before=$(bytes cgroup=/ kind=slab)
	was=$(bytes cgroup=/group kind=slab)
	rmdir $GROUP
	slack=$((1024 * 1024))
	# The kernel hands them over in a work item.
	until_true 20 handed_over $((before + was - slack))
	equal "a group that is gone has no objects" 0 "$(bytes cgroup=/group kind=slab)"
	near "the group above it has them" $((before + was)) "$(bytes cgroup=/ kind=slab)"
	grouped=yes
else
	skip "the pages of a group as memory.stat has them" "no memory cgroups"
	skip "the objects of a group as memory.stat has them" "no memory cgroups"
	skip "the group has many of them" "no memory cgroups"
	skip "a group that is gone has no objects" "no memory cgroups"
	skip "the group above it has them" "no memory cgroups"
fi

# While pages, slabs, caches and groups come and go, sums can be off, but nothing else goes wrong.
(
	for i in 1 2 3; do
		run drop all
		run hold all
		ls -lR /sys/kernel >/dev/null 2>&1
		[ -z "$grouped" ] || ! mkdir $GROUP || sh -c "echo \$\$ >$GROUP/cgroup.procs
			ls -lR /sys/kernel >/mnt/list 2>/dev/null; rm -f /mnt/*"
		[ -z "$grouped" ] || rmdir $GROUP
	done
) &
for i in 1 2 3; do
	take kind,node,zone,order,cache,cgroup,site || break
done
status=$?
wait
if [ -n "$grouped" ]; then
	umount /mnt
	umount $ROOT
fi
[ $status = 0 ] && [ "$(bytes)" -gt 0 ]
check "it works beside others" $? "$(head -n 3 "$WORK/census")"
run drop all
unload codetag_test
audited "audit"
finish
