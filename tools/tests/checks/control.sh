# SPDX-License-Identifier: GPL-2.0-only
# Writes to the control files, and messages about a refusal.

# written FILE COMMAND...: the text that COMMAND writes to a file of that name
written() {
	local dir=$scratch/control file=$1
	shift
	rm -rf "$dir" && mkdir "$dir" && : >"$dir/$file"
	"$codetag" "$@" --debugfs "$dir" || return 1
	cat "$dir/$file"
}

writes() {
	local want=$1 got
	shift
	got=$(written "$@") || return 1
	[ "$want" = "$got" ] || { echo "want: $want"; echo "got: $got"; return 1; }
}

# refused ERRNO STATUS TEXT FILE COMMAND...: the kernel refuses a write with ERRNO; a write() in
# front of libc's stands for it.
refused() {
	local error=$1 status=$2 text=$3 file=$4 dir=$scratch/refused out got
	shift 4
	clang_build || return 1
	mkdir -p "$dir" && : >"$dir/$file"
	out=$(REFUSE=$error LD_PRELOAD=$scratch/refuse.so "$build/clang/codetag" "$@" \
		--debugfs "$dir" 2>&1)
	got=$?
	[ $got -eq "$status" ] && grep -qF -- "$text" <<<"$out" && [ ! -s "$dir/$file" ] &&
		return 0
	echo "exit $got: $out"
	return 1
}

# All or nothing: the kernel has to get the queries in one write, so only one works.
one_write() {
	local dir=$scratch/refused
	mkdir -p "$dir" && : >"$dir/control"
	REFUSE=later LD_PRELOAD=$scratch/refuse.so "$build/clang/codetag" disable \
		--debugfs "$dir" 'file a; file b' &&
		[ "$(cat "$dir/control")" = $'file a -p\nfile b -p' ]
}

make_refuse() {
	gcc -shared -fPIC -o "$scratch/refuse.so" helpers/refuse-writes.c
}

# Every line of the file is a call site, in its order.
status_is_control() {
	local dir=data/recorded-ours-6.12.debugfs
	"$codetag" status -a -N --debugfs "$dir" | awk '{ print $1, $2, $3 }' |
		diff - <(awk '{
			for (i = 1; i <= NF; i++) {
				if ($i ~ /^=/) p = $i == "=p" ? "yes" : "no"
				if ($i == "id") id = $(i + 1)
			}
			sub("^\\./", "", $1)
			print p, id, $1
		}' "$dir/control")
}

# reset_removes ACTION NOTE [SAYS]: reset removes what the line of a site says with NOTE, and
# nothing else.
reset_removes() {
	local dir=$scratch/reset-$1 out says=${3:-1 $1 removed}
	rm -rf "$dir" && mkdir "$dir" && : >"$dir/queries" || return 1
	echo "a.c:1 func:f =p id 33 $2" >"$dir/control"
	out=$("$codetag" reset --debugfs "$dir") && [ "$out" = "$says" ] &&
		[ "$(head -n 1 "$dir/control")" = "$1=off" ] && [ ! -s "$dir/queries" ] ||
		{ echo "$out"; cat "$dir/control"; return 1; }
}

check control/status status_is_control
check control/enable writes 'module ext4 +p' control enable module ext4
check control/two writes $'file a -p\nfunc "b c" -p' control disable 'file a;' 'func "b c" # why'
check control/all writes '-p' control disable --all
check control/fault writes 'func f fault' control fault func f
check control/fault-settings writes 'line 3-7 fault probability=5 times=-1 task-filter=1' \
	control fault line 3-7 --probability 5 --times -1 --task-filter=1
check control/fault-nth writes 'id 9 fault nth=3 verbose=0' control fault --nth=3 --verbose 0 id 9
check control/fault-off writes 'fault=off' control fault --off --all
check control/guard writes 'func f guard' control guard func f
check control/guard-rate writes 'line 3-7 guard rate=100' control guard line 3-7 --rate 100
check control/guard-off writes 'module m guard=off' control guard --off module m
check control/reset-guard reset_removes guard 'guard rate=100'
check control/reset-trace reset_removes trace trace '1 call site no longer traced'
check control/trace writes 'func f trace' control trace --on func f
check control/trace-all writes 'trace' control trace --all --on
check control/trace-off writes 'module m line 3-7 trace=off' control trace module m --off line 3-7
check control/reset-fault reset_removes fault 'fault times=1'
check control/split writes 'func __alloc_skb keys=stack,age depth=8' control \
	split func __alloc_skb stack age depth=8
check control/split-none writes 'func task keys=none' control split func task none
check control/split-two writes $'func a keys=size max=9\nfunc "b c" keys=size max=9' control \
	split 'func a; func "b c"' size max=9
check control/split-all writes 'keys=node,cpu' control split --all node,cpu
check control/forget writes 'remove 3' queries remembered --forget 3
check control/forget-all writes 'remove all' queries remembered --forget all
if make_refuse; then
	check control/EINVAL refused 22 2 'dmesg | grep' control enable func f
	check control/ENOENT refused 2 1 'no call site is chosen' control disable func f
	check control/E2BIG refused 7 2 '64 KiB' control disable func f
	check control/ENOSPC refused 28 2 'codetag remembered' control enable module m
	check control/EOPNOTSUPP refused 95 2 CONFIG_CODETAG_FAULT_INJECTION control fault func f
	check control/guard-EOPNOTSUPP refused 95 2 CONFIG_CODETAG_GUARD control guard func f
	check control/trace-EOPNOTSUPP refused 95 2 CONFIG_TRACEPOINTS control trace --on func f
	check control/trace-ENOENT refused 2 1 'no call site is chosen' control trace --off func f
	check control/guard-EINVAL refused 22 2 'no pool of KFENCE' control guard func f
	check control/guard-EBUSY refused 16 2 'no pool of KFENCE' control guard func f
	check control/split-EOPNOTSUPP refused 95 2 CONFIG_CODETAG_CONTEXTS control split func f size
	check control/split-ENOENT refused 2 1 'no call site is chosen' control split func f size
	check control/ENOMEM refused 12 2 'changed nothing' control fault func f
	check control/EIO refused 5 2 'Input/output error' control fault func f
	check control/one-write one_write
	check control/audit-EPERM refused 1 2 'Operation not permitted' audit audit
	check control/forget-none refused 2 1 'there is no query 3' queries remembered --forget 3
else
	check control/refuse false
fi
check json/status json_is_valid "$codetag" status -a --json --debugfs data/handmade.debugfs
check json/fault json_is_valid "$codetag" fault --list --json --debugfs data/handmade.debugfs
check json/guard json_is_valid "$codetag" guard --list --json --debugfs data/handmade.debugfs
check json/contexts json_is_valid "$codetag" contexts --json -f data/recorded-ours-6.12-split.debugfs/contexts
check json/contexts-tree json_is_valid "$codetag" contexts --json --tree \
	-f data/recorded-ours-6.12-split.debugfs/contexts
check json/remembered json_is_valid "$codetag" remembered --json --debugfs data/handmade.debugfs

# On a locked-down kernel nobody can open control: the list comes from sites, and a message says
# why.
locked_down() {
	local dir=$scratch/lockdown out
	clang_build && mkdir -p "$dir" && cp data/handmade.debugfs/* "$dir/" && cp "$dir/control" "$dir/sites" || return 1
	gcc -shared -fPIC -o "$scratch/lockdown.so" helpers/pretend-lockdown.c || return 1
	out=$(LD_PRELOAD=$scratch/lockdown.so "$build/clang/codetag" status -a --debugfs "$dir" 2>&1) ||
		{ echo "$out"; return 1; }
	diff <(echo "$out") <("$codetag" status -a --debugfs data/handmade.debugfs) || return 1
	out=$(LD_PRELOAD=$scratch/lockdown.so "$build/clang/codetag" disable --debugfs "$dir" func f 2>&1)
	[ $? -eq 2 ] && grep -q 'locked down (integrity' <<<"$out" || { echo "$out"; return 1; }
}
check control/locked-down locked_down

# --debugfs is for all commands that read there.
debugfs_everywhere() {
	local dir=data/recorded-ours-6.12.debugfs
	"$codetag" stats --debugfs $dir | diff - <("$codetag" stats $dir/stats) &&
		cp data/recorded-ours-6.12.audit "$scratch/audit" &&
		"$codetag" audit --debugfs "$scratch" | diff - <("$codetag" audit "$scratch/audit")
}
check control/debugfs-everywhere debugfs_everywhere

# A write starts an audit; a saved result, a named file and the file of a kernel that starts
# one at a read are only read.
audit_started() {
	local dir=$scratch/audit-start out
	rm -rf "$dir" && mkdir "$dir" && : >"$dir/audit"
	out=$("$codetag" audit "$dir/audit" 2>&1)
	[ ! -s "$dir/audit" ] || { echo "a named file was written to: $out"; return 1; }
	chmod 400 "$dir/audit"
	out=$("$codetag" audit --debugfs "$dir" 2>&1)
	[ ! -s "$dir/audit" ] || { echo "a read-only file was written to: $out"; return 1; }
	chmod 600 "$dir/audit"
	out=$("$codetag" audit --debugfs "$dir" 2>&1)
	[ "$(cat "$dir/audit")" = 1 ] || { echo "no audit was started: $out"; return 1; }
}
check control/audit-started audit_started

# However contexts are summed, the sum is that of their lines.
contexts_add_up() {
	local file=data/recorded-ours-6.12-split.debugfs/contexts want got group
	want=$(awk '/^ *[0-9]+ +[0-9]+ +[0-9]+ / { b += $1; c += $2; a += $3 } END { print b, c, a }' $file)
	for group in site caller function stack task,age size,site; do
		got=$("$codetag" contexts -a -N -b -g "$group" -o size,calls,allocs $file |
			awk '{ b += $1; c += $2; a += $3 } END { print b, c, a }')
		[ "$got" = "$want" ] || { echo "by $group: $got instead of $want"; return 1; }
	done
}
check control/contexts-add-up contexts_add_up

# Rates are per second between two readings, 2 s apart: 100 allocations and 40 frees of kstrdup.
account_has_rates() (
	export dir=$scratch/rates
	mkdir -p "$dir" || return 1
	pretend() { # NOW
		local held='640 10 20'
		[ "$1" -eq 0 ] || held='4480 70 120'
		printf '%s\n' '# contexts - version: 1.0' \
			'# site: 0 0 0 mm/util.c:64 func:kstrdup keys=size max=9 contexts=1' \
			"$held mm/util.c:64 func:kstrdup size=50" >"$dir/contexts"
	}
	in_world "$codetag" contexts --account --delay 2 --json --debugfs "$dir" >"$scratch/rates.json" &&
		python3 -c '
import json, sys
row, = json.load(open(sys.argv[1]))["rows"]
assert (row["size"], row["requested"], row["waste"]) == (4480, 3500, 980), row
assert (row["allocs"], row["frees"]) == (120, 50), row
assert (row["alloc_rate"], row["free_rate"]) == (50, 20), row
' "$scratch/rates.json"
)
check control/account-rates account_has_rates
