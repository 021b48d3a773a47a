// SPDX-License-Identifier: GPL-2.0-only
/*
 * Guards at chosen call sites.
 *
 * KFENCE takes every Nth slab object of a site that has a guard. It reports an access to that
 * object after it was freed, and a write outside of it. Reports have the stacks of the
 * allocation and of the free. Other sites get no object because of it: the guard neither waits
 * for KFENCE's sample interval nor changes it.
 *
 * While the pool of KFENCE is used up, the site's objects come from their slab. Pages are the
 * matter of guard_page.c.
 */
#define pr_fmt(fmt) "codetag: " fmt

#include <linux/codetag_guard.h>
#include <linux/debugfs.h>
#include <linux/extable.h>
#include <linux/init.h>
#include <linux/kallsyms.h>
#include <linux/kfence.h>
#include <linux/mm.h>
#include <linux/preempt.h>
#include <linux/ptrace.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include "guards.h"
#include "internal.h"

/**
 * struct codetag_guard - the guard of one call site
 * @armed:	the site
 * @rate:	every one of so many objects, or allocations of pages, is taken
 * @passed:	objects of the site that were allocated and that KFENCE could hold, and
 *		allocations of pages that were freed
 * @guarded:	objects that KFENCE took, and allocations of pages that were kept
 * @missed:	those for which there was no room, pages that can never be kept, and
 *		objects while KFENCE was disabled by a warning
 *
 * The counts are atomic. The other members do not change.
 */
struct codetag_guard {
	struct codetag_armed armed;
	unsigned long rate;
	atomic_long_t passed;
	atomic_long_t guarded;
	atomic_long_t missed;
};

DEFINE_STATIC_KEY_FALSE(codetag_guards_key);

static struct codetag_guard *guard_of(struct codetag_armed *armed)
{
	return armed ? container_of(armed, struct codetag_guard, armed) : NULL;
}

/* ---- arming and disarming ------------------------------------------------------ */

/**
 * codetag_guard_new - prepare a guard for a call site
 * @info:	the site
 * @rate:	KFENCE takes every one of so many objects
 *
 * Context: Process.
 * Return: The guard, for codetag_arm() or codetag_armed_free(); NULL without memory for it.
 */
struct codetag_armed *codetag_guard_new(const struct codetag_info *info, unsigned long rate)
{
	struct codetag_guard *guard = kzalloc(sizeof(*guard), CODETAG_GFP);

	if (!guard)
		return NULL;

	if (codetag_armed_init(&guard->armed, &codetag_guards, info)) {
		kfree(guard);
		return NULL;
	}
	guard->rate = rate;
	return &guard->armed;
}

/* ---- allocating ------------------------------------------------------------------ */

static struct codetag_guard *find_guard(const struct codetag *ct)
{
	return guard_of(codetag_armed_find(&codetag_guards, ct));
}

static bool is_due(struct codetag_guard *guard)
{
	return atomic_long_inc_return(&guard->passed) % guard->rate == 0;
}

static void count(struct codetag_guard *guard, bool taken)
{
	atomic_long_inc(taken ? &guard->guarded : &guard->missed);
}

/**
 * codetag_guard_alloc - allocate an object for a call site with a guard
 * @s:		the cache
 * @size:	bytes of the object
 * @flags:	of the allocation
 *
 * Context: Any but NMI; KFENCE could hold the object.
 * Return: The object, NULL if it is to come from its slab.
 */
void *codetag_guard_alloc(struct kmem_cache *s, size_t size, gfp_t flags)
{
	struct codetag_guard *guard;
	void *object = NULL;

	rcu_read_lock();
	guard = find_guard(&alloc_tag_current()->ct);
	if (guard && is_due(guard)) {
		object = kfence_alloc_chosen(s, size, flags);
		count(guard, object);
	}
	rcu_read_unlock();
	return object;
}

/**
 * codetag_guard_due_now - pages of a call site with a guard are freed: are they to be kept?
 * @ct:		tag of the site
 * @name:	name of the site, on return
 *
 * Context: Any but NMI, under RCU, which keeps the name.
 * Return: Whether they are; codetag_guard_count() is to follow then.
 */
bool codetag_guard_due_now(const struct codetag *ct, const char **name)
{
	struct codetag_guard *guard = find_guard(ct);

	/* As long as RCU finds it, the tag is there, too. */
	if (!guard || !(READ_ONCE(ct->fault) & CODETAG_ARMED_GUARD))
		return false;
	*name = guard->armed.name;
	return is_due(guard);
}

/**
 * codetag_guard_armed - has a call site a guard now?
 * @ct: its tag, which may be gone
 *
 * Context: Any but NMI.
 * Return: Whether it has.
 */
bool codetag_guard_armed(const struct codetag *ct)
{
	bool armed;

	rcu_read_lock();
	armed = find_guard(ct) && READ_ONCE(ct->fault) & CODETAG_ARMED_GUARD;
	rcu_read_unlock();
	return armed;
}

/**
 * codetag_guard_count - count pages that are due
 * @ct:		tag of their call site
 * @taken:	they are kept
 *
 * Context: As codetag_guard_due_now().
 */
void codetag_guard_count(const struct codetag *ct, bool taken)
{
	struct codetag_guard *guard = find_guard(ct);

	if (guard)
		count(guard, taken);
}

/* ---- reports --------------------------------------------------------------------- */

static void free_guard(struct codetag_armed *armed)
{
	kfree(guard_of(armed));
}

static void show_guard(struct seq_file *m, struct codetag_armed *armed)
{
	seq_printf(m, " guard rate=%lu", guard_of(armed)->rate);
}

static void show_counts(struct seq_file *m, struct codetag_armed *armed, const char *state)
{
	struct codetag_guard *guard = guard_of(armed);

	seq_printf(m, "%8lu %8lu %8lu %8lu %-8s %s\n", atomic_long_read(&guard->passed),
		   atomic_long_read(&guard->guarded), atomic_long_read(&guard->missed),
		   guard->rate, state, armed->name);
}

#ifdef CONFIG_X86

/*
 * Is it the instruction of a copy from or to user space? Such a copy is "rep movs", or a function
 * that is called instead. The exception table does not tell it from single reads and writes,
 * among which are those of code that expects invalid addresses.
 */
static bool is_user_copy(unsigned long ip)
{
	const u8 *insn = (const u8 *)ip;
	int type = ex_get_fixup_type(ip);
	unsigned long __maybe_unused size, offset;

	if (type != EX_TYPE_UACCESS && type != EX_TYPE_UCOPY_LEN)
		return false;
	if (insn[0] == 0xf3)
		return (insn[1] & 0xfe) == 0xa4 || (insn[1] == 0x48 && insn[2] == 0xa5);
#ifdef CONFIG_X86_64
	return kallsyms_lookup_size_offset(ip, &size, &offset) &&
	       ip - offset == (unsigned long)rep_movs_alternative;
#else
	return false;
#endif
}

/**
 * codetag_guard_copy_fault - report a copy from or to user space at its kernel side
 * @address:	of the access, in the kernel's memory
 * @is_write:	it is a write
 * @regs:	of the fault
 *
 * The exception table has an entry for such a copy. Without this it would return -EFAULT, and
 * nobody would learn of the access to freed memory.
 *
 * Context: Any. In NMI nothing is reported: that takes locks.
 * Return: Whether memory that a guard holds is mapped now, so that the copy can go on.
 */
bool codetag_guard_copy_fault(unsigned long address, bool is_write, struct pt_regs *regs)
{
	return static_branch_unlikely(&codetag_guards_key) && !in_nmi() &&
	       virt_addr_valid((void *)address) && is_user_copy(regs->ip) &&
	       kfence_handle_page_fault(address, is_write, regs);
}

#endif /* CONFIG_X86 */

/*
 * Have frees ask guards, or not. Several pages are looked at where pages are checked, and single
 * ones where they are not uncharged inline. So guards that are not armed cost a single page
 * nothing, and several pages nothing unless they are checked anyway.
 */
static void pages_switched(bool on)
{
	codetag_guard_check_pages(on);
	pgalloc_tag_singles_inline(!on);
}

struct codetag_armory codetag_guards = {
	.bit = CODETAG_ARMED_GUARD,
	.key = &codetag_guards_key,
	.switched = pages_switched,
	.free = free_guard,
	.show = show_guard,
	.show_counts = show_counts,
	CODETAG_ARMORY_INIT(codetag_guards),
};

static int guards_show(struct seq_file *m, void *v)
{
	seq_puts(m, "# passed  guarded   missed     rate state    tag\n");
	codetag_armory_show(m, &codetag_guards);
	return 0;
}

CODETAG_DEFINE_FILE(guards, guards_show, NULL);

static int __init guards_debugfs_init(void)
{
	if (IS_ENABLED(CONFIG_DEBUG_FS) && !mem_alloc_profiling_permanently_disabled())
		debugfs_create_file("guards", 0400, codetag_debugfs_dir(), NULL, &guards_fops);
	return 0;
}
late_initcall(guards_debugfs_init);
