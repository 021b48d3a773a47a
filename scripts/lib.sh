# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034
# What the scripts beside this file share: places, messages, flavours.
# To be sourced, not run.

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
SCRIPTS=$ROOT/scripts

die()
{
	printf '%s: %s\n' "${0##*/}" "$1" >&2
	shift
	[ $# -eq 0 ] || printf '  %s\n' "$@" >&2
	exit 1
}

# kernels: the versions of the kernels that have a series, the oldest first
kernels() { (cd "$ROOT/kernel-patches" && printf '%s\n' */series) | sed 's,/.*,,' | sort -V; }

# Which kernel; each has a series. Without a choice it is the one whose sources are in
# the Debian of this machine.
HOME_KVER=$(sed -n 's/^linux-source-//p' "$SCRIPTS/packages.txt")
KVER=${KVER:-$HOME_KVER}
PATCHES=$ROOT/kernel-patches/$KVER
OVERLAY=$ROOT/codetag
[[ $KVER != */* && -f $PATCHES/series ]] || die "KVER=$KVER: there is no series for such a kernel" \
	"known: $(kernels | paste -sd' ')"
TARBALL=/usr/src/linux-source-$KVER.tar.xz
DEBIAN_CONFIGS=/usr/src/linux-config-$KVER

# For what guests ARCH= is. Not under that name: a kernel's make would take it for its own.
export GUEST_ARCH=${ARCH:-${GUEST_ARCH:-x86_64}}
unset ARCH

# Everything that is made is made below CACHE, nothing in the repository.
CACHE=${CODETAG_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/codetag}
CACHE=$(realpath -m "$CACHE")
OBJ=$CACHE/obj
LOGS=$CACHE/log
if [ "$KVER" != "$HOME_KVER" ]; then
	OBJ=$OBJ/$KVER
	LOGS=$LOGS/$KVER
fi

# tree_version DIR: "6.12" of the sources of a kernel
tree_version() { sed -n 's/^\(VERSION\|PATCHLEVEL\) = //p' "$1/Makefile" 2>/dev/null | paste -sd.; }
# tree_key DIR: what the directories of a tree of the user's own are called
tree_key() { printf 'ksrc-%s\n' "$(printf %s "$1" | cksum | cut -d' ' -f1)"; }

# A tree of the user's own gets a patched copy and object directories of its own.
KSRC=${KSRC:-}
if [ -n "$KSRC" ]; then
	[ -d "$KSRC" ] || die "KSRC=$KSRC is not a directory" "give a directory with the sources of Linux $KVER"
	KSRC=$(cd "$KSRC" && pwd -P)
	KEY=$(tree_key "$KSRC")
	PRISTINE=$KSRC
	TREE=$CACHE/tree/$KEY
	OBJ=$OBJ/$KEY
else
	PRISTINE=$CACHE/src/linux-source-$KVER
	TREE=$CACHE/tree/$KVER
fi

# Without the fast-path series there is another tree, so that both exist at once.
FAST_PATHS=${FAST_PATHS:-y}
tree_without_fast_paths() { printf '%s\n' "${TREE%-profiler}-profiler"; }
case $FAST_PATHS in
y) ;;
n)
	TREE=$(tree_without_fast_paths)
	OBJ=$OBJ/profiler
	LOGS=$LOGS/profiler
	;;
*)
	printf 'FAST_PATHS=%s is neither y nor n\n' "$FAST_PATHS" >&2
	exit 2
	;;
esac
export FAST_PATHS
# Only a program that does its work makes directories: who asks for help, and a shell that
# sources this file at its prompt, find nothing changed.
[[ ${BASH_SOURCE[-1]} != "$0" || ${1:-} = @(-h|--help) ]] || mkdir -p "$CACHE"/{src,tree,ccache,run} "$OBJ" "$LOGS"

# What is typed before a command for it to mean the same kernel
CHOICE=
[ "$KVER" = "$HOME_KVER" ] || CHOICE+="KVER=$KVER "
[ "$GUEST_ARCH" = x86_64 ] || CHOICE+="ARCH=$GUEST_ARCH "
[ -z "$KSRC" ] || CHOICE+="KSRC=$KSRC "
[ "$FAST_PATHS" = y ] || CHOICE+="FAST_PATHS=$FAST_PATHS "
[ -z "${FLAVOUR:-}" ] || CHOICE+="FLAVOUR=$FLAVOUR "
[ -z "${GUEST_MEM:-}" ] || CHOICE+="GUEST_MEM=$GUEST_MEM "

JOBS=${JOBS:-$(nproc)}
PATH=$PATH:/usr/sbin:/sbin

# ccache answers with objects of other object directories too. What it does not know
# it does not preprocess before it compiles it: that is a fifth of the time, and for
# nothing, as nearly every file has a structure that its configuration changes.
export CCACHE_DIR=$CACHE/ccache CCACHE_NOHASHDIR=1 CCACHE_MAXSIZE=${CCACHE_MAXSIZE:-5G}
export CCACHE_DEPEND=1
# The same sources give the same kernel, whoever builds them and when.
export KBUILD_BUILD_USER=codetag KBUILD_BUILD_HOST=codetag
export KBUILD_BUILD_TIMESTAMP=${KBUILD_BUILD_TIMESTAMP:-Thu Jan  1 00:00:00 UTC 1970}
export PYTHONDONTWRITEBYTECODE=1 LC_ALL=C
# The makes below are not part of a make that called us.
unset MAKEFLAGS MFLAGS MAKELEVEL

# compile_once: from here on compilers are ccache. A new clone has new dates, so that make
# compiles all of the command again.
compile_once() { [ ! -d /usr/lib/ccache ] || PATH=/usr/lib/ccache:$PATH; }

# usage TEXT STATUS: help to stdout, or to stderr when it was asked for wrongly
usage_exit()
{
	if [ "$2" -eq 0 ]; then
		printf '%s\n' "$1"
	else
		printf '%s\n' "$1" >&2
	fi
	exit "$2"
}

# fragment NAME: the file of a configuration fragment
fragment()
{
	local file=$SCRIPTS/configs/$1.config

	[ -f "$file" ] || die "no such configuration: $1" \
		"known: $(cd "$SCRIPTS/configs" && echo *.config | sed 's/\.config//g')"
	printf '%s\n' "$file"
}

# fragments NAME TREE: the fragments of a configuration, the lowest first. One
# says with a line "# on: NAME" what it is put on top of, and with "# with: PATH"
# which fragment of the kernel tree, if it is there, belongs to it. What is
# otherwise in this kernel is in a fragment of the same name beside its patches.
fragments()
{
	local file below path

	file=$(fragment "$1") || exit 1
	below=$(sed -n 's/^# on: //p' "$file")
	[ -z "$below" ] || fragments "$below" "$2"
	sed -n 's/^# with: //p' "$file" | while read -r path; do
		[ ! -e "$2/$path" ] || printf '%s\n' "$2/$path"
	done
	printf '%s\n' "$file"
	file=$PATCHES/configs/$1.config
	[ ! -f "$file" ] || printf '%s\n' "$file"
}

# A flavour is the name of a fragment, built from the patched tree, or from the
# tree without our changes when it is called plain-NAME or, with the profiler that
# is in that tree, NAME-mainline.
flavour_config() { printf '%s\n' "${1#plain-}"; }
flavour_is_plain() { [[ $1 == @(plain-*|*-mainline) ]]; }
flavour_obj() { printf '%s\n' "$OBJ/$1"; }
flavour_tree()
{
	if flavour_is_plain "$1"; then
		printf '%s\n' "$PRISTINE"
	else
		printf '%s\n' "$TREE"
	fi
}

flavour_fragments() { fragments "$(flavour_config "$1")" "$(flavour_tree "$1")"; }

# flavour_lines FLAVOUR WORD: what lines "# WORD: …" of its fragments say, where
# make: are arguments for make, target: is what to build besides the kernel, only:
# what to build instead of it, files: how many object files there are, about,
# debian: which configuration of Debian it is made of, needs: what sources that
# takes, disk: how many GiB, and tools: DIR, whose programs scripts/get-DIR gets
flavour_lines()
{
	local list

	list=$(flavour_fragments "$1") || exit 1
	# shellcheck disable=SC2086
	sed -n "s/^# $2: //p" $list
}
flavour_make_args() { flavour_lines "$1" make; }

flavour_arch()
{
	local arch

	arch=$(flavour_make_args "$1" | sed -n 's/.*\<ARCH=\([^ ]*\).*/\1/p')
	printf '%s\n' "${arch:-x86_64}"
}

# flavour_cross FLAVOUR: what the names of its compiler and its tools begin with, if it
# is not for this machine
flavour_cross() { flavour_make_args "$1" | sed -n 's/.*\<CROSS_COMPILE=\([^ ]*\).*/\1/p'; }

# flavour_command FLAVOUR: where the codetag command for its guests is
flavour_command()
{
	local cross

	cross=$(flavour_cross "$1")
	printf '%s\n' "$CACHE/command${cross:+-$(flavour_arch "$1")}"
}

# kmake FLAVOUR ARGS…: make in the flavour's tree and object directory
kmake()
{
	local flavour=$1 args obj tools
	local -a cc=("CC=ccache gcc" "HOSTCC=ccache gcc")

	shift
	obj=$(flavour_obj "$flavour")
	args=$(flavour_make_args "$flavour") || exit 1
	case $args in
	*LLVM=*) cc=("CC=ccache clang${args##*LLVM=}" "HOSTCC=ccache clang${args##*LLVM=}") ;;
	*CROSS_COMPILE=*) cc[0]="CC=ccache ${args##*CROSS_COMPILE=}gcc" ;;
	esac
	command -v ccache >/dev/null || cc=()
	tools=$(flavour_lines "$flavour" tools)
	# rustc takes one word for its linker
	[ "$tools" != rust ] || unset 'cc[1]'
	# What is to run it, if anything is
	# shellcheck disable=SC2086,SC2154
	PATH=${tools:+$CACHE/$tools/bin:}$PATH "${kmake_by[@]}" make -C "$(flavour_tree "$flavour")" -s -j"$JOBS" O="$obj" \
		"${cc[@]}" $args "$@"
}
