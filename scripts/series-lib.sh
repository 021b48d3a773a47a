# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Reading kernel-patches/KVER/series: one step a line, the name of the patch and
# then the overlay paths (files, directories, globs below codetag/) that belong to
# the same commit. After it comes the series of fast-paths/, unless FAST_PATHS=n.
# To be sourced after lib.sh.

# series_dirs: where the series are, below PATCHES, the one to apply first first
series_dirs()
{
	printf '.\n'
	if [ "$FAST_PATHS" = y ] && [ -f "$PATCHES/fast-paths/series" ]; then
		printf 'fast-paths\n'
	fi
}

# series_lines: the steps of all series, with the patches relative to PATCHES
series_lines()
{
	local dir

	for dir in $(series_dirs); do
		[ -f "$PATCHES/$dir/series" ] || continue
		sed "s/#.*//; s/[[:space:]]*\$//; /^[[:space:]]*\$/d; s,^,$dir/,; s,^\./,," \
			"$PATCHES/$dir/series"
	done
}

# series_steps: their patches
series_steps()
{
	local patch

	series_lines | while read -r patch _; do
		printf '%s\n' "$patch"
	done
}

# overlay_all: the files of the overlay, without what editors, builds and git leave
# behind
overlay_all()
{
	find "$OVERLAY" -type f ! -name '*~' ! -name '.*.sw?' \
		! -name '*.orig' ! -name '*.rej' ! -name '*.[oa]' ! -name '*.ko' \
		! -name '*.cmd' ! -name '*.mod' ! -name '*.mod.c' ! -name '*.pyc' \
		! -name modules.order ! -name Module.symvers -printf '%P\n' | sort
}

# step_overlay PATCH: the overlay files of one step
step_overlay()
{
	local patch paths pattern match found

	series_lines | while read -r patch paths; do
		[ "$patch" = "$1" ] || continue
		for pattern in $paths; do
			found=
			for match in "$OVERLAY"/$pattern; do
				[ -e "$match" ] || continue
				found=1
				(cd "$OVERLAY" && find "${match#"$OVERLAY/"}" -type f)
			done
			[ -n "$found" ] || die "step $1: no file of the overlay matches $pattern" \
				"correct kernel-patches/$KVER/series"
		done
	done | sort >"$CACHE/run/step.$$"
	overlay_all | comm -12 - "$CACHE/run/step.$$"
	rm -f "$CACHE/run/step.$$"
}

# patch_paths PATCH: every path a patch names
patch_paths()
{
	sed -n -E \
		-e 's,^(---|\+\+\+) [ab]/([^[:space:]]+).*,\2,p' \
		-e 's,^(rename|copy) (from|to) (.*),\3,p' \
		-e 's,^diff --git a/([^[:space:]]+) b/.*,\1,p' "$PATCHES/$1" | sort -u
}

# series_claims: "FILE PATCH" for every overlay file a step claims
series_claims()
{
	local patch

	for patch in $(series_steps); do
		step_overlay "$patch" | sed "s,\$, $patch,"
	done
}

# series_paths: every path below the kernel tree that the series touches
series_paths()
{
	local patch

	for patch in $(series_steps); do
		patch_paths "$patch"
	done | sort -u
}

# base_field NAME: a "name: value" line of BASE, what the series was made on
base_field()
{
	[ ! -f "$PATCHES/BASE" ] || sed -n "s/^$1: *//p" "$PATCHES/BASE"
}
