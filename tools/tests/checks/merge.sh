# SPDX-License-Identifier: GPL-2.0-only
# Many hosts at once, against awk, sqlite3 and pprof; compressed files and archives.

# fleet DIR HOSTS: the recorded file with other numbers for each host; one has much of one site
fleet() {
	mkdir -p "$1"
	python3 helpers/make-fleet.py "$1" "$2"
}

# Site by site: the sum, the mean of the two in the middle, the 99th of 100, the largest.
merge_like_awk() {
	local dir=$scratch/fleet
	"$codetag" merge --raw -N -a -b -o size,median,p99,largest,name "$dir" | LC_ALL=C sort >"$scratch/got"
	for file in "$dir"/*; do
		awk -v host="$file" '!/^[a#]/ {
			size = $1; sub(/^ *[0-9]+ +[0-9]+ /, ""); sub(/ +$/, ""); sub(/^\.\//, "")
			held[$0] += size }
			END { for (site in held) printf "%s\t%s\t%.0f\n", site, host, held[site] }' "$file"
	done | LC_ALL=C sort -t '	' -k 1,1 -k 3,3n | awk -F '\t' '
		function put() {
			if (n)
				printf "%.0f %.0f %.0f %.0f %s\n", sum,
					int((v[int((n + 1) / 2)] + v[int(n / 2) + 1]) / 2),
					v[int((n * 99 + 99) / 100)], v[n], site
			n = sum = 0
		}
		$1 != site { put(); site = $1 }
		{ v[++n] = $3; sum += $3 }
		END { put() }' | LC_ALL=C sort >"$scratch/want"
	tr -s ' ' <"$scratch/got" | sed 's/^ //' | LC_ALL=C sort | diff "$scratch/want" - &&
		[ "$(wc -l <"$scratch/want")" -gt 1000 ]
}

# The host with too much memory is found, and no other.
merge_outliers() {
	"$codetag" merge --json -s outliers -n 2 "$scratch/fleet" | python3 -c '
import json, sys
rows = json.load(sys.stdin)["rows"]
assert "func:shmem_alloc_inode" in rows[0]["name"], rows[0]
assert [o["host"] for o in rows[0]["outliers"]] == ["host017"], rows[0]
assert not rows[1]["outliers"], rows[1]'
}

merge_csv_is_json() {
	"$codetag" merge -a --csv "$scratch/fleet" >"$scratch/merge.csv" &&
		"$codetag" merge -a --json "$scratch/fleet" | python3 helpers/compare-merge-csv.py "$scratch/merge.csv"
}

# rows_are_json DB COMMAND...: its CSV and its database have the rows of its JSON
rows_are_json() {
	local db=$1
	shift
	rm -f "$db"
	"$@" --csv >"$scratch/rows.csv" && "$@" --json >"$scratch/rows.json" &&
		"$@" --sqlite "$db" && ! "$@" --sqlite "$db" 2>/dev/null || return 1
	python3 helpers/compare-row-formats.py \
		"$db" "$scratch/rows.json" "$scratch/rows.csv"
}

report_rows() {
	local db=$scratch/rows.db file=$scratch/profiled.allocinfo
	sed 's/ disabled:yes//' data/handmade-v2.allocinfo >"$file"
	rows_are_json "$db" "$codetag" report -a $file &&
		rows_are_json "$db" "$codetag" report -g host "$scratch/fleet" &&
		rows_are_json "$db" "$codetag" report -g dir:1 -o name,size,flags "$scratch/fleet" &&
		rows_are_json "$db" "$codetag" diff $file data/handmade-v2-later.allocinfo &&
		! "$codetag" report --csv --json $file 2>/dev/null && ! "$codetag" report --csv --tree $file 2>/dev/null &&
		! "$codetag" report --sqlite "$scratch/two.db" -o size,size $file 2>/dev/null &&
		! "$codetag" report --sqlite "$scratch/no/x.db" $file 2>/dev/null &&
		! "$codetag" diff --sqlite "$scratch/no/x.db" $file $file 2>/dev/null && [ ! -e "$scratch/two.db" ]
}

# Written as a whole or not at all, and replaces an existing file, like other formats.
export_rows() {
	local db=$scratch/export.db i
	echo old >"$db"
	for i in 1 2; do
		"$codetag" export --format sqlite -o "$db" "$scratch/fleet" || return 1
	done
	[ "$(sqlite3 "$db" 'SELECT sum(size) FROM rows')" = \
		"$("$codetag" export --format json "$scratch/fleet" | python3 -c '
import json, sys
print(json.load(sys.stdin)["total"]["size"])')" ] &&
		! "$codetag" export --format sqlite -o /dev/full "$scratch/fleet" 2>"$scratch/err" &&
		grep -q 'ordinary file' "$scratch/err" && ! "$codetag" export --format sqlite "$scratch/fleet" 2>/dev/null
}

# A file that links lead to counts once and keeps its own name.
links_count_once() {
	local dir=$scratch/links
	mkdir -p "$dir/web1" "$scratch/elsewhere/web2" || return 1
	cp data/handmade-v2.allocinfo "$dir/web1/allocinfo"
	cp data/handmade-v2.allocinfo "$scratch/elsewhere/web2/allocinfo"
	ln -sf . "$dir/loop" && ln -sfn web1 "$dir/latest" && ln -sf allocinfo "$dir/web1/allocinfo.old" &&
		ln -sfn ../elsewhere/web2 "$dir/web2" &&
		[ "$("$codetag" report -g host -N -s name -o name "$dir" | tr '\n' ' ')" = 'web1 web2 ' ]
}

# --label names hosts, in each command that tells them apart.
labelled_hosts() {
	local a=$scratch/fleet/host000 b=$scratch/fleet/host001
	[ "$("$codetag" report -g host -N -s name -o name --label host=x $a --label host=y $b)" = $'x\ny' ] &&
		[ "$("$codetag" report -g host -N -s name -o name $a --label host=y $b)" = $'host000\ny' ] &&
		[ "$("$codetag" diff -g host -N -o name,state --label host=x $a --label host=x $b | tr -s ' ')" = 'x changed' ] &&
		"$codetag" export -g host --format csv --label host=x $a --label host=y $b | grep -q ',y' &&
		"$codetag" export -g host --format prometheus --label rack=7 --label host=x $a |
			grep -q '^codetag_allocated_bytes{rack="7",host="x"}' || return 1
	for bad in "report --label host=x $a" "report -g host $a --label host=x" "diff -g host --label host= $a $b" \
		"export --format csv --label host=x $a" "export --format prometheus --label a=1 --label a=2 $a"; do
		# shellcheck disable=SC2086
		! "$codetag" $bad >/dev/null 2>&1 || { echo "taken: $bad"; return 1; }
	done
}

# The database has the values, and the sums and medians that follow from them.
merge_like_sqlite() {
	local db=$scratch/fleet.db
	rm -f "$db"
	"$codetag" merge -N --sqlite "$db" "$scratch/fleet" || return 1
	[ "$(sqlite3 "$db" "
		WITH held AS (SELECT site.id AS site, host.id AS host, coalesce(value.size, 0) AS size
			FROM site CROSS JOIN host
			LEFT JOIN value ON value.site = site.id AND value.host = host.id),
		ranked AS (SELECT *, row_number() OVER (PARTITION BY site ORDER BY size) AS r,
			count(*) OVER (PARTITION BY site) AS n FROM held),
		found AS (SELECT site, sum(size) AS sum,
			sum(CASE WHEN r IN ((n + 1) / 2, n / 2 + 1) THEN size ELSE 0 END) /
				(CASE max(n) % 2 WHEN 0 THEN 2 ELSE 1 END) AS median,
			max(CASE WHEN r = (n * 99 + 99) / 100 THEN size END) AS p99,
			max(size) AS largest FROM ranked GROUP BY site)
		SELECT count(*), sum(found.sum = spread.size AND found.median = spread.median
			AND found.p99 = spread.p99 AND found.largest = spread.largest)
		FROM found JOIN spread USING (site)")" = \
		"$(sqlite3 "$db" 'SELECT count(*), count(*) FROM site')" ] || return 1
	[ "$(sqlite3 "$db" 'SELECT host.name FROM outlier JOIN host ON host.id = host')" = host017 ] &&
		[ "$(sqlite3 "$db" 'SELECT sum(size) FROM value')" = \
			"$(cat "$scratch/fleet"/* | awk '!/^[a#]/ { s += $1 } END { printf "%.0f", s }')" ] || return 1
	# Commands read it like the files.
	diff <("$codetag" merge -n 30 "$scratch/fleet") <("$codetag" merge -n 30 "$db") &&
		diff <("$codetag" report -n 30 "$scratch/fleet") <("$codetag" report -n 30 "$db") &&
		! "$codetag" merge --sqlite "$db" "$scratch/fleet" 2>"$scratch/err" &&
		grep -q exists "$scratch/err"
}

# The sum is the same as pprof's sum of the single profiles.
merge_like_pprof() {
	local i files=()
	for i in 000 001 002; do
		"$codetag" export --format pprof -o "$scratch/$i.pb.gz" "$scratch/fleet/host$i" || return 1
		files+=("$scratch/fleet/host$i")
	done
	"$codetag" export --format pprof -o "$scratch/sum.pb.gz" "${files[@]}" || return 1
	for i in "$scratch/sum.pb.gz" "$scratch/000.pb.gz $scratch/001.pb.gz $scratch/002.pb.gz"; do
		# shellcheck disable=SC2086
		HOME=$scratch pprof -proto -output "$scratch/pprof.out" $i >/dev/null 2>&1 || return 1
		python3 helpers/decode-pprof.py "$scratch/pprof.out" | sort
	done >"$scratch/both"
	sort "$scratch/both" | uniq -c | awk '$1 != 2 { exit 1 } END { exit !(NR > 300) }'
}

# Hosts with kernels in which lines moved: by their sites, not by their lines.
merge_kernels() {
	"$codetag" merge --json -a --label host=old data/recorded-mainline-6.12.allocinfo \
		--label host=new data/recorded-mainline-7.3.allocinfo func shmem_alloc_folio | python3 -c '
import json, sys
merged = json.load(sys.stdin)
assert [h["host"] for h in merged["hosts"]] == ["old", "new"]
assert len(merged["rows"]) == 1 and merged["rows"][0]["hosts"] == 2
assert merged["rows"][0]["size"] == 10092544 + 13070336 and merged["moved"] > 700'
}

# Time and memory as users have them: of a build without sanitizers, which build/clang made.
merge_is_frugal() {
	local dir=$scratch/large
	rm -rf "$dir"; fleet "$dir" 4
	for i in $(seq 4 200); do
		ln "$dir/host00$((i % 4))" "$dir/host$(printf '%03d' "$i")"
	done
	clang_build || return 1
	python3 helpers/measure-merge.py "$build/clang/codetag" "$dir" "$@"
}

# The progress never exceeds the number of files, also with two directories.
shows_progress() { # COMMAND
	script -qec "stty rows 24 cols 80; $codetag $* $scratch/fleet >/dev/null" /dev/null |
		tr '\r' '\n' | awk '/ of 60 files/ { shown = 1; beyond = beyond || $1 > 60 }
			END { exit !shown || beyond }' &&
		[ -z "$("$codetag" "$@" "$scratch/fleet" 2>&1 >/dev/null)" ]
}

# If a part cannot be read: a message, the rest is shown, exit status 2.
merge_goes_on() {
	"$codetag" merge --json data/handmade-v1.allocinfo data/handmade.stats no-such-file \
		data/handmade-v2.allocinfo >"$scratch/out" 2>"$scratch/err"
	[ $? -eq 2 ] && grep -q 'handmade.stats' "$scratch/err" && grep -q no-such-file "$scratch/err" &&
		[ "$(python3 -c '
import json, sys
print(*[h["host"] for h in json.load(open(sys.argv[1]))["hosts"]])' "$scratch/out")" = \
			'handmade-v1 handmade-v2' ]
}

# The names of hosts.
merge_names() {
	local dir=$scratch/merge-names
	mkdir -p "$dir/web1/proc" "$dir/web2" || return 1
	cp data/handmade-v1.allocinfo "$dir/web1/proc/allocinfo"
	cp data/recorded-ours-6.12.meminfo "$dir/web1/proc/meminfo"
	gzip -c data/handmade-v1.allocinfo >"$dir/web2/allocinfo.gz"
	echo "not an allocinfo" >"$dir/README"
	[ "$("$codetag" merge --json "$dir" | python3 -c '
import json, sys
print(*[h["host"] for h in json.load(sys.stdin)["hosts"]])')" = 'web1 web2' ]
}

# A sosreport of one host: all files from one archive.
make_sosreport() {
	local root=$scratch/sosreport-db1-2026 ext=$1
	rm -rf "$root"
	mkdir -p "$root/proc" "$root/sos_commands/kernel" "$root/sys/devices/system/node/node0"
	cp data/recorded-ours-6.12.allocinfo "$root/proc/allocinfo"
	for i in meminfo slabinfo zoneinfo; do
		cp "data/recorded-ours-6.12.$i" "$root/proc/$i"
	done
	echo wrong >"$root/sys/devices/system/node/node0/meminfo"
	echo 'Linux db1.example 6.12.117-test #1 SMP x86_64 GNU/Linux' >"$root/sos_commands/kernel/uname_-a"
	tar -C "$scratch" -caf "$scratch/sos.$ext" "${root##*/}"
}

archive() {
	make_sosreport "$1" || return 1
	diff <("$codetag" report data/recorded-ours-6.12.allocinfo --meminfo data/recorded-ours-6.12.meminfo \
		--slabinfo data/recorded-ours-6.12.slabinfo --zoneinfo data/recorded-ours-6.12.zoneinfo) \
		<("$codetag" report "$scratch/sos.$1") &&
		diff <("$codetag" slabs -f data/recorded-ours-6.12.slabinfo) <("$codetag" slabs -f "$scratch/sos.$1") &&
		"$codetag" merge "$scratch/sos.$1" | grep -q 'kernels: 6.12.117-test on 1' &&
		"$codetag" merge "$scratch/sos.$1" | grep -q ' db1.example '
}

archive_without() {
	make_sosreport tar
	tar -f "$scratch/sos.tar" --delete sosreport-db1-2026/proc/allocinfo
	! "$codetag" report "$scratch/sos.tar" 2>"$scratch/err" && grep -q 'no file proc/allocinfo' "$scratch/err"
}

compressed() {
	"$1" -c <data/recorded-ours-6.12.allocinfo >"$scratch/packed"
	diff <("$codetag" report data/recorded-ours-6.12.allocinfo) <("$codetag" report "$scratch/packed") &&
		diff <("$codetag" report data/recorded-ours-6.12.allocinfo) \
			<("$codetag" report - <"$scratch/packed") || return 1
	"$1" -c <data/recorded-ours-6.12.slabinfo >"$scratch/packed"
	diff <("$codetag" slabs -f data/recorded-ours-6.12.slabinfo) \
		<("$codetag" slabs -f "$scratch/packed") || return 1
	"$1" -c <data/recorded-ours-6.12.trace >"$scratch/packed"
	diff <("$codetag" trace data/recorded-ours-6.12.trace) <("$codetag" trace "$scratch/packed")
}

damaged_archive() {
	make_sosreport tar.gz
	survives 20 "$scratch/sos.tar.gz" "$scratch/damaged.gz" 6 2 \
		"$codetag" report "$scratch/damaged.gz" || return 1
	head -c 5000 "$scratch/sos.tar.gz" >"$scratch/damaged.gz"
	! "$codetag" report "$scratch/damaged.gz" 2>"$scratch/err" && grep -q 'damaged or cut' "$scratch/err"
}

# An empty file that is compressed is empty.
empty_archive() {
	gzip </dev/null >"$scratch/empty.gz"
	! "$codetag" report "$scratch/empty.gz" 2>"$scratch/err" && grep -q 'empty.gz is empty' "$scratch/err"
}

# hosts_awk PATTERN RAW: the memory of each host in lines that match, by awk
hosts_awk() {
	awk -v pattern="$1" -v raw="$2" 'FNR == 1 { n = split(FILENAME, part, "/"); host = part[n] }
		!/^[a#]/ && $0 ~ pattern && (raw || !/func:alloc_slab_page|percpu-vm.c/) {
			size[host] += $1; calls[host] += $2 }
		END { for (host in size) printf "%.0f %.0f %s\n", size[host], calls[host], host }' \
		"$scratch/fleet"/* | sort
}

# Hosts are groups, too: of a report, of exports, and of a difference.
hosts_are_groups() {
	local dir=$scratch/fleet new=$scratch/fleet-new
	"$codetag" report -N -b -g host -o size,calls,name "$dir" | tr -s ' ' | sed 's/^ //' | sort |
		diff <(hosts_awk . 0) - &&
		"$codetag" report --raw -N -b -g host -o size,calls,name "$dir" 'file fs/*' | tr -s ' ' |
		sed 's/^ //' | sort | diff <(hosts_awk ' fs/' 1) - &&
		"$codetag" export --format csv -g host "$dir" | tr -d '\r' | awk -F , 'NR > 1 { print $1, $2, $4 }' |
		sort | diff <(hosts_awk . 1) - &&
		"$codetag" export --format prometheus --raw -g host "$dir" |
		sed -n 's/^codetag_allocated_bytes{host="\(.*\)"} \(.*\)/\2 \1/p' | sort |
		diff <(hosts_awk . 1 | cut -d ' ' -f 1,3 | sort) - || return 1
	rm -rf "$new" && cp -r "$dir" "$new" && rm "$new/host003" &&
		echo '7777777 1 fs/new.c:1 func:f' >>"$new/host005" && cp "$new/host005" "$new/host099" || return 1
	"$codetag" diff -N -b -g host -o growth,state,name "$dir" "$new" | tr -s ' ' | sed 's/^ //' | sort \
		>"$scratch/hosts.diff"
	[ "$(wc -l <"$scratch/hosts.diff")" -eq 3 ] && grep -qx '+7777777 changed host005' "$scratch/hosts.diff" &&
		grep -q '^-[0-9]* gone host003$' "$scratch/hosts.diff" &&
		grep -q '^+[0-9]* new host099$' "$scratch/hosts.diff" &&
		[ "$("$codetag" diff -g host --json "$dir" "$new" 'func no_such' | grep -c '"name"')" -eq 0 ] &&
		"$codetag" report -g host "$dir" | grep -q '^60 hosts hold ' || return 1
	! "$codetag" chart -g host --kind bars -o "$scratch/x.svg" "$dir/host001" 2>/dev/null &&
		! "$codetag" merge -g host "$dir" 2>/dev/null && ! "$codetag" top --once -g host "$dir" 2>/dev/null &&
		! "$codetag" export -g host --format folded "$dir" 2>/dev/null &&
		! "$codetag" export -g host --format prometheus "$dir" --label host=a 2>/dev/null
}

# A file much larger than any real one is not unpacked.
bomb() {
	yes 12345678 | head -c 3000000 | gzip -1 >"$scratch/spark.gz"
	yes "$scratch/spark.gz" | head -n 100 | xargs cat >"$scratch/bomb.gz"
	! "$codetag" report "$scratch/bomb.gz" 2>"$scratch/err" && grep -q 'too large' "$scratch/err"
	local status=$?
	rm "$scratch/bomb.gz"
	return $status
}

# report, diff, export and slabs take recordings.
recordings() {
	local day=$scratch/day.db i
	rm -f "$day"
	for i in handmade-v2 handmade-v2-later; do
		"$codetag" record -q -c 1 -o "$day" --allocinfo "data/$i.allocinfo" \
			--meminfo data/recorded-ours-6.12.meminfo \
			--slabinfo data/recorded-ours-6.12.slabinfo "${append[@]}" || return 1
		local append=(--append)
	done
	diff <("$codetag" diff -N data/handmade-v2.allocinfo data/handmade-v2-later.allocinfo) \
		<("$codetag" diff -N "$day") &&
		diff <("$codetag" diff -N data/handmade-v2-later.allocinfo data/handmade-v2.allocinfo) \
			<("$codetag" diff -N "$day@2" "$day@1") &&
		diff <("$codetag" report data/handmade-v2-later.allocinfo \
			--meminfo data/recorded-ours-6.12.meminfo \
			--slabinfo data/recorded-ours-6.12.slabinfo) <("$codetag" report "$day") &&
		diff <("$codetag" export --format csv data/handmade-v2.allocinfo) \
			<("$codetag" export --format csv "$day@1") &&
		diff <("$codetag" slabs -f data/recorded-ours-6.12.slabinfo) <("$codetag" slabs -f "$day") &&
		! "$codetag" report "$day@3" 2>"$scratch/err" && grep -q 'no snapshot 3' "$scratch/err"
}

# The other recorded values over time: a value stays until it changes.
gauges() {
	local db=$scratch/gauges.db slab append=()
	rm -f "$db"
	for slab in 1000 1000 3000; do
		sed "s/^Slab: .*/Slab: $slab kB/" data/recorded-ours-6.12.meminfo >"$scratch/meminfo"
		"$codetag" record -q -c 1 -o "$db" --allocinfo data/handmade-v2.allocinfo \
			--meminfo "$scratch/meminfo" --slabinfo data/recorded-ours-6.12.slabinfo \
			"${append[@]}" || return 1
		append=(--append)
	done
	[ "$("$codetag" replay "$db" --list -N -b -o number --gauge meminfo.Slab \
		--gauge slabinfo.dentry/active | tr -s ' ')" = "$(awk '$1 == "dentry" {
			for (i = 1; i <= 3; i++)
				print i, (i < 3 ? 1000 : 3000) * 1024, $2
		}' data/recorded-ours-6.12.slabinfo)" ] || return 1
	json_is_valid "$codetag" replay "$db" --list --json --gauge 'meminfo.S*' &&
		"$codetag" replay "$db" --gauges -b | tr -s ' ' | grep -x 'meminfo.Slab 1024000 3072000' &&
		! "$codetag" replay "$db" --list --gauge no.such 2>"$scratch/err" && grep -q gauges "$scratch/err"
}

# A build without libarchive says what it cannot do.
cannot_unpack() {
	nice -n 5 make -s -C .. O="$build/static" STATIC=1 || return 1
	gzip -c data/handmade-v1.allocinfo >"$scratch/packed"
	! "$build/static/codetag" report "$scratch/packed" 2>"$scratch/err" &&
		grep -q 'cannot unpack' "$scratch/err"
}

fleet "$scratch/fleet" 60
check merge/awk merge_like_awk
check merge/outliers merge_outliers
check merge/hosts hosts_are_groups
check merge/csv merge_csv_is_json
check merge/labels labelled_hosts
check merge/links links_count_once
check merge/json json_is_valid "$codetag" merge --json -g module "$scratch/fleet"
check merge/kernels merge_kernels
check merge/goes-on merge_goes_on
check merge/progress shows_progress merge -n 1
check report/progress shows_progress report -n 1
check report/progress-hosts shows_progress report -g host
check export/progress shows_progress export --format csv
check diff/progress shows_progress diff "$scratch/fleet"
if feature sqlite3 merge/sqlite && program sqlite3 merge/sqlite; then
	check merge/sqlite merge_like_sqlite
	check report/rows report_rows
	check export/rows export_rows
	check merge/recordings recordings
	check merge/gauges gauges
fi
program clang merge/frugal && check merge/frugal merge_is_frugal merge
program clang merge/frugal-hosts && check merge/frugal-hosts merge_is_frugal report --group host
program pprof merge/pprof && check merge/pprof merge_like_pprof
check archive/static cannot_unpack
if feature libarchive archive; then
	check merge/names merge_names
	check archive/damaged damaged_archive
	check archive/empty empty_archive
	check archive/bomb bomb
	check archive/without archive_without
	for tool in gzip xz zstd; do
		program $tool archive/$tool && check archive/$tool compressed $tool
	done
	for ext in tar tar.gz tar.xz tar.zst; do
		check archive/$ext archive $ext
	done
fi
