#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A helper with three callers, one of which leaks. Split by stack, the contexts of each caller hold
# exactly as much as the module says, and nothing is left of them when it is unloaded.
# guest: own
# store: any
# timeout: 240
. "$(dirname "$0")/codetag.inc"

CONTROL=$DEBUGFS/codetag/control
PARAMETERS=/sys/module/codetag_callers/parameters
HELD=64

# parameter NAME
parameter()
{
	cat $PARAMETERS/"$1"
}

# stopped: no record is allocated any more
stopped()
{
	n=$(parameter allocated)
	sleep 1
	[ "$n" = "$(parameter allocated)" ]
}

enough()
{
	[ "$(parameter leaked)" -ge 50 ]
}

# calls CALLER: the calls that all contexts with this frame hold
calls()
{
	awk -v caller="$1" '
		/^ *[0-9]/ { n = / func:new_record/ ? $2 : 0; next }
		/^ / && index($1, caller "+") == 1 { sum += n }
		END { print sum + 0 }' $CONTEXTS
}

row()
{
	awk '/ func:new_record/ { print $2 }' $ALLOCINFO
}

prepare
[ -r $CONTEXTS ] || skip_all "no $CONTEXTS"
! have_module codetag_callers || unload codetag_callers
plan 11

! load codetag_callers size=4 2>/dev/null
check "too small a record is refused" $?
echo 'module codetag_callers keys=stack' >$CONTROL || bail "cannot split"
load codetag_callers rate=20000 leak_every=100 || bail "cannot load codetag_callers"
until_true 60 enough
check "it leaks" $? "$(parameter leaked)"
echo 0 >$PARAMETERS/rate
until_true 20 stopped
check "it rests" $?
allocated=$(parameter allocated)
leaked=$(parameter leaked)
equal "one in a hundred" "$((allocated / 100))" "$leaked"
equal "a caller that does not leak" $HELD "$(calls take_request)"
equal "another" $HELD "$(calls take_reply)"
equal "the one that leaks" $((HELD + leaked)) "$(calls take_session)"
equal "all together" $((3 * HELD + leaked)) "$(row)"
equal "all allocations" "$allocated" \
	"$(awk '/^ *[0-9]/ && / func:new_record/ { n += $3 } END { print n }' $CONTEXTS)"
unload codetag_callers
echo "remove all" >$DEBUGFS/codetag/queries
! grep -q -F '[codetag_callers]' $ALLOCINFO
check "nothing is left" $? "$(grep -F '[codetag_callers]' $ALLOCINFO)"
until_true 60 no_contexts
check "and its contexts are forgotten" $? "$(head $CONTEXTS)"
finish
