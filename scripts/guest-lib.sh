# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034,SC2154
# What run-qemu and run-uml share: options, the files a guest gets, the verdict.
# To be sourced after lib.sh.
. "$SCRIPTS/progress-lib.sh"

guest_options="  -c COMMAND       run this shell command in the guest
  --append WORDS   more kernel command line
  --name NAME      name of the logs (default: the flavour)
  --mem SIZE       memory (default 512M)
  --cpus N         processors (default 2; always 1 on UML)
  --disk SIZE      size of the ext4 disk (default 256M, 0 for none)
  --image FILE     the disk is this file, which stays
  --second FILE    a second disk, /dev/vdb, whose content is FILE (not on UML)
  --ram FILE       memory is this file and stays there for another boot (not on UML)
  --file FILE      a file for the guest, which finds it in /guest/files
  --vmem SIZE      memory that can be plugged in, see run-qemu (default 0: none)
  --nodes SIZES    a machine of several nodes with so much memory each
                   (320M,slow:128M), see run-qemu
  --cpu MODEL      a processor that TCG knows (default max)
  --kaslr          boot the compressed kernel, which chooses its addresses itself
  --monitor        the guest can talk to QEMU's monitor, see run-qemu
  --tcg THREADS    multi (default) or single: how TCG runs the processors
  --timeout SEC    end the guest if it prints neither results nor kernel log for
                   SEC seconds (default 120), and after ten times as long in
                   any case
  --allow REGEX    a warning in the kernel log that is expected
  --shell          an interactive prompt instead
  --verbose        show the kernel log while it runs
  -h, --help       this text

The script or command runs as root in the guest; its output to stdout is
printed here, and its exit status is the result. The guest panics on a kernel
warning. A panic, a warning in the kernel log, a time-out and a guest that does
not say how it ended are failures (status 125, 124 for the time-out)."

guest_parse()
{
	append='' name='' mem=512M cpus=2 disk_size=256M vmem=0 nodes='' model='' monitor='' kaslr='' limit=120 allow='' shell='' verbose='' threads=multi
	flavour='' script='' command=''
	script_args=() image='' second='' ram='' files=()
	while [ $# -gt 0 ]; do
		case $1 in
		-c) command=${2?"-c needs a command"}; shift ;;
		--append) append+=" ${2?}"; shift ;;
		--name) name=${2?}; shift ;;
		--mem) mem=${2?}; shift ;;
		--cpus) cpus=${2?}; shift ;;
		--disk) disk_size=${2?}; shift ;;
		--image) image=${2?}; shift ;;
		--second) second=${2?}; shift ;;
		--ram) ram=${2?}; shift ;;
		--file) files+=("${2?}"); shift ;;
		--vmem) vmem=${2?}; shift ;;
		--nodes) nodes=${2?}; shift ;;
		--cpu) model=${2?}; shift ;;
		--kaslr) kaslr=1 ;;
		--monitor) monitor=1 ;;
		--tcg) threads=${2?}; shift ;;
		--timeout) limit=${2?}; shift ;;
		--allow) allow=${2?}; shift ;;
		--shell) shell=1 ;;
		--verbose) verbose=1 ;;
		-h|--help) usage_exit "$usage" 0 ;;
		-*) usage_exit "$usage" 2 ;;
		*)
			if [ -z "$flavour" ]; then
				flavour=$1
			else
				script=$1
				shift
				script_args=("$@")
				break
			fi ;;
		esac
		shift
	done
	[ -n "$flavour" ] || usage_exit "$usage" 2
	[ -n "$script$command$shell" ] || usage_exit "$usage" 2
	[ -z "$script" ] || [ -f "$script" ] || die "no such script: $script"
	name=${name:-$flavour}
	obj=$(flavour_obj "$flavour")
	initramfs=$obj/initramfs.cpio
	[ -f "$initramfs" ] || die "no initramfs of flavour $flavour" \
		"run: ${CHOICE}scripts/build-kernel $flavour && ${CHOICE}scripts/mkinitramfs $flavour"
	console=$LOGS/$name.console
	result=$LOGS/$name.result
	work=$(mktemp -d "$CACHE/run/$name.XXXXXX")
	at_exit rm -rf "$work"
	guest_initramfs
	guest_fresh
}

# guest_leave: for at_exit, if there are background processes
guest_leave()
{
	# shellcheck disable=SC2046
	kill $(jobs -p) 2>/dev/null || true
	rm -rf "$work"
}

# guest_fresh: remove what an earlier run has left
guest_fresh()
{
	: >"$console"
	: >"$result"
	: >"$work/asks"
	guest_disk
}

# The script to run is in a second archive behind the initramfs.
guest_initramfs()
{
	mkdir -p "$work/root/guest"
	if [ -n "$command" ]; then
		printf '%s\n' "$command" >"$work/root/guest/run"
	elif [ -n "$script" ]; then
		cp "$script" "$work/root/guest/script"
		chmod 755 "$work/root/guest/script"
		{
			printf 'exec /guest/script'
			[ ${#script_args[@]} -eq 0 ] || printf ' %q' "${script_args[@]}"
			echo
		} >"$work/root/guest/run"
	fi
	mkdir "$work/root/guest/files"
	[ ${#files[@]} -eq 0 ] || cp "${files[@]}" "$work/root/guest/files/"
	{
		cat "$initramfs"
		(cd "$work/root" && find . | sort |
			cpio --create --format=newc --owner=+0:+0 --quiet)
	} >"$work/initramfs"
}

guest_disk()
{
	disk=
	[ "$disk_size" != 0 ] || return 0
	disk=${image:-$work/disk}
	rm -f "$disk"
	truncate -s "$disk_size" "$disk"
	mkfs.ext4 -q -F -E lazy_itable_init=1,lazy_journal_init=1 "$disk" 2>/dev/null ||
		die "mkfs.ext4 failed" "run: scripts/install-packages"
}

# guest_run COMMAND…: QEMU or UML. A slow machine may take its time, as long as the
# guest says something.
guest_run()
{
	doing "runs $name"
	watched "$limit" guest_look timeout -k 5 $((limit * 10)) "$@"
}

guest_look() { stat -c %s "$console" "$result"; }

# complaints: a regular expression of what codetag sweep takes for a complaint of the kernel
complaints()
{
	sed -n 's/^"\(.*\)",.*/\1/p' "$ROOT/tools/cmd/complaint_texts.h" | sed 's/[][\.*^$+?(){}|]/\\&/g' |
		paste -sd '|' | sed 's/.*/(^|[^[:alnum:]_])(&)/'
}

# console_trouble FILE ALLOW: messages of a kernel in trouble. OOM kills and failed allocations are
# not among them: tests provoke them.
console_trouble()
{
	grep -E "$(complaints)|INFO: NMI|Segmentation fault|segfault at|Unable to mount root" "$1" |
		grep -v -E 'KernelAddressSanitizer initialized|KASAN: Memory|kfence: initialized' |
		{ [ -z "$2" ] && cat || grep -v -E "$2"; } || true
}

# guest_verdict STATUS: print the result, judge the run, and exit
guest_verdict()
{
	local trouble status

	tr -d '\r' <"$result" | sed '/^guest: exit [0-9]*$/d'
	status=$(tr -d '\r' <"$result" | sed -n 's/^guest: exit //p' | tail -n 1)
	trouble=$(console_trouble "$console" "$allow")
	if [ "$1" -eq 124 ] || [ "$1" -eq 137 ]; then
		printf '%s: the guest did not end: it said nothing for %s s, or went on for %s s\n' \
			"${0##*/}" "$limit" $((limit * 10)) >&2
		guest_tail
		exit 124
	fi
	if [ -n "$trouble" ]; then
		printf '%s: trouble in the kernel log:\n' "${0##*/}" >&2
		head -n 10 <<<"$trouble" | sed 's/^/  /' >&2
		printf '  whole log: %s\n' "$console" >&2
		exit 125
	fi
	if [ -z "$status" ]; then
		printf '%s: the guest ended without a result\n' "${0##*/}" >&2
		guest_tail
		exit 125
	fi
	if [ "$status" -ne 0 ]; then
		printf '%s: status %s in the guest; kernel log: %s\n' "${0##*/}" "$status" "$console" >&2
	fi
	exit "$status"
}

guest_tail()
{
	tail -n 12 "$console" | tr -d '\r' | sed 's/^/  | /' >&2
	printf '  whole kernel log: %s\n' "$console" >&2
}
