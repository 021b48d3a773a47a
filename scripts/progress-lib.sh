# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Show the progress of long commands, and end them only if they make no progress.
# To be sourced after lib.sh.
#
# DOING names a file to which a script writes its current step. The script that creates the
# file shows it: the outermost one, so nothing is shown twice. BUILT names a file that gets a
# line for each build: flavour, files, seconds.

# Seconds between two lines where there is no terminal.
PROGRESS_EVERY=${PROGRESS_EVERY:-60}
# Seconds without a new file or a new line after which a build is hung.
STALL=${STALL:-600}

# Progress goes to the present stderr, even where the command's output is redirected.
exec {progress_out}>&2

# pause SECONDS: a sleep without a process, which would keep open files
exec {progress_never}<> <(:)
pause() { read -r -t "$1" <&"$progress_never" || true; }

# doing TEXT: note the current step. The file is written only when the step changes.
doing()
{
	[ -z "${DOING:-}" ] || [ "$*" = "$(cat "$DOING" 2>/dev/null)" ] ||
		printf '%s\n' "$*" >"$DOING"
}

# progress_line SECONDS TEXT: on a terminal replaces the last line; elsewhere prints one line
# every PROGRESS_EVERY seconds. Sets progress_next.
progress_next=$PROGRESS_EVERY
progress_line()
{
	local text columns

	if [ -t "$progress_out" ]; then
		columns=$(stty size <&"$progress_out" 2>/dev/null | cut -d' ' -f2)
		printf -v text '%5d s  %s' "$1" "$2"
		[ "${columns:-0}" -gt 0 ] || columns=80
		printf '\r%s\e[K' "${text:0:columns - 1}" >&"$progress_out"
	elif [ "$1" -ge "$progress_next" ]; then
		progress_next=$(($1 + PROGRESS_EVERY))
		printf '%5d s  %s\n' "$1" "$2" >&"$progress_out"
	fi
}

# progress_clear: remove the line
progress_clear() { [ ! -t "$progress_out" ] || printf '\r\e[K' >&"$progress_out"; }

# shown LABEL COMMAND…: run COMMAND and show its progress
shown()
{
	local label=$1 status=0 pid file from=$SECONDS text

	shift
	if [ -n "${DOING:-}" ]; then
		"$@"
		return
	fi
	file=$(mktemp "$CACHE/run/doing.XXXXXX")
	progress_next=$PROGRESS_EVERY
	{
		exec 8>&- 9>&- >/dev/null 2>&1
		trap 'exit 0' TERM
		while :; do
			text=
			read -r text 2>/dev/null <"$file" || [ -e "$file" ] || exit 0
			progress_line $((SECONDS - from)) "$label${text:+: $text}"
			pause 1
			kill -0 $$ 2>/dev/null || {
				rm -f "$file"
				exit 0
			}
		done
	} &
	pid=$!
	DOING=$file "$@" || status=$?
	kill "$pid" 2>/dev/null || true
	wait "$pid" 2>/dev/null || true
	progress_clear
	rm -f "$file"
	return $status
}

# watched SECONDS LOOK COMMAND…: run COMMAND, without input. The function LOOK prints its
# progress. If that stays the same for SECONDS, COMMAND hangs: it and all processes that it
# started are ended, with status 124. The time is the sum of the pauses between calls of LOOK,
# so a busy machine waits longer.
watched()
{
	local limit=$1 look=$2 status=0 verdict=0 pid guard

	shift 2
	# timeout without a time: a process group that can be ended as a whole
	timeout -k 10 0 "$@" </dev/null &
	pid=$!
	progress_guard "$pid" "$limit" "$look" &
	guard=$!
	# shellcheck disable=SC2064
	trap "kill $pid $guard 2>/dev/null; exit 143" TERM INT HUP
	wait "$pid" || status=$?
	kill "$guard" 2>/dev/null || true
	wait "$guard" || verdict=$?
	trap - TERM INT HUP
	[ "$verdict" -ne 124 ] || status=124
	return "$status"
}

progress_guard()
{
	local pid=$1 limit=$2 look=$3 now before='' same=0 rest=2

	exec 8>&- 9>&- >/dev/null
	trap - EXIT TERM
	while kill -0 "$pid" 2>/dev/null; do
		now=$("$look") || true
		if [ "$now" != "$before" ]; then
			before=$now same=0
		elif [ "$same" -ge "$limit" ]; then
			# watched() kills this process when the command ends: exit with 124 first.
			trap '' TERM
			kill "$pid"
			exit 124
		fi
		pause "$rest"
		same=$((same + rest))
		# A look takes several processes and reads all directories of a build.
		rest=$((rest < 10 ? rest + 1 : 10))
	done
}

# kmake_watched FLAVOUR LOG ARGUMENT…: run kmake, append its output to LOG and show progress.
# If it hangs, it is ended with status 124.
kmake_watched()
{
	local flavour=$1 log=$2 status=0
	local obj files about=about from=$SECONDS
	# shellcheck disable=SC2034
	local -a kmake_by=(watched "$STALL" kmake_look)

	shift 2
	obj=$(flavour_obj "$flavour")
	# The number of files: that of the last complete build, or that in its fragment, which
	# is for all modules
	files=$(flavour_lines "$flavour" files | tail -n 1)
	[ -z "${LSMOD:-}" ] || about="at most"
	[ ! -f "$obj/.codetag-files" ] || read -r files about <<<"$(cat "$obj/.codetag-files") at most"
	touch "$obj/.codetag-began"
	shown kernel kmake "$flavour" "$@" >>"$log" 2>&1 || status=$?
	doing ''
	printf '%s %s %s\n' "$flavour" "$(kmake_made)" $((SECONDS - from)) >>"${BUILT:-/dev/null}"
	[ "$status" -ne 124 ] ||
		echo "ERROR: no new file and no new line in $STALL s" >>"$log"
	return "$status"
}

# Shows the number of new objects. The progress is that of all files, as linking makes no object.
kmake_look()
{
	local made of=

	made=$(kmake_made)
	[ "$made" -gt "${files:--1}" ] || of=" of $about $files"
	doing "builds $flavour, $made$of files"
	kmake_files -newer "$obj/.codetag-began" | cksum
	stat -c %s "$log"
}
kmake_made() { kmake_files -newer "$obj/.codetag-began" -name '*.o' | wc -l; }

# kmake_files TEST…: sizes and names of the files that a build has made in $obj
kmake_files()
{
	find "$obj" \( -name selftests -o -name modroot -o -name bench-module \) -prune -o \
		-type f "$@" -printf '%s %p\n' 2>/dev/null || true
}
