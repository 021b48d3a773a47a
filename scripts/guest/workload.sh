#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2086	# $dir has no spaces
# Run a workload of a sweep. Usage: workload.sh FILE prepare|work
# FILE has the function work, and may have prepare and clean. These use $dir and the functions here.
dir=/tmp/workload.dir

# step NAME COMMAND…: says what failed, and why
step()
{
	name=$1
	shift
	words=$("$@" 2>&1 >/dev/null) && return
	words=$(echo "$words" | tail -n 1)
	echo "$name: ${words##*: }"
	exit 1
}

# fill: files, directories, a link, a file that grows and shrinks, below $dir
fill()
{
	step "tidy up" rm -rf $dir/w
	step "mkdir" mkdir -p $dir/w/a $dir/w/b
	for i in 1 2 3 4 5 6 7 8; do
		step "write" dd if=/dev/zero of=$dir/w/a/$i bs=64k count=2
	done
	step "rename" mv $dir/w/a/2 $dir/w/b/2
	step "truncate" truncate -s 1000 $dir/w/a/3
	step "hole" dd if=/dev/zero of=$dir/w/hole bs=4k count=1 seek=4000
	step "sync" sync -f $dir/w
	step "readdir" ls -lR $dir/w
	step "read" cat $dir/w/a/4
}

# links: only for file systems that have links; call it after fill
links()
{
	step "symlink" ln -s a/1 $dir/w/link
	step "link" ln $dir/w/a/1 $dir/w/b/1
}

# new_image NAME SIZE COMMAND…: let COMMAND make a file system in a file
new_image()
{
	name=/tmp/$1.new
	truncate -s "$2" "$name"
	shift 2
	"$@" "$name"
}

# fresh_image NAME: unmount it, and begin with a copy of what new_image has made, as /tmp/NAME
fresh_image()
{
	umount $dir
	cp --sparse=always "/tmp/$1.new" "/tmp/$1"
}

prepare() { :; }
clean() { :; }
# shellcheck disable=SC1090	# a file that the caller names
. "$1"
case $2 in
prepare) mkdir -p $dir && prepare ;;
*)
	clean >/dev/null 2>&1
	trap 'clean >/dev/null 2>&1' EXIT
	work ;;
esac
