# SPDX-License-Identifier: GPL-2.0-only
# The static footprint of a small tree, made here as Kbuild makes a large one.

tree=$scratch/tree

# compile PATH: reads the source from standard input
compile() {
	local dir=$tree/${1%/*} name=${1##*/}
	mkdir -p "$dir" && cat >"$dir/$name.c"
	gcc -O1 -fno-asynchronous-unwind-tables -c -o "$dir/$name.o" "$dir/$name.c" || return 1
	printf 'savedcmd_%s.o := gcc -c\n\nsource_%s.o := %s.c\n' "$1" "$1" "$1" \
		>"$dir/.$name.o.cmd"
}

make_tree() {
	mkdir -p "$tree/include/config" && echo 6.12.0-test >"$tree/include/config/kernel.release"
	compile fs/ext4/inode <<-'C' || return 1
		static int zero[1000];
		int data[500] = { 1 };
		const int constant[300] = { 1 };
		int *f(int i) { return &zero[i]; }
	C
	compile fs/ext4/super <<-'C' || return 1
		__attribute__((section("alloc_tags"))) long tags[8] = { 1 };
	C
	compile mm/slub <<-'C' || return 1
		char bss[4096];
		static __attribute__((noinline, used)) void twice(void) { }
	C
	compile fs/dcache <<-'C' || return 1
		static __attribute__((noinline, used)) void twice(void) { }
	C
	printf '%s\n' 'ffffffff810a0000 T f' 'ffffffff81100000 t twice' \
		'ffffffff82000000 D data' >"$tree/System.map"
	compile scripts/host <<-'C' || return 1
		char large[100000];
	C
	ld -r -o "$tree/fs/ext4/ext4.o" "$tree"/fs/ext4/{inode,super}.o || return 1
	echo 'savedcmd_fs/ext4/ext4.o := ld -r' >"$tree/fs/ext4/.ext4.o.cmd"
}

static_sizes() {
	local text want
	text=$(size -A "$tree/fs/ext4/inode.o" | awk '$1 == ".text" { print $2 }')
	want="$((4000 + 2000 + 1200 + text)) $text 1200 2000 4000 0 0 fs/ext4/inode.o"
	"$codetag" static "$tree" -b -N | tr -s ' ' | sed 's/^ //' >"$scratch/static"
	grep -qxF "$want" "$scratch/static" &&
		grep -qE "^[0-9]+ [0-9]+ 0 0 4096 0 0 mm/slub.o" "$scratch/static" &&
		grep -qxF "64 0 0 64 0 0 64 fs/ext4/super.o" "$scratch/static" &&
		[ "$(wc -l <"$scratch/static")" -eq 4 ] && return 0
	echo "want $want"
	cat "$scratch/static"
	return 1
}

# With link time optimisation objects are not ELF: the linked file is counted.
static_lto() {
	local dir=$scratch/lto want
	mkdir -p "$dir/fs" && echo 'int data[500] = { 1 };' >"$dir/fs/x.c" &&
		clang -flto=thin -c -o "$dir/fs/x.o" "$dir/fs/x.c" &&
		printf 'savedcmd := x\n\nsource_fs/x.o := x.c\n' >"$dir/fs/.x.o.cmd" || return 1
	"$codetag" static "$dir" 2>"$scratch/err"
	[ $? -eq 2 ] && grep -q '1 object file in .* is LLVM bitcode' "$scratch/err" || return 1
	clang -c -o "$dir/vmlinux.o" "$dir/fs/x.c" &&
		clang -c -o "$dir/fs/m.ko" "$dir/fs/x.c" || return 1
	want=$("$codetag" static -b -N -o data,name "$dir" 2>"$scratch/err" | tr -s ' ') || return 1
	[ "$want" = "$(printf ' 2000 fs/m.ko\n 2000 vmlinux.o')" ] ||
		[ "$want" = "$(printf '2000 fs/m.ko\n2000 vmlinux.o')" ] || { echo "$want"; return 1; }
	grep -q 'link time optimisation' "$scratch/err"
}

static_groups() {
	[ "$("$codetag" static "$tree" -b -N -g dir:1 -s name | awk '{ print $NF, ($1 > 0) }')" = \
		"fs 1
mm 1" ]
}

# Sections .init and .exit are a kind of their own; files .mod tell modules; one file is read, too.
static_apart() {
	local dir=$scratch/apart
	mkdir -p "$dir/drivers" && gcc -O1 -c -o "$dir/drivers/foo-core.o" -x c - <<-'C' || return 1
		char data[64] = { 1 };
		__attribute__((section(".init.data"))) char start[100] = { 1 };
		__attribute__((section(".exit.data"))) char end[50] = { 1 };
		__attribute__((section(".initcall6.init"), used)) static void *call = 0;
		extern __typeof__(data) other __attribute__((alias("data")));
	C
	cp "$dir/drivers/foo-core.o" "$dir/drivers/built.o"
	echo drivers/foo-core.o >"$dir/drivers/foo-bar.mod"
	ld -r -o "$dir/drivers/foo-bar.ko" "$dir/drivers/foo-core.o" || return 1
	[ "$("$codetag" static "$dir" -b -N -g module -s name -o data,init,name | tr -s ' ' | sed 's/^ //')" = \
		"64 158 foo_bar
64 158 vmlinux" ] &&
		[ "$("$codetag" static "$dir/drivers/foo-bar.ko" -b -N -o data,init,name)" = \
			"64  158  $dir/drivers/foo-bar.ko" ] &&
		[ "$("$codetag" static "$dir" -b -N --start-branch drivers/foo-core -o data,init,name)" = \
			"64  158  drivers/foo-core.o" ] &&
		[ -z "$("$codetag" static "$dir" -N --start-branch fs 2>"$scratch/err")" ] &&
		grep -q 'no object file of .* is below fs' "$scratch/err"
}

# Each function and variable, as readelf tells; aliases once, and the rest makes up the sum.
static_symbols() {
	readelf -sW "$tree/fs/ext4/inode.o" |
		awk '($4 == "FUNC" || $4 == "OBJECT") && $3 > 0 { print $3, "fs/ext4/inode.o:" $8 }' |
		sort >"$scratch/want"
	[ -s "$scratch/want" ] &&
		"$codetag" static "$tree" -b -N -g symbol --start-branch fs/ext4/inode -o total,name |
		tr -s ' ' | sed 's/^ //' | grep -v 'no symbol' | sort | diff "$scratch/want" - &&
		[ "$("$codetag" static "$tree" -b -N -g symbol -o total | awk '{ n += $1 } END { print n }')" = \
			"$("$codetag" static "$tree" -b -N -o total | awk '{ n += $1 } END { print n }')" ] &&
		[ "$("$codetag" static "$scratch/apart/drivers/built.o" -N -b -g symbol -o data,name |
			grep -c ':data\|:other')" -eq 1 ]
}

# Callers by name and by address; a name that two objects have gives no file.
trace_objects() {
	"$codetag" trace -N data/handmade-old.trace --kernel "$tree" 2>&1 |
		sed "s|$tree|TREE|" >"$scratch/trace"
	diff - "$scratch/trace" <<-'E' || return 1
		codetag trace: 2 of 4 callers are in no file of TREE, or in several
		384  56  256  2/1  21.9%  f+0x33      fs/ext4/inode.o
		128   0   64  2/1   0.0%  twice+0x10  (several)
	E
}

trace_branch() {
	[ "$("$codetag" trace -N data/handmade-old.trace --kernel "$tree" \
		--start-branch fs/ext4/ 2>/dev/null)" = "384  56  256  2/1  21.9%  f+0x33  fs/ext4/inode.o" ] &&
		[ -z "$("$codetag" trace -N data/handmade-old.trace --kernel "$tree" \
			--start-branch fs/ext 2>"$scratch/err")" ] &&
		grep -q 'no caller is in a file below fs/ext' "$scratch/err" || return 1
	"$codetag" trace -N data/handmade-old.trace --kernel "$tree" --start-branch fs/ext 2>/dev/null
	[ $? -eq 1 ] || return 1
	# The totals are of the branch, too.
	"$codetag" trace data/handmade-old.trace --kernel "$tree" --start-branch fs/ext4 2>/dev/null |
		head -n 9 | tr '\n' ';' | grep -q 'current bytes allocated: 256;.*total wasted bytes: 84;number of allocs: 2;.*number of callers: 1;'
}

# The sum of static and dynamic memory; --start-branch takes a part of both.
trace_current() {
	local trace=data/handmade-old.trace static dynamic branch
	static=$("$codetag" static --json "$tree" | python3 -c '
import json, sys; print(json.load(sys.stdin)["total"]["total"])')
	dynamic=$("$codetag" trace --json "$trace" | python3 -c '
import json, sys; print(json.load(sys.stdin)["total"]["current_dynamic"])')
	[ "$dynamic" -gt 0 ] || return 1
	"$codetag" chart --trace "$trace" --kernel "$tree" -o "$scratch/current.html" || return 1
	[ "$(page_sum "$scratch/current.html")" -eq $((static + dynamic)) ] || return 1
	branch=$("$codetag" static --json -g dir:1 "$tree" | python3 -c '
import json, sys; print([r["total"] for r in json.load(sys.stdin)["rows"] if r["name"] == "fs"][0])')
	dynamic=$("$codetag" trace --json "$trace" --kernel "$tree" --start-branch fs 2>/dev/null | python3 -c '
import json, sys; print(sum(r["current_dynamic"] for r in json.load(sys.stdin)["rows"]))')
	"$codetag" chart --trace "$trace" --kernel "$tree" --start-branch fs -o "$scratch/current.html" &&
		[ "$(page_sum "$scratch/current.html")" -eq $((branch + dynamic)) ]
}

page_sum() {
	page_data "$1" | python3 -c '
import json, sys; print(sum(site["values"][1] for site in json.load(sys.stdin)["sites"]))'
}

# An unreadable object is reported, because it may contain a caller.
trace_unreadable() {
	mkdir -p "$scratch/partly" && cp -r "$tree/fs" "$scratch/partly/" &&
		echo junk >"$scratch/partly/fs/x.o" || return 1
	"$codetag" trace data/handmade-old.trace --kernel "$scratch/partly" 2>&1 >/dev/null |
		grep -q '1 files are named .o but are not object files'
}

# data/source-tree becomes a program that stands for a kernel with DWARF. It writes the trace of
# its own calls to kmalloc(), and the places of these.
make_debug_tree() {
	local dir=$scratch/debug src=$scratch/debug/src
	mkdir -p "$dir"/obj/{fs/ext4,init} && cp -r data/source-tree "$src" || return 1
	(cd "$dir/obj" && set -- -g -O2 -fno-optimize-sibling-calls -I../src/include &&
		gcc "$@" -no-pie -o vmlinux ../src/{init/main,fs/namei,mm/slub,kernel/sched/build}.c &&
		nm -n vmlinux >System.map && gcc "$@" -c -o fs/ext4/inode.o ../src/fs/ext4/inode.c &&
		ld -r -o fs/ext4/ext4.ko fs/ext4/inode.o &&
		./vmlinux >"$scratch/address.trace" 2>"$scratch/places") || return 1
	# The same with names, as kernels since 2.6.37 write them.
	python3 helpers/name-call-sites.py "$dir/obj/System.map" "$scratch/address.trace" >"$scratch/name.trace"
}

debug_files() { # TRACE: the size and the file of each call
	"$codetag" trace -N -b "$1" --kernel "$scratch/debug/obj" -o total_dynamic,file \
		"${@:2}" 2>/dev/null | awk '{ print $1, $2 }' | sort -n
}

# An address has one file. By the name, two functions with the same code may be meant.
trace_debug() {
	debug_files "$scratch/address.trace" | diff <(sort -n "$scratch/places") - &&
		debug_files "$scratch/name.trace" | diff <(sort -n "$scratch/places" |
			sed '/^[36]00 /d; $a 900 (several)') - &&
		debug_files "$scratch/address.trace" --start-branch fs | diff - <(printf '%s fs/namei.c\n' 200 300 400) &&
		debug_files "$scratch/name.trace" --start-branch mm/slub.c | diff - <(printf '%s mm/slub.c\n' 500 700)
}

# Functions of a module: the call site names it, or it is beside a known object.
trace_debug_module() {
	printf 'x-1 [000] 1.0: kmalloc: call_site=%s ptr=%s bytes_req=%s bytes_alloc=%s\n' \
		'twice+0x2/0x10 [ext4]' 10 1 1 ext4_only+0x2/0x10 20 2 2 >"$scratch/module.trace"
	debug_files "$scratch/module.trace" | diff - <(printf '%s\n' '1 fs/ext4/inode.c' \
		'2 fs/ext4/inode.c')
}

trace_debug_damaged() {
	local dir=$scratch/debug-damaged
	mkdir -p "$dir"
	survives 25 "$scratch/debug/obj/vmlinux" "$dir/vmlinux" 400 64 \
		"$codetag" trace "$scratch/name.trace" --kernel "$dir"
}

static_columns() {
	[ "$("$codetag" static "$tree" -N -b -g dir:1 -s name -o name,objects)" = "fs  3
mm  1" ] || return 1
	"$codetag" static "$tree" --json -o name,objects | python3 -c '
import json, sys
assert all(set(row) == {"name", "objects"} for row in json.load(sys.stdin)["rows"])'
}

# The bars of a build tree, and a query on it.
static_bars() {
	local svg=$scratch/static-bars.svg
	"$codetag" chart --attr static --kind bars "$tree" -o "$svg" || return 1
	"$codetag" static "$tree" -b -N | awk '{ print $1 }' | bars_match "$svg" 4 || return 1
	"$codetag" chart --attr static --kind bars "$tree" -o "$svg" 'file fs/ext4/*' || return 1
	"$codetag" static "$tree" -b -N | awk '/ext4/ { print $1 }' | bars_match "$svg" 2
}

# An object is damaged in its header, from its table of sections on, and anywhere.
static_damaged() {
	local dir=$scratch/damaged object=$tree/fs/ext4/inode.o command first sections
	mkdir -p "$dir/fs"
	sections=$(od -An -j 40 -N 8 -t u8 "$object" | tr -d ' ')
	for command in static "trace data/handmade-modern.trace --kernel"; do
		for first in 0-64 "$sections" 0; do
			# shellcheck disable=SC2086
			survives 10 "$object" "$dir/fs/x.o" 10 $first "$codetag" $command "$dir" || return 1
		done
	done
}

static_refuses() {
	mkdir -p "$scratch/no-objects"
	"$codetag" static "$scratch/no-objects"
	[ $? -eq 2 ] || return 1
	"$codetag" static "$scratch/nowhere"
	[ $? -eq 2 ] || return 1
	echo 'not an object' >"$scratch/no-objects/x.o"
	"$codetag" static "$scratch/no-objects"
	[ $? -eq 2 ] || return 1
	# One file: no object, or a core.
	"$codetag" static "$scratch/no-objects/x.o" 2>"$scratch/err"
	[ $? -eq 2 ] && grep -q 'x.o is not an object file, module or vmlinux' "$scratch/err" &&
		[ "$(wc -l <"$scratch/err")" -eq 1 ] || return 1
	"$codetag" static "$small" 2>"$scratch/err"
	[ $? -eq 2 ] && grep -q 'is not an object file, module or vmlinux' "$scratch/err"
}

# The linker puts the tags of a vmlinux into .data, between two symbols.
static_linked() {
	local dir=$scratch/linked-tags
	mkdir -p "$dir" && gcc -c -o "$dir/x.o" -x c - <<-'C' || return 1
		__attribute__((section("alloc_tags"))) long tags[8] = { 1 };
	C
	echo 'SECTIONS { .data : { __start_alloc_tags = .; *(alloc_tags) __stop_alloc_tags = .; } }' \
		>"$dir/x.lds"
	ld -T "$dir/x.lds" -e 0 -o "$dir/vmlinux" "$dir/x.o" &&
		strip -o "$dir/stripped" "$dir/vmlinux" || return 1
	[ "$("$codetag" static -b -N -o tags "$dir/vmlinux")" = 64 ] &&
		[ "$("$codetag" static -b -N -o tags "$dir/stripped")" = - ] &&
		"$codetag" static --json "$dir/stripped" | grep -q '"tags": null'
}

if "$codetag" --version | grep -q libelf; then
	if make_tree; then
		check static/sizes static_sizes
		check static/groups static_groups
		check static/apart static_apart
		check static/symbols static_symbols
		check static/damaged static_damaged
		check static/columns static_columns
		check trace/objects trace_objects
		check trace/branch trace_branch
		if feature d3 trace/current; then
			check trace/current trace_current
		fi
		check trace/unreadable trace_unreadable
		if feature libdw trace/debug; then
			if make_debug_tree; then
				check trace/debug trace_debug
				check trace/debug-module trace_debug_module
				check trace/debug-damaged trace_debug_damaged
			else
				check trace/debug false
			fi
		fi
		check docs/json/static json_is_documented "$codetag" static --json "$tree"
		check docs/json/trace-kernel json_is_documented "$codetag" trace --json \
			data/handmade-old.trace --kernel "$tree"
		check static/json json_is_valid "$codetag" static --json "$tree"
		if "$codetag" --version | grep -q cairo; then
			check static/chart "$codetag" chart --attr static "$tree" -o "$scratch/static.svg"
			check static/bars static_bars
			check static/chart-func chart_refuses --attr static "$tree" -g func
			check static/chart-area chart_refuses --attr static "$tree" --kind area
		fi
	else
		check static/tree false
	fi
	check static/lto static_lto
	check static/refuses static_refuses
	check static/linked static_linked
fi
