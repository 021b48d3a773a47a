#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The key "cgroup": each page is listed with the group that it is charged to, as many as
# memory.stat has.
# boot: default
# boot: selftest.v1
# store: any
# disk: 64M
. "$(dirname "$0")/codetag.inc"

CONTROL=$DEBUGFS/codetag/control
ROOT=/tmp/cgroup
GROUP=$ROOT/group

# in_group COMMAND: run it in the group
in_group()
{
	sh -c "echo \$\$ >$GROUP/cgroup.procs && $1"
}

# held SITE GROUP: bytes of the contexts of sites whose "FILE:LINE func:FUNCTION" matches, in
# this group
held()
{
	awk -v place="$1" -v group="cgroup=$2" '
		/^ *[0-9]/ && $4 " " $5 ~ place {
			for (i = 5; i <= NF; i++)
				if ($i == group)
					bytes += $1
		}
		END { printf("%d\n", bytes) }' $CONTEXTS
}

# of_group NAME: a line of its memory.stat
of_group()
{
	sed -n "s/^$1 //p" $GROUP/memory.stat
}

# counts COUNTER BYTES: whether memory.stat has as many. The kernel adds up what CPUs counted
# about every two seconds, and at once only above 64 pages for each CPU.
counts()
{
	[ "$(of_group "$1")" = "$2" ]
}

driver
[ -r $CONTEXTS ] || { unload codetag_test; skip_all "no $CONTEXTS"; }
grep -q '^memory	' /proc/cgroups || { unload codetag_test; skip_all "no memory cgroups"; }
mkdir -p $ROOT
if cmdline_has selftest.v1; then
	mount -t cgroup -o memory none $ROOT 2>/dev/null ||
		{ load codetag_v1 && mount -t cgroup -o memory none $ROOT; } ||
		{ unload codetag_test; skip_all "no hierarchies of version 1"; }
	plan 11
else
	mount -t cgroup2 none $ROOT || bail "no cgroup2"
	echo +memory >$ROOT/cgroup.subtree_control || bail "no memory controller"
	plan 15
fi
mkdir $GROUP || bail "no group"
echo "file mm/* keys=cgroup; module codetag_test keys=accounted,cgroup; file ledger.c keys=none" >$CONTROL ||
	bail "cannot split"
mount -t tmpfs none /mnt 2>/dev/null || { mkdir -p /mnt && mount -t tmpfs none /mnt; }

# Page cache of a device, whose pages cannot move, and of tmpfs, whose can.
exec 5</dev/vda
in_group 'dd if=/dev/vda of=/dev/null bs=1M count=10 2>/dev/null'
in_group 'dd if=/dev/zero of=/mnt/file bs=1M count=5 2>/dev/null'
file=$(held '^mm/(readahead|filemap).c:' /group)
shmem=$(held '^mm/shmem.c:.* func:shmem_alloc_folio$' /group)
[ "$file" -ge $((10 << 20)) ]
check "page cache is in its group" $? "$file bytes; $(grep -E 'mm/(readahead|filemap).c' $CONTEXTS)"
[ "$shmem" -ge $((5 << 20)) ]
check "shared memory is in its group" $? "$shmem bytes; $(grep mm/shmem.c $CONTEXTS)"

# Memory that is accounted, and memory that is not.
in_group "echo 'hold all' >$CT/run"
[ "$(held '^cases_page.c:' none)" -gt 0 ] &&
	[ "$(awk '/hold_exact / && / cgroup=.group$/' $CONTEXTS | wc -l)" = 0 ]
check "pages that nobody accounts are in none" $? "$(grep cases_page.c $CONTEXTS)"
[ "$(awk '/^ *[0-9]/ && /hold_kmalloc_account / && / cgroup=.group$/ { n += $2 }
	  END { print n + 0 }' $CONTEXTS)" -gt 0 ]
check "accounted objects are in it" $? "$(grep hold_kmalloc_account $CONTEXTS)"

# Memory that is charged after it is allocated.
charged=$(awk '/^ *[0-9]/ && $2 && /hold_cache_charged / {
	print ($0 ~ / accounted=yes / && $0 ~ / cgroup=.group$/) }' $CONTEXTS)
equal "objects that are charged later are in it" 1 "$charged"
equal "and nothing is lost" 0 "$(stat_value contexts_lost)"

if ! cmdline_has selftest.v1; then
	until_true 10 counts shmem "$shmem"
	equal "as much page cache as memory.stat has" \
		"$(($(of_group file) - $(of_group shmem)))" "$file"
	equal "as much shared memory" "$(of_group shmem)" "$shmem"

	# A task that keeps still, with memory of its own.
	mkfifo "$WORK/wait"
	in_group "x=\$(head -c 3000000 /dev/zero | tr '\\000' x); read line <$WORK/wait" &
	until_true 60 sh -c \
		"grep -q pipe_read\\|wait_for_partner\\|fifo_open /proc/$!/stack 2>/dev/null" ||
		sleep 3
	anon=$(held '^mm/(memory|huge_memory).c:' /group)
	[ "$anon" -gt 3000000 ]
	check "memory of tasks is in their group" $? "$anon bytes"
	until_true 10 counts anon "$anon"
	equal "as much as memory.stat has" "$(of_group anon)" "$anon"
	echo go >"$WORK/wait"
	wait $!
	until_true 30 counts anon 0
	equal "and none of it stays" "$(of_group anon)" \
		"$(held '^mm/(memory|huge_memory).c:' /group)"

	# A new group of the same name, which holds nothing.
	run drop all
	rmdir $GROUP || bail "cannot remove the group"
	mkdir $GROUP || bail "no group"
	equal "a new group does not have it" 0 "$(held '^mm/' /group)"
	[ "$(awk '/^ *[0-9]/ && $1 && / cgroup=[0-9]+$/' $CONTEXTS | wc -l)" -gt 0 ]
	check "what the old one had has its number" $? "$(grep cgroup= $CONTEXTS)"
else
	run drop all
fi

# A group of version 2 can get the number of a group of version 1 that is gone. The objects of a
# removed group belong to its parent, so remove the whole hierarchy and move memory to version 2.
other_hierarchy()
{
	mkdir -p "$WORK/two"
	mount -t cgroup2 none "$WORK/two" || return 1
	for i in $(seq 100); do
		mkdir "$WORK/two/wrong$i" || return 1
	done
	stat -c %i "$WORK"/two/wrong* >"$WORK/numbers"
	for i in $(seq 500); do
		mkdir $ROOT/same$i || return 1
		number=$(stat -c %i $ROOT/same$i)
		grep -q -x "$number" "$WORK/numbers" && break
		rmdir $ROOT/same$i
		number=
	done
	[ "$number" ] || return 1
	sh -c "echo \$\$ >$ROOT/same$i/cgroup.procs && echo 'hold all' >$CT/run"
	exec 5<&-
	umount /mnt
	echo 3 >/proc/sys/vm/drop_caches
	for group in $GROUP $ROOT/same$i; do
		[ ! -e $group/memory.force_empty ] || echo 0 >$group/memory.force_empty
		rmdir $group || return 1
	done
	umount $ROOT
	# The hierarchy goes with the last mount after its groups are gone.
	until_true 60 sh -c "grep -q -w memory '$WORK/two/cgroup.controllers' ||
		{ mount -t cgroup -o memory none $ROOT && umount $ROOT; false; }"
}

if cmdline_has selftest.v1; then
	other_hierarchy
	check "memory moves to another hierarchy" $? "number $number"
	equal "where another group has the number: it is not named" 0 \
		"$(grep -c 'cgroup=.wrong' $CONTEXTS)"
	[ "$(awk -v group="cgroup=$number" '$1 + 0 && $NF == group' $CONTEXTS | wc -l)" -gt 0 ]
	check "but shown by its number" $? "$(grep cgroup= $CONTEXTS | head -n 5)"
	run drop all
	rmdir "$WORK"/two/wrong*
	umount "$WORK/two"
	! have_module codetag_v1 || unload codetag_v1
fi

equal "frees are never more than allocations" "" "$(awk '/^ *[0-9]/ && $3 < $2' $CONTEXTS)"
audited "audit"
echo "keys=none" >$CONTROL
exec 5<&-
umount /mnt 2>/dev/null
unload codetag_test
finish
