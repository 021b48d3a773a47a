# SPDX-License-Identifier: GPL-2.0-only
# codetag where: all memory, each byte once, wherever it is read from.

# field FILE NAME, kind FILE NAME: a number of the JSON
where_field() {
	python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))[sys.argv[2]])' "$@"
}
where_kind() {
	python3 -c 'import json, sys
print(next(k["size"] for k in json.load(open(sys.argv[1]))["kinds"] if k["name"] == sys.argv[2]))' "$@"
}

# A machine of 1 GiB in pages of 4 KiB: 512 MiB free, 10 MiB on lists of CPUs
make_host() { # DIR [SUnreclaim in KiB]
	mkdir -p "$1/proc"
	cat >"$1/proc/meminfo" <<-MEMINFO
		MemTotal:        1000000 kB
		MemFree:          524288 kB
		Buffers:            1000 kB
		Cached:           200000 kB
		SwapCached:         3000 kB
		Active:           150000 kB
		Inactive:         151000 kB
		Active(file):      90000 kB
		Inactive(file):    80000 kB
		Unevictable:           0 kB
		AnonPages:        100000 kB
		Shmem:             30000 kB
		KReclaimable:      20500 kB
		SReclaimable:      20000 kB
		SUnreclaim:        ${2:-30000} kB
		KernelStack:        4000 kB
		PageTables:         5000 kB
		VmallocUsed:       14000 kB
		Percpu:             1000 kB
		Hugetlb:           20480 kB
	MEMINFO
	printf 'nr_free_pages 131072\nnr_zspages 500\nnr_memmap_boot_pages 4096\n' >"$1/proc/vmstat"
	cat >"$1/proc/zoneinfo" <<-ZONEINFO
		Node 0, zone   Normal
		  pages free     131072
		        present  262144
		        managed  250000
		    cpu: 0
		              count: 2560
	ZONEINFO
}

# Every number follows from the files, and all of them add up.
where_sums() {
	local dir=$scratch/where-sums
	make_host "$dir" || return 1
	"$codetag" where --json "$dir" >"$dir/json" || return 1
	python3 helpers/check-where-kinds.py "$dir/json"
}

# Objects in slabs are charged, too: only the kernel knows the sum of the pages.
where_charged() {
	local dir=$scratch/where-charged
	make_host "$dir" || return 1
	cat >"$dir/proc/allocinfo" <<-ALLOCINFO
		allocinfo - version: 2.0
		#     <size>  <calls> <tag info>
		    40960000    10000 mm/slub.c:2451 func:alloc_slab_page
		    30000000   200000 fs/kernfs/dir.c:624 func:__kernfs_new_node
		    10240000     2500 drivers/foo/rx.c:412 [foo] func:foo_rx_alloc
		   413696000   101000 mm/filemap.c:1944 func:__filemap_get_folio
		      409600      100 mm/percpu-vm.c:95 func:pcpu_alloc_pages
	ALLOCINFO
	"$codetag" where --json "$dir" >"$dir/json"
	[ "$(where_field "$dir/json" exact)" = False ] || return 1
	# 455 of the 495 MB are pages; the kinds have 403 of them.
	mkdir -p "$dir/sys/kernel/debug/codetag"
	printf '# charged - version: 1.0\n# x\n  495305600 1 sites\n  455305600 1 pages\n 1 1 vmalloc\n  1000 1 percpu\n  29999000 1 slab\n' \
		>"$dir/sys/kernel/debug/codetag/charged"
	"$codetag" where --json "$dir" >"$dir/json"
	python3 helpers/check-where-charged.py "$dir/json"
}

# Memory kept at boot, by the lines that took it; a list that is cut is ignored.
where_boot() {
	local dir=$scratch/where-boot
	make_host "$dir/web7" || return 1
	mkdir -p "$dir/web7/sys/kernel/debug/codetag"
	cat >"$dir/web7/sys/kernel/debug/codetag/boot" <<-BOOT
		boot - version: 1.0
		#     <size>  <areas> <tag info>
		    20000000        1 mm/sparse-vmemmap.c:69 func:vmemmap_alloc_block
		    12000000        1 codetag:0 func:kernel_text
		     8000000        2 codetag:3 func:kernel_bss
		     4194304        1 fs/dcache.c:3219 func:dcache_init_early hash:yes
		     3000000        1 arch/x86/kernel/setup.c:412 func:reserve_crashkernel
		     1000000        1 drivers/foo/early.c:7 func:foo_early
		      300000        1 arch/arm64/mm/init.c:275 func:arm64_memblock_init
		      100000        1 drivers/of/fdt.c:1128 func:early_init_dt_alloc_memory_arch
	BOOT
	tar cJf "$dir/web7.tar.xz" -C "$dir" web7
	for from in web7 web7.tar.xz; do
		"$codetag" where --json "$dir/$from" >"$dir/json"
		python3 helpers/check-where-boot.py "$dir/json" || return 1
	done
	"$codetag" where -b "$dir/web7" | grep -q '49741824 .* kept at boot, beside used *mm/sparse-vmemmap.c:69 func:vmemmap_alloc_block 20000000$' ||
		return 1
	truncate -s -10 "$dir/web7/sys/kernel/debug/codetag/boot"
	"$codetag" where --json "$dir/web7" | grep -q '"boot_lines": \[\]'
}

# Of this machine, from a recording
where_boot_recorded() {
	local dir=$scratch/where-boot-recorded
	make_host "$dir" || return 1
	printf 'boot - version: 1.0\n# x\n 7000 1 init/main.c:621 func:setup_command_line\n' >"$dir/boot"
	# shellcheck disable=SC2016
	unshare -m sh -c 'mount -t tmpfs none /sys && mkdir -p /sys/kernel/debug/codetag &&
		cp "$2/boot" /sys/kernel/debug/codetag && mount -t tmpfs none /proc && cp "$2"/proc/* /proc &&
		cp data/handmade-v1.allocinfo /proc/allocinfo && "$1" record -q -c 1 -o "$2/one.db"' sh "$codetag" "$dir" \
		2>"$dir/errors"
	"$codetag" where --json "$dir/one.db" >"$dir/json"
	grep -q '"name": "init/main.c:621 func:setup_command_line"' "$dir/json" || { cat "$dir/errors"; return 1; }
}

# Counters of different times may add up to too much: still nothing is below zero, and the sum
# is right.
where_overlap() {
	local dir=$scratch/where-overlap
	make_host "$dir" 900000 || return 1
	"$codetag" where --json "$dir" >"$dir/json"
	python3 - "$dir/json" <<-'PYTHON'
		import json, sys
		host = json.load(open(sys.argv[1]))
		assert sum(k["size"] for k in host["kinds"]) == host["used"]
		assert min(k["size"] for k in host["kinds"]) >= 0 and host["overlap"] > 0
		assert any("different times" in line for line in host["missing"])
	PYTHON
}

# The same machine as a directory, its proc/, one of its files and an archive
where_sources() {
	local dir=$scratch/where-sources from
	mkdir -p "$dir/in" && make_host "$dir/in/web7" || return 1
	cp data/inputs/vmallocinfo "$dir/in/web7/proc"
	tar cJf "$dir/web7.tar.xz" -C "$dir/in" web7
	"$codetag" where -b "$dir/in/web7" | tail -n +2 >"$dir/want"
	grep -q '30720000 .* slab, not reclaimable' "$dir/want" || return 1
	for from in in in/web7/proc in/web7/proc/meminfo in/web7/proc/zoneinfo in/web7/proc/vmallocinfo web7.tar.xz; do
		"$codetag" where -b "$dir/$from" | tail -n +2 | diff "$dir/want" - || return 1
	done
}

# Areas that are stacks have a row of their own, so they own nothing of the row of vmalloc.
where_areas() {
	local dir=$scratch/where-areas
	make_host "$dir" || return 1
	{
		seq 300 | sed 's/.*/0xffffc900000&-0xffffc900000& 20480 dup_task_struct+0xa9\/0x360 pages=4 vmalloc/'
		echo '0xffffc90000402000-0xffffc90000404000 8192 foo_ring_alloc+0x11/0x40 [bar] pages=1 vmalloc'
	} >"$dir/vmallocinfo"
	"$codetag" where "$dir" >"$dir/out" || return 1
	grep -q 'vmalloc and modules .*foo_ring_alloc' "$dir/out" && ! grep 'vmalloc and modules .*dup_task' "$dir/out"
}

# says STATUS TEXT FILE: it exits with STATUS and prints TEXT
where_says() {
	local status=$1 text=$2
	shift 2
	timeout 20 "$codetag" where "$@" >"$scratch/where-says" 2>&1
	[ $? -eq "$status" ] && grep -q "$text" "$scratch/where-says" || { cat "$scratch/where-says"; return 1; }
}

# A file that is cut, incomplete or there twice is reported, and not used.
where_damage() {
	local dir=$scratch/where-damage name
	make_host "$dir/good" && cp data/recorded-mainline-6.12.slabinfo "$dir/good/proc/slabinfo" || return 1
	cp data/recorded-mainline-6.12.allocinfo "$dir/good/proc/allocinfo"
	timeout 20 "$codetag" where "$dir/good" >"$dir/out" || [ $? -eq 1 ] || return 1
	for name in meminfo zoneinfo slabinfo allocinfo; do
		rm -rf "$dir/web7" && cp -r "$dir/good" "$dir/web7" || return 1
		head -c -9 "$dir/good/proc/$name" >"$dir/web7/proc/$name"
		where_says 2 "$name ends within line .*: was it cut" "$dir/web7" || return 1
		cat "$dir/good/proc/$name" "$dir/good/proc/$name" >"$dir/web7/proc/$name"
		where_says 2 "has 2 copies of .*$name" "$dir/web7" || return 1
	done
	where_says 2 'Keep the copy that was saved together with meminfo' "$dir/web7" || return 1
	rm "$dir/web7/proc/allocinfo"
	sed 's/^MemTotal: */&0 kB #/; s/#.*//' "$dir/good/proc/meminfo" >"$dir/web7/proc/meminfo"
	where_says 2 'the meminfo contradicts itself: MemTotal is 0' "$dir/web7" || return 1
	sed 's/^MemFree: */&9/' "$dir/good/proc/meminfo" >"$dir/web7/proc/meminfo"
	where_says 2 'contradicts itself: MemFree is more than MemTotal' "$dir/web7" || return 1
	cp "$dir/good/proc/meminfo" "$dir/web7/proc/meminfo"
	sort -rn "$dir/good/proc/allocinfo" | head -5 >"$dir/web7/proc/allocinfo"
	where_says 2 'web7/allocinfo is a part of a list' "$dir/web7"
}

# Quoted and UTF-16: as every copy of allocinfo may be.
where_plain() {
	local dir=$scratch/where-plain
	make_host "$dir" || return 1
	sed 's/^/> /' "$dir/proc/meminfo" >"$dir/quoted"
	iconv -t UTF-16 "$dir/proc/meminfo" >"$dir/utf16"
	where_says 0 'Nothing is unusual' "$dir/quoted" && where_says 0 'Nothing is unusual' "$dir/utf16"
}

# All files of a machine in one, called as one of them, in a directory or without
where_joined() {
	local dir=$scratch/where-joined name
	make_host "$dir/web7" && cp data/recorded-mainline-6.12.slabinfo "$dir/web7/proc/slabinfo" || return 1
	cp data/recorded-mainline-6.12.allocinfo "$dir/web7/proc/allocinfo"
	"$codetag" where -b "$dir/web7" | tail -n +2 >"$dir/want"
	for name in meminfo allocinfo; do
		mkdir "$dir/$name" && (cd "$dir/web7/proc" && cat meminfo allocinfo vmstat zoneinfo slabinfo) >"$dir/$name/$name"
		cmp -s "$dir/web7/proc/$name" "$dir/$name/$name" && return 1
		"$codetag" where -b "$dir/$name" | tail -n +2 | diff "$dir/want" - || return 1
		"$codetag" where -b "$dir/$name/$name" | tail -n +2 | diff "$dir/want" - || return 1
	done
	# Quoted, in UTF-16, in an archive
	mkdir "$dir/quoted" "$dir/utf16" "$dir/packed" "$dir/packed/proc" || return 1
	sed 's/^/> /' "$dir/meminfo/meminfo" >"$dir/quoted/meminfo"
	iconv -f UTF-8 -t UTF-16 "$dir/meminfo/meminfo" >"$dir/utf16/meminfo"
	cp "$dir/meminfo/meminfo" "$dir/packed/proc/"
	tar -C "$dir/packed" -czf "$dir/packed.tar.gz" proc || return 1
	for name in quoted utf16 packed.tar.gz; do
		"$codetag" where -b "$dir/$name" | tail -n +2 | diff "$dir/want" - || return 1
	done
	# Under the other name, and two machines of an archive with their names
	mv "$dir/packed/proc/meminfo" "$dir/packed/proc/allocinfo" &&
		tar -C "$dir/packed" -czf "$dir/other.tar.gz" proc || return 1
	"$codetag" where -b "$dir/other.tar.gz" | tail -n +2 | diff "$dir/want" - || return 1
	mkdir "$dir/two" && mv "$dir/packed" "$dir/two/web8" && cp -r "$dir/web7" "$dir/two/" || return 1
	tar -C "$dir/two" -czf "$dir/two.tar.gz" web7 web8 || return 1
	"$codetag" where -b "$dir/two.tar.gz" >"$dir/two.out" && grep -q web7 "$dir/two.out" && grep -q web8 "$dir/two.out" || return 1
	# Where a single file is wanted, it is taken from them.
	"$codetag" slabs -b -f "$dir/web7/proc/slabinfo" >"$dir/slabs" &&
		"$codetag" slabs -b -f "$dir/meminfo/meminfo" | diff "$dir/slabs" - || return 1
	(cd "$dir/web7/proc" && "$codetag" report -b --meminfo meminfo --slabinfo slabinfo --zoneinfo zoneinfo allocinfo) >"$dir/report" || return 1
	(cd "$dir/meminfo" && "$codetag" report -b --meminfo meminfo --slabinfo meminfo --zoneinfo meminfo ../web7/proc/allocinfo) |
		diff "$dir/report" - || return 1
	(cd "$dir/web7/proc" && cat meminfo zoneinfo) >"$dir/without"
	"$codetag" slabs -f "$dir/without" >"$dir/out" 2>&1
	[ $? -eq 2 ] && grep -q 'without has no slabinfo$' "$dir/out" || return 1
	(cd "$dir/web7/proc" && "$codetag" report --meminfo meminfo --slabinfo "$dir/without" allocinfo) >"$dir/out" 2>&1
	[ $? -eq 2 ] && grep -q 'without has no slabinfo$' "$dir/out" || return 1
	# A part that cannot be used does not hide the file beside it.
	(cd "$dir/web7/proc" && cat meminfo allocinfo vmstat zoneinfo && head -c -9 slabinfo) >"$dir/meminfo/meminfo"
	cp "$dir/web7/proc/slabinfo" "$dir/meminfo/slabinfo"
	"$codetag" where -b "$dir/meminfo" 2>"$dir/error" | tail -n +2 | diff "$dir/want" - && grep -q slabinfo "$dir/error"
}

# The command does not wait for a pipe without a writer.
where_pipes() {
	local dir=$scratch/where-pipes
	make_host "$dir/web7" && mkfifo "$dir/pipe" || return 1
	where_says 0 'pipe is left out: it is not an ordinary file' "$dir" || return 1
	rm "$dir/web7/proc/meminfo" && mkfifo "$dir/web7/proc/meminfo" || return 1
	where_says 2 'meminfo is left out: it is not an ordinary file' "$dir"
}

# Two machines are compared; of many, those unlike the others are named.
where_many() {
	local dir=$scratch/where-many i
	for i in 1 2 3 4 5 6 7 8; do make_host "$dir/fleet/web$i" || return 1; done
	"$codetag" where "$dir/fleet" >"$dir/out" || { cat "$dir/out"; return 1; }
	grep -q '^8 machines with 8.0G installed$' "$dir/out" && grep -q 'No machine is unlike' "$dir/out" || return 1
	make_host "$dir/fleet/web3" 130000
	printf '%s\n' 'allocinfo - version: 1.0' '#     <size>  <calls> <tag info>' '99000000 9000 fs/a.c:1 func:a' \
		'0 0 fs/b.c:1 func:b' >"$dir/fleet/web3/proc/allocinfo"
	"$codetag" where "$dir/fleet" >"$dir/out"
	[ $? -eq 1 ] && grep -q 'web3 *slab, not reclaimable *web3$' "$dir/out" &&
		grep -q '^web3: [0-9.]*M of slab, not reclaimable (median [0-9.]*M), mostly fs/a.c:1 func:a with 94.4M$' "$dir/out" ||
		{ cat "$dir/out"; return 1; }
	json_is_valid "$codetag" where --json "$dir/fleet" || return 1
	"$codetag" where "$dir/fleet/web1" "$dir/fleet/web3" >"$dir/out"
	[ $? -eq 1 ] && grep -q '97.7M more of slab, not reclaimable in web3, which cannot be dropped' "$dir/out" ||
		{ cat "$dir/out"; return 1; }
}

# A thousand, two of which are unlike the others, each in its own row.
where_thousand() {
	local dir=$scratch/where-thousand
	make_host "$dir/one" && python3 helpers/make-varied-hosts.py "$dir" || return 1
	"$codetag" where "$dir/fleet" >"$dir/out"
	[ $? -eq 1 ] && grep -q '^1000 machines' "$dir/out" &&
		grep -q 'h077 *slab, not reclaimable *h077$' "$dir/out" &&
		grep -q 'h500 *page tables *h500$' "$dir/out" || { cat "$dir/out"; return 1; }
}

# A cache that is larger than all unreclaimable slabs owns none of these.
where_owner() {
	local dir=$scratch/where-owner
	make_host "$dir" || return 1
	printf '%s\n' 'slabinfo - version: 2.1' '# name' \
		'foo_inode_cache 120000 120000 1024 32 8 : tunables 0 0 0 : slabdata 3750 3750 0' \
		'bar 20000 20000 1024 32 8 : tunables 0 0 0 : slabdata 600 600 0' >"$dir/proc/slabinfo"
	rm -f "$dir/proc/allocinfo"
	"$codetag" where "$dir" >"$dir/out" 2>&1
	grep -q 'slab, not reclaimable *bar' "$dir/out" || { cat "$dir/out"; return 1; }
	# The books of the percpu allocator are in slabs and vmalloc areas, not in percpu memory.
	printf '%s\n' 'allocinfo - version: 1.0' '#     <size>  <calls> <tag info>' \
		'4400000 40 mm/percpu.c:517 func:pcpu_mem_zalloc' '61440 15 mm/percpu-vm.c:95 func:pcpu_alloc_pages' \
		>"$dir/proc/allocinfo"
	"$codetag" where "$dir" >"$dir/out" 2>&1
	! grep 'per-CPU memory.*pcpu_mem_zalloc' "$dir/out" || return 1
	# Modules are in vmalloc areas, and the descriptors of these are charged with them (7.3).
	printf '%s\n' 'allocinfo - version: 1.0' '#     <size>  <calls> <tag info>' \
		'2134088 524 mm/execmem.c:42 func:execmem_vmalloc' '900000 9000 fs/a.c:1 func:a' >"$dir/proc/allocinfo"
	"$codetag" where "$dir" >"$dir/out" 2>&1
	grep -q 'vmalloc and modules  *mm/execmem.c:42 func:execmem_vmalloc 2.0M$' "$dir/out" ||
		{ cat "$dir/out"; return 1; }
}

# A recording has all that it needs, zoneinfo and processes, too. A sentence reports steady
# growth.
where_recording() (
	export dir=$scratch/where-recording
	pretend() { # HOUR
		. "$dir/make_host"
		make_host "$dir" $((30000 + $1 / 3600 * 3000))
		cat >"$dir/proc/allocinfo" <<-ALLOCINFO
			allocinfo - version: 2.0
			#     <size>  <calls> <tag info>
			$((20000000 + $1 * 853)) $((1000 + $1)) drivers/foo/rx.c:412 [foo] func:foo_rx_alloc
			460000000 100000 mm/filemap.c:1944 func:__filemap_get_folio
		ALLOCINFO
		printf '%s\n' '# activity - version: 1.0' "$((100 + 2 * $1)) $1 0 drivers/foo/rx.c:412 [foo] func:foo_rx_alloc" \
			'100000 0 0 mm/filemap.c:1944 func:__filemap_get_folio' >"$dir/activity"
		: >"$dir/proc/slabinfo"
	}
	mkdir -p "$dir"
	declare -f make_host >"$dir/make_host"
	in_world "$codetag" record -q -o "$dir/db" -c 8 -i 3600 --allocinfo "$dir/proc/allocinfo" \
		--meminfo "$dir/proc/meminfo" --vmstat "$dir/proc/vmstat" --zoneinfo "$dir/proc/zoneinfo" || return 1
	"$codetag" where "$dir/db" >"$dir/out"
	[ $? -eq 1 ] && grep -q '^Slab, not reclaimable grew steadily, by 20.5M in 7 h (2.9M an hour). Most of it: drivers/foo/rx.c:412 \[foo\] func:foo_rx_alloc, by ' "$dir/out" ||
		{ cat "$dir/out"; return 1; }
	"$codetag" where --json "$dir/db" >"$dir/json"
	[ "$(where_field "$dir/json" cpu_lists)" = $((2560 * 4096)) ] || return 1
	! grep -q Busiest "$dir/out" || return 1
	# A whole day, and what was busy in it
	in_world "$codetag" record -q -o "$dir/day.db" -c 25 -i 3600 --allocinfo "$dir/proc/allocinfo" --activity "$dir/activity" \
		--meminfo "$dir/proc/meminfo" --vmstat "$dir/proc/vmstat" --zoneinfo "$dir/proc/zoneinfo" || return 1
	"$codetag" where "$dir/day.db" >"$dir/out"
	[ $? -eq 1 ] && shows "$dir/out" 'Busiest over 24 h: drivers/foo/rx.c:412 [foo] func:foo_rx_alloc, 2.0 allocs/s, 1.0 frees/s' &&
		grep -q '   USED   SHARE   in 24 h  WHAT' "$dir/out" &&
		grep -q '+70.3M  slab, not reclaimable  .* <-24h drivers/foo/rx.c:412' "$dir/out" &&
		grep -q '^Slab, not reclaimable grew steadily, by 70.3M in 24 h (2.9M an hour). ' "$dir/out" &&
		[ "$(grep -c '<-' "$dir/out")" -eq 1 ] || { cat "$dir/out"; return 1; }
	# Only snapshots since the last boot count.
	rebooted "$dir/day.db" "$dir/boot.db" || return 1
	"$codetag" where "$dir/boot.db" >"$dir/out" 2>&1
	[ $? -eq 1 ] && grep -q ': the machine was booted between snapshots 8 and 9; only the 17 since then' "$dir/out" &&
		grep -q '^Busiest over 16 h: ' "$dir/out" && grep -q '   USED   SHARE   in 16 h  WHAT' "$dir/out" &&
		grep -q '^Slab, not reclaimable grew steadily, by 46.9M in 16 h ' "$dir/out" || { cat "$dir/out"; return 1; }
	# One moment of it has no past.
	"$codetag" where "$dir/db@8" >"$dir/out" || { cat "$dir/out"; return 1; }
	grep -qx 'Nothing is unusual.' "$dir/out" || return 1
	"$codetag" where "$dir/db@1" "$dir/db@8" >"$dir/out"
	[ $? -eq 1 ] && grep -q 'BEFORE *NOW *CHANGE' "$dir/out" && grep -q '+20.5M *slab, not reclaimable' "$dir/out" ||
		{ cat "$dir/out"; return 1; }
	# codetag report has the same numbers.
	"$codetag" report --json "$dir/db" >"$dir/report"
	python3 - "$dir/report" "$dir/json" <<-'PYTHON'
		import json, sys
		report, where = (json.load(open(f)) for f in sys.argv[1:])
		assert report["memory"]["cpu_lists"] == where["cpu_lists"]
		assert [k["size"] for k in report["memory"]["kinds"]] == [k["size"] for k in where["kinds"]]
	PYTHON
)

# own_files DIR COMMAND…: COMMAND with DIR/proc as /proc, and DIR/codetag in debugfs. Sanitizers
# read their options in /proc/self, and threads in /proc/PID.
own_files() {
	# shellcheck disable=SC2016
	unshare -m sh -c 'mount -t tmpfs none /sys && mkdir -p /sys/kernel/debug/codetag &&
		mount --bind "$0/codetag" /sys/kernel/debug/codetag && mkdir -p "$0/real" && mount --rbind /proc "$0/real" &&
		ln -sfn "$0/real/self" "$0/proc/self" && ln -sfn "$0/real/$$" "$0/proc/$$" &&
		mount --bind "$0/proc" /proc && exec "$@"' "$@"
}

# make_busy_host DIR: it has three call sites that hold memory, and one that only passes it on
make_busy_host() {
	make_host "$1" && mkdir -p "$1/codetag" || return 1
	cat >"$1/proc/allocinfo" <<-'ALLOCINFO'
		allocinfo - version: 2.0
		    40960000    10000 mm/slub.c:2451 func:alloc_slab_page
		    30000000   200000 fs/kernfs/dir.c:624 func:__kernfs_new_node
		    10240000     2500 drivers/foo/rx.c:412 [foo] func:foo_rx_alloc
		           0        0 net/core/skbuff.c:661 func:__alloc_skb
	ALLOCINFO
	busy_counts "$1" 0
}

# busy_counts DIR SECOND: the number of allocations of __alloc_skb wraps around after a second.
busy_counts() {
	local wrap=$((1 << 32)) calls
	calls=$(((wrap - 40000 + 52310 * $2) % wrap))
	{
		echo '# activity - version: 1.0'
		printf '%11d %11d 0 %s\n' $((900000 * $2)) 0 'mm/slub.c:2451 func:alloc_slab_page' \
			7 1 'fs/kernfs/dir.c:624 func:__kernfs_new_node' \
			$((100 + 2 * $2)) $((90 + 9 * $2)) 'drivers/foo/rx.c:412 [foo] func:foo_rx_alloc' \
			$calls $calls 'net/core/skbuff.c:661 func:__alloc_skb'
	} >"$1/activity.new"
	mv "$1/activity.new" "$1/codetag/activity"
}

# The line that allocates most often is named, even if it holds nothing, and over which time.
where_busy() (
	export dir=$scratch/where-busy
	mkdir -p "$dir" && declare -f busy_counts >"$dir/busy_counts" || return 1
	pretend() {
		. "$dir/busy_counts"
		busy_counts "$dir" "$1"
	}
	declare -f own_files >"$dir/own_files"
	make_busy_host "$dir" || return 1
	# shellcheck disable=SC2016
	in_world bash -c '. "$dir/own_files"; own_files "$dir" "$@"' bash "$codetag" where -d 8 >"$dir/out" 2>&1
	grep -qx 'Busiest over 8 s: net/core/skbuff.c:661 func:__alloc_skb, 52310 allocs/s, 52310 frees/s' "$dir/out" ||
		{ cat "$dir/out"; return 1; }
	# shellcheck disable=SC2016
	in_world bash -c '. "$dir/own_files"; own_files "$dir" "$@"' bash "$codetag" where --json -d 8 -n 2 >"$dir/json" 2>&1
	python3 - "$dir/json" <<-'PYTHON'
		import json, sys
		busiest = json.load(open(sys.argv[1]))["busiest"]
		assert busiest["seconds"] == 8, busiest
		assert [(s["name"][-12:], s["size"], s["allocs_recent"], s["frees_rate"]) for s in busiest["sites"]] == \
			[(":__alloc_skb", 0, 418480, 52310), ("foo_rx_alloc", 10240000, 16, 9)], busiest
	PYTHON
	[ $? -eq 0 ] || { cat "$dir/json"; return 1; }
	rm "$dir/codetag/activity"
	own_files "$dir" "$codetag" where -d 0.1 >"$dir/out" 2>&1
	grep -qx 'Allocations and frees are not known: that needs root, and a kernel with codetag.' "$dir/out" &&
		! grep -q Busiest "$dir/out" || { cat "$dir/out"; return 1; }
	own_files "$dir" "$codetag" where >"$dir/out" 2>&1
	! grep -q 'Allocations and frees' "$dir/out"
)

where_busy_screen() {
	local dir=$scratch/where-busy-screen
	make_busy_host "$dir" || return 1
	{
		declare -f own_files busy_counts
		printf 'second=0; while sleep 0.2; do [ -e still ] || busy_counts %q $((second += 1)); done & own_files %q "$@"; kill $!\n' \
			"$dir" "$dir"
	} >"$dir/run"
	on_screen 80 24 "ASAN_OPTIONS=detect_leaks=0 bash $dir/run $codetag where -d 0.3" busy_steps
}

busy_steps() {
	screen_has 'codetag where' || return 1
	screen_has 'Busiest over 0.' || return 1
	screen_has 's: skbuff.c:661 __alloc_skb, ' || return 1
	tmux_top send-keys A
	screen_has '           SIZE  ALLOCS/S   FREES/S  everything: call sites' || return 1
	comes first_owner __alloc_skb || return 1
	! on_screen_now Busiest || return 1
	touch "$scratch/still"
	screen_has 'nothing was allocated or freed since the last refresh' || return 1
	rm "$scratch/still"
	comes lacks 'nothing was allocated' || return 1
	tmux_top send-keys F
	comes first_owner __alloc_skb || return 1
	tmux_top send-keys s
	screen_has '           SIZE   SHARE      NUMBER  everything: call sites' || return 1
	comes first_owner __kernfs_new_node || return 1
	tmux_top resize-window -x 120 -y 30
	screen_has 'SHARE      NUMBER  ALLOCS/S   FREES/S  everything: call sites' || return 1
	comes first_owner __kernfs_new_node || return 1
	# Modules, then processes, which the kernel does not count
	tmux_top send-keys Tab A
	screen_has 'ALLOCS/S   FREES/S  everything: modules' || return 1
	comes first_owner vmlinux || return 1
	tmux_top send-keys q
	screen_has 'Busiest over 0.' || return 1
	tmux_top send-keys q
	screen_has 'left 0'
}

# first_owner NAME: the first row below the headings ends in it
first_owner() {
	[[ $(tmux_top capture-pane -p | grep -A1 ' SIZE ' | tail -n 1) == *$1 ]]
}

# A recording of an earlier version has no zoneinfo, and a message says so.
where_old_recording() {
	"$codetag" where "$recording" >"$scratch/where-old" 2>&1
	[ $? -eq 2 ] && grep -q 'there is no meminfo of this machine' "$scratch/where-old" ||
		{ cat "$scratch/where-old"; return 1; }
}

# This machine
where_live() {
	"$codetag" where --once --json >"$scratch/live.json"
	[ $? -le 1 ] || { cat "$scratch/live.json"; return 1; }
	[ "$(where_field "$scratch/live.json" total)" = "$(awk '/^MemTotal:/ { printf("%.0f", $2 * 1024) }' /proc/meminfo)" ] || return 1
	"$codetag" where --once --pss -N >/dev/null
	[ $? -le 1 ]
}

# Without a terminal, codetag alone asks for a command.
where_alone() {
	"$codetag" >"$scratch/alone" 2>&1
	[ $? -eq 2 ] && grep -q 'a command is missing' "$scratch/alone"
}

where_screen() {
	on_screen 80 24 "ASAN_OPTIONS=detect_leaks=0 $codetag" where_steps
}

where_steps() {
	screen_has 'codetag where' || return 1
	screen_has ' at boot + ' || return 1
	screen_has 'Enter opens, Tab other owners' || return 1
	screen_has 'process memory' || return 1
	tmux_top send-keys / 'PROCESS mem' Enter
	screen_has 'only: PROCESS mem' || return 1
	comes lacks 'unaccounted' || return 1
	tmux_top send-keys Enter
	screen_has 'process memory: processes (Tab: others)' || return 1
	screen_has 'bash' || return 1
	tmux_top send-keys Enter
	screen_has 'only a call site has callers' || return 1
	tmux_top send-keys h
	screen_has 'show only lines with a text' || return 1
	tmux_top send-keys h i
	screen_has 'meminfo SReclaimable' || return 1
	tmux_top send-keys i q
	screen_has 'unaccounted' || return 1
	tmux_top send-keys u
	comes lacks 'G  ' || return 1
	tmux_top send-keys Right Right Left
	tmux_top resize-window -x 200 -y 50
	screen_has 'LARGEST OWNER' || return 1
	tmux_top resize-window -x 5 -y 2
	sleep 0.3
	tmux_top resize-window -x 80 -y 24
	screen_has 'q quits' || return 1
	tmux_top send-keys q
	screen_has 'left 0'
}

lacks() {
	! on_screen_now "$1"
}

check where/sums where_sums
check where/charged where_charged
check where/boot where_boot
if unshare -m mount -t tmpfs none /proc 2>/dev/null; then
	feature sqlite3 where/boot-recorded && check where/boot-recorded where_boot_recorded
	check where/busy where_busy
	program tmux where/busy-screen && feature ncursesw where/busy-screen && check where/busy-screen where_busy_screen
else
	skip where/boot-recorded "no mount namespace of its own"
	skip where/busy "no mount namespace of its own"
	skip where/busy-screen "no mount namespace of its own"
fi
check where/overlap where_overlap
feature libarchive where/sources && check where/sources where_sources
check where/damage where_damage
check where/plain where_plain
check where/joined where_joined
check where/areas where_areas
check where/pipes where_pipes
check where/owner where_owner
check where/thousand where_thousand
check where/many where_many
if feature sqlite3 where/recording; then
	check where/recording where_recording
	check where/old-recording where_old_recording
fi
check where/live where_live
check where/alone where_alone
if program tmux where/screen && feature ncursesw where/screen; then
	check where/screen where_screen
fi
