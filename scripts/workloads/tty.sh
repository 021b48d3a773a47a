#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2086,SC2154	# the runner sets $dir and has step()
# pseudo terminals: open, lock, write, read, line disciplines; devpts of its own
# query: file drivers/tty/*; file fs/devpts/*; file fs/char_dev.c; file lib/idr.c; file lib/xarray.c
# flavour: checks
# programs: perl
prepare()
{
	cat >/tmp/tty.pl <<'END'
sub must { my ($name, $got) = @_; return $got if $got; print STDERR "$name: $!\n"; exit 1 }
must("ptmx", open(my $master, "+<", "/dev/ptmx"));
my $unlock = pack("l", 0);
must("unlock", ioctl($master, 0x40045431, $unlock));
my $number = pack("L", 0);
must("number", ioctl($master, 0x80045430, $number));
must("pts", open(my $slave, "+<", "/dev/pts/" . unpack("L", $number)));
must("write", syswrite($master, "hello\n"));
must("read", sysread($slave, my $buffer, 100));
must("write", syswrite($slave, "w" x 2000));
must("read", sysread($master, $buffer, 4000));
END
	perl /tmp/tty.pl
}

clean() { umount $dir; }

work()
{
	step "perl" perl /tmp/tty.pl
	step "mount" mount -t devpts -o newinstance none $dir
	step "umount" umount $dir
}
