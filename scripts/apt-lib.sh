# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Fetch Debian packages that this machine's release or architecture does not have. apt runs
# with sources and a state directory of its own, so the machine's are neither used nor
# changed. To be sourced after lib.sh.

# own_apt DIR ARCHITECTURE: set apt to the command that keeps its state in DIR. DIR is emptied.
own_apt()
{
	local dir=$1 arch=$2

	apt=(apt-get -q -o "Dir::Etc::sourcelist=$dir/sources.list"
		-o Dir::Etc::sourceparts=/dev/null -o Dir::Etc::preferencesparts=/dev/null
		-o "Dir::State::lists=$dir/lists" -o "Dir::State::status=$dir/status"
		-o "Dir::Cache=$dir/cache" -o Acquire::Languages=none -o Acquire::Retries=3
		-o "APT::Architecture=$arch" -o "APT::Architectures=$arch"
		-o APT::Sandbox::User=root)
	rm -rf "$dir"
	mkdir -p "$dir"/{lists/partial,cache/archives/partial}
	: >"$dir/status"
}

# own_archives: the Debian archives that this machine uses, as "URL SUITE"
own_archives()
{
	# shellcheck disable=SC2016	# the format is apt's
	apt-get indextargets --format '$(REPO_URI) $(CODENAME) $(ORIGIN) $(COMPONENT)' 'Created-By: Packages' |
		sed -n 's/ Debian main$//p' | sort -u
}

# fetch_package DIR ARCHITECTURE SUITE PACKAGE…: download the packages into DIR, which is
# emptied first, and print their files. An empty SUITE is that of this machine.
fetch_package()
{
	local dir=$1 arch=$2 suite=$3 log=$LOGS/fetch-$4.log mirror own package
	local -a apt

	own_apt "$dir" "$arch"
	# The mirror from which the machine itself gets Debian's main archive
	read -r mirror own < <(own_archives | grep -m 1 '/debian/* ' || true) || true
	mirror=${DEBIAN_MIRROR:-${mirror:-}}
	suite=${suite:-${own:-bookworm}}
	[ -n "$mirror" ] || die "apt knows no Debian archive" "name one: DEBIAN_MIRROR=URL"
	printf 'deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] %s %s main\n' \
		"$mirror" "$suite" >"$dir/sources.list"
	: >"$log"
	"${apt[@]}" update >>"$log" 2>&1 ||
		die "the list of $suite's packages for $arch could not be fetched" "output: $log"
	shift 3
	for package; do
		(cd "$dir" && "${apt[@]}" download "$package") >>"$log" 2>&1 ||
			die "$suite has no $package for $arch to download" "output: $log"
		printf '%s\n' "$dir/$package"_*.deb
	done
}

# fetch_source DIR PACKAGE VERSION: download the debian.tar of a source package from the
# archives that this machine uses. If they no longer have VERSION, take their newest one.
fetch_source()
{
	local dir=$1 package=$2 version=$3 log=$LOGS/fetch-$2.log found
	local -a apt

	own_apt "$dir" "$(dpkg --print-architecture)"
	own_archives | sed 's,^,deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] ,; s,$, main,' \
		>"$dir/sources.list"
	"${apt[@]}" update >"$log" 2>&1 || die 'no list of source packages could be fetched' "output: $log"
	while read -r found; do
		(cd "$dir" && "${apt[@]}" source --download-only --diff-only "$package=$found") >>"$log" 2>&1 || continue
		[ "$found" = "$version" ] || printf '%s: the archives no longer have %s of %s; using that of %s\n' \
			"${0##*/}" debian.tar.xz "$version" "$found" >&2
		printf '%s\n' "$dir/${package}_"*.debian.tar.*
		return
	done < <(printf '%s\n' "$version"
		apt-cache "${apt[@]:2}" showsrc --only-source "$package" | sed -n 's/^Version: //p' | grep -vxF "$version" | sort -rV)
	die "the source package $package $version could not be fetched, nor another version of it" "output: $log" \
		"with its debian.tar.xz from elsewhere: KSRC=\$(scripts/get-rt-source DEBIAN.TAR)"
}
