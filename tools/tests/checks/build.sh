# SPDX-License-Identifier: GPL-2.0-only
# The ways the command is built.

static_build() {
	local dir=$build/static
	# make without a target builds the command, and says which features it leaves out.
	nice -n 5 make -s -C .. O="$dir" STATIC=1 | grep -q '^built without what needs .*cairo' || return 1
	! readelf -d "$dir/codetag" | grep NEEDED || return 1
	"$dir/codetag" top --once data/handmade-v1.allocinfo >/dev/null
}

# Other tests use this build, too, if they need one without sanitizers; the first of them makes
# it.
clang_build() {
	[ -e "$scratch/clang-built" ] || { nice -n 5 make -s -C .. O="$build/clang" CC=clang &&
		: >"$scratch/clang-built"; }
}

# Pages need no cairo; charts that do say so.
without_cairo() {
	local dir=$build/no-cairo file=data/recorded-ours-6.12.allocinfo
	nice -n 5 make -s -C .. O="$dir" CAIRO=0 CFLAGS=-O0 || return 1
	"$dir/codetag" chart -o "$scratch/without.html" $file &&
		"$codetag" chart -o "$scratch/with.html" $file &&
		cmp "$scratch/without.html" "$scratch/with.html" || return 1
	"$dir/codetag" chart -o "$scratch/without.svg" $file 2>"$scratch/err"
	[ $? -eq 2 ] && [ ! -e "$scratch/without.svg" ] && grep -q 'without cairo' "$scratch/err" &&
		grep -q 'Try .html' "$scratch/err"
}

# With O= the source tree stays as it was.
no_objects_in_source() {
	local found
	found=$(cd .. && find lib cmd tests -name '*.o' -o -name '*.d' -o -name '*.a')
	[ -z "$found" ] || { echo "$found"; return 1; }
}

# A directory of the library includes its own headers and those of directories that README.md
# lists above it, and none of the subcommands.
rooms_in_order() {
	local rooms below='' room bad=0
	rooms=$(sed -n 's|^\t  \([a-z_]*\)/ .*|\1|p; /^\tlib\/kernel/q' ../README.md)
	[ "$(tr ' ' '\n' <<<"$rooms" | sort)" = "$(cd ../lib && printf '%s\n' */ |
		sed 's|/||; /^kernel$/d')" ] || { echo "README.md lists: $rooms"; return 1; }
	for room in $rooms; do
		below="$below${below:+|}$room"
		grep -nE '#include "' ../lib/"$room"/*.[ch] |
			grep -vE "\"($below)/|\"codetag/" && bad=1
	done
	return $bad
}

# UPDATE=1 accepts any output, so look for output that is always wrong.
no_sanitizer_expected() {
	! grep -rlE 'runtime error|Sanitizer' golden expected
}

full_disk() {
	! "$codetag" report data/handmade-v2.allocinfo >/dev/full
}

# A reader that closes the pipe early is no error.
closed_pipe() {
	local way
	for way in '' "trap '' PIPE;"; do
		bash -c "$way $codetag report -a data/recorded-ours-6.12.allocinfo |
			head -n 1 >/dev/null" 2>"$scratch/err"
		[ ! -s "$scratch/err" ] || { cat "$scratch/err"; return 1; }
	done
}

# Human units only on a terminal, where script(1) makes one.
units_follow_terminal() {
	"$codetag" report --raw data/handmade-v1.allocinfo | grep -q '^4096 ' || return 1
	TERM=dumb script -qec "$codetag report --raw data/handmade-v1.allocinfo" /dev/null |
		grep -q '^4.0K '
}

check build/static static_build
check build/clang clang_build
feature d3 build/without-cairo && check build/without-cairo without_cairo
check build/source-clean no_objects_in_source
check build/rooms rooms_in_order
check output/full-disk full_disk
check output/closed-pipe closed_pipe
check output/expected no_sanitizer_expected
check output/units units_follow_terminal
