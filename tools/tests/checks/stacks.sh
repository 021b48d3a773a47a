# SPDX-License-Identifier: GPL-2.0-only
# leaks --stacks with a made-up kernel: files that change like those of a kernel in which one
# caller of a helper leaks.

stacks=$scratch/stacks

# The kernel's files at second NOW: take() leaks and give() does not; alloc() of b.c is idle. At
# second $when happens $event: a signal, or the contexts are gone.
pretend() { # NOW
	local now=$1 born age
	{
		echo 'allocinfo - version: 2.0'
		echo "$((100000 + 640 * now)) $((100 + now)) a.c:1 func:helper"
		echo '5000 5 b.c:2 func:alloc'
		echo "$((9 * now)) $now ${second:-mm/slub.c:9 func:alloc_slab_page}"
	} >"$stacks/allocinfo"
	{
		echo '# contexts - version: 1.0'
		echo '# site: 100000 100 0 a.c:1 func:helper keys=age,stack depth=16 max=4096 contexts=9'
		for ((born = 0; born <= now; born++)); do
			age=$((now - born > 0 ? now - born - 1 : 0))-$((now - born))
			printf '%s\n' "640 10 1000 a.c:1 func:helper age=$age${task:+ task=$task}" \
				' helper+0x10/0x20' ' kstrdup+0x1/0x2' ' take+0x10/0x20 [leaky]'
			[ -z "${causes:-}" ] || printf '%s\n' "320 5 5 a.c:1 func:helper age=$age task=eater" \
				' helper+0x10/0x20' ' open_it+0x1/0x2' ' do_it+0x1/0x2' ' ksys_write+0x1/0x2' \
				"320 5 5 b.c:2 func:alloc age=$age task=eater" \
				' alloc+0x10/0x20' ' do_it+0x5/0x9' ' ksys_write+0x1/0x2' \
				"320 5 5 b.c:2 func:alloc age=$age task=eater" \
				' alloc+0x10/0x20' ' other_call+0x5/0x9' ' __x64_sys_other+0x1/0x2'
			[ $((now - born)) -gt 1 ] || printf '%s\n' \
				"64000 990 990 a.c:1 func:helper age=$age" \
				' helper+0x10/0x20' ' give+0x10/0x20 [leaky]'
		done
	} >"$stacks/contexts"
	[ "$now" -ge "${when:-1000}" ] || return 0
	[ "$event" != contexts ] || { rm "$stacks/contexts"; return 0; }
	return "$event"
}

# stacks_run OPTION...: runs the command; its writes are in $stacks/written
stacks_run() (
	export stacks when event task causes second WRITTEN=$stacks/written
	in_world "$codetag" leaks --stacks --debugfs "$stacks" "$@" >"$stacks/out" 2>"$stacks/err"
)

# stacks_exits WANT STATUS: otherwise shows its messages
stacks_exits() {
	[ "$2" -eq "$1" ] || { echo "exit $2 instead of $1"; cat "$stacks/out" "$stacks/err"; return 1; }
}

stacks_prepare() {
	rm -rf "$stacks" && mkdir -p "$stacks" || return 1
	printf '%s\n' 'a.c:1 func:helper =p id 40' 'b.c:2 func:alloc =p id 41 keys=size,node max=9' \
		'mm/slub.c:9 func:alloc_slab_page =p id 42' >"$stacks/control"
	echo 60 >"$stacks/age_interval"
	: >"$stacks/written"
}

stacks_says() {
	grep -qF -- "$1" "$stacks/$2" || { echo "no '$1' in $2:"; cat "$stacks/$2"; return 1; }
}

# stacks_wrote LINES
stacks_wrote() {
	diff -u --label expected - --label written "$stacks/written" <<<"$1"
}

# The writes: both sites are split if few enough are chosen, and restored.
all_put_back() {
	stacks_wrote "${1:-2}
id 40 keys=stack,age,task max=4096
id 41 keys=stack,age,task max=4096
id 40 keys=none
id 41 keys=size,node max=9
60"
}

# A whole run: only the site that grows is split, and the leaking caller is named.
stacks_names_it() {
	stacks_prepare || return 1
	stacks_run --for 18 --sites 1 "$stacks/allocinfo"
	stacks_exits 1 $? && stacks_says ' 1. take [leaky] leaks' out &&
		stacks_says 'leaks: 1, unsure: 0' out && stacks_says '1 in 100 of the allocations of these intervals was not freed' out &&
		stacks_says 'Random ups and downs alone look like this' out &&
		stacks_says '1 call sites of caches, process memory, slabs' out &&
		[ ! -e "$stacks/split-before" ] &&
		stacks_wrote '1
id 40 keys=stack,age,task max=4096
id 40 keys=none
60' || return 1
	! grep 'give' "$stacks/out"
}

# Its JSON, from a run that is interrupted as soon as it has enough data.
stacks_json() {
	local when=16 event=2
	stacks_prepare || return 1
	stacks_run --for 20 --json
	stacks_exits 1 $? && json_is_documented cat "$stacks/out"
}

stacks_interrupted() { # SIGNAL
	local when=8 event=$1
	stacks_prepare || return 1
	stacks_run --for 40
	stacks_exits 2 $? && stacks_says 'too short to tell' err && all_put_back 3
}

stacks_error() {
	local when=6 event=contexts
	stacks_prepare || return 1
	stacks_run --for 40
	stacks_exits 2 $? && stacks_says 'No such file' err && all_put_back 3
}

# A recording has all contexts unchanged. One of an earlier version has none and gets them when
# it goes on. leaks --stacks finds the same caller in it.
stacks_recorded() (
	export stacks when="" db=$stacks/recorded.db
	local i
	stacks_prepare || return 1
	in_world "$codetag" record -q -o "$db" -c 20 -i 1 --allocinfo "$stacks/allocinfo" \
		--contexts "$stacks/contexts" || return 1
	for i in 1 7 20; do
		pretend $((i - 1)) && "$codetag" replay "$db" --contexts $i | cmp - "$stacks/contexts" &&
			diff <("$codetag" contexts "$db@$i" | sed "s|$db@$i|x|") \
				<("$codetag" contexts "$stacks/contexts" | sed "s|$stacks/contexts|x|") || return 1
	done
	"$codetag" export --contexts="$db" --format folded | grep -q 'take \[leaky\]' || return 1
	"$codetag" leaks --stacks "$db" >"$stacks/out" 2>"$stacks/err"
	stacks_exits 1 $? && stacks_says ' 1. take [leaky] leaks' out && stacks_says 'leaks: 1, unsure: 0' out &&
		! grep 'give' "$stacks/out" || return 1
	"$codetag" leaks --stacks "$db" func other >/dev/null 2>"$stacks/err"
	stacks_exits 2 $? && stacks_says 'no call site was split' err
)

# From a real kernel: each line is unchanged, and each stack is in the file once.
stacks_of_guest() {
	local db=$scratch/guest.db contexts=data/recorded-ours-6.12-split.debugfs/contexts
	"$codetag" record -q -o "$db" -c 2 -i 0.01 --allocinfo data/recorded-ours-6.12.allocinfo \
		--contexts $contexts && "$codetag" replay "$db" --contexts 2 | cmp - $contexts &&
		[ "$(sqlite3 "$db" 'SELECT sum(length(frames)) + (SELECT sum(length(text)) FROM contexts) FROM stack')" \
			-lt "$(wc -c <$contexts)" ]
}

stacks_not_recorded() {
	local db=$stacks/before.db
	stacks_prepare && pretend 3 && cp "$recording" "$db" &&
		sqlite3 "$db" 'DROP TABLE contexts; DROP TABLE stack' || return 1
	"$codetag" replay "$db" --contexts 1 2>"$stacks/err"
	stacks_exits 2 $? && stacks_says 'no contexts in snapshot 1' err || return 1
	"$codetag" leaks --stacks "$db" 2>"$stacks/err"
	stacks_exits 2 $? && stacks_says 'codetag split QUERY stack age' err || return 1
	"$codetag" record -q -o "$db" -c 1 --append --allocinfo "$stacks/allocinfo" --contexts "$stacks/contexts" &&
		"$codetag" replay "$db" --contexts -1 | cmp - "$stacks/contexts" &&
		! "$codetag" replay "$db" --contexts 1 2>/dev/null &&
		! "$codetag" record -q -o "$stacks/bad.db" -c 1 --allocinfo "$stacks/allocinfo" \
			--contexts "$stacks/allocinfo" 2>/dev/null && [ ! -e "$stacks/bad.db" ]
}

# A damaged one gives an error or a result.
stacks_damaged() {
	survives 20 "$stacks/recorded.db" "$scratch/contexts.db" 60 100 \
		"$codetag" leaks --stacks "$scratch/contexts.db"
}

# One line for each cause: by the entry function, and by the task. The tool's own allocations
# are no leak.
stacks_causes() {
	local causes=1 task=codetag
	stacks_prepare || return 1
	stacks_run --for 18 "$stacks/allocinfo"
	stacks_exits 1 $? && stacks_says 'in do_it, by eater; 3 stacks, 2 call sites' out &&
		stacks_says 'leaks: 1, unsure: 0' out && ! grep 'take' "$stacks/out" || return 1
	task=daemon
	stacks_run --for 18 "$stacks/allocinfo"
	stacks_exits 1 $? && stacks_says 'leaks: 2, unsure: 0' out && stacks_says ', by daemon' out &&
		[ "$(grep -c '^ *[0-9]*\. ' "$stacks/out")" -eq 2 ]
}

# A leak at a site that is not profiled cannot be seen, and a message says so.
stacks_off() {
	stacks_prepare || return 1
	echo 'enabled: 0' >"$stacks/stats"
	stacks_run --for 18 "$stacks/allocinfo"
	stacks_exits 2 $? && stacks_says 'profiling is off' err && [ ! -s "$stacks/written" ] || return 1
	rm "$stacks/stats"
	# The kernel makes no contexts for it any more.
	local task=codetag
	sed -i 's/helper =p/helper =_/' "$stacks/control"
	stacks_run --for 18 "$stacks/allocinfo"
	stacks_exits 2 $? && stacks_says '1 of 2 call sites are not profiled: their numbers are old: a.c:1 helper' err
}

# A message counts the growing sites that are not watched.
stacks_limits() {
	local second='c.c:9 func:other'
	stacks_prepare || return 1
	sed -i 's/mm.slub.c:9 func:alloc_slab_page/c.c:9 func:other/' "$stacks/control"
	stacks_run --for 18 --sites 1 "$stacks/allocinfo"
	stacks_exits 1 $? && stacks_says '2 call sites grew, of which the 1 that grew most' out
}

# Caches are dropped at the end, and this leak stays; a missing file is reported.
stacks_drop() {
	stacks_prepare || return 1
	stacks_run --for 18 --drop "$stacks/allocinfo"
	stacks_exits 2 $? && stacks_says 'cannot write' err || return 1
	: >"$stacks/drop_caches"
	stacks_run --for 18 --drop "$stacks/allocinfo"
	stacks_exits 1 $? && stacks_says 'leaks: 1, unsure: 0' out
}

# A killed run leaves the sites split; the next run, or --restore, restores them.
stacks_killed() {
	local when=8 event=9
	stacks_prepare || return 1
	stacks_run --for 40
	stacks_exits 137 $? && [ -s "$stacks/split-before" ] && stacks_wrote '3
id 40 keys=stack,age,task max=4096
id 41 keys=stack,age,task max=4096' || return 1
	cp "$stacks/split-before" "$stacks/again"
	: >"$stacks/written"
	WRITTEN=$stacks/written LD_PRELOAD='' in_world "$codetag" split --restore --debugfs "$stacks" >"$stacks/out" 2>"$stacks/err"
	stacks_exits 0 $? && stacks_says 'as they were before' out && stacks_wrote 'id 40 keys=none
id 41 keys=size,node max=9
60' && [ ! -e "$stacks/split-before" ] || return 1
	"$codetag" split --restore --debugfs "$stacks" | grep -q 'nothing to put back' || return 1
	cp "$stacks/again" "$stacks/split-before"
	when=1000
	stacks_run --for 18 "$stacks/allocinfo"
	stacks_exits 1 $? && stacks_says 'an earlier run was killed' err && [ ! -e "$stacks/split-before" ] || return 1
	# The sites of a run that has not ended stay split.
	echo "$$ $(sed 's/^.*) //' /proc/$$/stat | cut -d ' ' -f 20)" >"$stacks/split-before"
	stacks_run --for 18 "$stacks/allocinfo"
	stacks_exits 2 $? && stacks_says 'runs already' err
}

check leaks/stacks stacks_names_it
check leaks/stacks-causes stacks_causes
check leaks/stacks-off stacks_off
check leaks/stacks-limits stacks_limits
check leaks/stacks-drop stacks_drop
check leaks/stacks-killed stacks_killed
check docs/refuses/split-restore refuses alone split --restore func f none
check docs/refuses/drop refuses --live leaks --drop x.db
if feature sqlite3 record/contexts; then
	check record/contexts stacks_recorded
	if [ -e "$stacks/recorded.db" ]; then
		check record/contexts-damaged stacks_damaged
	fi
	if program sqlite3 record/no-contexts; then
		check record/no-contexts stacks_not_recorded
		check record/contexts-guest stacks_of_guest
	fi
fi
check docs/json/leaks-stacks stacks_json
check leaks/stacks-SIGINT stacks_interrupted 2
check leaks/stacks-SIGTERM stacks_interrupted 15
check leaks/stacks-error stacks_error
check docs/refuses/stacks-for refuses 'too short' leaks --stacks --for 5s
check docs/refuses/stacks-live refuses --for leaks --stacks --live
check docs/refuses/for refuses --stacks leaks --for 2m x.db
check docs/refuses/stacks-group refuses --group leaks --stacks -g dir
