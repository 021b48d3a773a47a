#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Run self-tests and print the result of each as one numbered KTAP result, its
# own results nested in it; exit 1 if one failed. Usage: selftests.sh FIRST_NUMBER PROGRAM…

# If a test uses up the memory, the OOM killer must not take this shell and the programs that
# handle results. The tests themselves are not exempt.
echo -1000 >/proc/self/oom_score_adj
number=$1
shift
status=${TMPDIR:-/tmp}/selftest.status
failed=0
for program in "$@"; do
	echo 255 >"$status"
	start=$(date +%s)
	{
		(
			echo 0 >/proc/self/oom_score_adj
			exec "${SELFTESTS:-/selftests}/$program"
		)
		echo $? >"$status"
	} | sed 's/^/  /'
	code=$(cat "$status")
	case $code in
	0) echo "ok $number $program" ;;
	4) echo "ok $number $program # SKIP" ;;
	*) echo "not ok $number $program"
	   echo "# $program ended with status $code"
	   failed=1 ;;
	esac
	echo "# $program took $(($(date +%s) - start)) s"
	number=$((number + 1))
done
exit "$failed"
