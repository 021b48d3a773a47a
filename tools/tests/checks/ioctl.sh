# SPDX-License-Identifier: GPL-2.0-only
# The ioctls of /proc/allocinfo return the same as its text. helpers/pretend-ioctls.c stands for
# the kernel.
make_kernel() {
	gcc -shared -fPIC -Wall -Wextra -Werror -idirafter ../../codetag/include/uapi \
		-o "$scratch/allocinfo.so" helpers/pretend-ioctls.c
}

# on_kernel COMMAND...: runs it with the build without sanitizers
on_kernel() {
	TEXT=$scratch/text ASKED=$scratch/asked LD_PRELOAD=$scratch/allocinfo.so \
		"$build/clang/codetag" "$@" 2>&1
	echo "exit $?"
}

# same_as_text ASKED COMMAND...: the output is the same with and without the ioctls, and the
# kernel is asked ASKED, or nothing
same_as_text() {
	local asked=$1
	shift
	clang_build || return 1
	cp data/recorded-ours-6.12.allocinfo "$scratch/text"
	cat >>"$scratch/text" <<-'TEXT'
	      123456        7 ./include/linux/gone.h:12 [gone] func:left_behind unloaded:yes 
	         100        1 lib/maybe.c:5 func:not_all_of_it accurate:no 
	         200        2 lib/longer_than_sixty_three_characters/so_that_it_does_not_fit/file.c:8 func:in_a_long_file 
	         300        3 drivers/long.c:9 [long] func:a_function_whose_name_is_longer_than_sixty_three_characters_is_here 
	TEXT
	: >"$scratch/asked"
	on_kernel "$@" >"$scratch/ioctl"
	[ "$asked" = "$(cat "$scratch/asked")" ] || { echo "asked: $(cat "$scratch/asked")"; return 1; }
	NO_IOCTL=1 on_kernel "$@" | diff - "$scratch/ioctl" && [ -s "$scratch/ioctl" ]
}

if make_kernel; then
	check ioctl/func same_as_text '2 alloc_slab_page ' report func alloc_slab_page
	check ioctl/top same_as_text '2 alloc_slab_page ' top --once -N func alloc_slab_page
	check ioctl/raw same_as_text '2 alloc_slab_page ' report --raw --json func alloc_slab_page
	check ioctl/more same_as_text '2 alloc_slab_page ' report file 'mm/*' line 1- func alloc_slab_page
	check ioctl/none same_as_text '2 nobody_has_this_name ' report --json func nobody_has_this_name
	check ioctl/both same_as_text '3 left_behind gone' report --json func left_behind module gone
	check ioctl/module same_as_text '1  gone' export --format csv module gone
	check ioctl/builtin same_as_text '2 alloc_slab_page ' report module vmlinux func alloc_slab_page
	check ioctl/inaccurate same_as_text '2 not_all_of_it ' report --json func not_all_of_it
	check ioctl/tree same_as_text '2 alloc_slab_page ' report --tree func alloc_slab_page
	check ioctl/group same_as_text '2 alloc_slab_page ' report --group dir func alloc_slab_page
	# Names that may have been cut: the text has them.
	check ioctl/long same_as_text '2 in_a_long_file ' report func in_a_long_file
	check ioctl/long-func same_as_text '1  long' report module long
	long=a$(printf '%062d' 0)
	check ioctl/too-long same_as_text '' report func "$long"
	# A command that has no whole name, or needs more data, reads the text.
	check ioctl/glob same_as_text '' report func 'alloc_slab*'
	check ioctl/not same_as_text '' report not func alloc_slab_page
	check ioctl/two same_as_text '' report 'func alloc_slab_page; func new_slab'
	check ioctl/all same_as_text '' top --once
	check ioctl/host same_as_text '' report --group host func alloc_slab_page
	check ioctl/file same_as_text '' report "$scratch/text" func alloc_slab_page
else
	check ioctl/kernel false
fi
