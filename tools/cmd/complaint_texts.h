/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Texts by which the kernel complains in its log. codetag sweep looks for them, and
 * scripts/guest-lib.sh takes them from this file: a line for each. One counts where a word begins,
 * so that "DEBUG " is no "BUG ". Failed allocations and messages about user space are not in it:
 * injected faults provoke them.
 *
 * All that lockdep, KASAN, KFENCE, KCSAN and KMSAN report begins with WARNING, BUG or INFO.
 */
"BUG: ",
"BUG at ",
"BUG ",				/* mm/slub.c: "BUG kmalloc-64 (Not tainted): …" */
"WARNING: ",
"Oops",
"Internal error: ",		/* the same on arm64 */
"Unable to handle kernel ",
"Insufficient stack space to handle exception",
"Kernel panic",
"general protection fault",
"double fault",
"KASAN: ",
"UBSAN: ",
"INFO: lockdep",
"INFO: possible ",
"INFO: rcu",
"INFO: task ",
"INFO: trying to register non-static key",
"inconsistent lock state",
"possible circular locking",
"possible irq lock inversion",
"possible recursive locking",
"suspicious RCU usage",
"self-detected stall",
"detected stalls on CPUs",
"soft lockup",
"detected hard LOCKUP",
"NMI backtrace for cpu",
"refcount_t: ",
"list_add corruption",
"list_add double add",
"list_del corruption",
"CFI failure",
"unchecked MSR access error",
"huh, entered softirq",
"nobody cared",
"Bad page state",
"Bad swap ",
"bad pgd ",
"bad p4d ",
"bad pud ",
"bad pmd ",
"something is seriously wrong",	/* lib/kobject.c */
"cannot create duplicate filename",
"Busy inodes after unmount",
"unregister_netdevice: waiting for ",
"Attempt to release ",		/* net: a socket in use */
"Freeing alive ",
"Destroying alive ",
"unreferenced object",
"new suspected memory leaks",
