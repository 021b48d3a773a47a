// SPDX-License-Identifier: GPL-2.0-only
/*
 * Guards at call sites that allocate pages: every Nth allocation that is freed is kept for a
 * while before anybody can get it again. It is filled with a pattern, and unmapped where the
 * architecture can. An access to it is a page fault, which is reported. A write
 * can go unseen, through another mapping or before the pages are unmapped. The pattern shows it.
 *
 * Kept pages are allocated again: they have a reference, and are charged to a line of this file.
 * A worker unmaps them, and frees them after KEEP_SECONDS or when there are many.
 */
#define pr_fmt(fmt) "codetag: " fmt

#include <linux/alloc_tag.h>
#include <linux/codetag_guard.h>
#include <linux/debug_locks.h>
#include <linux/debugobjects.h>
#include <linux/irq_work.h>
#include <linux/jiffies.h>
#include <linux/kasan.h>
#include <linux/init.h>
#include <linux/kfence.h>
#include <linux/lockdep.h>
#include <linux/mm.h>
#include <linux/mmzone.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/page-isolation.h>
#include <linux/panic.h>
#include <linux/pgalloc_tag.h>
#include <linux/poison.h>
#include <linux/sched.h>
#include <linux/sched/debug.h>
#include <linux/set_memory.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/stacktrace.h>
#include <linux/string.h>
#include <linux/suspend.h>
#include <linux/workqueue.h>
#include <trace/events/kmem.h>
#include <asm/kfence.h>
#include <asm/tlbflush.h>
#include "../internal.h"
#include "guards.h"
#include "internal.h"
#include "page_store.h"
#include "tags.h"

/* Allocations that are kept, at most, their largest order, and how long */
#define KEPT_MAX	256
#define KEPT_ORDER_MAX	PAGE_ALLOC_COSTLY_ORDER
#define KEEP_SECONDS	30
#define STACK_MAX	16
#define NAME_MAX_SHOWN	120

/*
 * The states of a place in the ring:
 *
 *	FILLING -> MAPPED -> UNMAPPED -> RELEASED -> (a second) -> not in the ring
 *
 * A fault maps UNMAPPED pages again, and nothing unmaps them a second time. RELEASED pages may
 * have another owner by now. For a second their place helps a CPU that has seen a fault before
 * they were mapped.
 */
enum kept_state {
	KEPT_FILLING,
	KEPT_MAPPED,
	KEPT_UNMAPPED,
	KEPT_RELEASED,
};

/**
 * struct kept - pages that are kept
 * @page:	the first
 * @order:	their order
 * @state:	see above
 * @unmapped:	they have been
 * @accessed:	an access after the free has been reported
 * @written:	a write has
 * @freed:	when, in jiffies
 * @released:	when, in jiffies
 * @ct:		tag of the call site that had allocated them, to be compared only
 * @pid:	task that freed them
 * @comm:	its name
 * @name:	that call site
 * @nr:		frames in @stack
 * @stack:	of the free
 *
 * keep() writes them while FILLING. After that only @state to @written and @released change,
 * with kept_lock held.
 */
struct kept {
	struct page *page;
	unsigned int order;
	enum kept_state state;
	bool unmapped;
	bool accessed;
	bool written;
	unsigned long freed;
	unsigned long released;
	const struct codetag *ct;
	pid_t pid;
	char comm[TASK_COMM_LEN];
	char name[NAME_MAX_SHOWN];
	unsigned int nr;
	unsigned long stack[STACK_MAX];
};

/* Kept pages are charged to this line. */
static struct alloc_tag *pages_kept(void)
{
	DEFINE_ALLOC_TAG(tag);

	return &tag;
}

/*
 * A ring: places from kept_first to kept_end, without KEPT_MAX taken off. kept_lock protects
 * both; the worker alone moves kept_first.
 */
static struct kept *kept;
static unsigned int kept_first, kept_end;
static DEFINE_RAW_SPINLOCK(kept_lock);

/* The machine is about to be saved: no page is kept. */
static bool hibernates;

static void guard_page_work(struct work_struct *work);
static DECLARE_DELAYED_WORK(worker, guard_page_work);

static struct workqueue_struct *worker_queue;

/* Pages are freed with any lock held: those of the workqueue must not be taken there. */
static void start_worker(struct irq_work *work)
{
	mod_delayed_work(worker_queue, &worker, 0);
}

static DEFINE_IRQ_WORK(worker_starter, start_worker);

static int make_places(void)
{
	struct kept *places;

	if (kept)
		return 0;
	if (!worker_queue)
		worker_queue = alloc_workqueue("codetag_guard", WQ_UNBOUND, 0);
	places = kvcalloc(KEPT_MAX, sizeof(*places), CODETAG_GFP);
	if (!places || !worker_queue) {
		kvfree(places);
		return -ENOMEM;
	}
	smp_store_release(&kept, places);	/* pairs with those who look */
	return 0;
}

/**
 * codetag_guard_prepare - get the memory that guards need
 *
 * A kernel that does not sample has no pool of KFENCE before the first guard.
 *
 * Context: Process, without codetag_query_mutex: the load of a module takes that, and a module
 *	    may be loaded under kernel_param_lock().
 * Return: 0, or an error with the reason in the kernel log.
 */
int codetag_guard_prepare(void)
{
	static DEFINE_MUTEX(one_at_a_time);
	int ret;

	mutex_lock(&one_at_a_time);
	ret = make_places() ?: kfence_prepare_chosen();
	mutex_unlock(&one_at_a_time);
	if (ret)
		pr_warn_ratelimited("control: cannot get the memory that guards need: error %d\n",
				    ret);
	return ret;
}

/* ---- the mapping ----------------------------------------------------------------- */

static char *address_of(const struct kept *place)
{
	return kasan_reset_tag(page_address(place->page));
}

static size_t bytes_of(const struct kept *place)
{
	return PAGE_SIZE << place->order;
}

/*
 * kfence_protect_page() is for pages that have a page table entry of their own, and a fault
 * may call it. Returns whether these have, from now on.
 */
static bool own_entries(const struct kept *place)
{
#if defined(CONFIG_X86)
	return !set_memory_4k((unsigned long)address_of(place), 1 << place->order);
#elif defined(CONFIG_ARM64)
	/* Where large pages can be split at any time, changing an entry takes a mutex. */
#if defined(ARM64_HAS_BBML2_NOABORT)
	if (cpus_have_final_cap(ARM64_HAS_BBML2_NOABORT))
		return false;
#elif defined(ARM64_HAS_BBML3)
	if (cpus_have_final_cap(ARM64_HAS_BBML3))
		return false;
#endif
	return can_set_direct_map();
#else
	return false;
#endif
}

/* Returns false if the mapping cannot be changed. */
static bool protect(const struct kept *place, bool on)
{
	unsigned long address = (unsigned long)address_of(place);
	bool done = true;
	unsigned int i;

	for (i = 0; i < 1U << place->order; i++)
		done &= kfence_protect_page(address + i * PAGE_SIZE, on);
	return done;
}

static void unmap(struct kept *place)
{
	unsigned long address = (unsigned long)address_of(place);

	if (!own_entries(place))
		return;
	raw_spin_lock_irq(&kept_lock);
	place->unmapped = true;
	place->state = KEPT_UNMAPPED;
	raw_spin_unlock_irq(&kept_lock);
	protect(place, true);
	/* On x86 that was for this CPU alone. */
	flush_tlb_kernel_range(address, address + bytes_of(place));
}

/* ---- freed pages ------------------------------------------------------------------- */

/* The tag of pages that are about to be freed; NULL: they have none. */
static struct codetag *tag_of(struct page *page, unsigned int order)
{
	u16 id = page_tag_get(order ? page_tag_holder(page) : page);

	return id && !page_tag_is_mark(id) ? codetag_from_id(id) : NULL;
}

static bool any_is_poisoned(const struct page *page, unsigned int order)
{
	unsigned int i;

	for (i = 0; i < 1U << order; i++)
		if (PageHWPoison(page + i))
			return true;
	return false;
}

/*
 * Can these pages be kept at all? Memory that must stay movable cannot. Nor can pages of an
 * isolated block, which CMA or memory offlining empties: it is not marked as CMA's meanwhile. Nor
 * can slabs: SLUB may read a freed slab and discard the value, which is no bug.
 */
static bool can_be_kept(struct page *page, unsigned int order, const struct codetag *ct)
{
	return order <= KEPT_ORDER_MAX && !PageHighMem(page) && !any_is_poisoned(page, order) &&
	       !is_zone_movable_page(page) && !is_migrate_cma_page(page) &&
	       !is_migrate_isolate_page(page) &&
	       strcmp(ct->function, "alloc_slab_page");
}

/* A place in the ring; NULL: there is none. */
static struct kept *take_place(struct page *page, unsigned int order)
{
	struct kept *place = NULL;
	unsigned long flags;

	raw_spin_lock_irqsave(&kept_lock, flags);
	if (kept_end - kept_first < KEPT_MAX && !READ_ONCE(hibernates)) {
		place = &kept[kept_end++ % KEPT_MAX];
		*place = (struct kept) {
			.page = page,
			.order = order,
			.state = KEPT_FILLING,
			.freed = jiffies,
		};
	}
	raw_spin_unlock_irqrestore(&kept_lock, flags);
	return place;
}

/* Charge pages to the current call site instead of the one that has allocated them. */
static struct page *charge_again(struct page *page, unsigned int order)
{
	pgalloc_tag_sub(page, order);
	/* Ids in page flags are still there. */
	pgalloc_tag_clear(page);
	if (order)
		pgalloc_tag_clear(page + 1);
	pgalloc_tag_add(page, order, PageHead(page) ? __GFP_COMP : 0);
	return page;
}

static void keep(struct kept *place, const struct codetag *ct, const char *name)
{
	unsigned long flags;

	place->ct = ct;
	strscpy(place->name, name);
	strscpy(place->comm, in_task() ? current->comm : "interrupt");
	place->pid = in_task() ? task_pid_nr(current) : 0;
	place->nr = stack_trace_save(place->stack, STACK_MAX, 2);
	/* These look at the content, and at the task. */
	debug_check_no_locks_freed(address_of(place), bytes_of(place));
	debug_check_no_obj_freed(address_of(place), bytes_of(place));
	alloc_hooks_tag(pages_kept(), charge_again(place->page, place->order));
	memset(address_of(place), PAGE_POISON, bytes_of(place));
	set_page_refcounted(place->page);
	/* Their free was traced, and will be once more when they are given back. */
	trace_mm_page_alloc(place->page, place->order, 0, MIGRATE_UNMOVABLE);

	raw_spin_lock_irqsave(&kept_lock, flags);
	place->state = KEPT_MAPPED;
	raw_spin_unlock_irqrestore(&kept_lock, flags);
	irq_work_queue(&worker_starter);
}

/* ---- reports ----------------------------------------------------------------------- */

static void report(const struct kept *place, const char *what, const void *where,
		   const void *at, struct pt_regs *regs)
{
	/* As KFENCE does: whatever is locked, this has to be printed. */
	lockdep_off();
	pr_err("==================================================================\n");
	if (where)
		pr_err("BUG: freed pages: %s in %pS\n\n", what, where);
	else
		pr_err("BUG: freed pages: %s\n\n", what);
	pr_err("At byte %zu of %zu that %s had allocated.\n",
	       (const char *)at - address_of(place), bytes_of(place), place->name);
	pr_err("Freed by task %d (%s) %u ms ago:\n", place->pid, place->comm,
	       jiffies_to_msecs(jiffies - place->freed));
	stack_trace_print(place->stack, place->nr, 0);
	pr_err("\n");
	if (regs)
		show_regs(regs);
	else
		dump_stack();
	pr_err("==================================================================\n");
	lockdep_on();
	add_taint(TAINT_BAD_PAGE, LOCKDEP_STILL_OK);
	check_panic_on_warn("codetag");
}

/*
 * Copy the place of a page, the newest one: a report takes long, and another allocation can be in
 * the place then. @fault: only one that is or just was unmapped, and note the access.
 * Returns NULL without such a place, else the place, to be compared only.
 */
static const struct kept *copy_place(const struct page *page, bool fault, bool is_write,
				     struct kept *copy)
{
	const struct kept *found = NULL;
	unsigned long flags;
	unsigned int i;

	raw_spin_lock_irqsave(&kept_lock, flags);
	for (i = kept_end; !found && i != kept_first; i--) {
		struct kept *place = &kept[(i - 1) % KEPT_MAX];

		if (page < place->page || page >= place->page + (1 << place->order))
			continue;
		if (fault && (!place->unmapped || (place->state == KEPT_RELEASED &&
						   time_after(jiffies, place->released + HZ))))
			continue;
		found = place;
		*copy = *place;
		if (fault) {
			place->accessed = true;
			place->written |= is_write;
		}
	}
	raw_spin_unlock_irqrestore(&kept_lock, flags);
	return found;
}

/**
 * codetag_guard_page_fault - report an access to pages that are kept
 * @address:	of the access
 * @is_write:	it is a write
 * @regs:	of the fault
 *
 * Context: Any.
 * Return: Whether the pages are mapped now, so that the access can go on.
 */
bool codetag_guard_page_fault(unsigned long address, bool is_write, struct pt_regs *regs)
{
	struct kept place;

	/* An NMI may have interrupted the owner of the lock. Pairs with make_places(). */
	if (!smp_load_acquire(&kept) || in_nmi() || !virt_addr_valid((void *)address) ||
	    !copy_place(virt_to_page((void *)address), true, is_write, &place))
		return false;
	if (!protect(&place, false))
		return false;
	if (!place.accessed)
		report(&place, is_write ? "write after free" : "read after free",
		       (void *)instruction_pointer(regs), (void *)address, regs);
	return true;
}

/* Kept pages are freed: by the worker, or a second time by their former owner? */
static bool is_double_free(struct page *page)
{
	struct kept place;

	if (!copy_place(page, false, false, &place) || place.state == KEPT_RELEASED)
		return false;
	report(&place, "freed again", NULL, address_of(&place), NULL);
	/* The reference that this free has dropped is the guard's. */
	set_page_refcounted(page);
	return true;
}

/**
 * codetag_guard_page_keep - keep pages that are about to be freed, if a guard wants them
 * @page:	the first
 * @order:	their order
 *
 * Context: Any but NMI.
 * Return: Whether they are kept. The caller has nothing to do with them any more then.
 */
bool codetag_guard_page_keep(struct page *page, unsigned int order)
{
	struct kept *place = NULL;
	const char *name;
	struct codetag *ct;

	/* pairs with make_places() */
	if (!smp_load_acquire(&kept) || !mem_alloc_profiling_enabled() || in_nmi() ||
	    !page_tag_has_place(page))
		return false;

	rcu_read_lock();
	ct = tag_of(page, order);
	if (ct == &pages_kept()->ct) {
		rcu_read_unlock();
		return is_double_free(page);
	}
	if (ct && codetag_guard_due_now(ct, &name)) {
		if (can_be_kept(page, order, ct))
			place = take_place(page, order);
		codetag_guard_count(ct, place);
		if (place)
			keep(place, ct, name);
	}
	rcu_read_unlock();
	return place;
}

/**
 * codetag_guard_free_slow - the part of codetag_guard_free() that is not inlined
 * @page:	the page
 * @may_keep:	a guard may keep it
 *
 * Context: Any.
 * Return: false if a guard keeps it.
 */
bool codetag_guard_free_slow(struct page *page, bool may_keep)
{
	if (may_keep && codetag_guard_keeps(page, 0))
		return false;
	pgalloc_tag_sub_slow(page, 0);
	return true;
}

/* ---- the worker -------------------------------------------------------------------- */

/* The first byte that the pattern does not have; NULL: all have it. Not for KASAN to see. */
static const char *find_other(const char *start, size_t bytes)
{
	size_t i;

	for (i = 0; i < bytes; i++)
		if ((unsigned char)start[i] != PAGE_POISON)
			return start + i;
	return NULL;
}

/* Give pages back, after a look at what is in them. */
static void release(struct kept *place)
{
	const char *other = NULL;

	raw_spin_lock_irq(&kept_lock);
	/* From now on no fault can be due to them, except for one that is on its way. */
	place->state = KEPT_RELEASED;
	place->released = jiffies;
	raw_spin_unlock_irq(&kept_lock);

	if (place->unmapped)
		protect(place, false);
	if (!any_is_poisoned(place->page, place->order))
		other = find_other(address_of(place), bytes_of(place));
	if (other && !place->written)
		report(place, "written after free, by another mapping or while they were mapped",
		       NULL, other, NULL);
	__free_pages(place->page, place->order);
}

/* Is it time to give pages back? @nr: those that were kept since, themselves included */
static bool is_due(const struct kept *place, unsigned int nr)
{
	return nr > KEPT_MAX * 3 / 4 || time_after(jiffies, place->freed + KEEP_SECONDS * HZ) ||
	       READ_ONCE(hibernates) || !codetag_guard_armed(place->ct);
}

static enum kept_state state_of(const struct kept *place)
{
	enum kept_state state;

	raw_spin_lock_irq(&kept_lock);
	state = place->state;
	raw_spin_unlock_irq(&kept_lock);
	return state;
}

/* Forget what was given back a second ago. Returns false if there is nothing else. */
static bool forget_released(unsigned int *first, unsigned int *end)
{
	raw_spin_lock_irq(&kept_lock);
	while (kept_first != kept_end && kept[kept_first % KEPT_MAX].state == KEPT_RELEASED &&
	       time_after(jiffies, kept[kept_first % KEPT_MAX].released + HZ))
		kept_first++;
	*first = kept_first;
	*end = kept_end;
	raw_spin_unlock_irq(&kept_lock);
	return *first != *end;
}

static void guard_page_work(struct work_struct *work)
{
	unsigned int first, end, i;
	bool unfinished = false;

	if (!forget_released(&first, &end))
		return;
	for (i = first; i != end; i++) {
		enum kept_state state = state_of(&kept[i % KEPT_MAX]);

		if (state == KEPT_MAPPED && !READ_ONCE(hibernates))
			unmap(&kept[i % KEPT_MAX]);
		unfinished |= state == KEPT_FILLING;
	}
	for (i = first; i != end; i++) {
		struct kept *place = &kept[i % KEPT_MAX];
		enum kept_state state = state_of(place);

		if ((state == KEPT_MAPPED || state == KEPT_UNMAPPED) && is_due(place, end - i))
			release(place);
	}
	queue_delayed_work(worker_queue, &worker, unfinished ? 1 : HZ);
}

/* ---- hibernation ------------------------------------------------------------------- */

/* Saving memory maps unmapped pages, and leaves them without write access: give all back before. */
static int pm_notify(struct notifier_block *nb, unsigned long event, void *unused)
{
	if (event == PM_POST_HIBERNATION || event == PM_POST_RESTORE)
		WRITE_ONCE(hibernates, false);
	if (event != PM_HIBERNATION_PREPARE && event != PM_RESTORE_PREPARE)
		return NOTIFY_DONE;

	raw_spin_lock_irq(&kept_lock);
	WRITE_ONCE(hibernates, true);
	raw_spin_unlock_irq(&kept_lock);
	if (smp_load_acquire(&kept)) {	/* pairs with make_places() */
		mod_delayed_work(worker_queue, &worker, 0);
		flush_delayed_work(&worker);
	}
	return NOTIFY_DONE;
}

static struct notifier_block pm_nb = {
	.notifier_call = pm_notify,
};

static int __init guard_page_init(void)
{
	return mem_alloc_profiling_permanently_disabled() ? 0 : register_pm_notifier(&pm_nb);
}
late_initcall(guard_page_init);
