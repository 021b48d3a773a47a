# SPDX-License-Identifier: GPL-2.0
# The man pages and the completion know what the command knows.

commands=$("$codetag" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')

options_of() {
	"$codetag" "$1" --help | sed '/^Examples:/,$d' | grep -o -- '--[a-z][a-z-]*' | sort -u |
		grep -vx -e --help -e --usage -e --version
}

# Every option of --help is in the man page, as .Fl -name.
man_knows_options() {
	local option missing=0
	for option in $(options_of "$1"); do
		grep -qE -- "-${option#--}( |\$|=|\))" <(tr '\n' ' ' <../man/codetag.1) || {
			echo "$1 $option is not in codetag.1"
			missing=1
		}
	done
	grep -q "^.It Cm $1 " ../man/codetag.1 || { echo "no $1"; missing=1; }
	return $missing
}

help_is_sound() {
	local text
	text=$("$codetag" "$1" --help) || return 1
	grep -q '^Examples:' <<<"$text" && grep -q '^Exit status: 0' <<<"$text" &&
		[ -z "$("$codetag" "$1" --help 2>&1 >/dev/null)" ]
}

man_lint() {
	local out
	out=$(mandoc -T lint -W warning "$1") || { echo "$out"; return 1; }
	[ "$(mandoc "$1" | wc -l)" -gt 20 ]
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

installs() {
	local dest=$scratch/dest file
	nice -n 5 make -s -C .. O="$build/clang" CC=clang install DESTDIR="$dest" PREFIX=/usr || return 1
	for file in bin/codetag share/man/man1/codetag.1 share/man/man5/codetag-record.5 \
		share/bash-completion/completions/codetag; do
		[ -s "$dest/usr/$file" ] || { echo "$file is missing"; return 1; }
	done
	"$dest/usr/bin/codetag" top --once data/handmade-v1.allocinfo >/dev/null
}

for command in $commands; do
	check "docs/man/$command" man_knows_options "$command"
	check "docs/help/$command" help_is_sound "$command"
	check "docs/completion/$command" completes "$command" "${command:0:2}"
	check "docs/completion/$command/json" completes --help "$command" --h
done
check docs/completion/values completes subsystem report --group sub
check docs/completion/query completes module report mod
if program mandoc docs/lint; then
	check docs/lint/codetag.1 man_lint ../man/codetag.1
	check docs/lint/codetag-record.5 man_lint ../man/codetag-record.5
fi
check docs/install installs
