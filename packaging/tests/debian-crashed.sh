#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# In Debian after debian-crash.sh: compare the dump of kdump-tools with what the machine said
# before the crash. Prints "ok NAME", "not ok NAME", and after them lines with "# ".
# shellcheck disable=SC2181
dump=$(echo /var/crash/*/dump.*)

check()
{
	name=$1
	shift
	# As a condition, no command in it would end it.
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
# The same without caches and memory of programs. makedumpfile of Debian 12 leaves out slabs of
# Linux 6.12, too. Then the command warns that its result may be wrong, and fails.
filtered()
{
	makedumpfile -R /tmp/whole <"$dump"
	makedumpfile -c -d 31 /tmp/whole /tmp/filtered
	status=0
	codetag audit --image /tmp/filtered >/tmp/audit 2>/tmp/errors || status=$?
	cat /tmp/errors
	tail -n 1 /tmp/audit
	case $(makedumpfile -v 2>&1) in
	*' 1.7.'[0-5]' '*) [ $status -eq 2 ] && grep 'lacks memory' /tmp/errors ;;
	*) [ $status -eq 0 ] ;;
	esac
}
audited() { codetag audit --image "$dump"; }
# Most of what the module has forgotten: words that nobody has cleared can lead to the rest. Of all
# others one in 10,000 at most. lost ends with 1
# if there is something.
forgotten()
{
	codetag lost --image "$dump" --json >/tmp/lost || [ $? -eq 1 ]
	codetag lost --image "$dump" --examples 3 || true
	jq -r '([.rows[] | select(.name | test("hold_init"))] | map(.calls) | add // 0) as $planted |
		"\(.objects) objects, \($planted) forgotten ones lost, and \((.rows | map(.calls) | add) - $planted) others"' /tmp/lost
	jq -e '([.rows[] | select(.name | test("hold_init"))] | map(.calls) | add // 0) as $planted |
		$planted >= 6 and ((.rows | map(.calls) | add) - $planted) * 10000 <= .objects' /tmp/lost
}
where() { cat /var/crash/where && codetag where --image "$dump"; }

check 'kdump-tools has written a dump' written
check 'a report of the dump is what the machine said before' reports
check 'the audit of the dump finds no mismatch' audited
check 'the forgotten memory is named' forgotten
check 'a dump that lacks slabs is told from one that has all' filtered
check 'where the memory of the dead machine had gone' where
