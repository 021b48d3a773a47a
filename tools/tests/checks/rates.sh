# SPDX-License-Identifier: GPL-2.0-only
# Allocations and frees: two readings, a recording, a counter that wraps around, a module that is
# loaded again.

# In a world of its own, $now and $counts are what the kernel has at each second. A busy line
# allocates 2 a second and frees 1, and its counters wrap around within 10 s. zram is gone from
# second 10 to 19, and has counted from 0 to a larger number then. ext4_mb_init is quiet.
pretend_activity() {
	export now=$scratch/activity.allocinfo counts=$scratch/activity.counts
	pretend() { # SECOND
		local wrap=$((1 << 32)) tags=(
			'fs/ext4/super.c:1384 [ext4] func:ext4_alloc_inode '
			'fs/ext4/mballoc.c:3712 [ext4] func:ext4_mb_init '
			'drivers/block/zram/zcomp.c:41 [zram] func:zcomp_strm_init '
		)
		[ "$1" -lt 10 ] || [ "$1" -ge 20 ] || unset 'tags[2]'
		{
			echo 'allocinfo - version: 2.0'
			printf '64 1 %s\n' "${tags[@]}"
		} >"$now"
		{
			echo '# activity - version: 1.0'
			printf '%11d %10d %10d %s\n' $(((wrap - 10 + 2 * $1) % wrap)) $(((wrap - 9 + $1) % wrap)) 0 "${tags[0]}" \
				1 0 0 "${tags[1]}"
			[ -z "${tags[2]}" ] || printf '%11d 1 0 %s\n' $(($1 < 10 ? 50 : 3 * $1)) "${tags[2]}"
		} >"$counts"
	}
}

shows() { # FILE LINE...
	local file=$1 line
	shift
	for line; do
		grep -qxF -- "$line" "$file" || { echo "lacks: $line"; cat "$file"; return 1; }
	done
}

# An interval is named, the busiest comes first, and what wrapped around is bridged.
top_rates() (
	pretend_activity
	in_world "$codetag" top --once -s allocs -d 8 --allocinfo "$now" --activity "$counts" file 'fs/*' >"$scratch/top.out" || return 1
	shows "$scratch/top.out" 'allocations and frees of 8.0 s' \
		'     2.0      1.0    64      1  fs/ext4/super.c:1384 [ext4] func:ext4_alloc_inode' \
		'     0.0      0.0    64      1  fs/ext4/mballoc.c:3712 [ext4] func:ext4_mb_init' &&
		grep -A1 ALLOCS/S "$scratch/top.out" | grep -q alloc_inode || return 1
	in_world "$codetag" top --once --json -o allocs_recent,frees_rate,name -d 8 --allocinfo "$now" --activity "$counts" |
		python3 -c '
import json, sys
top = json.load(sys.stdin)
row = {row["name"].split(":")[-1]: row for row in top["rows"]}
assert top["seconds"] == 8 and row["ext4_alloc_inode"]["allocs_recent"] == 16, top
assert row["ext4_alloc_inode"]["frees_rate"] == 1, top'
)

diff_live_rates() (
	pretend_activity
	in_world "$codetag" diff --live 20 -s frees --allocinfo "$now" --activity "$counts" >"$scratch/diff.out" || return 1
	shows "$scratch/diff.out" 'allocations and frees of 20.0 s' \
		'     2.0      1.0      40     20       0    64  fs/ext4/super.c:1384 [ext4] func:ext4_alloc_inode' \
		'     0.5      0.0      10      0       0    64  drivers/block/zram/zcomp.c:41 [zram] func:zcomp_strm_init'
)

# A recording has each step: a row that was gone counts from 0, and a counter may wrap around twice.
recorded_rates() (
	pretend_activity
	local db=$scratch/activity.db
	rm -f "$db"
	in_world "$codetag" record -q -o "$db" -c 5 -i 5 --allocinfo "$now" --activity "$counts" || return 1
	"$codetag" diff -s allocs "$db" >"$scratch/diff.out" || return 1
	shows "$scratch/diff.out" 'allocations and frees of 20.0 s' \
		'     2.0      1.0      40     20       0    64  fs/ext4/super.c:1384 [ext4] func:ext4_alloc_inode' \
		'     3.0      0.1      60      1       0    64  drivers/block/zram/zcomp.c:41 [zram] func:zcomp_strm_init' || return 1
	"$codetag" diff -s allocs "$db@2" "$db@3" >"$scratch/diff.out" || return 1
	shows "$scratch/diff.out" '     2.0      1.0      10      5       0    64  fs/ext4/super.c:1384 [ext4] func:ext4_alloc_inode' || return 1
	"$codetag" report -s allocs "$db@1" >"$scratch/report.out" || return 1
	shows "$scratch/report.out" '4294967286  4294967287    64      1  fs/ext4/super.c:1384 [ext4] func:ext4_alloc_inode' || return 1
	"$codetag" diff --json -s allocs "$db" | python3 -c '
import json, sys
row = [row for row in json.load(sys.stdin)["rows"] if row["func"] == "ext4_alloc_inode"]
assert row[0]["allocs_recent"] == 40 and row[0]["frees_rate"] == 1, row' || return 1
	# One that does not change is stored once.
	[ "$(sqlite3 "$db" "SELECT count(*) FROM activity JOIN site ON site = id WHERE func = 'ext4_mb_init'")" -eq 1 ]
)

wrapped_twice() {
	local db=$scratch/wraps.db file=$scratch/wraps i
	rm -f "$db"
	for i in 0 1 2 3 4 5; do
		printf '# activity - version: 1.0\n%d 0 0 a.c:1 func:f\n' $((i * 2000000000 % (1 << 32))) >"$file"
		# shellcheck disable=SC2046
		"$codetag" record -q -o "$db" -c 1 $([ $i -eq 0 ] || echo --append) --activity "$file" \
			--allocinfo <(printf 'allocinfo - version: 1.0\n64 1 a.c:1 func:f\n0 0 b.c:1 func:g\n') || return 1
	done
	"$codetag" diff -o allocs_recent,name -s allocs -N "$db" | grep -x '10000000000  a.c:1 func:f' &&
		"$codetag" diff -o allocs_recent,name -s allocs -N "$db@2" "$db@4" | grep -x ' *4000000000  a.c:1 func:f'
}

# After a boot the kernel counts from 0. The number from before the boot must not be subtracted,
# whether it was smaller, larger (which looks like a wrap-around) or equal.
counted_since_boot() {
	local db=$scratch/counted.db
	clang_build || return 1
	# counts ALLOCATIONS
	counts() {
		printf '# activity - version: 1.0\n%s 5 0 fs/ext4/super.c:1384 [ext4] func:ext4_alloc_inode\n' "$1" \
			>"$scratch/counted"
	}
	for before in 60 3900000000 100; do
		rm -f "$db"
		counts $before && machine_with 1 record -q -o "$db" -c 1 --activity "$scratch/counted" && counts 100 &&
			BOOT=11d32da6 machine_with 1 record -q -o "$db" --append -c 1 --activity "$scratch/counted" || return 1
		"$codetag" diff -o allocs_recent,frees_recent,name -s allocs -N "$db" >"$scratch/counted.out" &&
			shows "$scratch/counted.out" '100  5  fs/ext4/super.c:1384 [ext4] func:ext4_alloc_inode' || return 1
	done
}

# A peak is the largest sum in a snapshot, not the sum of the peaks of lines. A message says that it
# is of samples.
recorded_peaks() {
	local db=$scratch/peaks.db size
	rm -f "$db"
	for size in '100 50' '300 10' '20 90'; do
		# shellcheck disable=SC2046
		"$codetag" record -q -o "$db" -c 1 $([ ! -e "$db" ] || echo --append) --allocinfo \
			<(printf 'allocinfo - version: 1.0\n%d 1 a.c:1 func:f\n%d 1 a.c:2 func:f\n0 0 b.c:1 func:g\n' $size) || return 1
	done
	"$codetag" report -o peak,size,name "$db" >"$scratch/peaks.out" &&
		shows "$scratch/peaks.out" ' 300    20  a.c:1 func:f' '  90    90  a.c:2 func:f' \
			'peaks are the largest of 3 snapshots: between these there can have been more' || return 1
	"$codetag" report -o peak,size,name -g func "$db" >"$scratch/peaks.out" &&
		shows "$scratch/peaks.out" ' 310   110  f' || return 1
	"$codetag" report -o peak,size,name -g func "$db@1" >"$scratch/peaks.out" &&
		shows "$scratch/peaks.out" ' 150   150  f' || return 1
	exits 2 'only a recording has peaks' report -o peak data/handmade-v1.allocinfo
}

# A recording that lacks them is read, says so if it is asked, and goes on with them.
recorded_before() {
	local db=$scratch/before.db file=data/handmade-v2.allocinfo
	rm -f "$db"
	"$codetag" record -q -c 1 -o "$db" --allocinfo $file && sqlite3 "$db" 'DROP TABLE activity' || return 1
	"$codetag" report "$db" file 'fs/*' | grep -q ext4_alloc_inode || return 1
	exits 2 'its allocations and frees are not known' report -s allocs "$db" || return 1
	"$codetag" record -q -c 1 --append -o "$db" --allocinfo $file --activity data/handmade-v2.activity || return 1
	"$codetag" report -s allocs "$db" file 'fs/*' | grep -q '^4294967290 ' || return 1
	exits 2 'its allocations and frees are not known' diff -s allocs "$db" || return 1
	"$codetag" diff "$db" >/dev/null
}

# If the kernel does not count them, a command that asks for them says so, and nothing else changes.
not_counted() {
	local file=data/handmade-v2.allocinfo
	exits 2 'its allocations and frees are not known' top --once -s frees $file &&
		exits 2 'its allocations and frees are not known' diff -s allocs $file $file &&
		exits 2 'No such file' report --activity "$scratch/nowhere" $file &&
		exits 2 'does not begin with' record -q -c 1 -o "$scratch/never.db" --allocinfo $file --activity $file &&
		[ ! -e "$scratch/never.db" ] &&
		! "$codetag" export --format prometheus $file | grep -q _total{ &&
		! "$codetag" report --json $file 2>/dev/null | grep -q allocs
}

# A group that wraps around is a small number again, not 4 billion less.
exported_activity() {
	"$codetag" export --format prometheus --activity data/handmade-v2.activity data/handmade-v2.allocinfo -g dir >"$scratch/activity.prom" || return 1
	shows "$scratch/activity.prom" '# TYPE codetag_allocations_total counter' \
		'codetag_allocations_total{dir="fs/ext4"} 499995' 'codetag_frees_total{dir="mm"} 555' || return 1
	if program promtool rates/promtool; then
		promtool check metrics <"$scratch/activity.prom"
	fi
}

live_activity() {
	on_screen 140 24 "$codetag top -b -d 0.3 ${1##*/}$2" "${@:3}"
}

activity_steps() {
	screen_has ' ALLOCS/S' && screen_has 'sorted by size' || return 1
	tmux_top send-keys A
	screen_has 'sorted by allocations' && screen_has 'rates over 0.' || return 1
	tmux_top send-keys t A
	screen_has 'a tree is not sorted by these' || return 1
	tmux_top send-keys t F
	screen_has 'sorted by frees' || return 1
	tmux_top send-keys q
	screen_has 'left 0'
}

no_activity_steps() {
	screen_has 'sorted by size' || return 1
	tmux_top send-keys A
	screen_has 'allocations and frees are not known here' || return 1
	tmux_top send-keys q
	screen_has 'left 0'
}

screen_activity() {
	cp data/handmade-v2.allocinfo data/handmade-v2.activity "$scratch"
	live_activity handmade-v2.allocinfo ' --activity handmade-v2.activity' activity_steps &&
		live_activity handmade-v2.allocinfo '' no_activity_steps
}

check rates/top top_rates
check rates/diff-live diff_live_rates
check rates/not-counted not_counted
check rates/prometheus exported_activity
if feature sqlite3 rates/recorded; then
	check rates/recorded recorded_rates
	check rates/wraps wrapped_twice
	check rates/boot counted_since_boot
	check rates/before recorded_before
	check rates/peaks recorded_peaks
fi
if feature ncursesw rates/screen && program tmux rates/screen; then
	check rates/screen screen_activity
fi
