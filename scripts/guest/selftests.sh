#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Run self-tests and print the result of each as one numbered KTAP result, its
# own results nested in it. Usage: selftests.sh FIRST_NUMBER PROGRAM…
number=$1
shift
status=/tmp/selftest.status
for program in "$@"; do
	echo 255 >$status
	start=$(date +%s)
	{
		"/selftests/$program"
		echo $? >$status
	} | sed 's/^/  /'
	code=$(cat $status)
	case $code in
	0) echo "ok $number $program" ;;
	4) echo "ok $number $program # SKIP" ;;
	*) echo "not ok $number $program"
	   echo "# $program ended with status $code" ;;
	esac
	echo "# $program took $(($(date +%s) - start)) s"
	number=$((number + 1))
done
