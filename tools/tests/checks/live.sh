# SPDX-License-Identifier: GPL-2.0-only
# top on a terminal of 80x24, driven through tmux.

tmux_top() { tmux -L "codetag-test-$$" "$@"; }

on_screen_now() {
	tmux_top capture-pane -p | grep -qF -- "$1"
}

not_on_screen_now() { ! on_screen_now "$1"; }

# screen_has TEXT: waits for it
screen_has() {
	comes on_screen_now "$1" || { tmux_top capture-pane -p; return 1; }
}

# on_screen COLUMNS ROWS COMMAND STEPS…: STEPS while COMMAND runs on a terminal
on_screen() {
	local columns=$1 rows=$2 command=$3 status=0
	shift 3
	tmux_top kill-server 2>/dev/null
	# A relative path, for messages of a line to fit into it.
	tmux_top -f /dev/null new-session -d -x "$columns" -y "$rows" -c "$scratch" \
		"$command 2>$scratch/screen.err; echo left \$?; sleep 600"
	"$@" || status=1
	tmux_top kill-server
	cat "$scratch/screen.err"
	return $status
}

live_top() {
	local file=$scratch/live.allocinfo
	cp data/handmade-v2.allocinfo "$file"
	on_screen 80 24 "$codetag top -b -d 0.3 ${file##*/}" live_steps "$file"
}

# marked NAME: the row of this name is reversed
marked() {
	tmux_top capture-pane -pe | grep -q $'^\e\\[7m.* '"$1"
}

rows_begin_blank() {
	[ "$(tmux_top capture-pane -p | sed -n 5,10p | cut -c 1-2 | sort -u)" = "  " ]
}

# grows FILE: a line of it grows, and the screen shows that
grows() {
	held=$((${held:-1048576} + 8000000))
	sed "s/1048576 /$held /" data/handmade-v2.allocinfo >"$1"
	tmux_top capture-pane -p | grep -q '+[1-9][0-9]*000000'
}

live_steps() {
	local file=$1 held=
	screen_has '12 sites hold 1114208 in 311 allocations' || return 1
	screen_has 'by site, sorted by size, every 0.3 s' || return 1
	screen_has ' filemap.c:1950' || return 1
	# The file changes: growth, and its rate, show up for one refresh each time.
	tmux_top send-keys g
	screen_has 'sorted by growth' || return 1
	comes grows "$file" || return 1
	sed 's/1048576 /9048576 /' data/handmade-v2.allocinfo >"$file"
	screen_has '9114208 in 311' || return 1
	# Since the start the growth stays on the screen; from now on there is none.
	sleep 1
	! on_screen_now '+8000000' || return 1
	tmux_top send-keys d
	screen_has ', changes since ' || return 1
	screen_has '+8000000' || return 1
	tmux_top send-keys 0
	comes not_on_screen_now '+8000000' || return 1
	sed 's/1048576 /9048577 /' data/handmade-v2.allocinfo >"$file"
	screen_has ' +1 ' && sleep 1 && on_screen_now ' +1 ' || return 1
	sed 's/1048576 /9048576 /' data/handmade-v2.allocinfo >"$file"
	tmux_top send-keys d
	comes not_on_screen_now 'changes since' || return 1
	tmux_top send-keys s / 'module ext4' Enter
	screen_has '3 sites hold 36864 in 9 allocations' || return 1
	screen_has 'filter: module ext4' || return 1
	tmux_top send-keys / 'bad x' Enter
	screen_has "bad query, at 'bad'" || return 1
	# Escape keeps the present filter, at once; typed letters can be deleted.
	tmux_top send-keys / 'module nope' Escape
	screen_has 'q quit, h help' || return 1
	screen_has '3 sites hold 36864 in 9 allocations' || return 1
	tmux_top send-keys / 'junk' C-u 'module virx' BSpace 'tio_net' Enter
	screen_has 'filter: module virtio_net' || return 1
	tmux_top send-keys / Enter End
	mv "$file" "$file.good"
	screen_has 'cannot read live.allocinfo: No such file or directory' || return 1
	mv "$file.good" "$file"
	screen_has 'q quit, h help' || return 1
	tmux_top send-keys b b b b
	screen_has 'by module, sorted' || return 1
	screen_has 'vmlinux' || return 1
	# t is a tree, as in htop.
	tmux_top send-keys t
	screen_has 'by tree, sorted by size' || return 1
	screen_has '100.0% ./' || return 1
	screen_has '  mm/' && screen_has '    filemap.c' || return 1
	tmux_top send-keys t
	screen_has 'by module, sorted' || return 1
	tmux_top send-keys ' '
	screen_has 'FROZEN' || return 1
	tmux_top send-keys h
	screen_has 'this help' || return 1
	tmux_top send-keys p
	screen_has 'not a file' || return 1
	tmux_top send-keys Enter
	screen_has 'not a copy of allocinfo' || return 1
	tmux_top send-keys h u
	screen_has '8.7M' || return 1
	# The row of the cursor is marked; names are scrolled sideways.
	tmux_top send-keys Down
	comes marked ext4 || return 1
	tmux_top send-keys Right
	screen_has '<' && ! on_screen_now vmlinux || return 1
	tmux_top send-keys Left
	screen_has 'vmlinux' || return 1
	# On a narrow screen the least important columns go, and no line wraps.
	tmux_top resize-window -x 40 -y 10
	screen_has '   SIZE   CHANGE  SHARE NAME' || return 1
	tmux_top send-keys h
	screen_has '  s c a n g       sort by size, calls, >' || return 1
	comes rows_begin_blank || return 1
	tmux_top send-keys h
	tmux_top resize-window -x 5 -y 2
	sleep 0.3
	tmux_top resize-window -x 120 -y 30
	screen_has 'vmlinux' || return 1
	tmux_top send-keys q
	screen_has 'left 0'
}

# p switches the call site under the cursor, by the ids of its rows.
live_toggle() {
	local dir=$scratch/toggle
	mkdir -p "$dir" && cp data/handmade-v2.allocinfo "$dir/allocinfo" || return 1
	sed 's/ *[0-9]* *[0-9]* //; s/ *$/ =p id 40/; 1,2d' "$dir/allocinfo" >"$dir/control"
	on_screen 100 24 "$codetag top -b -d 9 $dir/allocinfo --debugfs $dir" toggle_steps "$dir"
}

toggle_steps() {
	local dir=$1
	screen_has '12 sites hold' || return 1
	# It asks, and any other key but y changes nothing.
	tmux_top send-keys p
	screen_has 'switch profiling of mm/filemap.c:1950 __filemap_get_folio? y/n' || return 1
	tmux_top send-keys t
	screen_has 'q quit, h help' || return 1
	[ "$(grep -c '=p' "$dir/control")" -gt 1 ] || return 1
	tmux_top send-keys p y
	screen_has 'mm/filemap.c:1950 __filemap_get_folio: no longer profiled' || return 1
	[ "$(head -n 1 "$dir/control")" = 'id 40 -p' ] || return 1
	# The same line of a header can be in a module, too, which is another site.
	cat >"$dir/control" <<-'E'
		mm/filemap.c:1950 func:__filemap_get_folio =_ id 41
		mm/filemap.c:1950 [x] func:__filemap_get_folio =p id 42
		mm/filemap.c:1950 func:__filemap_get_folio =_ id 43
	E
	tmux_top send-keys p y
	screen_has '__filemap_get_folio: profiled from now on' || return 1
	[ "$(head -n 2 "$dir/control")" = $'id 41 +p\nid 43 +p' ] || return 1
	: >"$dir/control"
	tmux_top send-keys p y
	screen_has 'the kernel has no such call site now' || return 1
	echo 'mm/filemap.c:1950 func:__filemap_get_folio =_ id 0' >"$dir/control"
	tmux_top send-keys p y
	screen_has 'no id of its own' || return 1
	rm "$dir/control"
	tmux_top send-keys p y
	screen_has 'this kernel cannot switch call sites' || return 1
	tmux_top send-keys b p
	screen_has 'only call sites can be switched'
}

# Enter shows the contexts of the row, and what they hold now.
live_contexts() {
	local dir=$scratch/enter
	mkdir -p "$dir" && cp data/handmade-v2.allocinfo "$dir/allocinfo" || return 1
	printf '%s\n' '# contexts - version: 1.0' \
		'640 10 20 mm/filemap.c:1950 func:__filemap_get_folio age=0-9' ' one+0x1/0x2' \
		'64000 10 20 mm/filemap.c:1950 func:__filemap_get_folio age=9-19' ' two+0x1/0x2' \
		'4711 10 20 mm/other.c:1950 func:other age=0-9' >"$dir/contexts"
	on_screen 100 24 "$codetag top -b -d 0.3 $dir/allocinfo --debugfs $dir" contexts_steps "$dir"
}

contexts_steps() {
	local dir=$1
	screen_has '12 sites hold' || return 1
	tmux_top send-keys Enter
	screen_has 'ALLOCS  CONTEXT' || return 1
	screen_has '64000       10       20  age=9-19 two' || return 1
	screen_has 'Enter goes back' || return 1
	! tmux_top capture-pane -p | grep -q -e 4711 -e filemap || return 1
	sed 's/^640 10/777640 12/' "$dir/contexts" >"$dir/new" && mv "$dir/new" "$dir/contexts"
	screen_has '777640       12       20  age=0-9 one' || return 1
	! on_screen_now 'not understood' || return 1
	echo 'what is this' >>"$dir/contexts"
	screen_has 'some lines were not understood' || return 1
	tmux_top send-keys Enter
	screen_has 'filemap.c:1950' || return 1
	tmux_top send-keys Down Enter
	screen_has 'it is not split: codetag split func' || return 1
	rm "$dir/contexts"
	tmux_top send-keys Home Enter
	screen_has 'there are no contexts' || return 1
	tmux_top send-keys b Enter
	screen_has 'contexts belong to call sites' || return 1
	tmux_top send-keys q
	screen_has 'left 0'
}

live_slabs() {
	cp data/recorded-ours-6.12.slabinfo "$scratch/slabinfo"
	on_screen 90 24 "$codetag slabs --live -b -d 0.3 -f slabinfo --page-size 4096" slabs_steps
}

first_row() {
	[ "$(tmux_top capture-pane -p | sed -n 7p | awk '{ print $NF }')" = "$1" ]
}

# The first cache is the one that slabs prints first; the letters are those of slabtop.
slabs_steps() {
	local key file=data/recorded-ours-6.12.slabinfo
	screen_has "$("$codetag" slabs -b -f $file | head -n 1)" || return 1
	screen_has 'sorted by size of the cache' || return 1
	for key in a b l n O p s u v c; do
		tmux_top send-keys "$key"
		comes first_row "$("$codetag" slabs -N -b -s "${key,}" -n 1 -o name -f $file)" || return 1
	done
	sed 's/^kmalloc-8 .*/kmalloc-8 700 800 8 512 1 : tunables 0 0 0 : slabdata 9999 9999 0/' $file \
		>"$scratch/slabinfo.new" && mv "$scratch/slabinfo.new" "$scratch/slabinfo"
	screen_has '  87.5%        8    9999      512    40955904 kmalloc-8' || return 1
	mv "$scratch/slabinfo" "$scratch/slabinfo.gone"
	screen_has 'cannot read slabinfo: No such file' || return 1
	mv "$scratch/slabinfo.gone" "$scratch/slabinfo"
	screen_has 'q quit, h help' || return 1
	tmux_top send-keys h
	screen_has 'sort by pages per slab' || return 1
	tmux_top resize-window -x 20 -y 4
	tmux_top send-keys h NPage Down Up PPage ' ' Q
	tmux_top resize-window -x 90 -y 24
	screen_has 'left 0'
}

if program tmux slabs/live && feature ncursesw slabs/live; then
	check slabs/live live_slabs
fi
if program tmux top/live && feature ncursesw top/live; then
	check top/live live_top
	check top/toggle live_toggle
	check top/contexts live_contexts
fi
