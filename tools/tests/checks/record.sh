# SPDX-License-Identifier: GPL-2.0-only
# record, replay and leaks on a recording with known trends.

# The text of a replay is the recorded text, byte by byte except for "./".
replay_is_source() {
	local db=$scratch/source.db
	rm -f "$db"
	"$codetag" record -q -c 1 -o "$db" --allocinfo "$1" || return 1
	"$codetag" replay "$db" --text 1 | diff - <(sed 's| \./| |' "$1")
}

# recorded FILE: it has at least one snapshot
recorded() {
	[ -n "$("$codetag" replay "$1" --list -N 2>/dev/null)" ]
}

# Killed at any moment, a recording opens and has whole snapshots only.
killed_recording() {
	local db=$scratch/killed.db i n
	for i in 1 3 5; do
		rm -f "$db"*
		"$codetag" record -o "$db" -i 0.001 --allocinfo data/recorded-mainline-6.12.allocinfo &
		comes recorded "$db"
		sleep "0.$i"
		kill -KILL $! && wait $! 2>/dev/null
		n=$("$codetag" replay "$db" --list -N -b | awk '
			$4 != 33890680 || $6 != 1245 { exit 1 } END { print NR }') || return 1
		[ "$n" -ge 1 ] || { echo "$n snapshots"; return 1; }
		"$codetag" record -q -o "$db" -c 1 --append \
			--allocinfo data/recorded-mainline-6.12.allocinfo || return 1
	done
}

# snapshots FILE: their number
snapshots() {
	"$codetag" replay "$1" --list -N | wc -l
}

# A copy of the file alone, made while it is written, has all but the snapshot that is written.
copied_recording() {
	local db=$scratch/copied.db copy=$scratch/copy.db writer have got
	rm -f "$db"* "$copy"*
	"$codetag" record -q -o "$db" -i 0.3 --allocinfo data/recorded-mainline-6.12.allocinfo &
	writer=$!
	comes recorded "$db"
	sleep 1
	kill -STOP $writer
	cp "$db" "$copy"
	have=$(snapshots "$db")
	kill -KILL $writer && wait $writer 2>/dev/null
	got=$(snapshots "$copy")
	[ "$have" -gt 1 ] && [ "$got" -ge $((have - 1)) ] || { echo "$got of $have"; return 1; }
	"$codetag" report "$copy" >/dev/null
}

# On a full disk it says how many snapshots it has kept, and a copy of the file alone has these.
kept_recording() {
	local db=$scratch/kept.db copy=$scratch/kept-copy.db now=$scratch/kept append='' i
	rm -f "$db"* "$copy"*
	for ((i = 1; i < 100; i++)); do
		awk -v i="$i" 'NR > 2 { $1 += 4096 * i } { print }' \
			data/recorded-mainline-6.12.allocinfo >"$now"
		# shellcheck disable=SC2086
		( trap '' XFSZ; ulimit -f 400; exec "$codetag" record -q -o "$db" -c 1 $append \
			--allocinfo "$now" ) 2>"$scratch/err" || break
		append=--append
	done
	cp "$db" "$copy"
	cat "$scratch/err"
	[ "$i" -gt 2 ] && [ "$(snapshots "$copy")" -eq $((i - 1)) ] &&
		grep -qxF "$db is good up to its last snapshot: it has $((i - 1))." "$scratch/err"
}

# Within one run: a row that vanishes and comes back as it was.
returning_row() (
	export db=$scratch/returning.db now=$scratch/returning
	pretend() { # NOW
		sed "$([ "$1" -ne 1 ] || echo /zram/d)" data/handmade-v2.allocinfo >"$now"
	}
	in_world "$codetag" record -q -o "$db" -c 3 -i 1 --allocinfo "$now" || return 1
	for file in 1:1 2:0 3:1; do
		[ "$("$codetag" replay "$db" --text "${file%:*}" | grep -c zram)" = "${file#*:}" ] ||
			{ "$codetag" replay "$db" --text "${file%:*}"; return 1; }
	done
)

# A read that fails is reported, and does not end the recording.
record_goes_on() (
	export db=$scratch/gap.db now=$scratch/gap
	pretend() { # NOW
		local file=(handmade-v1.allocinfo handmade.stats handmade-v2.allocinfo)
		cp "data/${file[$1]}" "$now"
	}
	in_world "$codetag" record -o "$db" -c 3 -i 1 --allocinfo "$now" >"$scratch/gap.out" 2>&1
	[ $? -eq 2 ] && grep -q 'snapshot 2 is left out, going on' "$scratch/gap.out" &&
		grep -q 'gap.db: 2 snapshots$' "$scratch/gap.out" &&
		[ "$("$codetag" replay --list -N "$db" | wc -l)" -eq 2 ] && return 0
	cat "$scratch/gap.out"
	return 1
)

interrupted_recording() {
	local db=$scratch/interrupted.db
	"$codetag" record -o "$db" -i 0.1 --allocinfo data/handmade-v1.allocinfo &
	comes recorded "$db" || { kill -KILL $!; return 1; }
	kill -INT $!
	wait $! && [ ! -e "$db-wal" ]
}

# A second recorder is refused at once, and the first goes on; after that another may start.
record_written() {
	local db=$scratch/written.db file="--allocinfo data/handmade-v1.allocinfo" first
	more() { [ "$("$codetag" replay "$db" --list -N | wc -l)" -gt "$1" ]; }
	# shellcheck disable=SC2086
	"$codetag" record -q -o "$db" -i 0.1 $file &
	first=$!
	comes recorded "$db" || { kill -KILL $first; return 1; }
	# shellcheck disable=SC2086
	"$codetag" record -o "$db" -i 0.1 -c 3 --append $file >"$scratch/err" 2>&1
	[ $? -eq 2 ] && [ "$(wc -l <"$scratch/err")" -eq 2 ] &&
		grep -q 'written.db: being written by another codetag record$' "$scratch/err" &&
		grep -q 'Wait for it' "$scratch/err" ||
		{ kill -KILL $first; cat "$scratch/err"; return 1; }
	comes more "$("$codetag" replay "$db" --list -N | wc -l)"
	kill -INT $first && wait $first || return 1
	# shellcheck disable=SC2086
	"$codetag" record -q -o "$db" -c 1 --append $file
}

# Old numbers are never shown without a message, nor taken for "no leak".
profiling_off() {
	local db=$scratch/off.db out=$scratch/off.out command
	clang_build || return 1
	for command in report 'top --once' 'leaks --live -i 0.05 -c 6'; do
		# shellcheck disable=SC2086
		machine_with 0 $command >"$out" 2>&1
		[ $? -eq 2 ] && grep -q 'profiling is off' "$out" || { echo "$command"; cat "$out"; return 1; }
		# shellcheck disable=SC2086
		machine_with 1 $command >"$out" 2>&1 && ! grep -q 'profiling is off' "$out" ||
			{ echo "$command, on"; cat "$out"; return 1; }
	done
	rm -f "$db"
	machine_with 1 record -q -o "$db" -c 3 -i 0.05 && machine_with 0 record -q -o "$db" --append -c 4 -i 0.05 || return 1
	"$codetag" leaks "$db" >"$out" 2>&1
	[ $? -eq 2 ] && grep -q 'profiling was off in some snapshots' "$out" || { cat "$out"; return 1; }
	! "$codetag" replay "$db" --text 1 | grep disabled:yes && "$codetag" replay "$db" --text 7 | grep -q disabled:yes &&
		"$codetag" report "$db@1" >/dev/null || return 1
	"$codetag" report "$db@7" >"$out" 2>&1
	[ $? -eq 2 ] && grep -q 'profiling is off' "$out"
}

# Caches, processes and slabs grow like the leak and are no suspects, unless a query names them.
leaks_kinds() (
	export now=$scratch/kinds
	pretend() { # NOW
		printf '%s\n' 'allocinfo - version: 2.0' "$((9000 * $1)) $1 mm/filemap.c:1 func:__filemap_get_folio" \
			"$((8000 * $1)) $1 fs/dcache.c:2 func:__d_alloc" "$((7000 * $1)) $1 mm/memory.c:3 func:alloc_anon_folio" \
			"$((6000 * $1)) $1 net/ipv4/inet_timewait_sock.c:4 func:inet_twsk_alloc" \
			"$((9000 * $1)) $1 mm/slub.c:5 func:alloc_slab_page" "$((5000 * $1 * ${leak:-0})) $1 a.c:6 func:f" >"$now"
	}
	in_world "$codetag" leaks --live -i 1 -c 12 --allocinfo "$now" >"$scratch/kinds.out" || { cat "$scratch/kinds.out"; return 1; }
	grep -q '^    cache +182.6K in 2: .*most by mm/filemap.c:1' "$scratch/kinds.out" ||
		grep -q '^    cache +187000 in 2: .*most by mm/filemap.c:1' "$scratch/kinds.out" || { cat "$scratch/kinds.out"; return 1; }
	grep -q '^    user' "$scratch/kinds.out" && grep -q '^    later' "$scratch/kinds.out" && ! grep slub "$scratch/kinds.out" || return 1
	in_world "$codetag" leaks --live -i 1 -c 12 --allocinfo "$now" func __d_alloc >"$scratch/kinds.out"
	[ $? -eq 1 ] && grep -q '^suspects: 1' "$scratch/kinds.out" || { cat "$scratch/kinds.out"; return 1; }
	export leak=1
	in_world "$codetag" leaks --live -i 1 -c 12 --allocinfo "$now" >"$scratch/kinds.out"
	[ $? -eq 1 ] && grep -q '^ 1. a.c:6 func:f' "$scratch/kinds.out" && grep -q '^suspects: 1' "$scratch/kinds.out"
)

# Snapshots of another kernel are not added, those of files are.
record_kernel() {
	local db=$scratch/other-kernel.db
	clang_build && on_machine record -q -o "$db" -c 1 && on_machine record -q -o "$db" -c 1 --append || return 1
	python3 -c '
import sqlite3, sys
with sqlite3.connect(sys.argv[1]) as db:
    db.execute("UPDATE meta SET value = ? WHERE key = ?", ("6.6.6-other", "kernel"))' "$db"
	on_machine record -o "$db" -c 1 --append >"$scratch/err" 2>&1
	[ $? -eq 2 ] && grep -q "other-kernel.db: recorded on Linux 6.6.6-other, and this is $(uname -r)$" "$scratch/err" &&
		grep -q 'Begin a new recording' "$scratch/err" || { cat "$scratch/err"; return 1; }
	"$codetag" record -q -o "$db" -c 1 --append --allocinfo data/handmade-v1.allocinfo &&
		[ "$("$codetag" replay --list -N "$db" | wc -l)" -eq 3 ]
}

# After it was stopped for some intervals it skips them and keeps to the beat: no two snapshots
# are closer than the interval, except for the late one.
record_stopped() {
	local db=$scratch/stopped.db pid
	"$codetag" record -q -o "$db" -c 6 -i 1 --allocinfo data/handmade-v1.allocinfo &
	pid=$!
	comes recorded "$db" && kill -STOP $pid && sleep 5.5 && kill -CONT $pid && wait $pid || return 1
	"$codetag" replay --list --json "$db" | python3 -c '
import json, sys
times = [row["time"] for row in json.load(sys.stdin)["snapshots"]]
steps = [b - a for a, b in zip(times, times[1:])]
assert sum(step < 0.5 for step in steps) <= 1, steps'
}

damaged_recording() {
	survives 25 "$recording" "$scratch/damaged.db" 60 100 \
		"$codetag" leaks --all "$scratch/damaged.db"
}

record_refuses() {
	! "$codetag" record -q -o "$recording" -c 1 --allocinfo data/handmade-v1.allocinfo
}

# A named file that cannot be read is an error, and leaves no recording behind.
record_needs() {
	local db=$scratch/needs.db file="--allocinfo data/handmade-v1.allocinfo" bad
	for bad in "--allocinfo no-such" "--allocinfo data/handmade.stats" "$file --meminfo no-such" \
		"$file --vmstat no-such" "$file --slabinfo no-such" \
		"$file --slabinfo data/handmade-v1.allocinfo" "$file --meminfo data/handmade-v1.allocinfo"; do
		# shellcheck disable=SC2086
		"$codetag" record -q -o "$db" -c 1 $bad 2>"$scratch/err"
		[ $? -eq 2 ] && grep -q "${bad##* }" "$scratch/err" && [ ! -e "$db" ] ||
			{ echo "$bad"; cat "$scratch/err"; return 1; }
	done
}

# A snapshot without a slabinfo has no caches; that is not a wrong format.
record_no_slabinfo() {
	local db=$scratch/no-slabinfo.db
	"$codetag" record -q -o "$db" -c 1 --allocinfo data/handmade-v1.allocinfo || return 1
	"$codetag" slabs -f "$db" >/dev/null 2>"$scratch/err"
	[ $? -eq 2 ] && grep -q 'there is no slabinfo in this snapshot' "$scratch/err"
}

# slab_rows FILE ROW...: a row is the name of a cache and its numbers, as /proc/slabinfo has them
slab_rows() {
	local file=$1 row
	shift
	echo 'slabinfo - version: 2.1' >"$file"
	for row; do
		# shellcheck disable=SC2086
		printf '%s %d %d %d %d %d : tunables 0 0 0 : slabdata %d %d 0\n' $row >>"$file"
	done
}

# slab_values DB CACHE SNAPSHOT: the recorded values of the cache, in the order of slabinfo
slab_values() {
	"$codetag" replay --list --json --gauge "slabinfo.$2/*" "$1" | python3 -c '
import json, sys
gauges = json.load(sys.stdin)["snapshots"][int(sys.argv[1]) - 1]["gauges"]
print(*gauges.values())' "$3"
}

# Rows with one name are one cache: counts are summed, sizes are those of the last row. If
# meminfo has a name twice, the first counts.
record_repeated() {
	local db=$scratch/repeated.db
	slab_rows "$scratch/slabinfo" 'twice 1 20 64 10 1 2 3' 'other 5 6 7 8 9 10 11' 'twice 30 40 128 20 2 4 5'
	printf '%s\n' 'MemTotal: 8 kB' 'Twice: 1 kB' 'Twice: 2 kB' >"$scratch/meminfo"
	for append in '' --append; do
		# shellcheck disable=SC2086
		"$codetag" record -q -o "$db" -c 1 $append --allocinfo data/handmade-v1.allocinfo \
			--slabinfo "$scratch/slabinfo" --meminfo "$scratch/meminfo" || return 1
	done
	[ "$(slab_values "$db" twice 1)" = '31 60 128 20 2 6 8' ] &&
		[ "$(slab_values "$db" other 2)" = '5 6 7 8 9 10 11' ] &&
		"$codetag" slabs --diff "$db@1" -f "$db" | grep -q '^0 caches grew' || return 1
	"$codetag" replay --list --bytes --gauge meminfo.Twice "$db" | grep ' 1024$'
}

# caches_of FILE: their names
caches_of() {
	"$codetag" slabs --all --json -f "$1" | python3 -c '
import json, sys
print(*sorted(row["name"] for row in json.load(sys.stdin)["rows"]))'
}

# A cache that is gone is in no later snapshot, and 0 as a gauge. Without a whole slabinfo, no
# cache is taken to be gone.
record_gone_cache() (
	local stays='stays 5 6 7 8 9 10 11' goes='goes 1 2 3 4 5 6 7' want
	export db=$scratch/gone.db now=$scratch/gone-slabinfo
	slab_rows "$now-both" "$stays" "$goes"
	slab_rows "$now-one" "$stays"
	slab_rows "$now-broken" "$stays" 'broken -1'
	pretend() { # NOW
		local file=(both broken one one)
		cp "$now-${file[$1]}" "$now"
	}
	in_world "$codetag" record -q -o "$db" -c 4 -i 1 --allocinfo data/handmade-v1.allocinfo \
		--slabinfo "$now" || return 1
	for file in one both '' one; do
		"$codetag" record -q -o "$db" -c 1 --append --allocinfo data/handmade-v1.allocinfo \
			${file:+--slabinfo "$now-$file"} || return 1
	done
	for want in 1:goes\ stays 2:goes\ stays 3:stays 4:stays 5:stays 6:goes\ stays 7:goes\ stays 8:stays; do
		[ "$(caches_of "$db@${want%%:*}")" = "${want#*:}" ] ||
			{ echo "$want"; caches_of "$db@${want%%:*}"; return 1; }
	done
	[ "$(slab_values "$db" goes 2)" = '1 2 3 4 5 6 7' ] &&
		[ "$(slab_values "$db" goes 4)" = '0 0 0 0 0 0 0' ] &&
		[ "$(slab_values "$db" goes 6)" = '1 2 3 4 5 6 7' ] &&
		"$codetag" slabs --diff "$db@1" -f "$db@4" | grep ' gone  *goes$' &&
		[ "$(python3 -c '
import sqlite3, sys
print(*sqlite3.connect(sys.argv[1]).execute(
    "SELECT snapshot, count(*) FROM sample GROUP BY snapshot"))' "$db")" = '(1, 14) (3, 7) (6, 7) (8, 7)' ]
)

# If there is no space for the first snapshot, no file is left; an existing recording stays.
record_no_room() {
	local db=$scratch/no-room.db file="--allocinfo data/recorded-mainline-6.12.allocinfo" kib
	for kib in 2 64; do # no room for the tables, and for them alone
		# shellcheck disable=SC2086
		( trap '' XFSZ; ulimit -f $kib; exec "$codetag" record -q -o "$db" -c 1 $file ) 2>"$scratch/err"
		[ $? -eq 2 ] && grep -q 'no-room.db' "$scratch/err" && [ -z "$(find "$scratch" -name 'no-room*')" ] ||
			{ cat "$scratch/err"; ls -l "$scratch"; return 1; }
	done
	# shellcheck disable=SC2086
	"$codetag" record -q -o "$db" -c 1 --allocinfo data/handmade-v1.allocinfo &&
		! ( trap '' XFSZ; ulimit -f 64; exec "$codetag" record -q -o "$db" -c 1 --append $file ) &&
		[ "$("$codetag" replay --list -N "$db" | wc -l)" -eq 1 ]
}

# ":memory:" is not a file for SQLite, but here it is one; an empty name is refused.
record_names() (
	mkdir -p "$scratch/names-of-none" && cp data/handmade-v1.allocinfo "$scratch/names-of-none/allocinfo" &&
		cd "$scratch/names-of-none" || return 1
	for append in '' --append; do
		"$codetag" record -q -c 1 -o :memory: $append --allocinfo allocinfo || return 1
	done
	[ -s :memory: ] && [ "$("$codetag" replay --list -N :memory: | wc -l)" -eq 2 ] || return 1
	"$codetag" record -c 1 -o '' --allocinfo allocinfo >out 2>&1
	[ $? -eq 2 ] && grep -q 'empty' out && grep -q -e '--help' out || { cat out; return 1; }
)

# A file is read, whatever its name, even if neither it nor its directory can be written. A file
# of SQLite's beside it that cannot be read is an error, which SQLite reports.
record_read_only() (
	local user='' place db="a?b#c%20%d e.db"
	place=$(mktemp -d /tmp/codetag-XXXXXX) || return 1
	trap 'rm -rf "$place"' EXIT
	[ "$(id -u)" -ne 0 ] || user='setpriv --reuid=65534 --clear-groups'
	cp "$codetag" "$place/codetag" && cp "$recording" "$place/$db" && ln -s "$db" "$place/link.db" &&
		echo nothing >"$place/none.db" || return 1
	head -c 2K "$recording" >"$place/cut.db"
	chmod 444 "$place"/*.db
	chmod 555 "$place/codetag" "$place"
	cd "$place" || return 1
	for file in "$db" "$place/$db" "//$place/$db" link.db; do
		[ "$($user ./codetag replay --list -N "$file" | wc -l)" -eq 16 ] || { echo "$file"; return 1; }
	done
	$user ./codetag replay --list none.db 2>&1 | grep 'none.db: not a recording of codetag$' || return 1
	$user ./codetag replay --list cut.db 2>&1 | grep 'cut.db: database disk image is malformed$' || return 1
	chmod 755 . && echo something >"$db-wal" && chmod 555 . || return 1
	$user ./codetag replay --list "$db" 2>&1 | grep 'e.db: unable to open database file$'
)

# A user who takes it for an allocinfo gets a hint.
recording_is_no_allocinfo() {
	"$codetag" disable --dry-run --allocinfo "$recording" --all 2>"$scratch/err"
	[ $? -eq 2 ] && grep -q 'codetag replay' "$scratch/err"
}

# expect_output NAME COMMAND...: for commands that golden/ cannot hold, because they need the
# recording
recording_golden() {
	local want=expected/$1
	shift
	{ TZ=UTC "$@" 2>&1; echo "exit $?"; } | sed "s|$scratch/||" >"$scratch/actual"
	[ -z "${UPDATE:-}" ] || cp "$scratch/actual" "$want"
	diff -u "$want" "$scratch/actual"
}

# The leak of the recording is 64K a minute.
leaks_min_rate() {
	"$codetag" leaks --min-rate 64K "$recording" >"$scratch/rate"
	[ $? -eq 1 ] && grep -q '^ 1. fs/leaky' "$scratch/rate" || return 1
	"$codetag" leaks --min-rate 65K "$recording" >"$scratch/rate" &&
		grep -q 'less than --min-rate: 1$' "$scratch/rate" && ! grep leaky "$scratch/rate"
}

# The large recordings are made by a script that has to know the schema.
large_is_as_recorded() {
	python3 helpers/make-large-recording.py "$scratch/schema.db" 3 4 &&
	python3 -c '
import sqlite3, sys
def schema(path):
    return [" ".join(row[0].split()) for row in sqlite3.connect(path).execute(
        "SELECT sql FROM sqlite_master WHERE sql NOT NULL ORDER BY name")]
a, b = map(schema, sys.argv[1:])
assert a == b, (a, b)' "$scratch/schema.db" "$recording"
}

# rebooted FROM TO: a copy of a recording whose machine was booted before snapshot 9
rebooted() {
	cp "$1" "$2" && sqlite3 "$2" "INSERT INTO gauge SELECT coalesce(max(id), 0) + 1, 'machine', 'boot' FROM gauge;
		INSERT INTO sample SELECT max(id), 1, 4711 FROM gauge;
		INSERT INTO sample SELECT max(id), 9, 4712 FROM gauge;"
}

# After a boot all memory is new: what was held before it says nothing about a leak.
since_boot() {
	local db=$scratch/rebooted.db out=$scratch/rebooted.out
	clang_build && rebooted "$recording" "$db" || return 1
	"$codetag" leaks "$db" >"$out" 2>&1
	[ $? -eq 1 ] && grep -q ': the machine was booted between snapshots 8 and 9; only the 8 since then are compared$' "$out" &&
		grep -q '^suspects: 1, in 8 snapshots over 420 s' "$out" || { cat "$out"; return 1; }
	"$codetag" leaks "$recording" 2>&1 | grep 'was booted' && return 1
	"$codetag" chart --attr growth -o "$scratch/since-boot.html" "$db" 2>&1 |
		grep -q 'only the 8 since then are compared$' || return 1
	# A recording that an earlier version began has no number of the boot.
	sqlite3 "$db" 'DELETE FROM sample WHERE value = 4711' && "$codetag" leaks "$db" 2>&1 | grep 'was booted' && return 1
	# A recording of this machine has the number.
	machine_with 1 record -q -o "$scratch/boot.db" -c 1 && "$codetag" replay --gauges "$scratch/boot.db" >"$out" &&
		grep -q '^ *machine.boot' "$out" || { cat "$out"; return 1; }
	machine_with 1 record -q -o "$scratch/boot.db" --append -c 1 &&
		BOOT=11d32da6 machine_with 1 record -q -o "$scratch/boot.db" --append -c 2 -i 0.05 || return 1
	[ "$(sqlite3 "$scratch/boot.db" "SELECT group_concat(snapshot) FROM sample, gauge
		WHERE gauge = id AND name = 'boot' AND source = 'machine'")" = 1,3 ] &&
		"$codetag" leaks "$scratch/boot.db" 2>&1 | grep 'was booted between snapshots 2 and 3; only the 2 since'
}

# Snapshots less than a second apart have times of their own.
times_differ() (
	export db=$scratch/times.db
	pretend() { :; }
	in_world "$codetag" record -q -o "$db" -c 3 -i 0.25 --allocinfo data/handmade-v1.allocinfo &&
		"$codetag" replay --list --json "$db" | python3 -c '
import json, sys
listed = [row["time"] for row in json.load(sys.stdin)["snapshots"]]
assert listed == [1e9, 1e9 + 0.25, 1e9 + 0.5], listed'
)

leaks_live() (
	export now=$scratch/growing
	pretend() { # NOW
		sed "s/ 32768  /$((32768 + 20000 * $1))/; s/func:ext4_alloc_inode/func:ext4_leaky/" \
			data/handmade-v2.allocinfo >"$now"
	}
	in_world "$codetag" leaks --live -i 1 -c 8 --allocinfo "$now" --json >"$scratch/leaks.json"
	[ $? -eq 1 ] && [ "$(python3 -c '
import json, sys
found = json.load(open(sys.argv[1]))
print(found["suspects"], found["rows"][0]["name"])' "$scratch/leaks.json")" = \
		"1 fs/ext4/super.c:1384 [ext4] func:ext4_leaky" ] ||
		{ cat "$scratch/leaks.json"; return 1; }
)

live_replay() {
	on_screen 100 24 "TZ=UTC $codetag replay $(realpath "$recording") -b -d 0.2" replay_steps
}

replay_steps() {
	screen_has 'this is the last snapshot' || return 1
	screen_has 'codetag replay  00:15:00' || return 1
	tmux_top send-keys Left Left
	screen_has '00:13:00' || return 1
	screen_has 'FROZEN' || return 1
	tmux_top send-keys Right
	screen_has '00:14:00' || return 1
	screen_has '+65536' || return 1
	tmux_top send-keys q
	screen_has 'left 0'
}

# Enter shows the contexts of the row in that snapshot: before any site was split, while the
# first row was, and together with others.
replay_contexts() (
	export db=$scratch/contexts-live.db now=$scratch/contexts-live
	pretend() { # NOW
		echo '# contexts - version: 1.0' >"$now"
		[ "$1" -eq 0 ] || printf '%s\n' "$((1000 * $1)) 10 20 mm/filemap.c:1950 func:__filemap_get_folio age=0-9" \
			' one+0x1/0x2' '4711 10 20 mm/other.c:1950 func:other age=0-9' >>"$now"
	}
	in_world "$codetag" record -q -o "$db" -c 3 -i 1 --allocinfo data/handmade-v2.allocinfo \
		--contexts "$now" || return 1
	on_screen 100 24 "$codetag replay $db -b -d 0.2" replay_contexts_steps
)

replay_contexts_steps() {
	screen_has 'this is the last snapshot' || return 1
	tmux_top send-keys Enter
	screen_has '2000       10       20  age=0-9 one' || return 1
	screen_has 'ALLOCS  CONTEXT' || return 1
	! tmux_top capture-pane -p | grep -e 4711 -e filemap || return 1
	tmux_top send-keys Left
	screen_has '1000       10       20  age=0-9 one' || return 1
	tmux_top send-keys Left
	screen_has 'no contexts in this snapshot: no call site was split' || return 1
	screen_has 'filemap.c:1950' || return 1
	tmux_top send-keys Right Down Enter
	screen_has 'it was not split in this snapshot' || return 1
	tmux_top send-keys b Enter
	screen_has 'contexts belong to call sites' || return 1
	tmux_top send-keys q
	screen_has 'left 0'
}

if feature sqlite3 record; then
	for file in data/handmade-v2-later.allocinfo data/recorded-*.allocinfo; do
		check "record/replay-is-source/${file##*/}" replay_is_source "$file"
	done
	check record/killed killed_recording
	check record/copied copied_recording
	check record/kept kept_recording
	check record/returning-row returning_row
	check record/goes-on record_goes_on
	check record/interrupted interrupted_recording
	check record/written record_written
	check record/stopped record_stopped
	if unshare -m mount -t tmpfs none /proc 2>/dev/null; then
		check record/kernel record_kernel
	else
		skip record/kernel "no mount namespace of its own"
	fi
	check record/refuses record_refuses
	check record/names record_names
	check record/needs record_needs
	check record/no-slabinfo record_no_slabinfo
	check record/repeated record_repeated
	check record/gone-cache record_gone_cache
	check record/no-room record_no_room
	if [ "$(id -u)" -ne 0 ] || program setpriv record/read-only; then
		check record/read-only record_read_only
	fi
	check record/no-allocinfo recording_is_no_allocinfo
	check record/damaged damaged_recording
	check replay/list recording_golden replay-list "$codetag" replay "$recording" --list
	check replay/columns recording_golden replay-columns "$codetag" replay "$recording" --list -o size,number
	check replay/columns-json recording_golden replay-columns-json "$codetag" replay "$recording" --list --json -o number,size
	check replay/columns-live recording_golden replay-columns-live "$codetag" replay "$recording" -o size
	check replay/json json_is_valid "$codetag" replay "$recording" --list --json
	check replay/not-a-recording recording_golden replay-not "$codetag" replay data/handmade-v1.allocinfo --list
	check replay/missing recording_golden replay-missing "$codetag" replay no-such-file
	check replay/beyond recording_golden replay-beyond "$codetag" replay "$recording" --text 17
	check leaks/text recording_golden leaks "$codetag" leaks "$recording"
	check leaks/all recording_golden leaks-all "$codetag" leaks -H --all "$recording"
	check leaks/json recording_golden leaks-json "$codetag" leaks --json "$recording"
	check leaks/none recording_golden leaks-none "$codetag" leaks "$recording" 'file net/*'
	check leaks/min-rate leaks_min_rate
	check leaks/since-boot since_boot
	check replay/times times_differ
	check record/large-schema large_is_as_recorded
	check replay/linear reads_linearly replay --list
	check leaks/linear reads_linearly leaks
	if program tmux replay/live && feature ncursesw replay/live; then
		check replay/live live_replay
		check replay/contexts replay_contexts
	fi
fi
check leaks/live leaks_live
check leaks/kinds leaks_kinds
if feature sqlite3 leaks/off; then
	check leaks/off profiling_off
fi
