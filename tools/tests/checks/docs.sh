# SPDX-License-Identifier: GPL-2.0-only
# The man pages and the completion have everything that the command accepts.

commands=$("$codetag" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')

options_of() {
	"$codetag" "$1" --help | sed '/^Examples:/,$d' | grep -o -- '--[a-z][a-z-]*' | sort -u |
		grep -vx -e --help -e --usage -e --version
}

# Every option of --help is in the man page, as .Fl -name.
man_knows_options() {
	local option missing=0 man
	man=$(tr '\n' ' ' <../man/codetag.1)
	for option in $(options_of "$1"); do
		[[ $man =~ -${option#--}( |$|=|\)) ]] || {
			echo "$1 $option is not in codetag.1"
			missing=1
		}
	done
	grep -q "^.D1 Nm Cm $1 " ../man/codetag.1 || { echo "no $1"; missing=1; }
	return $missing
}

help_is_sound() {
	local text
	text=$("$codetag" "$1" --help) || return 1
	grep -q '^Examples:' <<<"$text" && grep -q '^Exit status: 0' <<<"$text" &&
		[ -z "$("$codetag" "$1" --help 2>&1 >/dev/null)" ]
}

# The examples of --help are commands that it takes.
examples_work() {
	local example
	ARGP_HELP_FMT=rmargin=400 "$codetag" "$1" --help | sed -n '/^Examples:/,/^Exit status/p' |
		sed -e ':a' -e '/\\$/ { N; s/\\\n *//; ba' -e '}' |
		sed -n "s/.*codetag \($1 [^|>&]*\).*/\1/p" >"$scratch/examples"
	[ -s "$scratch/examples" ] || return 1
	while read -r example; do
		# The command opens an image as soon as it is named, and there is none in this
		# test. The words after -- are a command to run.
		example=${example/--image /--usage --image }
		eval "'$codetag' ${example/ -- / --usage -- } --usage" >/dev/null 2>"$scratch/err" ||
			{ echo "$example"; cat "$scratch/err"; return 1; }
	done <"$scratch/examples"
}

man_lint() {
	local out
	out=$(mandoc -T lint -W warning "$1") || { echo "$out"; return 1; }
	[ "$(mandoc "$1" | wc -l)" -gt 20 ]
}

# Every field of the JSON that a command prints is in the man page.
json_is_documented() {
	"$@" >"$scratch/documented.json" || [ $? -eq 1 ] || return 1
	sed -n -e '/^.Sh COLUMNS/,/^.Sh MEMORY/p' -e '/^.Sh IMAGES OF MEMORY/,/^.Sh SOURCES/p' \
		../man/codetag.1 | python3 helpers/check-documented-fields.py "$scratch/documented.json"
}

# --help lists all columns: the same as the message about an unknown one.
help_knows_columns() {
	local column help
	help=$("$codetag" "$1" --help | tr -s ' \n' ' ')
	shift
	"$codetag" "$@" -o no-such >"$scratch/columns" 2>&1
	[ $? -eq 2 ] && grep -q 'there are: ' "$scratch/columns" || return 1
	for column in $(sed -n 's/.*there are: \(.*\)$/\1/p' "$scratch/columns" | tr -d ,); do
		grep -qE "[ :]$column([ ,.]|\$)" <<<"$help" || { echo "no $column in --help"; return 1; }
	done
}

completes() {
	local want=$1
	shift
	PATH=$asan:$PATH bash -c '
		. ../completion/codetag
		COMP_WORDS=(codetag "$@") COMP_CWORD=$#
		_codetag
		echo "${COMPREPLY[*]}"' _ "$@" | grep -qw -- "$want"
}

# Hints about options of older tools are for those that the command does not have.
older_options() {
	local command option
	while read -r command option; do
		options_of "$command" | grep -qxe "$option" && { echo "$command has $option"; return 1; }
		"$codetag" "$command" "$option" >/dev/null 2>"$scratch/err"
		[ $? -eq 2 ] && grep -qe "$option is an option of another tool" "$scratch/err" &&
			[ "$(wc -l <"$scratch/err")" -eq 2 ] || { echo "$command $option"; return 1; }
	done < <(sed -n 's/^\t{ "\([a-z]*\)", "\(--[a-z-]*\)".*/\1 \2/p' ../cmd/older.c)
	[ -n "$option$command" ] || [ -s "$scratch/err" ]
}

# Each tool that users come from has its row in both texts.
older_tools() {
	local tool
	for tool in slab_account trace_analyze kmemtrace slabtop showslab MLT kmemleak page_owner memleak \
		"perf kmem" drgn; do
		sed -n '/^## Coming from/,/^## An example/p' ../../Documentation/usage.md | grep -q "$tool" &&
			sed -n '/^.Sh COMING FROM/,/^.Sh SEE/p' ../man/codetag.1 | grep -q "$tool" ||
			{ echo "no $tool"; return 1; }
	done
	for tool in slab_account trace_analyze.py kmemtrace slabtop showslab MLT mlt kmemleak page_owner \
		page_owner_sort memleak perf drgn crash; do
		"$codetag" $tool 2>&1 | grep -q 'Instead: codetag' || { echo "no answer to $tool"; return 1; }
	done
	"$codetag" slabtop 2>&1 | grep -q 'Instead: codetag slabs --live'
}

# The version that is built is the newest one of the changes, with "~dev" before its release.
version_is_that_of_changes() {
	local want
	want=$(sed -nE 's/^## ([0-9.]+)$/\1/p; s/^## ([0-9.]+) \(not released yet\)$/\1~dev/p' ../../CHANGELOG.md | head -n 1)
	[ -n "$want" ] && [ "$("$codetag" --version | head -n 1)" = "codetag $want" ]
}

installs() {
	local dest=$scratch/dest file
	nice -n 5 make -s -C .. O="$build/clang" CC=clang install DESTDIR="$dest" PREFIX=/usr || return 1
	for file in bin/codetag share/man/man1/codetag.1 share/man/man5/codetag-record.5 \
		share/bash-completion/completions/codetag; do
		[ -s "$dest/usr/$file" ] || { echo "$file is missing"; return 1; }
	done
	"$dest/usr/bin/codetag" top --once data/handmade-v1.allocinfo >/dev/null
}

check docs/older-options older_options
check docs/older-tools older_tools
check docs/version version_is_that_of_changes
for command in $commands; do
	check "docs/man/$command" man_knows_options "$command"
	check "docs/examples/$command" examples_work "$command"
	check "docs/help/$command" help_is_sound "$command"
	check "docs/completion/$command" completes "$command" "${command:0:2}"
	check "docs/completion/$command/json" completes --help "$command" --h
done
for command in "slabs" "slabs --diff x" "contexts" "trace x" "static x" "status" "enable --dry-run --all" \
	"disable --dry-run --all" \
	"fault --dry-run --all" "fault --list" "guard --dry-run --all" "guard --list" "audit" "replay --list x"; do
	feature sqlite3 docs/columns/replay >/dev/null || [ "${command%% *}" != replay ] || continue
	feature libelf docs/columns/static >/dev/null || [ "${command%% *}" != static ] || continue
	# shellcheck disable=SC2086
	check "docs/columns/${command// /-}" help_knows_columns "${command%% *}" $command
done
# words_of COMMAND OPTION: the words that the message about an unknown word lists.
words_of() {
	"$codetag" "$1" "$2" '?' 2>&1 | sed -n 's/.*there are: \(.*\)$/\1/p' | tr -d ,
}

# The options of COMMAND that take a word of a list.
word_options() {
	ARGP_HELP_FMT=rmargin=2000 "$codetag" "$1" --help |
		sed -nE 's/^ *(-., )?(--[a-z-]+)=(KEY|BY|LIST|FORMAT|KIND|ATTR)( .*)?$/\2/p'
}

# The manual page's text about the options of COMMAND; with "columns" about its columns, too.
man_of() {
	awk -v command="$1" -v columns="$2" '
		/^\.S[sh]/ {
			here = /^\.Ss Common options/ || ($1 == ".Ss" && $0 ~ "[ ,]" command "(,|$)") ||
				(columns && /^\.Sh COLUMNS/)
			json = /^\.Sh JSON/
		}
		json && columns && /^\.It/ { here = $0 ~ "[ ,]" command "([ ,]|$)" }
		here' ../man/codetag.1
}

# knows WORD PLACE TEXT: the text has it as a word of its own.
knows() {
	[[ $3 =~ (^|[^a-z_/])$1([^a-z_/]|$) ]] || { echo "no $1 in $2"; return 1; }
}

# A word that the command takes is in its help, in the manual page and is completed; a word that
# is completed is taken.
words_agree() {
	local option word words help man completed missing=0
	for option in $(word_options "$1"); do
		words=$(words_of "$1" "$option")
		words=${words//dir:DEPTH/dir:2}
		[ "$(wc -w <<<"$words")" -gt 2 ] || { echo "no message lists the words of $option"; missing=1; }
		# shellcheck disable=SC2046,SC2059,SC2086
		"$codetag" "$1" $(printf -- "$option=%s " $words) --usage >/dev/null || missing=1
		help=$(ARGP_HELP_FMT=rmargin=2000 "$codetag" "$1" --help | grep -e "$option=")
		man=$(man_of "$1" "$(grep -o columns <<<"$option")")
		completed=$(PATH=$asan:$PATH bash -c '. ../completion/codetag; _codetag_values "$2" "$1"' _ "$1" "$option")
		for word in $words; do
			knows "${word%:2}" "the help of $1 $option" "$help" || missing=1
			knows "${word%:2}" "codetag.1, $1 $option" "$man" || missing=1
			knows "${word%:2}" "the completion of $1 $option" "$completed" || missing=1
		done
		for word in $completed; do
			[[ $'\n'"${words// /$'\n'}"$'\n' == *$'\n'"${word%:1}"$'\n'* ]] ||
				[ "$1 $option" = "slabs --columns" ] ||
				{ echo "$1 $option: $word is completed, and not taken"; missing=1; }
		done
	done
	return $missing
}

# The keys of the kernel's language: in its documentation, in the help, in the manual page.
keys_agree() {
	local keys key missing=0
	keys=$("$codetag" split --dry-run --all '?' 2>&1 | sed -n 's/.*there are: \(.*\), and .*/\1/p' | tr -d ,)
	[ "$(wc -w <<<"$keys")" -gt 8 ] || { echo "no message lists the keys"; return 1; }
	for key in $keys; do
		"$codetag" split --dry-run --all "$key" --usage >/dev/null || missing=1
		grep -qE "^\`\`$key\`\` " ../../codetag/Documentation/admin-guide/mm/codetag.rst ||
			{ echo "no row of $key in codetag.rst"; missing=1; }
		[ "$key" = stack ] || grep -qP "^\t\t$key " ../../codetag/Documentation/ABI/testing/debugfs-codetag ||
			{ echo "no $key in debugfs-codetag"; missing=1; }
		knows "$key" usage.md "$(sed -n '/^The keys are/,/\./p' ../../Documentation/usage.md)" || missing=1
		knows "$key" "codetag.1, split" "$(sed -n '/^\.Ss split/,/^\.Ss contexts/p' ../man/codetag.1)" || missing=1
		knows "$key" "the help of split" "$("$codetag" split --help | sed -n '/^Keys:/,$p')" || missing=1
		completes "$key" split "$key" || { echo "split $key is not completed"; missing=1; }
		[[ " $(words_of contexts --group) " == *" $key "* ]] || { echo "contexts does not sum by $key"; missing=1; }
	done
	return $missing
}

for command in $commands; do
	[ -z "$(word_options "$command")" ] || check "docs/words/$command" words_agree "$command"
done
check docs/words/keys keys_agree

ours=data/recorded-ours-6.12
check docs/json/report json_is_documented "$codetag" report --json $ours.allocinfo \
	--meminfo $ours.meminfo --slabinfo $ours.slabinfo --zoneinfo $ours.zoneinfo
check docs/json/where json_is_documented "$codetag" where --json $ours.meminfo
check docs/json/tree json_is_documented "$codetag" report --json --tree $ours.allocinfo
check docs/json/diff json_is_documented "$codetag" diff --json $ours.allocinfo \
	data/handmade-v2.allocinfo
check docs/json/merge json_is_documented "$codetag" merge --json $ours.allocinfo data/handmade-v2.allocinfo
check docs/json/trace json_is_documented "$codetag" trace --json data/recorded-ours-6.12.trace
check docs/json/slabs json_is_documented "$codetag" slabs --json -f $ours.slabinfo \
	--allocinfo $ours.allocinfo
check docs/json/slabs-diff json_is_documented "$codetag" slabs --json -f $ours.slabinfo \
	--diff data/recorded-mainline-6.12.slabinfo
check docs/json/status json_is_documented "$codetag" status --json -a --debugfs $ours.debugfs
check docs/json/fault json_is_documented "$codetag" fault --list --json --debugfs $ours.debugfs
check docs/json/guard json_is_documented "$codetag" guard --list --json --debugfs data/handmade.debugfs
check docs/json/remembered json_is_documented "$codetag" remembered --json --debugfs $ours.debugfs
split=data/recorded-ours-6.12-split.debugfs
check docs/json/contexts json_is_documented "$codetag" contexts --json $split/contexts
check docs/json/contexts-tree json_is_documented "$codetag" contexts --json --tree -n 1 $split/contexts
check docs/json/contexts-account json_is_documented "$codetag" contexts --account -d 0.1 --json $split/contexts
check docs/json/audit json_is_documented "$codetag" audit --json data/handmade-bad.audit
if [ -e "$recording" ]; then
	check docs/json/leaks json_is_documented "$codetag" leaks --json -a "$recording"
	check docs/json/replay json_is_documented "$codetag" replay --json --list "$recording"
fi
# listed FILE: the package of FILE, by $owners, is in a list, or Debian cannot be
# without it.
listed() {
	local package
	package=$(grep -m 1 -- "$1\$" <<<"$owners" | sed 's/:.*//')
	[ -n "$package" ] && { grep -qx -- "$package" ../packages.txt ../../scripts/packages.txt ||
		[ "$(dpkg-query -W -f '${Essential}' "$package")" = yes ]; }
}

# If all listed packages are installed, no test is skipped for want of a program or a library.
skips_are_listed() {
	local name missing=0 programs libraries owners
	mapfile -t programs < <(grep -hv '^ *#' checks/*.sh | grep -oE '\bprogram [a-z][a-z0-9-]* [a-z]' |
		awk '{ print $2 }' | sort -u; printf '%s\n' gzip xz zstd)
	mapfile -t libraries < <(for name in $(sed -n 's/^$(eval $(call feature,[A-Z0-9]*,\([^,]*\)))$/\1/p' ../Makefile); do
		echo "$(pkg-config --variable pcfiledir "$name")/$name.pc"
	done)
	[ ${#programs[@]} -gt 9 ] && [ ${#libraries[@]} -gt 5 ] || return 1
	# dpkg takes long to begin.
	owners=$(dpkg -S "${programs[@]/#/*bin/}" "${libraries[@]}" 2>/dev/null)
	for name in "${programs[@]}"; do
		listed "bin/$name" || sed '/^#/d' ../packages-unpacked.txt | grep -qE "/$name( |\$)" ||
			{ echo "no list has the package of $name"; missing=1; }
	done
	for name in "${libraries[@]}"; do
		listed "$name" || { echo "no list has the package of $name"; missing=1; }
	done
	return $missing
}

if program dpkg docs/packages; then
	check docs/packages skips_are_listed
fi
check docs/completion/equals completes subsystem report --group = sub
check docs/completion/equals-empty completes place report --group =
check docs/completion/columns completes total_requested trace -o total_r
check docs/completion/columns-report completes growth diff --columns gr
check docs/completion/columns-diff completes slabs_growth slabs -o slabs_
check docs/completion/host completes host export -g ho
check docs/completion/help completes leaks help le
check docs/completion/values completes subsystem report --group sub
check docs/completion/sort completes waste trace -s was
check docs/completion/sort-static completes rodata static --sort r
check docs/completion/contexts completes function contexts -g fun
check docs/completion/split completes stack split sta
check docs/completion/attr completes static chart --attr s
check docs/completion/query completes module report mod
if program mandoc docs/lint; then
	check docs/lint/codetag.1 man_lint ../man/codetag.1
	check docs/lint/codetag-record.5 man_lint ../man/codetag-record.5
fi
check docs/install installs

# An option that would have no effect is refused, and the message names it.
refuses() {
	local named=$1
	shift
	"$codetag" "$@" >"$scratch/out" 2>"$scratch/err"
	[ $? -eq 2 ] && [ ! -s "$scratch/out" ] && grep -qe "$named" "$scratch/err"
}

check docs/refuses/tree-group refuses --group report --tree $ours.allocinfo -g dir
check docs/refuses/invert refuses --invert contexts --invert $split/contexts
check docs/refuses/contexts-tree refuses --tree contexts --tree $split/contexts -g age
check docs/refuses/contexts-stacks refuses --stacks contexts --stacks $split/contexts -g age
check docs/refuses/account-group refuses --account contexts --account $split/contexts -g age
check docs/refuses/account-delay refuses --account contexts -d 2 $split/contexts
check docs/refuses/contexts-id refuses 'no ids' contexts $split/contexts id 7
check docs/refuses/buffer refuses --buffer trace data/handmade-old.trace --buffer 1M
check docs/refuses/delay refuses --delay top --once -d 1 $ours.allocinfo
for option in --live --diff=data/recorded-mainline-6.12.slabinfo; do
	[ "$option" != --live ] || feature ncursesw docs/refuses/live || continue
	check "docs/refuses/slabs-sites${option%=*}" refuses --sites slabs $option --sites -f $ours.slabinfo \
		--allocinfo $ours.allocinfo
done
check docs/refuses/slabs-sort refuses "'u' does not sort changes" slabs --diff x -s u
check docs/refuses/slabs-delay refuses --delay slabs -d 3
for format in csv json prometheus; do
	check docs/refuses/attr-$format refuses --attr export --format $format --attr calls $ours.allocinfo
done
if feature cairo docs/refuses/chart; then
	for option in -gdir -n3; do
		for kind in ring treemap; do
			check docs/refuses/$kind$option refuses --group chart $option --kind $kind \
				-o "$scratch/refused.svg" $ours.allocinfo
		done
	done
fi
if [ -e "$recording" ]; then
	for option in -sname -n1 --min=1M --max=1M -gdir -a; do
		check docs/refuses/list$option refuses --min replay --list "$recording" $option
		check docs/refuses/text$option refuses --min replay --text 1 "$recording" $option
	done
	check docs/refuses/list-delay refuses --delay replay --list "$recording" -d 1
	check docs/refuses/text-json refuses --json replay --text 1 "$recording" --json
	check docs/refuses/replay-two refuses 'one of' replay --text 1 --list "$recording"
	check docs/refuses/gauges-delay refuses --delay replay --gauges "$recording" -d 1
	check docs/refuses/gauges-top refuses --top replay --gauges "$recording" -n 3
	check docs/refuses/gauges-query refuses query replay --gauges "$recording" module ext4
	check docs/refuses/contexts-query refuses query replay --contexts 1 "$recording" module ext4
	check docs/refuses/leaks-sort refuses "invalid option -- 's'" leaks "$recording" -s name
	check docs/refuses/leaks-count refuses --count leaks "$recording" -c 20
fi

# If a named file cannot be read, a hint says what to do.
hints() { # ERROR HINT COMMAND...
	local error=$1 hint=$2
	shift 2
	"$@" >"$scratch/out" 2>"$scratch/err"
	[ $? -eq 2 ] && grep -q "cannot read .*$error" "$scratch/err" &&
		grep -qe "$hint" "$scratch/err" || { cat "$scratch/err"; return 1; }
}

# A user who may not read the file.
hints_root() {
	local dir user=
	dir=$(mktemp -d) && cp data/handmade-v1.allocinfo "$dir/secret" && cp "$codetag" "$dir" &&
		chmod 755 "$dir" && chmod 0 "$dir/secret" || return 1
	[ "$(id -u)" -ne 0 ] || user='setpriv --reuid=65534 --clear-groups'
	for command in report slabs\ -f trace; do
		# shellcheck disable=SC2086
		hints 'Permission denied' 'needs root' $user "$dir/codetag" $command "$dir/secret" || return 1
	done
	rm -rf "$dir"
}

for command in report "top --once" "diff $ours.allocinfo" "export --format csv"; do
	# shellcheck disable=SC2086
	check "docs/hints/missing-${command%% *}" hints 'No such' 'For a query put a key before it' \
		"$codetag" $command no-such-file
done
check docs/hints/missing-trace hints 'No such' /sys/kernel/tracing/trace "$codetag" trace no-such-file
check docs/hints/missing-slabs hints 'No such' 'Without --slabinfo' "$codetag" slabs -f no-such-file
check docs/hints/missing-audit hints 'No such' 'looked for in' "$codetag" audit no-such-file
feature sqlite3 docs/hints/missing-recording &&
	check docs/hints/missing-recording hints 'No such' 'codetag record' "$codetag" leaks no-such-file
feature libelf docs/hints/missing-tree &&
	check docs/hints/missing-tree hints 'No such' built "$codetag" static no-such-directory
if program setpriv docs/hints/root; then
	check docs/hints/root hints_root
fi
