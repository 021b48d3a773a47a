# SPDX-License-Identifier: GPL-2.0-only
# Series that Prometheus accepts and that continue; the rules of contrib/prometheus; a leak that
# raises an alert in Debian's Prometheus.

rules=../contrib/prometheus

dashboard=../contrib/grafana/codetag.json

# Each panel of the dashboard asks for series that are exported, or that a rule records, and for
# labels that these have; Prometheus understands the questions.
dashboard_asks() {
	"$codetag" record -q -c 1 -o "$scratch/dashboard.db" --allocinfo data/handmade-v2.allocinfo \
		--activity data/handmade-v2.activity --meminfo data/recorded-ours-6.12.meminfo &&
		sqlite3 "$scratch/dashboard.db" "UPDATE meta SET value = '6.12.117' WHERE key = 'kernel'" || return 1
	"$codetag" export --format prometheus "$scratch/dashboard.db" >"$scratch/dashboard.prom"
	python3 helpers/check-dashboard.py "$dashboard" "$scratch/dashboard.prom" $rules/codetag.rules.yml "$scratch/dashboard.rules.yml"
}

# Prometheus' own parser reads the queries of the panels.
dashboard_parsed() {
	[ -s "$scratch/dashboard.rules.yml" ] || dashboard_asks || return 1
	promtool check rules "$scratch/dashboard.rules.yml"
}

labels_of() {
	"$codetag" export --format prometheus "$@" | sed -n '/^[^#]/s/ [^ ]*$//p' | sort
}

# A kernel with other lines has the same series.
labels_last() {
	awk '/^[a#]/ { print; next }
		match($0, /:[0-9]+ /) { line = substr($0, RSTART + 1, RLENGTH - 2)
			print substr($0, 1, RSTART) line + 7 substr($0, RSTART + RLENGTH - 1) }' \
		data/recorded-ours-6.12.allocinfo >"$scratch/moved"
	cmp -s data/recorded-ours-6.12.allocinfo "$scratch/moved" && return 1
	diff <(labels_of data/recorded-ours-6.12.allocinfo) <(labels_of "$scratch/moved") &&
		! diff <(labels_of -g site data/recorded-ours-6.12.allocinfo) \
			<(labels_of -g site "$scratch/moved") >/dev/null
}

# Any characters in a name.
hostile_names() {
	printf 'allocinfo - version: 2.0\n1 1 a\xff.c:1 func:f\n2 1 a\xfe.c:1 func:f\n3 1 a"\\b.c:1 func:f\n4 1 \xc3\xa4.c:1 func:\xe2\x82\xac\n' \
		>"$scratch/odd-names"
	for by in site place func file dir module subsystem; do
		"$codetag" export --format prometheus -g "$by" "$scratch/odd-names" >"$scratch/odd-names.prom" &&
			iconv -f UTF-8 -t UTF-8 "$scratch/odd-names.prom" >/dev/null || return 1
	done
	[ "$(labels_of "$scratch/odd-names" | grep -c '^codetag_allocated_bytes')" -eq 4 ] &&
		grep -q 'one subsystem' "$scratch/odd-names.prom"
}

# Groups of any kind, hosts with kernels that differ, the kernel, labels.
promtool_takes() {
	local by
	for by in site place func file dir:2 module subsystem; do
		"$codetag" export --format prometheus -n 10000 -a -g "$by" --label host=a \
			data/recorded-mainline-6.12.allocinfo data/recorded-mainline-7.3.allocinfo \
			"$scratch/odd-names" | promtool check metrics || return 1
	done
}

# The kernel of a recording is an info metric; that of a file is not known.
kernel_info() {
	local db=$scratch/kernel.db
	"$codetag" record -q -c 1 -o "$db" --allocinfo data/handmade-v2.allocinfo &&
		sqlite3 "$db" "UPDATE meta SET value = '6.12.117' WHERE key = 'kernel'" || return 1
	"$codetag" export --format prometheus --label rack=7 "$db" |
		grep -x 'codetag_kernel_info{rack="7",release="6.12.117"} 1' &&
		! "$codetag" export --format prometheus data/handmade-v2.allocinfo | grep kernel_info
}

# Stands for a guest: its allocinfo has a site that holds 32 MiB more each time, and one that is
# emptied each fourth time.
guest() {
	local i
	for ((i = 0; ; i++)); do
		sed "s/^ *[0-9]* \(.* fs\/kernfs\/dir.c:.* func:__kernfs_new_node.*\)/$((i << 25)) \1/
			s/^ *[0-9]* \(.* kernel\/fork.c:.* func:alloc_thread_stack_node.*\)/$((i % 4 << 28)) \1/" \
			data/recorded-ours-6.12.allocinfo >"$1/allocinfo"
		"$codetag" export --format prometheus -o "$1/textfile/codetag.prom" "$1/allocinfo"
		sleep 0.3
	done
}

# The whole path: exporter, scrape, rules with seconds for hours, alert, API. On a busy machine
# it takes more seconds for an hour.
planted_leak() {
	local seconds
	for seconds in 1 4 10; do
		leak_with_hours_of $seconds && return 0
		echo "not with $seconds s for an hour"
	done
	return 1
}

leak_with_hours_of() {
	local dir=$scratch/prometheus pids=() status hour=$1 n
	rm -rf "$dir"
	mkdir -p "$dir/textfile" && cp "$rules/codetag.rules.yml" "$dir/" || return 1
	sed -i "s/\b1h\b/$((2 * hour))s/" "$dir/codetag.rules.yml"
	for n in 2 4 6; do
		sed -i "s/\b${n}h\b/$((n * hour))s/g" "$dir/codetag.rules.yml"
	done
	read -r web exporter < <(python3 -c '
import socket
taken = [socket.socket() for _ in range(2)]
for s in taken:
    s.bind(("127.0.0.1", 0))
print(*[s.getsockname()[1] for s in taken])')
	cat >"$dir/prometheus.yml" <<-EOF
		global: {scrape_interval: 500ms, scrape_timeout: 500ms, evaluation_interval: 500ms}
		rule_files: [codetag.rules.yml]
		scrape_configs:
		  - job_name: node
		    static_configs: [targets: ['127.0.0.1:$exporter']]
	EOF
	promtool check config "$dir/prometheus.yml" || return 1
	guest "$dir" 2>"$dir/guest.log" &
	pids+=($!)
	prometheus-node-exporter --web.listen-address="127.0.0.1:$exporter" \
		--collector.disable-defaults --collector.textfile \
		--collector.textfile.directory="$dir/textfile" 2>"$dir/exporter.log" &
	pids+=($!)
	prometheus --config.file="$dir/prometheus.yml" --storage.tsdb.path="$dir/data" \
		--web.listen-address="127.0.0.1:$web" 2>"$dir/prometheus.log" &
	pids+=($!)
	python3 helpers/wait-for-leak-alert.py "$web" $((30 * hour))
	status=$?
	kill "${pids[@]}"
	wait "${pids[@]}" 2>/dev/null
	[ $status -eq 0 ] || tail -n 5 "$dir"/*.log
	return $status
}

check prometheus/labels labels_last
check prometheus/hostile hostile_names
if feature sqlite3 prometheus/kernel && program sqlite3 prometheus/kernel; then
	check prometheus/kernel kernel_info
	check prometheus/dashboard dashboard_asks
fi
if program promtool prometheus/promtool; then
	check prometheus/promtool promtool_takes
	check prometheus/dashboard-parsed dashboard_parsed
	check prometheus/rules promtool test rules $rules/codetag.rules.test.yml
	program prometheus prometheus/leak && program prometheus-node-exporter prometheus/leak &&
		check prometheus/leak planted_leak
fi
