# SPDX-License-Identifier: GPL-2.0-only
# The recording that the tests of record, leaks and chart read, made first.

recording=$scratch/recording.db

make_recording() {
	TZ=UTC python3 helpers/make-recording.py "$codetag" "$recording" 16
}

# The least processor time of three runs: a busy machine only ever adds to it.
seconds_of() {
	local spent=() TIMEFORMAT=%U
	for _ in 1 2 3; do
		spent+=("$({ time "$codetag" "$@" >/dev/null; } 2>&1)") || return 1
	done
	printf '%s\n' "${spent[@]}" | sort -n | head -1
}

# Processor time grows with the number of rows, not with its square: four times as many
# snapshots may take eight times as long.
reads_linearly() {
	local n spent=()
	for n in 400 1600; do
		[ -e "$scratch/large-$n.db" ] ||
			python3 helpers/make-large-recording.py "$scratch/large-$n.db" 400 $n || return 1
		spent+=("$(seconds_of "$@" "$scratch/large-$n.db")") || return 1
	done
	echo "${spent[@]} s"
	awk -v a="${spent[0]}" -v b="${spent[1]}" 'BEGIN { exit !(b < 8 * a + 0.2) }'
}

# Takes not much more time than the list of snapshots of the same recording.
reads_once() {
	local spent db=$scratch/wide.db
	python3 helpers/make-large-recording.py "$db" 2000 800 || return 1
	spent=("$(seconds_of replay --list "$db")") || return 1
	spent+=("$(seconds_of "$@" "$db")") || return 1
	echo "${spent[@]} s"
	awk -v a="${spent[0]}" -v b="${spent[1]}" 'BEGIN { exit !(b < 3 * a + 0.3) }'
}

# Other tests need it, so it is made even if T= leaves it out; then it does not count.
if feature sqlite3 record/make; then
	if selected record/make; then
		check record/make make_recording
	else
		make_recording
	fi
fi
