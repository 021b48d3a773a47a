# SPDX-License-Identifier: GPL-2.0-only
# trace on a long log, compared with awk.

make_trace() {
	awk -v n="$1" 'BEGIN {
		srand(1)
		for (i = 0; i < n; i++) {
			p = int(rand() * 4000)
			if (p in live) {
				printf "%16s-9 [%03d] d..1. %.6f: kfree: call_site=free_%d+0x10/0x20 ptr=%016x\n", "bash", i % 2, i / 1e6, p % 7, 4096 + p * 64
				delete live[p]
			} else {
				printf "%16s-9 [%03d] d..1. %.6f: kmalloc: call_site=alloc_%d+0x33/0x120 ptr=%016x bytes_req=%d bytes_alloc=%d gfp_flags=GFP_KERNEL node=-1 accounted=false\n", "bash", i % 2, i / 1e6, p % 53, 4096 + p * 64, 50 + p % 60, 128
				live[p] = 1
			}
		}
	}'
}

# Totals and every caller, by a short script that knows nothing of the command.
trace_like_awk() {
	make_trace 40000 >"$scratch/long.trace"
	awk '{
		for (i = 1; i <= NF; i++) { split($i, f, "="); v[f[1]] = f[2] }
		sub("/.*", "", v["call_site"])
		if (/ kmalloc: /) {
			who[v["ptr"]] = v["call_site"]; size[v["ptr"]] = v["bytes_alloc"]
			waste[v["ptr"]] = v["bytes_alloc"] - v["bytes_req"]
			o[v["call_site"]] += waste[v["ptr"]]
			n[v["call_site"]]++; t[v["call_site"]] += v["bytes_alloc"]
			w[v["call_site"]] += v["bytes_alloc"] - v["bytes_req"]
			c[v["call_site"]] += v["bytes_alloc"]
		} else {
			a = who[v["ptr"]]; c[a] -= size[v["ptr"]]; o[a] -= waste[v["ptr"]]; m[a]++
		}
	} END { for (s in n) print t[s], o[s], w[s], c[s], n[s] "/" m[s] + 0, s }' "$scratch/long.trace" |
		sort >"$scratch/want"
	"$codetag" trace -N -b -o total_dynamic,waste,total_waste,current_dynamic,alloc/free,caller \
		"$scratch/long.trace" | awk '{ $1 = $1; print }' | sort |
		diff "$scratch/want" -
}

trace_callers() {
	"$codetag" trace data/handmade-old.trace --callers "$scratch/callers" >/dev/null &&
		[ "$(cat "$scratch/callers")" = "ffffffff810a0033
ffffffff81100010" ]
}

# waits_for PIPE PID: it has read everything and waits for more
waits_for() {
	grep -q "^0 0x$(printf %x "$(fd_of "$1" "$2")") " "/proc/$2/syscall" && [ "$(python3 -c '
import array, fcntl, os, sys, termios
left = array.array("i", [0])
fcntl.ioctl(os.open(sys.argv[1], os.O_RDONLY | os.O_NONBLOCK), termios.FIONREAD, left)
print(left[0])' "$1")" -eq 0 ]
}
fd_of() {
	find "/proc/$2/fd" -lname "$1" -printf '%f\n' -quit 2>/dev/null
}

# A pipe without an end: the accounts until Ctrl-C.
trace_interrupted() {
	local pipe=$scratch/endless writer pid status
	mkfifo "$pipe" || return 1
	(cat data/handmade-modern.trace && exec sleep 600) >"$pipe" &
	writer=$!
	"$codetag" trace "$pipe" >"$scratch/interrupted" 2>"$scratch/err" &
	pid=$!
	comes waits_for "$pipe" $pid
	status=$?
	kill -INT $pid
	wait $pid
	kill $writer
	"$codetag" trace data/handmade-modern.trace | diff - "$scratch/interrupted" &&
		grep -q '^codetag trace: interrupted' "$scratch/err" && return $status
}

# Charts and exports of a trace show the same as its accounts.
trace_drawn() {
	local file=data/recorded-ours-6.12.trace attr sum
	for attr in waste total_waste total_dynamic current_dynamic; do
		sum=$("$codetag" trace --json "$file" | python3 -c '
import json, sys
print(sum(row[sys.argv[1]] for row in json.load(sys.stdin)["rows"]))' $attr)
		"$codetag" export --trace "$file" --attr $attr --format folded | awk -v want="$sum" \
			'{ sum += $NF } END { exit sum != want }' || { echo "folded $attr is not $sum"; return 1; }
		if "$codetag" --version | grep -qw d3; then
			"$codetag" chart --trace "$file" --attr $attr -o "$scratch/trace.html" || return 1
			page_data "$scratch/trace.html" | python3 -c '
import json, sys
sites = json.load(sys.stdin)["sites"]
assert sum(site["values"][1] for site in sites) == int(sys.argv[1])
assert all(site["stack"][0] == "vmlinux" for site in sites)' "$sum" || return 1
		fi
	done
}


# A number that is cut is not used.
trace_cut() {
	head -c -20 data/handmade-old.trace >"$scratch/cut.trace"
	"$codetag" trace --json "$scratch/cut.trace" >"$scratch/cut.json" 2>"$scratch/err"
	[ $? -eq 2 ] && grep -q '"complete": false' "$scratch/cut.json" &&
		grep -q 'cut.trace: not read to its end' "$scratch/err" || return 1
	sed '$d' data/handmade-old.trace | "$codetag" trace --json - |
		diff - "$scratch/cut.json" | grep '^[<>]' | grep -vE '"(source|complete)"' && return 1
	return 0
}

# It is found, and does not make the waste of others less.
trace_too_small() {
	local line=' x-1 [000] d..1. 1.0: kmalloc: call_site=f+0x1/0x2 ptr=0000000000001%03x bytes_req=%d bytes_alloc=%d gfp_flags=GFP_KERNEL\n'
	{
		# shellcheck disable=SC2059
		printf "$line" 1 100 128 2 172 128
	} >"$scratch/small.trace"
	"$codetag" trace "$scratch/small.trace" >"$scratch/small" || return 1
	grep -q '^current wasted bytes: 28$' "$scratch/small" &&
		grep -q '^given less than was asked for.*: 1; the first was allocated by f+0x1' "$scratch/small"
}

# One caller and SIZES sizes, of requests and objects or of requests only: see reads_linearly().
trace_sizes() { # SIZES [GIVEN]
	awk -v n="$1" -v given="${2:-0}" 'BEGIN {
		for (i = 0; i < n; i++)
			printf " x-1 [000] d..1. 1.0: kmalloc: call_site=f+0x1/0x2 ptr=%016x bytes_req=%d bytes_alloc=%d gfp_flags=GFP_KERNEL\n", 4096 + 64 * i, i + 1, given ? given : i + 1
	}'
}

trace_linear() {
	local n spent=() TIMEFORMAT=%U
	for n in 10000 40000; do
		trace_sizes $n "$@" >"$scratch/sizes"
		spent+=("$({ time "$codetag" trace "$scratch/sizes" >/dev/null; } 2>&1)")
	done
	echo "${spent[@]} s"
	awk -v a="${spent[0]}" -v b="${spent[1]}" 'BEGIN { exit !(b < 8 * a + 0.2) }'
}

check trace/cut trace_cut
check trace/too-small trace_too_small
check trace/linear trace_linear
check trace/linear-asked trace_linear 65536
check trace/like-awk trace_like_awk
check trace/drawn trace_drawn
check trace/interrupted trace_interrupted
# Saved accounts give the same answers as the log, in any order.
trace_db() {
	local db=$scratch/trace.db option
	"$codetag" trace data/handmade-modern.trace --save-db "$db" >"$scratch/saved" 2>/dev/null
	[ $? -eq 2 ] && "$codetag" trace --db-file "$db" | diff "$scratch/saved" - || return 1
	for option in --malloc --cache --cache=dentry --slab-account --group=size; do
		diff <("$codetag" trace data/handmade-modern.trace "$option") \
			<("$codetag" trace --db-file "$db" "$option") || return 1
	done
	diff <("$codetag" trace data/handmade-modern.trace --json --order-by waste) \
		<("$codetag" trace --db-file "$db" --json --order-by waste) |
		grep '^[<>]' | grep -v '"source"' && return 1
	"$codetag" trace data/handmade-modern.trace --save-db "$db" 2>/dev/null && return 1
	! "$codetag" trace --db-file data/handmade-v1.allocinfo || return 1
	"$codetag" trace --db-file "$recording" 2>"$scratch/err"
	[ $? -eq 2 ] && grep -q 'not the accounts of a trace' "$scratch/err" &&
		grep -q 'codetag trace --save-db' "$scratch/err" || return 1
	python3 -c '
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
assert db.execute("UPDATE meta SET value = 1 WHERE key = ? AND value = 0", ["cut"]).rowcount == 1
db.commit()' "$db" || return 1
	"$codetag" trace --db-file "$db" --json >"$scratch/cut" 2>"$scratch/err"
	[ $? -eq 2 ] && grep -q '"complete": false' "$scratch/cut" &&
		grep -q 'not read to its end' "$scratch/err" || return 1
	python3 -c '
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("DELETE FROM caller WHERE id = (SELECT max(id) FROM caller)")
db.commit()' "$db" && ! "$codetag" trace --db-file "$db"
}

# The live objects of a cache by caller, the same as awk finds.
slabs_by_trace() {
	local db=$scratch/slabs.db trace=data/recorded-ours-6.12.trace
	"$codetag" trace "$trace" --save-db "$db" >/dev/null || return 1
	awk '{
		for (i = 1; i <= NF; i++) { split($i, f, "="); v[f[1]] = f[2] }
		sub("/.*", "", v["call_site"])
		if (/ kmem_cache_alloc: /) { who[v["ptr"]] = v["call_site"]; n[v["call_site"]]++ }
		if (/ kmem_cache_free: /) {
			if (v["name"] == "dentry") is[who[v["ptr"]]] = 1
			n[who[v["ptr"]]]--; delete who[v["ptr"]]
		}
	} END { for (s in is) if (s && n[s] > 0) print n[s], s }' "$trace" | sort >"$scratch/want"
	[ -s "$scratch/want" ] || return 1
	"$codetag" slabs -N -b -f data/recorded-ours-6.12.slabinfo --trace-db "$db" dentry |
		awk 'NR > 1 { print $1, $3 }' | sort | diff "$scratch/want" -
}

# A cache whose slabs have become larger has grown, though it has as many of them.
slabs_grow() {
	sed 's/^\(dentry .* 21 *\)1 :/\12 :/' data/recorded-ours-6.12.slabinfo >"$scratch/larger"
	"$codetag" slabs --page-size 4096 --diff data/recorded-ours-6.12.slabinfo -f "$scratch/larger" |
		grep -q '^ *+159744 .* dentry$'
}
check slabs/grow slabs_grow

# Saved accounts of pages, or by tasks, do not have the call sites of objects.
# shellcheck disable=SC2086 # several words
slabs_by_other_trace() { # OPTION
	local db=$scratch/other.db slabs=data/recorded-ours-6.12.slabinfo
	rm -f "$db"
	"$codetag" trace $1 data/handmade-pages.trace --save-db "$db" >/dev/null || return 1
	"$codetag" slabs -f $slabs --trace-db "$db" >/dev/null 2>"$scratch/err"
	[ $? -eq 2 ] && grep -q 'not the call sites of slab objects' "$scratch/err" &&
		grep -qe "without $1" "$scratch/err"
}

slabs_by_lost_trace() {
	local db=$scratch/slabs-lost.db slabs=data/recorded-ours-6.12.slabinfo
	"$codetag" slabs -f $slabs --trace-db "$scratch/slabs.db" 2>"$scratch/err" >/dev/null &&
		[ ! -s "$scratch/err" ] &&
		! "$codetag" trace data/handmade-modern.trace --save-db "$db" >/dev/null 2>&1 &&
		"$codetag" slabs -f $slabs --trace-db "$db" 2>&1 >/dev/null | grep -q 'events are missing'
}

if feature sqlite3 trace/db; then
	check trace/db trace_db
	check slabs/trace slabs_by_trace
	check slabs/trace-lost slabs_by_lost_trace
	check slabs/trace-pages slabs_by_other_trace --pages
	check slabs/trace-tasks slabs_by_other_trace '--group process'
fi
check trace/callers trace_callers
check trace/json json_is_valid "$codetag" trace --json data/handmade-modern.trace

# A binary trace gives the same as the text that trace-cmd makes of it.
trace_dat() {
	local data=data/recorded-ours-6.12
	"$codetag" trace "$data-tracecmd.trace" | diff - <("$codetag" trace "$data.trace.dat") &&
		"$codetag" trace --json "$data.trace.dat" --cache=filp | grep -q '"caller": "alloc_empty_file'
}

# Many CPUs that all have the same records, or more pages than the file has: reading ends soon.
trace_dat_again() {
	local dat=$scratch/again.dat n spent TIMEFORMAT=%U
	trace-cmd convert -i data/recorded-ours-6.12.trace.dat -o "$scratch/plain.dat" --file-version 6 &&
		python3 helpers/make-trace-dat.py "$scratch/plain.dat" "$scratch/two.dat" || return 1
	for n in 4000:8 20000:1; do
		python3 helpers/repeat-trace-pages.py "$scratch/two.dat" "$dat" "$n"
		spent=$({ time "$codetag" trace "$dat" >"$scratch/again" 2>&1; } 2>&1)
		grep -q 'damaged\|cut' "$scratch/again" && awk -v spent="$spent" 'BEGIN { exit !(spent < 3) }' ||
			{ echo "$n: $spent s"; tail -n 3 "$scratch/again"; return 1; }
	done
}

# … also by stack, by process and of pages, with other CPUs between an event and its stack.
trace_dat_stacks() {
	local dat=$scratch/stacks.dat text=$scratch/stacks.trace how
	trace-cmd convert -i data/recorded-ours-6.12.trace.dat -o "$scratch/plain.dat" --file-version 6 &&
		python3 helpers/make-trace-dat.py "$scratch/plain.dat" "$dat" &&
		trace-cmd report "$dat" >"$text" 2>/dev/null || return 1
	for how in "" --stack --stack=2 --stack=9 "--group process" --pages "--pages --stack" \
		"--pages --group process"; do
		# shellcheck disable=SC2086
		diff <("$codetag" trace $how "$text" 2>&1) <("$codetag" trace $how "$dat" 2>&1 |
			sed "s|$dat|$text|") || { echo "with $how"; return 1; }
	done
	[ "$("$codetag" trace --stack -N -b -o alloc_count,total_dynamic,caller "$dat" | sort -rn | tr -s ' ')" = \
		"$(cat expected/trace-dat-stacks)" ]
}

# … and of a big-endian machine, with the same numbers.
trace_dat_big_endian() {
	local little=$scratch/little.dat big=$scratch/big.dat how
	trace-cmd convert -i data/recorded-ours-6.12.trace.dat -o "$scratch/plain.dat" --file-version 6 &&
		python3 helpers/make-trace-dat.py "$scratch/plain.dat" "$little" &&
		python3 helpers/make-trace-dat.py "$scratch/plain.dat" "$big" big &&
		[ "$(od -An -tx1 -j12 -N1 "$big")" = " 01" ] || return 1
	for how in --json --stack=2 --pages "--group process"; do
		# shellcheck disable=SC2086
		"$codetag" trace $how "$little" >"$scratch/little" && "$codetag" trace $how "$big" |
			sed 's|big.dat|little.dat|' | diff "$scratch/little" - || { echo "with $how"; return 1; }
	done
}

trace_dat_damaged() {
	survives 40 data/recorded-ours-6.12.trace.dat "$scratch/bad.dat" 5 0 "$codetag" trace "$scratch/bad.dat"
}

# impatiently COMMAND...: its timers run ten times as fast
impatiently() {
	gcc -shared -fPIC -o "$scratch/impatient.so" helpers/fast-timers.c || return 3
	ASAN_OPTIONS=$ASAN_OPTIONS:verify_asan_link_order=0 LD_PRELOAD=$scratch/impatient.so "$@"
}

# The length of an event that leads back to where it is: with records in the circle (0, the
# type of a long record), and without (29, padding). Compressed, the checksum would tell.
trace_dat_circle() { # TYPE
	local plain=$scratch/plain.dat
	trace-cmd convert -i data/recorded-ours-6.12.trace.dat -o "$plain" --file-version 6 &&
		"$codetag" trace "$plain" | diff - <("$codetag" trace data/recorded-ours-6.12.trace.dat) || return 1
	python3 helpers/make-trace-circle.py "$plain" "$1" || return 1
	impatiently timeout 120 "$codetag" trace "$plain" >"$scratch/out" 2>&1
	[ $? -eq 2 ] && grep -q 'not read to its end' "$scratch/out"
}

# ended PID: it ended, or is a zombie
ended() {
	! grep -qv ') Z ' "/proc/$1/stat" 2>/dev/null
}

# Ending the command also ends its process that reads the file.
trace_dat_killed() {
	local pid child
	"$codetag" trace "$scratch/plain.dat" >/dev/null 2>&1 &
	pid=$!
	comes pgrep -P $pid >"$scratch/child" || return 1
	kill -KILL $pid
	child=$(cat "$scratch/child")
	comes ended "$child"
}

trace_dat_cut() {
	head -c 9000 data/recorded-ours-6.12.trace.dat >"$scratch/cut.dat"
	"$codetag" trace "$scratch/cut.dat" 2>"$scratch/err"
	[ $? -eq 2 ] && grep -q 'cut.dat: not read to its end' "$scratch/err"
}

# record_here FILE OPTION...: records this machine while programs run
record_here() {
	local out=$1
	shift
	"$codetag" trace --record 1 --json "$@" >"$out" 2>"$scratch/err" &
	until ended $!; do
		ls -R /usr/include >/dev/null 2>&1
		sleep 0.05
	done
	wait $!
}

# Allocations and frees were recorded.
trace_record() { # STATUS
	{ [ "$1" -eq 0 ] || grep -q 'events are missing' "$scratch/err"; } && python3 -c '
import json, sys
got = json.load(open(sys.argv[1]))
rows, total = got["rows"], got["total"]
assert got["events"] and rows and not got["not_understood"], got
assert sum(r["total_dynamic"] for r in rows) == total["total_dynamic"]
assert any("+0x" in r["caller"] for r in rows), rows' "$scratch/recorded.json" &&
		[ -z "$(ls /sys/kernel/tracing/instances 2>/dev/null | grep '^codetag-')" ]
}

# If the terminal goes away, for example with its connection, the kernel stops tracing.
trace_record_hung_up() {
	local pid
	"$codetag" trace --record 60 >/dev/null 2>&1 &
	pid=$!
	comes test -d "/sys/kernel/tracing/instances/codetag-$pid" || return 1
	kill -HUP $pid
	wait $pid
	[ ! -d "/sys/kernel/tracing/instances/codetag-$pid" ]
}

# If the buffer is too small, a message says so and counts the lost events.
trace_record_lost() {
	! record_here "$scratch/lost.json" --buffer 4k && grep -q 'events are missing' "$scratch/err" &&
		grep -qE '"overwritten": [1-9]' "$scratch/lost.json"
}

if feature libtracecmd trace/dat; then
	check trace/dat trace_dat
	check trace/dat-lost recording_golden trace-dat-lost "$codetag" trace -n 3 \
		data/recorded-ours-6.12-lost.trace.dat
	check trace/dat-cut trace_dat_cut
	check trace/dat-damaged trace_dat_damaged
	program trace-cmd trace/dat-stacks && check trace/dat-stacks trace_dat_stacks
	program trace-cmd trace/dat-big-endian && check trace/dat-big-endian trace_dat_big_endian
	program trace-cmd trace/dat-again && check trace/dat-again trace_dat_again
	if program trace-cmd trace/dat-circle; then
		check trace/dat-circle-records trace_dat_circle 0
		check trace/dat-circle trace_dat_circle 29
		# The file that was left does not end by itself.
		[ ! -e "$scratch/plain.dat" ] || check trace/dat-killed trace_dat_killed
	fi
	if selected trace/record || selected trace/record-lost || selected trace/record-hung-up; then
		record_here "$scratch/recorded.json" --buffer 16M --save-db "$scratch/recorded.db"
		status=$?
		if [ $status -eq 0 ] || grep -Eq 'no kmem events in|events are missing' "$scratch/err"; then
			check trace/record trace_record $status
			check trace/record-lost trace_record_lost
			check trace/record-hung-up trace_record_hung_up
		else
			skip trace/record "$(head -n 1 "$scratch/err")"
		fi
	fi
fi
