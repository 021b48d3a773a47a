# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034
# Shared by the scripts beside this file: places, messages, flavours.
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

# at_exit COMMAND…: run COMMAND when this shell ends, in place of the one before. A background
# process that is killed right after its start still has its parent's trap and runs that. Bash then
# cannot run [ any more, but [[ it can.
# shellcheck disable=SC2064
at_exit()
{
	local IFS=' '

	trap "[[ \$BASHPID != $BASHPID ]] || ${*@Q}" EXIT
}

# kernels: the versions of the kernels that have a series, the oldest first
kernels() { (cd "$ROOT/kernel-patches" && printf '%s\n' */series) | sed 's,/.*,,' | sort -V; }

# KVER chooses the kernel, which must have a series. The default is the one whose sources this
# machine's Debian has.
HOME_KVER=$(sed -n 's/^linux-source-//p' "$SCRIPTS/packages.txt")
KVER=${KVER:-$HOME_KVER}
PATCHES=$ROOT/kernel-patches/$KVER
OVERLAY=$ROOT/codetag
[[ $KVER != */* && -f $PATCHES/series ]] || die "KVER=$KVER: there is no series for such a kernel" \
	"known: $(kernels | paste -sd' ')"
TARBALL=/usr/src/linux-source-$KVER.tar.xz
DEBIAN_CONFIGS=/usr/src/linux-config-$KVER

# ARCH= chooses the architecture of the guests. It is renamed, because the kernel's make would
# use it, too.
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
# tree_key DIR: the name of the directories for a tree of the user's own
tree_key() { printf 'ksrc-%s\n' "$(printf %s "$1" | cksum | cut -d' ' -f1)"; }

# A tree of the user's own gets a patched copy and object directories of its own.
KSRC=${KSRC:-}
if [ -n "$KSRC" ]; then
	[ -d "$KSRC" ] || die "KSRC=$KSRC is not a directory" "give a directory with the sources of Linux $KVER"
	[ -f "$KSRC/Makefile" ] || die "KSRC=$KSRC has no sources of a kernel" \
		"give a directory with the sources of Linux $KVER"
	KSRC=$(cd "$KSRC" && pwd -P)
	KEY=$(tree_key "$KSRC")
	PRISTINE=$KSRC
	TREE=$CACHE/tree/$KEY
	OBJ=$OBJ/$KEY
else
	PRISTINE=$CACHE/src/linux-source-$KVER
	TREE=$CACHE/tree/$KVER
fi

# Without the fast-path series there is a separate tree, so that both exist at once.
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
# No directories are made for --help, or when an interactive shell sources this file.
[[ ${BASH_SOURCE[-1]} != "$0" || ${1:-} = @(-h|--help) ]] || mkdir -p "$CACHE"/{src,tree,ccache,run} "$OBJ" "$LOGS"

# The variables to type before a command for the same kernel, for messages
CHOICE=
[ "$KVER" = "$HOME_KVER" ] || CHOICE+="KVER=$KVER "
[ "$GUEST_ARCH" = x86_64 ] || CHOICE+="ARCH=$GUEST_ARCH "
[ -z "$KSRC" ] || CHOICE+="KSRC=$KSRC "
[ "$FAST_PATHS" = y ] || CHOICE+="FAST_PATHS=$FAST_PATHS "
[ -z "${FLAVOUR:-}" ] || CHOICE+="FLAVOUR=$FLAVOUR "
[ -z "${GUEST_MEM:-}" ] || CHOICE+="GUEST_MEM=$GUEST_MEM "

JOBS=${JOBS:-$(nproc)}
PATH=$PATH:/usr/sbin:/sbin

# ccache shares objects between object directories. CCACHE_DEPEND skips the preprocessing of
# files that are not in the cache, which takes a fifth of the time. Its results would rarely
# match: the configuration changes some structure in nearly every file.
export CCACHE_DIR=$CACHE/ccache CCACHE_NOHASHDIR=1 CCACHE_MAXSIZE=${CCACHE_MAXSIZE:-5G}
export CCACHE_DEPEND=1
# The same sources give the same kernel, whoever builds them and when.
export KBUILD_BUILD_USER=codetag KBUILD_BUILD_HOST=codetag
export KBUILD_BUILD_TIMESTAMP=${KBUILD_BUILD_TIMESTAMP:-Thu Jan  1 00:00:00 UTC 1970}
export PYTHONDONTWRITEBYTECODE=1 LC_ALL=C
# The calls of make below do not belong to a make that runs this script.
unset MAKEFLAGS MFLAGS MAKELEVEL

# compile_once: use ccache from here on. In a new clone all files are new, so make compiles the
# whole command again.
compile_once() { [ ! -d /usr/lib/ccache ] || PATH=/usr/lib/ccache:$PATH; }

# usage_exit TEXT STATUS: print help, to stderr after a usage error, and exit
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

# fragments NAME TREE: the fragments of a configuration, the lowest first. A fragment names the
# one below it in a line "# on: NAME", and a fragment of the kernel tree in "# with: PATH", which
# need not exist. Options that differ in this kernel are in a fragment of the same name beside
# its patches.
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

# A flavour has the name of a fragment and is built from the patched tree. plain-NAME is built
# from the tree without the series, and so is NAME-mainline, with the profiler of that tree.
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

# flavour_lines FLAVOUR WORD: the text of the lines "# WORD: …" of its fragments:
#   make    arguments for make
#   target  target to build besides the kernel
#   only    target to build instead of the kernel
#   files   approximate number of object files
#   debian  the Debian configuration that it is based on
#   needs   the sources that it takes
#   disk    GiB of disk space
#   tools   DIR of programs that scripts/get-DIR gets
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

# flavour_cross FLAVOUR: the prefix of its compiler and tools, if it is not for this machine
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
	# rustc takes its linker from HOSTCC, which must be a single word.
	[ "$tools" != rust ] || unset 'cc[1]'
	# The command that runs make, if there is one
	# shellcheck disable=SC2086,SC2154
	PATH=${tools:+$CACHE/$tools/bin:}$PATH "${kmake_by[@]}" make -C "$(flavour_tree "$flavour")" -s -j"$JOBS" O="$obj" \
		"${cc[@]}" $args "$@"
}
