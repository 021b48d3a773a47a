#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# In Debian after debian-crash.sh: compare the dump of kdump-tools with the files that were saved
# before the crash. Prints "ok NAME", "not ok NAME", and after them lines with "# ".
# shellcheck disable=SC2181
dump=$(echo /var/crash/*/dump.*)
types=/sys/kernel/btf/vmlinux

check()
{
	name=$1
	shift
	# In a condition, set -e would have no effect inside the command.
	(set -e; "$@") >/tmp/out 2>&1
	if [ $? -eq 0 ]; then
		echo "ok $name"
	else
		echo "not ok $name"
	fi
	tail -n 25 /tmp/out | sed 's/^/# /'
}

written() { ls -l "$dump"; }
# The sum of all call sites to within 2 %: the machine worked on until it crashed.
reports()
{
	then=$(awk '$1 ~ /^[0-9]+$/ { bytes += $1 } END { printf("%d\n", bytes) }' /var/crash/allocinfo)
	dead=$(codetag report --image "$dump" --raw --json | jq '.total.size')
	echo "$then bytes before the crash, $dead in the dump"
	moved=$((then - dead))
	[ ${moved#-} -le $((then / 50)) ]
	codetag diff --top 10 /var/crash/allocinfo "$dump"
}
# An audit of a dump without caches and memory of programs
filtered()
{
	makedumpfile -R /var/tmp/whole <"$dump"
	makedumpfile -c -d 31 /var/tmp/whole /var/tmp/filtered
	rm /var/tmp/whole
	codetag audit --image /var/tmp/filtered
}
audited() { codetag audit --image "$dump"; }
# Expected: at least 99 % of the 200 allocations of each of four kinds. Of hold_init's 10 at least
# 6 are expected, because stale words can lead to the rest. Of all other objects at most one in
# 10,000. The structure of each lost area is lost, too. "codetag lost" exits with 1 if something
# is lost.
forgotten()
{
	codetag lost --image "$dump" --json >/tmp/lost || [ $? -eq 1 ]
	codetag lost --image "$dump" --examples 3 || true
	jq '(reduce (.rows[] | {name: (.name | capture("func:(?<f>[a-z_]+)").f), calls}) as $row
		 ({}; .[$row.name] += $row.calls)) as $lost |
		([.rows[] | select(.name | test("func:(hold_init|forget_)") | not)] |
		 map(.calls) | add // 0) as $all |
		{objects, others: ($all - ([$lost.__get_vm_area_node // 0, 200] | min)),
		 hold_init: $lost.hold_init, objects_lost: $lost.forget_objects, pages: $lost.forget_pages,
		 percpu: $lost.forget_percpu, areas: $lost.__get_vm_area_node}' /tmp/lost >/tmp/found
	cat /tmp/found
	jq -e '.hold_init >= 6 and .others * 10000 <= .objects and
		.objects_lost + .pages + .percpu + ([.areas, 200] | min) >= 0.99 * 800' /tmp/found
}
# Registers of the panic: at least the stack of the processor that crashed has an owner.
registers()
{
	codetag whose --image "$dump" --types $types --registers
	codetag whose --image "$dump" --registers | grep 'rsp .*: stack of'
}
# Objects that point to dentries, among them other dentries
members()
{
	# shellcheck disable=SC2046
	set -- $(codetag holders --image "$dump" func __d_alloc --json |
		jq -r '.rows[].example // empty' | sed -n 's/^\([0-9a-f]*\)+\([0-9]*\)$/0x\1 + \2/p' |
		bash -c 'while read -r place; do printf "%x\n" $((place)); done')
	[ $# -gt 0 ]
	codetag whose --image "$dump" --types $types "$@" >/tmp/whose || [ $? -eq 1 ]
	cat /tmp/whose
	grep -A 1 'object of dentry' /tmp/whose | grep 'struct dentry, member d_'
}
running()
{
	status=0
	codetag audit --image /proc/kcore 2>/tmp/errors || status=$?
	cat /tmp/errors
	[ $status -eq 2 ] && grep 'is the memory of a running machine' /tmp/errors
}
where() { cat /var/crash/where && codetag where --image "$dump"; }

check 'kdump-tools has written a dump' written
check 'a report of the dump is what the machine said before' reports
check 'the audit of the dump finds no mismatch' audited
check 'the forgotten memory is named' forgotten
check 'a dump without pages of programs and files has all slabs' filtered
check 'whose the registers of the panic are' registers
check 'members of structures have names' members
check 'memory of the running machine is no image' running
check 'where the memory of the dead machine had gone' where
