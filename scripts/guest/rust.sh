#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The guest's part of scripts/test-rust: the module rust_alloc_tag, as one document of KTAP.
# Usage: rust.sh LINE=NAME…, the lines of the module that allocate.
# shellcheck disable=SC1091	# codetag.inc has the rest
export SELFTESTS=/guest/files
. /guest/files/codetag.inc

FILE=samples/rust/rust_alloc_tag.rs
MODULE=rust_alloc_tag
CONTROL=$DEBUGFS/codetag/control

# line NAME: the number of the line that the arguments call so
line()
{
	for arg in $lines; do
		[ "${arg#*=}" != "$1" ] || echo "${arg%%=*}"
	done
}

# row NAME: bytes and calls of the line, and the function's name
row()
{
	awk -v place="$FILE:$(line "$1")" -v module="[$MODULE]" '
		$3 == place && $4 == module { print $1, $2, substr($5, 6) }' "$ALLOCINFO"
}

# holds NAME BYTES [CALLS]: memory of a line, which has a row of its own
holds() { equal "$1 has a row with its file and line" "$2 ${3:-1} $MODULE" "$(row "$1")"; }

# helpers: bytes and calls of the lines of rust/helpers/
helpers()
{
	awk 'index($3, "rust/helpers/") == 1 { bytes += $1; calls += $2 } END { print bytes + 0, calls + 0 }' \
		"$ALLOCINFO"
}

# copies: memory of the lines of Rust in the kernel itself that copy a string
copies()
{
	awk '$3 ~ "^rust/kernel/str.rs:" { bytes += $1; calls += $2; if ($1) name = $4 }
		END { print bytes + 0, calls + 0, name }' "$ALLOCINFO"
}

lines=$*
plan 26
prepare
before=$(helpers)
modprobe $MODULE
check "the module is loaded" $?
holds boxed 1024
holds twin 1024
holds bytes 4096
# 25 pages, and the array of pointers to them
holds large $((25 * PAGE + 256)) 26
holds shared 1024
holds page "$PAGE"
holds list 32
holds either 4096
holds grown 2048
holds pushed 1024
equal "a line whose memory another line grew holds nothing" "0 0 $MODULE" "$(row small)"
equal "a line whose box was dropped holds nothing" "0 0 $MODULE" "$(row freed)"
equal "a function that was given tagged flags holds nothing" "0 0 $MODULE" "$(row vec_of)"
now=$(helpers)
equal "only the box without a tag is charged to rust/helpers" "1024 1" \
	"$((${now% *} - ${before% *})) $((${now#* } - ${before#* }))"
equal "a line of the kernel crate has a row" "8 1 func:kernel::str" "$(copies)"
[ "$(grep -c "^ *[1-9].*$FILE" "$ALLOCINFO")" -eq 10 ]
check "ten lines of the module hold memory" $? "$(grep "$FILE" "$ALLOCINFO")"
grep rust "$ALLOCINFO" | sed 's/^/# /'
audited "the audit after loading"

rmmod $MODULE
check "the module is unloaded" $?
equal "none of its lines holds memory" "" "$(grep "$FILE" "$ALLOCINFO")"
equal "rust/helpers hold what they held before" "$before" "$(helpers)"
equal "the line of the kernel crate holds nothing" "0 0 " "$(copies)"
audited "the audit after unloading"

# Without the macro: contexts of the line in rust/helpers/ name the function that calls it.
echo "file rust/helpers/* keys=caller" >"$CONTROL"
modprobe $MODULE
[ -n "$(awk '!/^#/ && index($0, "rust/helpers/")' "$CONTEXTS")" ]
check "a line of rust/helpers/ can be split by caller" $? "$(head -n 20 "$CONTEXTS")"
sed 's/^/# /' "$CONTEXTS" | head -n 30
rmmod $MODULE
echo "file rust/helpers/* keys=none" >"$CONTROL"

# A query finds a line of Rust by its module and its line.
echo "module $MODULE line $(line twin) fault nth=1" >"$CONTROL"
! modprobe $MODULE 2>"$WORK/err" && grep -q "annot allocate memory" "$WORK/err"
check "an allocation of a chosen line fails" $? "$(cat "$WORK/err")"
equal "what was allocated before it is freed" "" "$(grep "^ *[1-9].*$FILE" "$ALLOCINFO")"
finish
