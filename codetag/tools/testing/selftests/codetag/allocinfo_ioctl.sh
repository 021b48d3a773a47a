#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The ioctls of /proc/allocinfo: the program that tests them prints the results.
# store: any
. "$(dirname "$0")/codetag.inc"

driver
"$BIN/allocinfo" test "$KO"
status=$?
unload codetag_test
cleanup
exit $status
