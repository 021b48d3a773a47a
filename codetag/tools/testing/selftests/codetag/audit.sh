#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The audit finds what is wrong. The counters of this guest are wrong after it.
# guest: own
. "$(dirname "$0")/codetag.inc"

driver
have_engine || { unload codetag_test; skip_all "not this profiler"; }
plan 5

audited "audit before"
run misuse page
line=$(grep 'func:misuse' $ALLOCINFO)
# shellcheck disable=SC2086
set -- $line
equal "the line is wrong" "8192 0" "$1 $2"
place=$3
cat $AUDIT >"$WORK/a"
equal "one mismatch" 1 "$(grep -c '^mismatch: ' "$WORK/a")"
grep -q "^mismatch: id [0-9]* counted 8192 0 found 0 0 $place func:misuse" "$WORK/a"
check "it says what and where" $? "$(cat "$WORK/a")"
tail -n 1 "$WORK/a" | grep -q ', 1 mismatches$'
check "and counts it" $? "$(tail -n 1 "$WORK/a")"
unload codetag_test
finish
