// SPDX-License-Identifier: GPL-2.0-only
/*
 * Guards at call sites that allocate pages: every Nth allocation that is freed is kept for a
 * while before anybody can get it again. It is filled with a pattern, and unmapped where the
 * architecture can. An access to it is a page fault, which is reported. A write
 * can go unseen, through another mapping or before the pages are unmapped. The pattern shows it.
 *
 * Pages that are kept are still allocated as far as the page allocator knows. They are charged
 * to a line of this file. A worker unmaps them, and frees them after KEEP_SECONDS or when there
 * are many.
 */
#define pr_fmt(fmt) "codetag: " fmt

#include <linux/alloc_tag.h>
#include <linux/codetag_guard.h>
#include <linux/irq_work.h>
#include <linux/jiffies.h>
#include <linux/kasan.h>
#include <linux/kfence.h>
#include <linux/mm.h>
#include <linux/panic.h>
#include <linux/pgalloc_tag.h>
#include <linux/poison.h>
#include <linux/sched.h>
#include <linux/sched/debug.h>
#include <linux/set_memory.h>
#include <linux/spinlock.h>
#include <linux/stacktrace.h>
#include <linux/string.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>
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
 * have another owner by now. Their place stays for a CPU that has seen a fault before they
 * were mapped.
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
 * @reported:	something has been reported about them
 * @since:	in jiffies: when they were freed, or released
 * @ct:		tag of the call site that had allocated them, to be compared only
 * @pid:	task that freed them
 * @comm:	its name
 * @name:	that call site
 * @nr:		frames in @stack
 * @stack:	of the free
 *
 * @state and @reported change with kept_lock held. The worker alone writes @unmapped, and
 * @since once they are RELEASED. The others do not change after FILLING.
 */
struct kept {
	struct page *page;
	unsigned int order;
	enum kept_state state;
	bool unmapped;
	bool reported;
	unsigned long since;
	const struct codetag *ct;
	pid_t pid;
	char comm[TASK_COMM_LEN];
	char name[NAME_MAX_SHOWN];
	unsigned int nr;
	unsigned long stack[STACK_MAX];
};

/*
 * A ring: places from kept_first to kept_end, without KEPT_MAX taken off. kept_lock protects
 * both; the worker alone moves kept_first.
 */
static struct kept *kept;
static unsigned int kept_first, kept_end;
static DEFINE_RAW_SPINLOCK(kept_lock);

static void guard_page_work(struct work_struct *work);
static DECLARE_DELAYED_WORK(worker, guard_page_work);

/* Pages are freed with any lock held: those of the workqueue must not be taken there. */
static void start_worker(struct irq_work *work)
{
	mod_delayed_work(system_unbound_wq, &worker, 0);
}

static DEFINE_IRQ_WORK(worker_starter, start_worker);

static int make_places(void)
{
	struct kept *places;

	if (kept)
		return 0;
	places = kvcalloc(KEPT_MAX, sizeof(*places), CODETAG_GFP);
	if (!places)
		return -ENOMEM;
	smp_store_release(&kept, places);	/* pairs with codetag_guard_page_keep() */
	return 0;
}

/**
 * codetag_guard_prepare - get the memory that guards need
 *
 * A kernel that does not sample has no pool of KFENCE before the first guard.
 *
 * Context: Process, with codetag_query_mutex held.
 * Return: 0, or an error with the reason in the kernel log.
 */
int codetag_guard_prepare(void)
{
	int ret = make_places() ?: kfence_prepare_chosen();

	if (ret)
		pr_warn_ratelimited("control: cannot get the memory that guards need: error %d\n",
				    ret);
	return ret;
}

/* ---- the mapping ----------------------------------------------------------------- */

/*
 * kfence_protect_page() is for pages that have a page table entry of their own. Returns
 * whether these have, from now on.
 */
static bool own_entries(unsigned long address, unsigned int nr)
{
#if defined(CONFIG_X86)
	return !set_memory_4k(address, nr);
#elif defined(CONFIG_ARM64)
	return can_set_direct_map();
#else
	return false;
#endif
}

static void protect(const struct kept *place, bool on)
{
	unsigned long address = (unsigned long)page_address(place->page);
	unsigned int i;

	for (i = 0; i < 1U << place->order; i++)
		kfence_protect_page(address + i * PAGE_SIZE, on);
}

static void unmap(struct kept *place)
{
	unsigned long address = (unsigned long)page_address(place->page);
	size_t bytes = PAGE_SIZE << place->order;

	if (!own_entries(address, 1U << place->order))
		return;
	place->unmapped = true;
	raw_spin_lock_irq(&kept_lock);
	place->state = KEPT_UNMAPPED;
	raw_spin_unlock_irq(&kept_lock);
	protect(place, true);
	/* On x86 that was for this CPU alone. */
	flush_tlb_kernel_range(address, address + bytes);
}

/* ---- freed pages ------------------------------------------------------------------- */

/* The tag of pages that are about to be freed; NULL: they have none. */
static struct codetag *tag_of(struct page *page, unsigned int order)
{
	u16 id = page_tag_get(page);

	if (page_tag_is_mark(id) && order)
		id = page_tag_get(page + 1);
	return id && !page_tag_is_mark(id) ? codetag_from_id(id) : NULL;
}

/* A place in the ring; NULL: there is none. */
static struct kept *take_place(struct page *page, unsigned int order)
{
	struct kept *place = NULL;
	unsigned long flags;

	raw_spin_lock_irqsave(&kept_lock, flags);
	if (kept_end - kept_first < KEPT_MAX) {
		place = &kept[kept_end++ % KEPT_MAX];
		place->page = page;
		place->order = order;
		place->state = KEPT_FILLING;
		place->unmapped = false;
		place->reported = false;
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
	place->since = jiffies;
	place->nr = stack_trace_save(place->stack, STACK_MAX, 2);
	alloc_hooks(charge_again(place->page, place->order));
	memset(kasan_reset_tag(page_address(place->page)), PAGE_POISON,
	       PAGE_SIZE << place->order);

	raw_spin_lock_irqsave(&kept_lock, flags);
	place->state = KEPT_MAPPED;
	raw_spin_unlock_irqrestore(&kept_lock, flags);
	irq_work_queue(&worker_starter);
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
	    PageHighMem(page) || PageHWPoison(page) || order > KEPT_ORDER_MAX ||
	    !page_tag_has_place(page))
		return false;

	rcu_read_lock();
	ct = tag_of(page, order);
	if (ct && codetag_guard_due_now(ct, &name)) {
		place = take_place(page, order);
		codetag_guard_count(ct, place);
		if (place)
			keep(place, ct, name);
	}
	rcu_read_unlock();
	return place;
}

/* ---- reports ----------------------------------------------------------------------- */

static void report(const struct kept *place, const char *what, const void *where,
		   unsigned long offset, struct pt_regs *regs)
{
	pr_err("==================================================================\n");
	if (where)
		pr_err("BUG: freed pages: %s in %pS\n\n", what, where);
	else
		pr_err("BUG: freed pages: %s\n\n", what);
	pr_err("At byte %lu of %lu that %s had allocated.\n", offset, PAGE_SIZE << place->order,
	       place->name);
	pr_err("Freed by task %d (%s) %u ms ago:\n", place->pid, place->comm,
	       jiffies_to_msecs(jiffies - place->since));
	stack_trace_print(place->stack, place->nr, 0);
	pr_err("\n");
	if (regs)
		show_regs(regs);
	pr_err("==================================================================\n");
	add_taint(TAINT_BAD_PAGE, LOCKDEP_STILL_OK);
	check_panic_on_warn("codetag");
}

/* Is it first to report something about these pages? */
static bool may_report(struct kept *place)
{
	unsigned long flags;
	bool may;

	raw_spin_lock_irqsave(&kept_lock, flags);
	may = !place->reported;
	place->reported = true;
	raw_spin_unlock_irqrestore(&kept_lock, flags);
	return may;
}

/* The place of a page that is or was unmapped, the newest one. */
static struct kept *place_of(const struct page *page)
{
	struct kept *found = NULL;
	unsigned long flags;
	unsigned int i;

	raw_spin_lock_irqsave(&kept_lock, flags);
	for (i = kept_end; !found && i != kept_first; i--) {
		struct kept *place = &kept[(i - 1) % KEPT_MAX];

		if (place->state >= KEPT_UNMAPPED && page >= place->page &&
		    page < place->page + (1 << place->order))
			found = place;
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
	struct kept *place;

	/* The lock may be held by what was interrupted. */
	if (!smp_load_acquire(&kept) || in_nmi() || !virt_addr_valid((void *)address))
		return false;
	place = place_of(virt_to_page((void *)address));
	if (!place)
		return false;

	protect(place, false);
	if (may_report(place))
		report(place, is_write ? "write after free" : "read after free",
		       (void *)instruction_pointer(regs),
		       address - (unsigned long)page_address(place->page), regs);
	return true;
}

/* ---- the worker -------------------------------------------------------------------- */

/* Give pages back, after a look at what is in them. */
static void release(struct kept *place)
{
	const char *start = page_address(place->page), *other;

	raw_spin_lock_irq(&kept_lock);
	/* From now on no fault can be due to them, except for one that is on its way. */
	place->state = KEPT_RELEASED;
	raw_spin_unlock_irq(&kept_lock);

	if (place->unmapped)
		protect(place, false);
	other = memchr_inv(kasan_reset_tag(start), PAGE_POISON, PAGE_SIZE << place->order);
	if (other && may_report(place))
		report(place, "written after free, by another mapping or while they were mapped",
		       NULL, other - start, NULL);
	place->since = jiffies;
	codetag_guard_page_free(place->page, place->order);
}

/* Is it time to give pages back? @nr: those that were kept since, themselves included */
static bool is_due(const struct kept *place, unsigned int nr)
{
	return nr > KEPT_MAX * 3 / 4 || time_after(jiffies, place->since + KEEP_SECONDS * HZ) ||
	       !codetag_guard_armed(place->ct);
}

static void guard_page_work(struct work_struct *work)
{
	unsigned int first, end, i;
	bool unfinished = false;

	raw_spin_lock_irq(&kept_lock);
	while (kept_first != kept_end && kept[kept_first % KEPT_MAX].state == KEPT_RELEASED &&
	       time_after(jiffies, kept[kept_first % KEPT_MAX].since + HZ))
		kept_first++;
	first = kept_first;
	end = kept_end;
	raw_spin_unlock_irq(&kept_lock);

	for (i = first; i != end; i++) {
		struct kept *place = &kept[i % KEPT_MAX];

		switch (READ_ONCE(place->state)) {
		case KEPT_FILLING:
			unfinished = true;
			break;
		case KEPT_MAPPED:
			unmap(place);
			break;
		default:
			break;
		}
	}
	for (i = first; i != end; i++) {
		struct kept *place = &kept[i % KEPT_MAX];
		enum kept_state state = READ_ONCE(place->state);

		if ((state == KEPT_MAPPED || state == KEPT_UNMAPPED) && is_due(place, end - i))
			release(place);
	}
	if (first != end)
		queue_delayed_work(system_unbound_wq, &worker, unfinished ? 1 : HZ);
}
