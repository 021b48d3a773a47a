# SPDX-License-Identifier: GPL-2.0-only
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

# overlay_all [PATH…]: the files of the overlay, or of these paths in it, without what
# editors, builds and git leave behind
overlay_all()
{
	(cd "$OVERLAY" && find "${@:-.}" -type f ! -name '*~' ! -name '.*.sw?' \
		! -name '*.orig' ! -name '*.rej' ! -name '*.[oa]' ! -name '*.ko' \
		! -name '*.cmd' ! -name '*.mod' ! -name '*.mod.c' ! -name '*.pyc' \
		! -name modules.order ! -name Module.symvers) | sed 's,^\./,,' | sort -u
}

# step_overlay PATCH: the overlay files of one step
step_overlay()
{
	local patterns pattern
	local -a paths=() matches

	patterns=$(series_lines | sed -n "s,^$1[[:space:]],,p")
	for pattern in $patterns; do
		mapfile -t matches < <(cd "$OVERLAY" && compgen -G "$pattern")
		[ ${#matches[@]} -gt 0 ] || die "step $1: no file of the overlay matches $pattern" \
			"correct kernel-patches/$KVER/series"
		paths+=("${matches[@]}")
	done
	[ ${#paths[@]} -eq 0 ] || overlay_all "${paths[@]}"
}

# copy_overlay DIR: copy the files of the overlay whose names are on standard input
copy_overlay() { (cd "$OVERLAY" && xargs -r -d '\n' cp --parents -p -t "$1"); }

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

	for patch in $(series_lines | sed -n 's/[[:space:]].*//p'); do
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

# base_field NAME: a "name: value" line of BASE, the sources that the series was made on
base_field()
{
	[ ! -f "$PATCHES/BASE" ] || sed -n "s/^$1: *//p" "$PATCHES/BASE"
}

# commit_as_series: from here on git commits the same, whoever runs it and when
commit_as_series()
{
	GIT_COMMITTER_NAME=$(git -C "$ROOT" config user.name || echo codetag)
	GIT_COMMITTER_EMAIL=$(git -C "$ROOT" config user.email || echo codetag@localhost)
	export GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL GIT_COMMITTER_DATE='@0 +0000'
	export GIT_AUTHOR_NAME=$GIT_COMMITTER_NAME GIT_AUTHOR_EMAIL=$GIT_COMMITTER_EMAIL
	export GIT_AUTHOR_DATE=$GIT_COMMITTER_DATE
	export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
	unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE
}

# commit_step REPO PATCH: commit the patch and the overlay files of its step to REPO
commit_step()
{
	local repo=$1 patch=$2 text info author subject when

	text=$(mktemp -d "$CACHE/run/step.XXXXXX")
	info=$(git mailinfo "$text/message" "$text/diff" <"$PATCHES/$patch") ||
		die "kernel-patches/$KVER/$patch has no mail header"
	author=$(sed -n 's/^Author: //p' <<<"$info")
	subject=$(sed -n 's/^Subject: //p' <<<"$info")
	when=$(sed -n 's/^Date: //p' <<<"$info")
	if [ -z "$author" ] || [ -z "$subject" ]; then
		die "kernel-patches/$KVER/$patch needs a From: and a Subject: line"
	fi
	grep -q '[^[:space:]]' "$text/message" || die "kernel-patches/$KVER/$patch says no why"

	if grep -q '^diff --git ' "$text/diff"; then
		git -C "$repo" apply --index --whitespace=nowarn "$PATCHES/$patch" ||
			die "kernel-patches/$KVER/$patch does not apply"
	fi
	step_overlay "$patch" >"$text/overlay"
	copy_overlay "$repo" <"$text/overlay"
	git -C "$repo" update-index --add --stdin <"$text/overlay"
	{ printf '%s\n\n' "$subject"; cat "$text/message"; } |
		GIT_AUTHOR_NAME=$author GIT_AUTHOR_DATE=${when:-$GIT_AUTHOR_DATE} \
		GIT_AUTHOR_EMAIL=$(sed -n 's/^Email: //p' <<<"$info") \
		git -C "$repo" commit -q --allow-empty --no-verify -F -
	rm -r "$text"
}

# series_state: a checksum of all that edit-series reads and import-series writes, modes of
# files included
series_state()
{
	{
		(cd "$PATCHES" && find . -type f ! -path './configs/*' -exec sha256sum {} +)
		[ ! -d "$OVERLAY" ] || (cd "$OVERLAY" && overlay_all | tr '\n' '\0' |
			xargs -0 -r sh -c 'stat -c "%a %n" "$@" && sha256sum "$@"' -)
	} | sort | sha256sum | cut -d' ' -f1
}
