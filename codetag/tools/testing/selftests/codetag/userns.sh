#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Root of a user namespace has all capabilities there, but can neither read nor write the profiler's
# files of the machine. The names of its tasks and hosts are escaped.
# store: any
. "$(dirname "$0")/codetag.inc"

prepare
have_engine || { cleanup; skip_all "not this profiler"; }
[ -e /proc/self/ns/user ] || { cleanup; skip_all "no user namespaces"; }
dir=$DEBUGFS/codetag
control=$dir/control
files="$ALLOCINFO $SWITCH $(for f in "$dir"/* /sys/module/codetag/parameters/*; do echo "$f"; done)"
written="$SWITCH $control $dir/queries $dir/helpers $dir/audit $dir/charged $dir/census $dir/whose $(for f in /sys/module/codetag/parameters/*; do [ ! -w "$f" ] || echo "$f"; done)"
# shellcheck disable=SC2086
plan $((3 * $(echo $files | wc -w) + 2 * $(echo $written | wc -w) + 10))

# A user's own namespace, and one whose root is user 0 outside, too, as it is in a container
user() { "$BIN/caps" user=65534 unshare -r -m sh -c "$1" 2>/dev/null; }
container() { unshare -r -m sh -c "$1" 2>/dev/null; }

equal "it is root in there" 0 "$(user 'id -u')"
# In a namespace where user 0 is not mapped, the owner of the machine's files has no id.
equal "a user's root owns no file of the machine" 65534 "$(user "stat -c %u $ALLOCINFO")"
equal "a container's root does" 0 "$(container "stat -c %u $ALLOCINFO")"
equal "with capabilities" "$(sed -n 's/^CapBnd:.//p' /proc/self/status)" \
	"$(user "sed -n 's/^CapEff:.//p' /proc/self/status")"
was=$(cat "$SWITCH")
for file in $files; do
	# Numbers that all may read: the switch and the limits
	case $(stat -c %a "$file") in
	*4) skip_rest 2 "all may read it" "$file" ;;
	*)
		! user ": <'$file'"
		check "$file: not read by a user's root" $?
		! container ": <'$file'"
		check "$file: not read by a container's" $? ;;
	esac
	mode=$(stat -c %a "$file")
	user "chmod 777 '$file'"
	equal "$file: nor is its mode changed" "$mode" "$(stat -c %a "$file")"
done
queries=$(cat "$dir/queries")
for file in $written; do
	text=$(request_of "${file##*/}")
	! user "echo '$text' >'$file'"
	check "$file: not written by a user's root" $?
	! container "echo '$text' >'$file'"
	check "$file: not written by a container's" $?
done
equal "no query got in" "$queries" "$(cat "$dir/queries")"
equal "the switch is as it was" "$was" "$(cat "$SWITCH")"
# Mounting file systems of its own does not help.
chmod 755 "$WORK"
mkdir -p "$WORK/mounted"
! user "mount -t debugfs debugfs '$WORK/mounted'"
check "no debugfs is mounted in there" $?
# shellcheck disable=SC2016
equal "nor is allocinfo read in a proc of its own" alone "$("$BIN/caps" user=65534 \
	unshare -r -p -f --mount-proc sh -c '[ ! -e /proc/2000 ] && [ $$ = 1 ] && echo alone; cat /proc/allocinfo' 2>/dev/null)"

# Root may give its tasks and hosts any names.
if [ -e "$CONTEXTS" ]; then
	echo 'file fs/pipe.c keys=task' >"$control"
	# shellcheck disable=SC2016
	"$BIN/caps" user=65534 unshare -r -u sh -c '
		hostname "$(printf "\033[2Ja\nb")"
		printf "\033[2J\033]0;x" >/proc/self/comm
		{ sleep 1; echo "$1"; sleep 3; } | { read -r line; echo "$line"; sleep 3; }' sh ready >"$WORK/ready" 2>/dev/null &
	sleep 2
	cat $CONTEXTS >"$WORK/contexts"
	wait
	bad=$(LC_ALL=C grep -c -v '^[ -~]*$' "$WORK/contexts")
	equal "lines are printable" 0 "$bad"
	grep -q -F 'task=\033[2J\033]0;x' "$WORK/contexts"
	check "with its name in one" $? "$(grep pipe.c "$WORK/contexts")"
	echo 'file fs/pipe.c keys=none' >"$control"
else
	skip_rest 2 "no contexts" "names of tasks"
fi
finish
