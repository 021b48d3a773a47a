# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What test-selftest and test-storm share. Comments at the top of a self-test name its requirements:
# "# boot: PARAMETERS", "# guest: own", "# store: any", "# mem: SIZE", "# vmem: SIZE",
# "# disk: SIZE", "# tcg: single", "# allow: REGEX", "# timeout: SECONDS".
# To be sourced after lib.sh.

SELFTESTS=$TREE/tools/testing/selftests/codetag

# How many guests run at the same time: one more than there are processors, because some guests
# sleep.
AT_ONCE=${AT_ONCE:-$(($(nproc) + 1))}

# needs PROGRAM NAME: the values, one a line, from the comments at the top
needs()
{
	sed -n -e '/^[^#]/q' -e "s/^# $2: *//p" "$SELFTESTS/$1"
}

# bytes SIZE: a size such as 512M, 3G or 64K in bytes
bytes()
{
	numfmt --from=iec "$1"
}

# largest DEFAULT NAME PROGRAM…: the largest size asked for
largest()
{
	local most=$1 name=$2 program size

	shift 2
	for program in "$@"; do
		for size in $(needs "$program" "$name"); do
			[ "$(bytes "$size")" -le "$(bytes "$most")" ] || most=$size
		done
	done
	printf '%s\n' "$most"
}

# tcg PROGRAM: how TCG is to run the processors
tcg()
{
	local threads

	threads=$(needs "$1" tcg)
	printf '%s\n' "${threads:-multi}"
}

# longest PROGRAM…: for how many seconds a guest may be silent, including the boot
longest()
{
	local most=120 program limit

	for program in "$@"; do
		limit=$(needs "$program" timeout)
		[ "${limit:-0}" -le "$most" ] || most=$limit
	done
	printf '%s\n' $((most + 60))
}

# runner FLAVOUR: the script that boots it
runner()
{
	case $1 in
	um*) printf '%s\n' "$SCRIPTS/run-uml" ;;
	*) printf '%s\n' "$SCRIPTS/run-qemu" ;;
	esac
}

# guest NAME FLAVOUR APPEND FIRST SLOWDOWN PROGRAM…: run these in one guest
guest()
{
	local name=$1 flavour=$2 append=$3 first=$4 slowdown=$5 status=0 out

	shift 5
	out=$("$(runner "$flavour")" --name "$name" --append "$append" \
		--mem "$(largest "${GUEST_MEM:-512M}" mem "$@")" \
		--vmem "$(largest 0 vmem "$@")" \
		--nodes "${GUEST_NODES:-}" --disk "$(largest 256M disk "$@")" --tcg "${GUEST_TCG:-$(tcg "$1")}" --allow "${GUEST_ALLOW:-$(needs "$1" allow)}" \
		--timeout $(($(longest "$@") * slowdown * AT_ONCE)) \
		"$flavour" "$SCRIPTS/guest/selftests.sh" "$first" "$@") || status=$?
	# The kernel's log can fail a test that passed: say which.
	# shellcheck disable=SC2001	# not of the first line only
	[ "$status" -eq 0 ] || [ $# -gt 1 ] || out=$(sed "s/^ok $first /not &/" <<<"$out")
	printf '%s\n' "$out"
	if [ "$status" -ne 0 ]; then
		echo "# the guest failed with status $status; its kernel log: $LOGS/$name.console"
	fi
	return "$status"
}

# build FLAVOUR: the kernel, the self-tests and the initramfs
build()
{
	"$SCRIPTS/build-kernel" "$1" >/dev/null &&
		"$SCRIPTS/build-selftests" "$1" &&
		"$SCRIPTS/mkinitramfs" "$1" >/dev/null
}

indent() { sed 's/^/  /'; }

# result STATUS NUMBER NAME
result()
{
	if [ "$1" -eq 0 ]; then
		printf 'ok %s %s\n' "$2" "$3"
	else
		printf 'not ok %s %s\n' "$2" "$3"
	fi
}

# side_by_side FUNCTION ROW…: call FUNCTION with the words of each row, several at the same
# time. Print their output in order, as one KTAP document; the first word of a row is its name.
side_by_side()
{
	local run=$1 number=0 row status all=0 out

	shift
	out=$(mktemp -d)
	for row; do
		number=$((number + 1))
		while [ "$(jobs -rp | wc -l)" -ge "$AT_ONCE" ]; do
			wait -n || true
		done
		{
			status=0
			# shellcheck disable=SC2086
			"$run" $row >"$out/$number" 2>"$out/$number.err" || status=$?
			echo $status >"$out/$number.status"
		} &
	done
	wait

	echo "KTAP version 1"
	echo "1..$#"
	number=0
	for row; do
		number=$((number + 1))
		indent <"$out/$number"
		cat "$out/$number.err" >&2
		status=$(cat "$out/$number.status")
		result "$status" $number "${row%% *}"
		all=$((all | status))
	done
	rm -r "$out"
	return $((all != 0))
}
