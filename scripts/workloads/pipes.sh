#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2086,SC2154	# the runner sets $dir and has step()
# pipes, FIFOs, splice, eventfd, epoll, signalfd, timerfd, inotify, memfd, System V IPC, AIO
# query: file fs/pipe.c; file fs/splice.c; file fs/event*.c; file fs/signalfd.c; file fs/timerfd.c; file fs/notify/*; file fs/anon_inodes.c; file fs/file_table.c; file ipc/*; file mm/memfd.c; file mm/shmem.c; file fs/aio.c
# flavour: checks
# programs: perl
prepare()
{
	cat >/tmp/pipes.pl <<'PERL'
sub must
{
	my ($name, $got) = @_;
	return $got if defined $got && $got ne "-1" && $got ne "";
	print STDERR "$name: $!\n";
	exit 1;
}
# Objects of System V IPC outlive their process.
my ($queue, $semaphore, $shared);
END {
	local $?;
	msgctl($queue, 0, 0) if defined $queue;
	semctl($semaphore, 0, 0, 0) if defined $semaphore;
	shmctl($shared, 0, 0) if defined $shared;
}
# syscall() writes to its strings, if only in theory.
my ($many, $word, $name, $directory) = ("x" x 100000, "hello", "name", "/tmp");
my ($in, $out, $in2, $out2);
must("pipe", pipe($in, $out));
must("bigger", fcntl($out, 1031, 1 << 18));	# F_SETPIPE_SZ
must("write", syscall(1, fileno($out), $many, 100000));
must("pipe", pipe($in2, $out2));
must("tee", syscall(276, fileno($in), fileno($out2), 4096, 0));
must("splice", syscall(275, fileno($in), 0, fileno($out2), 0, 4096, 0));
my $event = must("eventfd", syscall(290, 0, 0));
my $epoll = must("epoll_create", syscall(291, 0));
my $what = pack("L Q", 1, 0);
must("epoll_ctl", syscall(233, $epoll, 1, $event, $what));
must("epoll_ctl", syscall(233, $epoll, 1, fileno($in), $what));
my $outer = must("epoll_create", syscall(291, 0));
must("epoll_ctl", syscall(233, $outer, 1, $epoll, $what));
my $mask = pack("Q", 1 << 9);
must("signalfd", syscall(289, -1, $mask, 8, 0));
must("timerfd", syscall(283, 1, 0));
my $inotify = must("inotify", syscall(294, 0));
must("inotify_add_watch", syscall(254, $inotify, $directory, 0x300));
open(my $touched, ">", "/tmp/touched.$$") or must("touch", undef);
close($touched);
unlink "/tmp/touched.$$";
my $buffer = "\0" x 4096;
must("read", syscall(0, $inotify, $buffer, 4096));
my $memfd = must("memfd", syscall(319, $name, 2));
must("write", syscall(1, $memfd, $many, 8192));
must("seal", syscall(72, $memfd, 1033, 15));
# These return 0 if they fail.
$queue = must("msgget", msgget(0, 0600 | 01000));
must("msgsnd", msgsnd($queue, pack("l! a*", 1, "x" x 6000), 0) || undef);
must("msgrcv", msgrcv($queue, $buffer, 7000, 0, 0) || undef);
must("msgctl", msgctl($queue, 0, 0));
undef $queue;
$semaphore = must("semget", semget(0, 4, 0600 | 01000));
must("semop", semop($semaphore, pack("s! s! s!", 0, 1, 010000)) || undef);
must("semctl", semctl($semaphore, 0, 0, 0));
undef $semaphore;
$shared = must("shmget", shmget(0, 65536, 0600 | 01000));
must("shmwrite", shmwrite($shared, $word, 0, 5) || undef);
must("shmctl", shmctl($shared, 0, 0));
undef $shared;
my $context = "\0" x 8;
must("io_setup", syscall(206, 8, $context));
must("io_destroy", syscall(207, unpack("Q", $context)));
PERL
	perl /tmp/pipes.pl
}

# A run that failed leaves objects of System V's IPC behind.
clean()
{
	rm -f /tmp/fifo
	for kind in q:msg s:sem m:shm; do
		awk 'NR > 1 { print $2 }' /proc/sysvipc/${kind#*:} | while read -r id; do
			ipcrm -${kind%:*} "$id"
		done
	done
}

work()
{
	step "perl" perl /tmp/pipes.pl
	step "fifo" sh -c 'mkfifo /tmp/fifo && (seq 1000 >/tmp/fifo & wc -l </tmp/fifo)'
	step "pipeline" sh -c 'seq 1000 | tac | wc -l'
}
