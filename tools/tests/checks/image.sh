# SPDX-License-Identifier: GPL-2.0-only
# Commands that read an image of memory, on the smallest ones.

small=$scratch/small linked=$scratch/linked

make_images() {
	gcc -std=gnu17 -I../lib -I. -o "$scratch/make-image" helpers/make-image.c &&
		"$scratch/make-image" >"$small" && "$scratch/make-image" linked >"$linked" &&
		"$scratch/make-image" cut >"$scratch/cut" &&
		"$scratch/make-image" sparse >"$scratch/sparse" &&
		"$scratch/make-image" empty >"$scratch/empty" &&
		truncate -s $((4096 + (256 << 30))) "$scratch/sparse" "$scratch/empty"
}

# exits STATUS TEXT COMMAND...: it exits with STATUS and prints TEXT
exits() {
	local want=$1 text=$2 status
	shift 2
	"$codetag" "$@" >"$scratch/image.out" 2>&1
	status=$?
	[ $status -eq "$want" ] && grep -qF -- "$text" "$scratch/image.out" && return 0
	echo "codetag $*: exit $status, not $want with '$text':"
	cat "$scratch/image.out"
	return 1
}

rows() { # COMMAND...
	"$codetag" "$@" | python3 -c 'import json, sys; print(len(json.load(sys.stdin)["rows"]))'
}

# 0: nothing is lost, 1: something is, 2: these call sites have no object.
image_lost() {
	exits 1 'in 2 of 4 objects' lost --image "$small" func objects &&
		exits 0 'in 0 of 4 objects' lost --image "$linked" func pages &&
		exits 2 'no call site that the query selects has an object' lost --image "$small" func nosuch &&
		exits 2 'no call site' lost --json --image "$small" func nosuch &&
		exits 1 'in 4 of 4 objects' lost -n 1 --image "$small" &&
		[ "$(rows lost --json -n 1 --image "$small")" -eq 1 ]
}

image_graph() {
	exits 0 'Dropping these 2 objects would free 17424 of 2 call sites.' \
		graph -b --image "$linked" func pages &&
		exits 0 'Dropping this object would free 1024 of 1 call site.' \
			graph -b --image "$small" ffff888000028000 &&
		exits 0 'would free 17424 of 2 call sites.' graph -b -n 1 --image "$linked" func pages &&
		[ "$(rows graph --json --top 1 --image "$linked" func pages)" -eq 1 ] || return 1
	"$codetag" graph --json --image "$linked" func pages | python3 -c '
import json, sys
graph = json.load(sys.stdin)
assert graph["objects"] == 2 and graph["freed"] == 17424 == sum(r["size"] for r in graph["rows"]), graph' ||
		return 1
	"$codetag" graph --json --image "$linked" | python3 -c '
import json, sys
graph = json.load(sys.stdin)
assert "freed" not in graph and graph["rows"] and all(r["retained"] for r in graph["rows"]), graph' ||
		return 1
	"$codetag" graph --image "$linked" func pages -o "$scratch/graph.svg" && grep -q '<svg' "$scratch/graph.svg" &&
		"$codetag" graph --image "$linked" -o "$scratch/graph.png" && [ -s "$scratch/graph.png" ] || return 1
	exits 2 '--top goes with neither' graph --image "$linked" -n 1 --folded &&
		exits 2 '--top goes with neither' graph --image "$linked" -n 1 -o "$scratch/x.svg"
}

image_holders() {
	exits 0 ' -  ' holders --image "$linked" func pages &&
		"$codetag" holders --json --image "$linked" func pages | python3 -c '
import json, sys; assert [r["example"] for r in json.load(sys.stdin)["rows"]] == [None]' &&
		[ "$(rows holders -n 1 --json --image "$linked" file mm/small.c)" -eq 1 ]
}

image_slabs() {
	exits 2 "one file at a time, '$small' is a second one" \
		slabs -f data/recorded-ours-6.12.slabinfo --image "$small" &&
		exits 2 'one file at a time' slabs --image "$small" -f data/recorded-ours-6.12.slabinfo &&
		exits 2 'codetag census --image FILE --by cache,site' slabs --image "$small" --sites &&
		exits 2 'one file too many' report --allocinfo data/handmade-v2.allocinfo --image "$small" &&
		exits 2 'one file too many' report --image "$small" --allocinfo data/handmade-v2.allocinfo
}

# Files that are images, by the option or without it; this one has nothing split.
image_files() {
	exits 1 'no call site is split' contexts --image "$small" &&
		exits 1 'no call site is split' contexts "$small" &&
		exits 2 "one file at a time, '$small' is a second one" contexts "$small" --image "$small" &&
		exits 2 'is not an image' contexts --image data/handmade-v2.allocinfo &&
		exits 0 'ids_builtin' stats --image "$small" &&
		exits 0 'ids_builtin' stats "$small" &&
		exits 0 '16384      1  /a\040b' census --image "$small" --by cgroup &&
		exits 0 '1024      1  /' census --image "$small" --by cgroup,kind &&
		exits 2 '--top must be 1 or more' census -n 0 "$small" &&
		[ "$(rows census --json --top 2 --image "$small" --by site,kind)" -eq 2 ] &&
		[ "$(rows census --json --image "$small" --by site,kind)" -eq 3 ] &&
		exits 0 'slab' census "$small" &&
		exits 2 'is not an image' where --image data/handmade-v2.allocinfo &&
		exits 1 '524288 installed = 114688 at boot' where --bytes "$small"
}

# A copy of the kernel's census, and files that are not one.
image_census() {
	printf '%s\n' '# census - version: 1.0' '  8192 2 node=0 site=mm/a.c:1 func:a' \
		'  4096 1 node=1 site=mm/a.c:1 func:a' '  100 1 node=1 site=fs/b.c:2 [b] func:b' \
		'  7 1 others' >"$scratch/census" &&
		exits 0 '8192      2  0' census --by node "$scratch/census" &&
		exits 0 '4196      2  1' census --by node "$scratch/census" &&
		exits 0 '100      1  1' census --by node "$scratch/census" module b &&
		exits 0 'more than 57344 rows: the last row, others, has 7 bytes' census --by node "$scratch/census" &&
		exits 0 '7      1  others' census --by node "$scratch/census" &&
		exits 0 'the query chooses nothing of 7 bytes of others' census --by node "$scratch/census" module b &&
		! grep -q '1  others' "$scratch/image.out" &&
		[ "$(rows census --json -n 1 --by node "$scratch/census")" -eq 1 ] &&
		exits 2 'was not counted by cache' census --by cache "$scratch/census" &&
		exits 2 'is no line of a census' census data/handmade-v2.allocinfo
}

# 256 GiB, nearly all of which is a hole.
image_sparse() {
	exits 0 '0 mismatches' audit --image "$scratch/sparse" &&
		exits 0 '2 call sites' report --image "$scratch/sparse" &&
		exits 1 'in 4 of 4 objects' lost --image "$scratch/sparse" &&
		exits 1 '524288 installed' where --bytes "$scratch/sparse"
}

# Holes are not searched, and data after them are found: a layout table at 200 GiB.
image_empty() {
	(ulimit -t 3; exits 2 'has no layout table' report --image "$scratch/empty") || return 1
	python3 - "$small" "$scratch/empty" <<'END' || return 1
import sys
table = bytearray(open(sys.argv[1], "rb").read()[8192:12288])
table[24:32] = (200 << 30).to_bytes(8, "little")
with open(sys.argv[2], "r+b") as image:
    image.seek(4096 + (200 << 30))
    image.write(table)
END
	(ulimit -t 3; exits 0 '2 call sites' report --image "$scratch/empty")
}

# One of the two options would be ignored.
image_two_files() {
	local file=data/handmade-v2.allocinfo

	exits 2 'is one file too many' diff --allocinfo $file $file &&
		exits 2 'is one file too many' diff $file --allocinfo $file &&
		exits 2 'is one file too many' chart -o "$scratch/x.svg" --allocinfo $file $file &&
		exits 2 'is one file too many' chart -o "$scratch/x.svg" $file --allocinfo $file
}

image_cut() {
	exits 2 "lacks memory of its layout table" lost --image "$scratch/cut"
}

image_registers() {
	exits 1 'has no registers of processors' whose --image "$small" --registers &&
		exits 2 '--registers is for an image' whose --registers
}

# A flattened file is put together first, where there may be no room for it.
image_flat() {
	python3 -c '
import struct, sys
sys.stdout.buffer.write((b"makedumpfile".ljust(16, b"\0") + struct.pack(">QQ", 1, 1)).ljust(4096, b"\0") +
	struct.pack(">QQ", 0, 3 << 20) + bytes(3 << 20) + struct.pack(">QQ", 2**64 - 1, 2**64 - 1))' >"$scratch/flat"
	mkdir -p "$scratch/there"
	(export TMPDIR=$scratch/nowhere
	exits 2 "cannot be put together in $scratch/nowhere (see TMPDIR): No such file" audit --image "$scratch/flat") &&
		(export TMPDIR=$scratch/there
		trap '' XFSZ
		ulimit -f 1500
		exits 2 "cannot be put together in $scratch/there (see TMPDIR): File too large" audit --image "$scratch/flat") &&
		[ -z "$(ls "$scratch/there")" ]
}

if make_images; then
	check image/lost image_lost
	check image/graph image_graph
	check image/holders image_holders
	check image/slabs image_slabs
	check image/cut image_cut
	check image/registers image_registers
	check image/empty image_empty
	check image/files image_files
	check image/census image_census
	check image/two-files image_two_files
	check image/sparse image_sparse
	check image/flat image_flat
	check docs/json/lost json_is_documented "$codetag" lost --json --contexts --image "$small"
	check docs/json/whose json_is_documented "$codetag" whose --json --image "$small" ffff888000028000
	check docs/json/census json_is_documented "$codetag" census --json --by kind,cache --image "$small"
	check docs/json/graph json_is_documented "$codetag" graph --json --image "$linked" func pages
	check docs/json/holders json_is_documented "$codetag" holders --json --image "$linked" func pages
else
	check image/make false
fi
