#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# User 0 without capabilities, as in a container, can neither read nor change the profiler's
# files of the machine.
# store: any
. "$(dirname "$0")/codetag.inc"

# include/uapi/linux/capability.h
SYS_ADMIN=21
PERFMON=38

prepare
have_engine || { cleanup; skip_all "not this profiler"; }
dir=$DEBUGFS/codetag
all=$(cd "$dir" && echo *)
written=$(for f in control queries helpers audit charged census whose; do [ ! -e "$dir/$f" ] || echo "$f"; done)
plan $((4 * $(echo "$all" | wc -w) + 4 * $(echo "$written" | wc -w) + 11))

# opens CAPABILITY FILE
opens()
{
	"$BIN/caps" "$1" sh -c ": <'$2'" 2>/dev/null
}

# writes CAPABILITY TEXT FILE
writes()
{
	"$BIN/caps" "$1" sh -c "echo '$2' >'$3'" 2>/dev/null
}

for file in $ALLOCINFO $(for f in $all; do echo "$dir/$f"; done); do
	! opens none "$file"
	check "$file: not read without a capability" $?
	opens "$PERFMON" "$file"
	check "$file: read with CAP_PERFMON" $?
	opens "$SYS_ADMIN" "$file"
	check "$file: read with CAP_SYS_ADMIN" $?
	case ${file##*/} in
	control | queries | helpers | audit | charged | census | whose) mode=600 ;;
	*) mode=400 ;;
	esac
	equal "$file: owner and mode" "0:0 $mode" "$(stat -c '%u:%g %a' "$file")"
done

was=$(cat "$SWITCH")
for cap in none "$PERFMON"; do
	for file in $written; do
		! writes "$cap" "$(request_of $file)" "$dir/$file"
		check "$file: not written with $cap" $?
	done
	! writes "$cap" "$(cat $AUDIT_MAX)" $AUDIT_MAX
	check "a parameter: not written with $cap" $?
done
# A file descriptor from a privileged task does not help.
for file in $written; do
	exec 5>"$dir/$file"
	! "$BIN/caps" none sh -c "echo '$(request_of $file)' >&5" 2>/dev/null
	check "$file: not written through another's descriptor" $?
	exec 5>&-
done
equal "no query got in" "" "$(cat "$dir/queries")"
# Each of these requests is valid.
for file in $written; do
	writes "$SYS_ADMIN" "$(request_of $file)" "$dir/$file"
	check "$file: written with CAP_SYS_ADMIN" $?
done
echo 'remove all' >"$dir/queries"
[ ! -e "$dir/helpers" ] || echo '-nothing_like_that' >"$dir/helpers"
equal "and nothing is left" "" "$(cat "$dir/queries")"
writes "$SYS_ADMIN" "$(cat $AUDIT_MAX)" $AUDIT_MAX
check "a parameter: written with CAP_SYS_ADMIN" $?

# The owner of a file in /proc may change its mode, and then become another user.
mode=$(stat -c %a $ALLOCINFO)
chmod 444 $ALLOCINFO
! "$BIN/caps" user=65534 sh -c ": <$ALLOCINFO" 2>/dev/null
check "not read by another user, whatever its mode" $?
chmod "$mode" $ALLOCINFO
equal "the switch is as it was" "$was" "$(cat "$SWITCH")"
cleanup
finish
