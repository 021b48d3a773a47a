# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034,SC2154
# Shared by the benchmark scripts: kernels, trees and places. To be sourced.

BENCH=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
# shellcheck source=../scripts/lib.sh
. "$BENCH/../scripts/lib.sh"

# The results of a run; the next run reuses those that are still valid.
DATA=$CACHE/bench
[ "$KVER" = "$HOME_KVER" ] || DATA=$DATA/$KVER
# The suffix of kernel names for another architecture
ON=
if [ "$GUEST_ARCH" = arm64 ]; then
	ON=-arm64
	DATA=$DATA/arm64
fi

# The profiler of the newest kernel is measured, too.
NEWEST_KVER=$(kernels | tail -n 1)

# A measured kernel is called SOURCE-PROFILER[-um|-arm64]:
#   SOURCE	KVER or the newest kernel, both without patches; ours: the patched KVER;
#		roomy: the same with enough free page flags for an id; owner: roomy with
#		page_owner; alone: KVER with the profiler's series, but not the fast-path series
#   PROFILER	none or prof
#   -um	user-mode Linux. Other kernels have the options of Debian that matter.
#   -arm64	the same options, as far as that architecture has them
kernel_source() { printf '%s\n' "${1%%-*}"; }
kernel_um() { case $1 in *-um) true ;; *) false ;; esac; }
kernel_arm64() { case $1 in *-arm64) true ;; *) false ;; esac; }

source_tree()
{
	case $1 in
	"$KVER") printf '%s\n' "$PRISTINE" ;;
	"$NEWEST_KVER") printf '%s\n' "${KSRC_NEWEST:-$CACHE/src/linux-source-$NEWEST_KVER}" ;;
	ours|roomy|owner) printf '%s\n' "${OURS_TREE:-$TREE}" ;;
	alone) tree_without_fast_paths ;;
	step) printf '%s\n' "$CACHE/tree/step-$KVER" ;;
	*) die "no such kernel source: $1" ;;
	esac
}

# These replace functions of scripts/lib.sh: for benchmarks, a flavour is a measured kernel.
# shellcheck disable=SC2317,SC2329
flavour_tree()
{
	local source

	source=$(kernel_source "$1" | sed 's/^roomy$\|^owner$/ours/')
	case $KVER-$source in
	"$HOME_KVER"-*|*-[0-9]*) ;;
	*) source=$KVER-$source ;;
	esac
	printf '%s\n' "$CACHE/tree/bench-$source"
}
# shellcheck disable=SC2317,SC2329
flavour_obj() { printf '%s\n' "$OBJ/bench-$1"; }
# shellcheck disable=SC2317,SC2329
flavour_fragments()
{
	if kernel_um "$1"; then
		fragments um "$(flavour_tree "$1")"
		printf '%s\n' "$BENCH/configs/bench.config"
	elif kernel_arm64 "$1"; then
		fragments arm64 "$(flavour_tree "$1")"
		printf '%s\n' "$BENCH"/configs/{bench,debian,measured,arm64}.config
	else
		fragments base "$(flavour_tree "$1")"
		printf '%s\n' "$BENCH"/configs/{bench,debian,measured}.config
	fi
	case $1 in
	roomy-*) printf '%s\n' "$BENCH/configs/roomy.config" ;;
	owner-*) printf '%s\n' "$BENCH"/configs/{roomy,owner}.config ;;
	esac
	case $1 in
	*-none*) printf '%s\n' "$BENCH/configs/none.config" ;;
	esac
}

say() { printf '%s %s\n' "$(date +%H:%M:%S)" "$*" >&2; }

# variants [PREFIX…]: "name|kernel|command line|before" of those whose name begins
# with one of these, and of those that they are compared with
variants()
{
	awk -F '|' -v want="$*" -v kver="$KVER" -v newest="$NEWEST_KVER" '
	function trim(s) { gsub(/^[ \t]+|[ \t]+$/, "", s); return s }
	/^#/ || NF < 4 { next }
	{
		gsub(/KVER-/, kver "-")
		gsub(/NEWEST-/, newest "-")
		name = trim($1)
		if (seen[name]++)
			next
		n = split(want, prefix, " ")
		use = n == 0
		for (i = 1; i <= n; i++) {
			use = use || index(name, prefix[i]) == 1
			use = use || name == (index(prefix[i], newest "-") == 1 ? newest : kver) "-none"
			source = prefix[i]
			sub(/-.*/, "", source)
			use = use || name == source "-none"
		}
		if (use)
			print name "|" trim($2) "|" trim($3) "|" trim($4)
	}' "$BENCH/variants"
}

# results_of NAME: the directory of these results
results_of() { mkdir -p "$DATA/$1" && printf '%s\n' "$DATA/$1"; }

# fresh FILE STATE: whether the file has results of this state
fresh() { [ -z "${AGAIN:-}" ] && [ -f "$1" ] && grep -q -x "state $2" "$1"; }

# state_of KERNEL TEXT…: a checksum of everything that a result depends on
state_of()
{
	local kernel=$1

	shift
	{
		cat "$(flavour_obj "$kernel")/.codetag-state" "$BENCH/run-icount" "$0"
		printf '%s\n' "$@"
	} | sha256sum | cut -c1-64
}

# in_rounds ROUNDS RESULTS SUFFIX TEXT VARIANT…: measure variants in turn, A B C A B C. Keep the output of
# the command measure in a file for each variant and round, and print where these are. measure
# finds $kernel, $name, $append and $before of the variant. SUFFIX makes names of kernels
# complete, and TEXT is all else that the results depend on.
in_rounds()
{
	local rounds=$1 suffix=$3 text=$4 out state round file name kernel append before failed=0

	out=$(results_of "$2")
	shift 4
	# All kernels that are compared with each other belong to the state: rounds that
	# were measured apart say nothing about each other.
	state=$(variants "$@" | while IFS='|' read -r name kernel append before; do
		[[ " $* " = *" $name "* ]] || continue
		state_of "$kernel$suffix" "$name" "$append" "$before" "$text"
	done | sha256sum | cut -c1-64)

	for ((round = 1; round <= rounds; round++)); do
		say "${out##*/}, round $round of $rounds"
		while IFS='|' read -r name kernel append before; do
			[[ " $* " = *" $name "* ]] || continue
			file=$out/$name.$round.txt
			! fresh "$file" "$state" || continue
			rm -f "$file"
			if measure >"$file.new" </dev/null; then
				echo "state $state" >>"$file.new"
				mv "$file.new" "$file"
			else
				say "$name failed"
				failed=1
			fi
		done < <(variants "")
	done
	printf '%s\n' "$out"
	return "$failed"
}

# build_plugin NAME FILE: a plugin of QEMU from benchmarks/plugin
build_plugin()
{
	gcc -std=c17 -O2 -Wall -Wextra -Werror -fPIC -shared -fvisibility=hidden -o "$2" "$BENCH/plugin/$1.c"
}

# with_plugin DIR PLUGIN: make a script in DIR that runs QEMU with PLUGIN and its arguments; DIR
# is to be first in PATH. run-icount has no option for this: all results depend on that file, and
# few need a plugin.
with_plugin()
{
	printf '#!/bin/sh\nexec %q "$@" -plugin %q\n' "$(command -v qemu-system-x86_64)" "$2" >"$1/qemu-system-x86_64"
	chmod +x "$1/qemu-system-x86_64"
}
