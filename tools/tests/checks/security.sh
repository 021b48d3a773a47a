# SPDX-License-Identifier: GPL-2.0-only
# Files that attack their reader, and directories in which other users can put links.

# A sound fleet and a sound trace, beside the recording
make_sound() {
	[ -e "$scratch/sound-trace.db" ] && return
	"$codetag" merge --sqlite "$scratch/sound-fleet.db" data/handmade-v1.allocinfo \
		data/handmade-v2.allocinfo >/dev/null &&
		"$codetag" trace data/handmade-large.trace --save-db "$scratch/sound-trace.db" >/dev/null
}

# hostile KIND SOUND [VICTIM]: makes $scratch/hostile/x.db
hostile() {
	mkdir -p "$scratch/hostile" && make_sound || return 1
	python3 helpers/make-hostile-db.py "$1" "$2" "$scratch/hostile/x.db" "${3:-}"
}

# readers SOUND: the commands that open such a file, one a line
readers() {
	local db=$scratch/hostile/x.db
	case $1 in
	*trace*)
		echo "trace --db-file $db"
		echo "slabs -f data/recorded-ours-6.12.slabinfo --trace-db $db" ;;
	*fleet*)
		echo "report $db"
		echo "merge $db data/handmade-v1.allocinfo" ;;
	*)
		printf '%s\n' "report $db" "leaks $db" "replay --list $db" "replay --text 1 $db" \
			"diff $db@1 $db@2" "merge $db data/handmade-v1.allocinfo" "export --format csv $db" \
			"report $scratch/hostile" "contexts $db" "slabs -f $db" \
			"chart -o $scratch/hostile.svg $db" \
			"record -q -c 1 --append -o $db --allocinfo data/handmade-v1.allocinfo" ;;
	esac
}

# A file beside it can name any file that SQLite then removes.
journal_stays() {
	local sound command victim=$scratch/victim bad=0
	make_sound
	for sound in "$recording" "$scratch/sound-fleet.db" "$scratch/sound-trace.db"; do
		while read -r command; do
			echo keep >"$victim"
			hostile journal "$sound" "$victim" || return 1
			# shellcheck disable=SC2086
			"$codetag" $command >"$scratch/out" 2>&1
			[ $? -eq 2 ] && [ -e "$victim" ] && [ -e "$scratch/hostile/x.db-journal" ] &&
				grep -q 'x.db-journal' "$scratch/out" && continue
			bad=1
			echo "$command: $([ -e "$victim" ] || echo the victim is gone; head -n 3 "$scratch/out")"
		done < <(readers "$sound")
	done
	return $bad
}

# Reading changes no file and leaves no new one, whatever is beside the file.
reading_changes_nothing() {
	local kind command before after bad=0
	for kind in last-id wal; do
		while read -r command; do
			[ "${command%% *}" != record ] || continue
			hostile $kind "$recording" || return 1
			before=$(cd "$scratch/hostile" && sha256sum -- *)
			# shellcheck disable=SC2086
			"$codetag" $command >"$scratch/out" 2>&1
			after=$(cd "$scratch/hostile" && rm -f x.db-shm && sha256sum -- *)
			[ "$before" = "$after" ] || { bad=1; echo "$kind: $command"; }
		done < <(readers "$recording")
	done
	return $bad
}

# If a file beside it belongs to another user, it is neither read nor appended to.
foreign_wal() {
	local command bad=0 places
	for places in -wal -shm; do
		while read -r command; do
			hostile wal "$recording" && : >>"$scratch/hostile/x.db-shm" || return 1
			[ "$places" = -wal ] || head -c 32768 /dev/zero >"$scratch/hostile/x.db-shm"
			chown 65534 "$scratch/hostile/x.db$places" || return 1
			# shellcheck disable=SC2086
			"$codetag" $command >"$scratch/out" 2>&1
			[ $? -eq 2 ] && grep -q 'belongs to another user' "$scratch/out" && continue
			bad=1
			echo "$places: $command: $(cat "$scratch/out")"
		done < <(readers "$recording")
	done
	return $bad
}

# Nor is a new database made if such a file waits beside its name, even an empty one.
foreign_waits() {
	local suffix db=$scratch/waits/x.db
	for suffix in -wal -shm; do
		rm -rf "$scratch/waits" && mkdir "$scratch/waits" && : >"$db$suffix" && chown 65534 "$db$suffix" || return 1
		"$codetag" record -q -c 1 -o "$db" --allocinfo data/handmade-v1.allocinfo 2>"$scratch/out"
		[ $? -eq 2 ] && grep -q 'belongs to another user' "$scratch/out" && [ ! -e "$db" ] &&
			[ -e "$db$suffix" ] || { echo "$suffix"; ls -l "$scratch/waits"; cat "$scratch/out"; return 1; }
	done
}

# hostile_ends KIND SOUND TABLE...: each command ends soon, with a reason
hostile_ends() {
	local kind=$1 sound=$2 command bad=0 status
	shift 2
	for TABLE; do
		export TABLE
		hostile "$kind" "$sound" || return 1
		while read -r command; do
			[ "$kind" != trigger ] || [ "${command%% *}" = record ] || continue
			# shellcheck disable=SC2086
			( ulimit -t 60; timeout 60 "$codetag" $command ) >"$scratch/out" 2>&1
			status=$?
			grep -E 'Sanitizer|runtime error' "$scratch/out" && bad=1
			[ $status -le 2 ] && continue
			bad=1
			echo "$kind of $TABLE: $command: exit $status: $(head -c 1000 "$scratch/out")"
		done < <(readers "$sound")
	done
	return $bad
}

# Computed columns are refused, and so is an id that has no next one.
schema_refused() {
	local kind
	for kind in generated last-id; do
		TABLE=site hostile $kind "$recording" || return 1
		"$codetag" report "$scratch/hostile/x.db" >"$scratch/out" 2>&1
		[ $? -eq 2 ] && grep -q 'damaged' "$scratch/out" || { echo "$kind"; cat "$scratch/out"; return 1; }
	done
	# A trigger does nothing: the rows are still there.
	hostile trigger "$recording" || return 1
	"$codetag" record -q -c 1 --append -o "$scratch/hostile/x.db" --allocinfo data/handmade-v1.allocinfo &&
		"$codetag" replay --text 1 "$scratch/hostile/x.db" | grep -q leaky_alloc
}

# Tables that are computed and never end; pages that lead to the same page again and again;
# numbers of rows that are negative, huge, or of no row
each_reader_ends() {
	local bad=0
	make_sound
	hostile_ends view "$recording" row site snapshot meta contexts stack gauge sample || bad=1
	hostile_ends view "$scratch/sound-fleet.db" host site value meta || bad=1
	hostile_ends view "$scratch/sound-trace.db" caller use meta finding || bad=1
	hostile_ends again "$recording" site snapshot || bad=1
	hostile_ends again "$scratch/sound-fleet.db" host site || bad=1
	hostile_ends again "$scratch/sound-trace.db" caller use || bad=1
	hostile_ends ids "$recording" all || bad=1
	hostile_ends ids "$scratch/sound-fleet.db" all || bad=1
	hostile_ends ids "$scratch/sound-trace.db" all || bad=1
	return $bad
}

# Rows that share the pages of a long text: no more text is read than the file can hold.
shared_pages() {
	local command db=$scratch/hostile/x.db
	hostile shared "$recording" || return 1
	for command in "leaks $db" "replay --list $db" "chart -o $scratch/hostile.svg $db"; do
		# shellcheck disable=SC2086
		"$codetag" $command >"$scratch/out" 2>&1
		[ "${command%% *}" = replay ] || grep -q 'more work than a file of its size' "$scratch/out" ||
			{ echo "$command"; cut -c 1-300 "$scratch/out"; return 1; }
	done
}

# A short text that names a long stack again and again: it does not become longer than a
# kernel's
# shows.
long_stacks() {
	local command db=$scratch/hostile/x.db
	hostile stacks "$recording" || return 1
	for command in "contexts $db" "leaks --stacks $db" "replay --contexts 1 $db"; do
		# shellcheck disable=SC2086
		( ulimit -t 60; timeout 60 "$codetag" $command ) >"$scratch/out" 2>&1
		grep -q 'longer than any kernel' "$scratch/out" && continue
		echo "$command: $(cut -c 1-300 "$scratch/out" | head -n 5)"
		return 1
	done
}

# The number of gauges that never change is limited, too, and a long name is read once.
gauges_are_bounded() {
	local db=$scratch/hostile/x.db
	hostile gauges "$recording" || return 1
	( ulimit -t 30; "$codetag" replay --gauges "$db" ) >"$scratch/out" 2>&1
	grep -q 'more gauges than change' "$scratch/out" || { head -c 300 "$scratch/out"; return 1; }
	hostile names "$recording" || return 1
	( ulimit -t 30; "$codetag" replay --list --gauge 'meminfo.Mem*' "$db" ) >"$scratch/out" 2>&1 &&
		grep -q 4321 "$scratch/out" && return
	head -c 300 "$scratch/out"
	return 1
}

# Text of a file is bounded where it is read: in one place.
columns_are_bounded() {
	! grep -rn 'sqlite3_column_\(text\|blob\)' ../lib ../cmd | grep -v '^../lib/base/database\.c:'
}

# Appending computes nothing.
index_refused() {
	hostile index "$recording" || return 1
	"$codetag" record -q -c 1 --append -o "$scratch/hostile/x.db" \
		--allocinfo data/handmade-v1.allocinfo >"$scratch/out" 2>&1
	[ $? -eq 2 ] && grep -q 'an index of its own' "$scratch/out" && return
	cat "$scratch/out"
	return 1
}

if feature sqlite3 security; then
	check security/journal journal_stays
	check security/reading reading_changes_nothing
	if [ "$(id -u)" -eq 0 ]; then
		check security/foreign-wal foreign_wal
		check security/foreign-waits foreign_waits
	else
		skip security/foreign-wal 'needs root, to give a file away'
	fi
	check security/readers each_reader_ends
	check security/schema-refused schema_refused
	check security/shared-pages shared_pages
	check security/long-stacks long_stacks
	check security/gauges gauges_are_bounded
	check security/index index_refused
fi

# writers OUT: the ways to write a file, one a line
writers() {
	local file=data/handmade-v1.allocinfo
	printf '%s\n' "export --format csv -o $1 $file" "chart -o $1 $file"
	echo "trace data/handmade-large.trace --callers $1"
}

# creators OUT: the commands that make a file which must not exist
creators() {
	local file=data/handmade-v1.allocinfo
	printf '%s\n' "record -q -c 1 -o $1 --allocinfo $file" "merge --sqlite $1 $file" \
		"report --sqlite $1 $file" \
		"trace data/handmade-large.trace --save-db $1"
}

# Another user's link in a directory like /tmp is not followed, whatever the sysctl says.
foreign_link() {
	local dir=$scratch/sticky command victim=$scratch/link-victim bad=0 out
	for out in link.svg file.svg; do
		while read -r command; do
			rm -rf "$dir" && mkdir "$dir" && chmod 1777 "$dir" && chown 65534 "$dir" && echo keep >"$victim" || return 1
			ln -s "$victim" "$dir/link.svg" && echo keep >"$dir/file.svg" &&
				chown -h 65533 "$dir"/*.svg || return 1
			# shellcheck disable=SC2086
			"$codetag" $command >"$scratch/out" 2>&1
			[ $? -eq 2 ] && [ "$(cat "$victim" "$dir/file.svg")" = $'keep\nkeep' ] &&
				[ -L "$dir/link.svg" ] && continue
			bad=1
			echo "$command: $(head -c 100 "$victim") $(head -c 500 "$scratch/out")"
		done < <(writers "$dir/$out")
	done
	return $bad
}

# Nor is one's own link to another user's file there.
foreign_target() {
	local dir=$scratch/sticky command bad=0
	rm -rf "$dir" && mkdir "$dir" && chmod 1777 "$dir" && ln -sfn sticky/file.svg "$scratch/own.svg" || return 1
	while read -r command; do
		echo keep >"$dir/file.svg" && chown 65533 "$dir/file.svg" || return 1
		# shellcheck disable=SC2086
		"$codetag" $command >"$scratch/out" 2>&1
		[ $? -eq 2 ] && [ "$(cat "$dir/file.svg" | tr -d '\0')" = keep ] && continue
		bad=1
		echo "$command: $(head -c 100 "$dir/file.svg") $(head -c 500 "$scratch/out")"
	done < <(writers "$scratch/own.svg")
	return $bad
}

# Nor a link of somebody else's anywhere in the path, in whatever directory: to a file, to the
# directory of one, or to nothing.
foreign_way() {
	local dir=$scratch/way command bad=0 out names
	for out in theirs/out.svg theirs/none.svg theirs/out/real.svg sticky/out/real.svg sticky/out/none.svg; do
		while read -r command; do
			rm -rf "$dir" && mkdir -p "$dir"/{theirs,sticky,mine} && chmod 1777 "$dir/sticky" &&
				echo keep >"$dir/mine/real.svg" || return 1
			ln -s ../mine "$dir/sticky/out"
			case $out in
			theirs/out/*) ln -s ../mine "$dir/theirs/out" ;;
			*) ln -s ../mine/real.svg "$dir/theirs/out.svg" && ln -s ../mine/made.svg "$dir/theirs/none.svg" ;;
			esac
			chown -h 65533 "$dir/theirs" "$dir"/{theirs,sticky}/* || return 1
			# shellcheck disable=SC2086
			"$codetag" $command >"$scratch/out" 2>&1
			[ $? -eq 2 ] && names=$(ls "$dir/mine") && [ "$names $(cat "$dir/mine/real.svg")" = 'real.svg keep' ] && continue
			bad=1
			echo "$command: $(ls "$dir/mine") $(head -c 500 "$scratch/out")"
		done < <(writers "$dir/$out"; creators "$dir/$out")
	done
	return $bad
}

# Neither is more appended there.
foreign_append() {
	local dir=$scratch/append name
	for name in sticky/x.db theirs/x.db sticky/way/x.db; do
		rm -rf "$dir" && mkdir -p "$dir"/{theirs,sticky,mine} && chmod 1777 "$dir/sticky" &&
			cp "$recording" "$dir/mine/x.db" && cp "$recording" "$dir/sticky/x.db" &&
			ln -s ../mine/x.db "$dir/theirs/x.db" && ln -s ../mine "$dir/sticky/way" &&
			chown -h 65533 "$dir/theirs" "$dir"/{theirs,sticky}/* || return 1
		"$codetag" record -q -c 1 --append -o "$dir/$name" --allocinfo data/handmade-v1.allocinfo 2>"$scratch/out"
		[ $? -eq 2 ] && grep -q 'Permission denied' "$scratch/out" && cmp "$recording" "$dir/mine/x.db" &&
			cmp "$recording" "$dir/sticky/x.db" && continue
		echo "$name"
		cat "$scratch/out"
		return 1
	done
}

# Nor a file of root's that somebody has linked into such a directory.
foreign_name() {
	local dir=$scratch/sticky command
	while read -r command; do
		rm -rf "$dir" && mkdir "$dir" && chmod 1777 "$dir" && echo keep >"$scratch/named-twice" &&
			ln "$scratch/named-twice" "$dir/out.svg" || return 1
		# shellcheck disable=SC2086
		"$codetag" $command >"$scratch/out" 2>&1
		[ $? -eq 2 ] && [ "$(cat "$scratch/named-twice" "$dir/out.svg")" = $'keep\nkeep' ] && continue
		echo "$command: $(head -c 500 "$scratch/out")"
		return 1
	done < <(writers "$dir/out.svg")
}

# One's own links are followed, and those of the kernel to open files.
own_way() {
	local dir=$scratch/own-way file=$PWD/data/handmade-v1.allocinfo want
	rm -rf "$dir" && mkdir -p "$dir/real" && ln -s real "$dir/a" && ln -s "$dir/a" "$dir/b" &&
		ln -s ../b/out "$dir/real/link" || return 1
	want=$("$codetag" export --format csv "$file")
	"$codetag" export --format csv -o "$dir/b/link" "$file" && [ "$(cat "$dir/real/out")" = "$want" ] &&
		[ "$(cd "$dir/a" && "$codetag" export --format csv -o ../b/.//new "$file" && cat new)" = "$want" ] &&
		[ "$("$codetag" export --format csv -o /dev/stdout "$file" | cat)" = "$want" ] &&
		"$codetag" export --format csv -o /dev/fd/7 "$file" 7>"$dir/seven" && [ "$(cat "$dir/seven")" = "$want" ] ||
		return 1
	ln -s loop "$dir/loop"
	! "$codetag" export --format csv -o "$dir/loop/x" "$file" 2>"$scratch/out" && grep -q 'Too many levels' "$scratch/out"
}
check security/own-way own_way

# A name has at most 255 bytes, and so has the temporary name of the file.
long_names() {
	local name file=data/handmade-v1.allocinfo dir=$scratch/long
	name=$(printf 'n%.0s' {1..251})
	mkdir -p "$dir" && "$codetag" export --format csv -o "$dir/$name.csv" "$file" &&
		diff "$dir/$name.csv" <("$codetag" export --format csv "$file") || return 1
	gzip -c data/handmade-large.trace >"$dir/$name.gz" &&
		diff <("$codetag" trace "$dir/$name.gz" 2>&1) <("$codetag" trace data/handmade-large.trace 2>&1)
}
feature libarchive security/long-names && check security/long-names long_names

# A dangling link creates no file.
dangling_link() {
	local command bad=0
	while read -r command; do
		rm -f "$scratch/dangling" "$scratch/made"
		ln -s "$scratch/made" "$scratch/dangling"
		# shellcheck disable=SC2086
		"$codetag" $command >"$scratch/out" 2>&1
		[ $? -eq 2 ] && [ ! -e "$scratch/made" ] && continue
		bad=1
		echo "$command: $(ls -l "$scratch/made"; head -c 500 "$scratch/out")"
	done < <(creators "$scratch/dangling")
	return $bad
}

# A file that is replaced keeps its owner, mode and attributes, also behind a link.
attributes_stay() {
	local dir=$scratch/attributes command bad=0 want got
	while read -r command; do
		rm -rf "$dir" && mkdir "$dir" && echo old >"$dir/real.svg" && ln -s real.svg "$dir/out.svg" &&
			chown 1234:4321 "$dir/real.svg" && chmod 640 "$dir/real.svg" || return 1
		if command -v setfattr >/dev/null; then
			setfattr -n user.test -v here "$dir/real.svg" || return 1
		fi
		want=$(stat -c '%u %g %a' "$dir/real.svg"; getfattr -d -m - "$dir/real.svg" 2>/dev/null)
		# shellcheck disable=SC2086
		"$codetag" $command >"$scratch/out" 2>&1
		got=$(stat -c '%u %g %a' "$dir/real.svg"; getfattr -d -m - "$dir/real.svg" 2>/dev/null)
		[ "$want" = "$got" ] && [ "$(cat "$dir/real.svg" | tr -d '\0')" != old ] && [ -L "$dir/out.svg" ] &&
			[ "$(find "$dir" -type f | wc -l)" -eq 1 ] && continue
		bad=1
		echo "$command: $got instead of $want; $(head -c 500 "$scratch/out")"
	done < <(writers "$dir/out.svg")
	return $bad
}

# If the file can be written but its directory cannot, it is written in place.
written_in_place() (
	local dir
	dir=$(mktemp -d /tmp/codetag-XXXXXX) || return 1
	trap 'rm -rf "$dir"' EXIT
	cp "$codetag" "$dir/codetag" && cp data/handmade-v1.allocinfo "$dir/in" &&
		head -c 100000 /dev/zero >"$dir/out" && chown 65534 "$dir/out" && chmod 755 "$dir" || return 1
	setpriv --reuid=65534 --clear-groups "$dir/codetag" export --format csv -o "$dir/out" "$dir/in" &&
		diff <("$codetag" export --format csv "$dir/in") "$dir/out"
)

# Output from files that only root can read is readable by root alone.
private_files() {
	local command
	while read -r command; do
		rm -f "$scratch/private"*
		# shellcheck disable=SC2086
		( umask 022; "$codetag" $command ) >/dev/null &&
			[ "$(stat -c %a "$scratch/private")" = 600 ] || { stat -c '%a %n' "$scratch/private"; return 1; }
	done < <(creators "$scratch/private")
}

feature sqlite3 security/dangling && check security/dangling dangling_link
feature sqlite3 security/private && check security/private private_files
if feature sqlite3 security/links && feature cairo security/links; then
	if [ "$(id -u)" -eq 0 ] && program setpriv security/links; then
		check security/link foreign_link
		check security/target foreign_target
		check security/way foreign_way
		check security/append foreign_append
		check security/name foreign_name
		check security/attributes attributes_stay
		check security/in-place written_in_place
	else
		skip security/link 'needs root, to give files away'
	fi
fi

# Files beside an allocinfo are not read if reading them could wait or never end.
beside_is_ordinary() {
	local dir=$scratch/beside
	rm -rf "$dir" && mkdir -p "$dir/host/proc" "$dir/fifo" && cp data/handmade-v1.allocinfo "$dir/host/proc/allocinfo" &&
		mkfifo "$dir/host/proc/meminfo" "$dir/fifo/allocinfo" && ln -s /dev/zero "$dir/host/proc/slabinfo" || return 1
	( ulimit -t 20; timeout 60 "$codetag" report "$dir/host/proc/allocinfo" >"$scratch/out" 2>&1 ) ||
		{ echo "exit $?"; cat "$scratch/out"; return 1; }
	( ulimit -t 20; timeout 60 "$codetag" report "$dir" >"$scratch/out" 2>&1 )
	[ $? -eq 0 ] && grep -q 'fifo/allocinfo is left out' "$scratch/out" && return 0
	cat "$scratch/out"
	return 1
}
check security/beside beside_is_ordinary

# No link in a directory, and no mount, leads to files of the kernel: some wait, and some lose
# what is read.
no_kernel_files() {
	local dir=$scratch/kernel-files
	rm -rf "$dir" && mkdir -p "$dir/fleet/a" "$dir/fleet/b" "$dir/host/proc" &&
		cp data/handmade-v1.allocinfo "$dir/fleet/a/allocinfo" &&
		ln -s /proc/version "$dir/fleet/b/allocinfo" && ln -s /proc/self "$dir/fleet/c" &&
		cp data/handmade-v1.allocinfo "$dir/host/proc/allocinfo" &&
		ln -s /proc/meminfo "$dir/host/proc/meminfo" || return 1
	if [ "$(id -u)" -eq 0 ]; then
		mkdir "$dir/fleet/d"
		unshare --mount sh -c 'mount -t proc proc "$2/fleet/d" && "$1" report "$2/fleet"' \
			sh "$codetag" "$dir" 2>&1 | grep -q 'fleet/d is left out: it leads to files of the kernel' ||
			{ echo 'a mount'; return 1; }
	fi
	ln -s /proc/self "$dir/link"
	timeout 20 "$codetag" merge "$dir/link" 2>&1 | grep -q 'link is left out: it leads to files of the kernel' ||
		{ echo 'a link that was named'; return 1; }
	"$codetag" report "$dir/fleet" >"$scratch/out" 2>&1
	[ $? -eq 0 ] && [ "$(grep -c 'left out: it leads to files of the kernel' "$scratch/out")" -eq 2 ] &&
		"$codetag" where "$dir/host" 2>&1 | tee "$scratch/out" | grep 'meminfo is left out' && return
	cat "$scratch/out"
	return 1
}
check security/kernel-files no_kernel_files

# A kernel whose debug information says that its strings are in another file: that is not opened.
debug_link() {
	local dir=$scratch/debug-link
	mkdir -p "$dir/init" && mkfifo "$dir/fifo" && echo 'ffffffff81000000 T f' >"$dir/System.map" &&
		gcc -nostdlib -static -Wl,-e,f -o "$dir/vmlinux" -x assembler - <<-ASM || return 1
			.text
			.globl f
			.type f, %function
			f: .zero 16
			.size f, 16
			.section .debug_abbrev, "", %progbits
			# a unit, without children: its name in another file, its addresses
			.byte 1, 0x11, 0, 3, 0xa1, 0x3e, 0x11, 1, 0x12, 7, 0, 0, 0
			.section .debug_info, "", %progbits
			.long 2f - 1f
			1: .2byte 4
			.long 0
			.byte 8, 1
			.long 0
			.quad f, 16
			2:
			.section .gnu_debugaltlink, "", %progbits
			.asciz "$dir/fifo"
			.zero 20
		ASM
	echo 'x-1 [000] 1.0: kmalloc: call_site=f+0x5/0x10 ptr=0x1000 bytes_req=8 bytes_alloc=8' >"$dir/trace"
	timeout 20 "$codetag" trace -N --kernel "$dir" "$dir/trace" >"$scratch/out" 2>&1
	[ $? -eq 2 ] && grep -q 'cannot read the kernel in' "$scratch/out" && return
	cat "$scratch/out"
	return 1
}

# Nor is anything in a build directory but ordinary files.
build_is_ordinary() {
	local dir=$scratch/build-fifo name
	for name in vmlinux System.map x.o .x.o.cmd drivers/x.ko drivers/x.mod; do
		rm -rf "$dir" && mkdir -p "$dir/drivers" && echo 'int x[8] = { 1 }; int f(void) { return x[1]; }' >"$dir/y.c" &&
			gcc -c -o "$dir/y.o" "$dir/y.c" && printf 'savedcmd_y.o := gcc -c\n\nsource_y.o := y.c\n' >"$dir/.y.o.cmd" &&
			mkfifo "$dir/$name" && { [ $name != .x.o.cmd ] || cp "$dir/y.o" "$dir/x.o"; } || return 1
		timeout 20 "$codetag" static "$dir" >"$scratch/out" 2>&1 && grep -q 'y.o' "$scratch/out" ||
			{ echo "static: $name: $?"; cat "$scratch/out"; return 1; }
		timeout 20 "$codetag" trace --kernel "$dir" data/handmade-old.trace >"$scratch/out" 2>&1
		[ $? -le 2 ] || { echo "trace: $name"; return 1; }
	done
}
feature libdw security/debug-link && check security/debug-link debug_link
feature libelf security/build && check security/build build_is_ordinary

# A rare compression does not make the library run a program of that name.
no_programs() {
	local bin=$scratch/bin name
	mkdir -p "$bin"
	for name in lrzip grzip lzop gzip bzip2 xz zstd lz4 uudecode rpm2cpio; do
		printf '#!/bin/sh\n: >"%s/ran"\n' "$scratch" >"$bin/$name"
		chmod +x "$bin/$name"
	done
	rm -f "$scratch/ran"
	for name in 'LRZI\0\6' 'GRZipII\0\2\4:)' '\x89LZO\0\r\n\x1a\n'; do
		python3 -c 'import gzip, sys; sys.stdout.buffer.write(gzip.compress(
			sys.argv[1].encode("latin-1").decode("unicode_escape").encode("latin-1") + bytes(600)))' \
			"$name" >"$scratch/nested.gz"
		PATH=$bin:$PATH "$codetag" report "$scratch/nested.gz" >"$scratch/out" 2>&1
		[ $? -eq 2 ] && [ ! -e "$scratch/ran" ] || { echo "$name: $(cat "$scratch/out")"; return 1; }
	done
}

# 256 KB that become 8 GB, in a file of the archive that is not wanted
endless_archive() {
	python3 -c 'import struct, sys, tarfile
member = tarfile.TarInfo("var/log/lastlog")
member.size = 8 << 30
head = member.tobuf(tarfile.GNU_FORMAT)
def block(kind, size, data):
    return struct.pack("<I", kind << 1 | size << 3)[:3] + data
sys.stdout.buffer.write(b"\x28\xb5\x2f\xfd\0\x38" + block(0, len(head), head) +
                        block(1, 1 << 17, b"\0") * (1 << 16) + block(0, 1024, bytes(1024)) + b"\1\0\0")' \
		>"$scratch/endless.tar.zst" || return 1
	( ulimit -t 20; "$codetag" report "$scratch/endless.tar.zst" ) >"$scratch/out" 2>&1
	grep -q 'too large' "$scratch/out" || { cat "$scratch/out"; return 1; }
}
if feature libarchive security/archives; then
	check security/programs no_programs
	check security/endless endless_archive
fi

# Characters that neither a terminal nor a line format may get, in files of all kinds.
unsafe=$'x\033]0;t\a\033[2J\u009b31m\u202e\ufffe\U0001ffff'

# safe COMMAND...: its output is only UTF-8 text and blanks, and no name makes a line
safe() {
	"$@" >"$scratch/shown" 2>&1
	[ $? -le 2 ] && [ -s "$scratch/shown" ] && python3 -c '
import sys
with open(sys.argv[1], "rb") as file:
    text = file.read().decode()  # fails if it is no UTF-8
for code in map(ord, text):
    assert code in (9, 10, 13) or code >= 0x20, hex(code)
    assert not 0x7f <= code < 0xa0 and not 0x2028 <= code <= 0x202e, hex(code)
    assert code & 0xfffe != 0xfffe, hex(code)  # in no XML
assert "\ny;z" not in text, "a line out of a name"' "$scratch/shown" && return 0
	echo "$*"
	cat -v "$scratch/shown" | head -n 20
	return 1
}

strings_are_safe() {
	local db=$scratch/hostile/x.db fleet=$scratch/fleet-text.db bad=0 format
	hostile text "$scratch/sound-fleet.db" && cp "$db" "$fleet" && hostile text "$recording" || return 1
	for format in csv folded prometheus; do
		safe "$codetag" export --format $format "$db" || bad=1
		safe "$codetag" export --format $format -g func "$fleet" || bad=1
	done
	for file in "$db" "$fleet"; do
		safe "$codetag" report -a "$file" || bad=1
		safe "$codetag" report -a --json "$file" || bad=1
		safe "$codetag" report -a --csv -o file,func,module,size "$file" || bad=1
		safe "$codetag" merge --csv "$file" data/handmade-v1.allocinfo || bad=1
		safe "$codetag" merge "$file" data/handmade-v1.allocinfo || bad=1
	done
	safe "$codetag" leaks "$db" || bad=1
	safe "$codetag" replay --text 1 "$db" || bad=1
	safe "$codetag" diff "$db@1" "$db@-1" || bad=1
	return $bad
}

# A name that a user chose makes no line or number vanish.
contexts_are_safe() {
	local file=$scratch/unsafe.contexts bad=0 way
	printf '%s\n' '# contexts - version: 1.0' '# site: 0 0 0 fs/pipe.c:1 func:alloc keys=task max=9 contexts=2' \
		"1000 10 20 fs/pipe.c:1 func:alloc task=$unsafe" "2648 1 1 fs/pipe.c:1 func:alloc task=ok" >"$file"
	[ "$("$codetag" contexts -N -b -g site -o size "$file" 2>&1)" = 3648 ] ||
		{ "$codetag" contexts -N -b -g site -o size "$file" 2>&1 | cat -v; return 1; }
	for way in '' --json --tree '-g task'; do
		# shellcheck disable=SC2086
		safe "$codetag" contexts $way "$file" || bad=1
	done
	rm -f "$scratch/unsafe.db"
	"$codetag" record -q -c 1 -o "$scratch/unsafe.db" --allocinfo data/handmade-v1.allocinfo \
		--contexts "$file" || { echo 'record did not begin'; bad=1; }
	safe "$codetag" contexts "$scratch/unsafe.db" || bad=1
	return $bad
}

# A stack has a limited number of frames, whatever a file says.
many_frames() {
	{
		printf '%s\n' '# contexts - version: 1.0' '# site: 0 0 0 a.c:1 func:f keys=stack max=9 contexts=1' \
			'10 1 1 a.c:1 func:f'
		yes ' f+0x1/0x2' | head -n 100000
	} >"$scratch/frames.contexts"
	( ulimit -t 20; "$codetag" contexts --tree "$scratch/frames.contexts" ) >"$scratch/out" 2>&1
	grep -q 'more frames than a stack has' "$scratch/out" || { head -c 300 "$scratch/out"; return 1; }
}

# Messages contain names of files.
messages_are_safe() {
	local dir=$scratch/messages
	mkdir -p "$dir" && echo nothing >"$dir/$unsafe"$'\ny;z' || return 1
	safe "$codetag" report "$dir/$unsafe"$'\ny;z' && safe "$codetag" report "$dir/$unsafe"$'none\ny;z' &&
		safe "$codetag" replay "$dir/$unsafe"$'\ny;z' &&
		safe "$codetag" report data/handmade-v1.allocinfo "$unsafe" &&
		safe "$codetag" "$unsafe"
}

# A cell that a spreadsheet would compute is text.
csv_formulas() {
	printf '%s\n' 'allocinfo - version: 1.0' "1 1 =cmd|'/C':1 func:f" '1 1 a.c:1 func:@SUM(A1)' >"$scratch/formula"
	! "$codetag" export --format csv "$scratch/formula" | grep -E '(^|,)"?[=@+]'
}

feature sqlite3 security/strings && check security/strings strings_are_safe
feature sqlite3 security/contexts && check security/contexts contexts_are_safe
# A picture does not fail because of a character that cairo and readers of XML refuse.
pictures_are_safe() {
	printf '%s\n' 'allocinfo - version: 1.0' $'99 1 a\u202e.c:1 func:f\ufffe\xff' >"$scratch/picture" &&
		"$codetag" chart -o "$scratch/picture.svg" "$scratch/picture" &&
		python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' "$scratch/picture.svg"
}
feature cairo security/pictures && check security/pictures pictures_are_safe

check security/frames many_frames
check security/messages messages_are_safe
check security/formulas csv_formulas
check security/columns columns_are_bounded

# Different names make different series: an exporter rejects equal ones.
series_differ() {
	local by
	printf '%s\n' 'allocinfo - version: 1.0' $'1 1 a.c:1 func:f\xff' '2 1 a.c:1 func:f\xff' \
		$'3 1 a.c:1 func:f\u202e' '4 1 a.c:1 func:f\\xff' '5 1 a.c:2 func:g' \
		'6 1 a.c:2 [vmlinux] func:g' '7 1 ./a.c:2 func:g' >"$scratch/series"
	for by in site place func file module dir subsystem; do
		"$codetag" export --format prometheus -g $by "$scratch/series" >"$scratch/out" || return 1
		sed -n 's/^\(codetag_[^ ]*\) .*/\1/p' "$scratch/out" | sort | uniq -d | grep . && return 1
	done
	return 0
}
check security/series series_differ

# Names from a recording may look equal: then they are one series.
recorded_series_differ() {
	local by db=$scratch/series.db
	cp "$recording" "$db" && python3 -c '
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
for site, code in db.execute("SELECT id, id + 0 FROM site ORDER BY id LIMIT 4").fetchall():
    db.execute("UPDATE site SET file = ?, line = 1, module = NULL, func = ? WHERE id = ?",
               ("a.c", "f" + chr(1 + code % 8), site))
db.commit()' "$db" || return 1
	for by in site place func file module dir subsystem; do
		"$codetag" export --format prometheus -g $by "$db" >"$scratch/out" || return 1
		sed -n 's/^\(codetag_[^ ]*\) .*/\1/p' "$scratch/out" | sort | uniq -d | grep . && return 1
	done
	grep -q 'func="f?"' <("$codetag" export --format prometheus "$db")
}
feature sqlite3 security/recorded-series && check security/recorded-series recorded_series_differ

# units: the services of the packages and of the examples; systemd rates the privileges of each
units_are_confined() {
	local unit dir=$scratch/units bad=0
	mkdir -p "$dir"
	for unit in ../../packaging/debian/*.service ../contrib/prometheus/*.service; do
		cp "$unit" "$dir/" || return 1
		unit=$dir/${unit##*/}
		systemd-analyze security --offline=true --threshold=20 "$unit" >"$scratch/out" 2>&1 && continue
		bad=1
		tail -n 1 "$scratch/out"
	done
	return $bad
}
program systemd-analyze security/units && check security/units units_are_confined

# Confined like this, they still write their files.
units_run() {
	local dir=$build/clang out=$scratch/units-run
	mkdir -p "$out" && clang_build &&
		./run-units "$dir/codetag" data/recorded-ours-6.12.allocinfo "$out" || return 1
	[ "$(grep -c ': success$' "$out/result")" -eq 4 ] &&
		grep -q '^600 root:root [1-9][0-9]* /var/lib/codetag/[^ ]*\.db$' "$out/result" &&
		grep -q '^640 root:prometheus [1-9][0-9]* .*/codetag\.prom$' "$out/result" &&
		! grep -q -e '-journal$' "$out/result" && return
	cat "$out/result"
	return 1
}
# can_run_units: a systemd can be started beside that of the machine
can_run_units() {
	[ "$(id -u)" -eq 0 ] && [ -x /lib/systemd/systemd ] &&
		unshare --mount --pid --fork sh -c "mount -t tmpfs tmpfs '$scratch' && cd '$scratch' && mkdir a b c &&
			mount -t overlay overlay -o lowerdir=/,upperdir=a,workdir=b c &&
			mount -t cgroup -o none,name=systemd cgroup a" 2>/dev/null
}
if can_run_units; then
	check security/units-run units_run
else
	skip security/units-run 'needs root and systemd, with overlayfs and control groups of version 1'
fi
