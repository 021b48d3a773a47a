#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The codetag command, where there is one, finds the caller that leaks a thousandth of
# what it allocates, and leaves everything as it was.
# guest: own
# store: any
# timeout: 240
. "$(dirname "$0")/codetag.inc"

CONTROL=$DEBUGFS/codetag/control
INTERVAL=/sys/module/codetag/parameters/age_interval

prepare
[ -r $CONTEXTS ] || skip_all "no contexts"
command -v codetag >/dev/null || skip_all "no codetag command"
! have_module codetag_callers || unload codetag_callers
plan 6

load codetag_callers || bail "cannot load codetag_callers"
echo 'func __kernfs_new_node keys=size' >$CONTROL || bail "cannot split"
before=$(grep keys= $CONTROL)
interval=$(cat $INTERVAL)
codetag leaks --stacks --for 60 >"$WORK/leaks"
equal "there is a leak" 1 $?
equal "it is of the one that leaks" " 1. take_session [codetag_callers] leaks" \
	"$(sed -n 's/^\( *[0-9]*\. .*\[codetag_callers\] leaks\) .*by codetag_callers.*/\1/p' "$WORK/leaks")"
equal "sites are split as before" "$before" "$(grep keys= $CONTROL)"
equal "ages are as before" "$interval" "$(cat $INTERVAL)"
echo 'func __kernfs_new_node keys=none' >$CONTROL
echo 0 >/sys/module/codetag_callers/parameters/leak_every
codetag leaks --stacks --for 30 module codetag_callers >"$WORK/leaks"
equal "no leak, none found" 0 $?
unload codetag_callers
forgotten()
{
	! grep -q -F '[codetag_callers]' $CONTEXTS
}
until_true 60 forgotten
check "and nothing is left of it" $? "$(grep -F '[codetag_callers]' $CONTEXTS)"
finish
