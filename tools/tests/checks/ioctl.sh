# SPDX-License-Identifier: GPL-2.0
# What is read by the ioctls of /proc/allocinfo is what the text says. A library in
# front of libc's functions is the kernel: its file is $TEXT, and its ioctls choose
# lines of that, unless NO_IOCTL is set. What it was asked goes to $ASKED.
make_kernel() {
	gcc -shared -fPIC -Wall -Wextra -Werror -idirafter ../../codetag/include/uapi \
		-o "$scratch/allocinfo.so" -x c - <<-'C'
		#define _GNU_SOURCE
		#include <errno.h>
		#include <fcntl.h>
		#include <linux/alloc_tag.h>
		#include <stdarg.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		#include <sys/ioctl.h>
		#include <sys/syscall.h>
		#include <unistd.h>
		static struct allocinfo_filter filter;
		static int file = -1;
		static FILE *lines;

		int open(const char *path, int flags, ...)
		{
			int fd, ours = !strcmp(path, "/proc/allocinfo");
			va_list args;
			mode_t mode;

			va_start(args, flags);
			mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
			va_end(args);
			fd = syscall(SYS_openat, AT_FDCWD, ours ? getenv("TEXT") : path, flags, mode);
			if (ours)
				file = fd;
			return fd;
		}

		int open64(const char *path, int flags, ...) __attribute__((alias("open")));

		static void copy_end(char *to, const char *name)
		{
			size_t len = strlen(name);

			strcpy(to, name + (len > 63 ? len - 63 : 0));
		}

		/* The next line that the filter wants. */
		static int next(struct allocinfo_tag_data *data)
		{
			char line[4096], name[4096], module[4096], func[4096], *note;
			long long bytes;

			while (fgets(line, sizeof(line), lines)) {
				memset(data, 0, sizeof(*data));
				*module = 0;
				if (sscanf(line, "%lld %llu %[^:]:%llu func:%s", &bytes,
					   &data->counter.calls, name, &data->tag.lineno, func) != 5 &&
				    sscanf(line, "%lld %llu %[^:]:%llu [%[^]]] func:%s", &bytes,
					   &data->counter.calls, name, &data->tag.lineno, module,
					   func) != 6)
					continue;
				copy_end(data->tag.filename, name);
				copy_end(data->tag.modname, module);
				copy_end(data->tag.function, func);
				if ((filter.mask & ALLOCINFO_FILTER_MASK_FUNCTION &&
				     strcmp(filter.fields.function, data->tag.function)) ||
				    (filter.mask & ALLOCINFO_FILTER_MASK_MODNAME &&
				     strcmp(filter.fields.modname, data->tag.modname)))
					continue;
				note = strstr(line, "func:");
				data->counter.bytes = bytes;
				data->counter.accurate = !strstr(note, " accurate:no");
				data->counter.pad[ALLOCINFO_PAD_UNLOADED] = !!strstr(note, " unloaded:yes");
				return 0;
			}
			errno = ENOENT;
			return -1;
		}

		int ioctl(int fd, unsigned long command, ...)
		{
			struct allocinfo_get_at *at;
			va_list args;
			FILE *log;

			va_start(args, command);
			at = va_arg(args, void *);
			va_end(args);
			if (fd != file)
				return syscall(SYS_ioctl, fd, command, at);
			if (getenv("NO_IOCTL")) {
				errno = ENOTTY;
				return -1;
			}
			if (command == ALLOCINFO_IOC_GET_NEXT)
				return next((struct allocinfo_tag_data *)at);
			log = fopen(getenv("ASKED"), "w");
			fprintf(log, "%llx %s %s\n", at->filter.mask, at->filter.fields.function,
				at->filter.fields.modname);
			fclose(log);
			filter = at->filter;
			lines = fopen(getenv("TEXT"), "r");
			return next(&at->data);
		}
	C
}

# on_kernel COMMAND...: of the build that no sanitizer is in front of
on_kernel() {
	TEXT=$scratch/text ASKED=$scratch/asked LD_PRELOAD=$scratch/allocinfo.so \
		"$build/clang/codetag" "$@" 2>&1
	echo "exit $?"
}

# same_as_text ASKED COMMAND...: the same output with and without the ioctls, of which
# the kernel sees that, or nothing
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
	# Who does not know the names, or needs more, reads the text.
	check ioctl/glob same_as_text '' report func 'alloc_slab*'
	check ioctl/not same_as_text '' report not func alloc_slab_page
	check ioctl/two same_as_text '' report 'func alloc_slab_page; func new_slab'
	check ioctl/all same_as_text '' top --once
	check ioctl/host same_as_text '' report --group host func alloc_slab_page
	check ioctl/file same_as_text '' report "$scratch/text" func alloc_slab_page
else
	check ioctl/kernel false
fi
