// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rare situations, and mistakes of callers.
 */
#include <linux/gfp.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/sizes.h>
#include <linux/string.h>
#include <linux/vmstat.h>

#include "codetag_test.h"

/*
 * Four pages that are freed as two: the other half is lost, and so are its
 * bytes.
 */
int ct_misuse(void)
{
	struct page *page = alloc_pages(GFP_KERNEL, 2);

	if (!page)
		return -ENOMEM;
	__free_pages(page, 1);
	return 0;
}

/*
 * put_page() of a page that is not compound: the other three are lost, and stay charged.
 * The next owner of the first page is somebody else.
 */
int ct_misuse_put(void)
{
	struct page *page = alloc_pages(GFP_KERNEL, 2);

	if (!page)
		return -ENOMEM;
	put_page(page);
	return 0;
}

/* ---- a compound page that is being made ------------------------------------- */

/* Where a folio keeps its number of pages, which prep_compound_page() writes late. */
#ifdef NR_PAGES_IN_LARGE_FOLIO
#define folio_number(page)	(((struct folio *)(page))->_nr_pages)
#else
#define folio_number(page)	(((struct folio *)(page))->_folio_nr_pages)
#endif

static struct page *half_page;
static unsigned long half_old;

/* The state of a page whose task has been stopped in prep_compound_page(). */
int ct_half_on(void)
{
	struct folio *folio;

	if (half_page)
		return -EBUSY;
	half_page = alloc_pages(GFP_KERNEL, 1);
	if (!half_page)
		return -ENOMEM;

	/* The number of pages is not there yet: something else is in its place. */
	folio = (struct folio *)half_page;
	half_old = folio_number(half_page);
	folio_number(half_page) = 0;
	__set_bit(PG_head, (unsigned long *)&half_page->flags);
	return folio_test_large(folio) ? 0 : -EIO;
}

int ct_half_off(void)
{
	if (!half_page)
		return -ENOENT;
	__clear_bit(PG_head, (unsigned long *)&half_page->flags);
	folio_number(half_page) = half_old;
	__free_pages(half_page, 1);
	half_page = NULL;
	return 0;
}

/* ---- pages that were reserved after they had been allocated -------------------- */

/* Pages for all others */
#define RESERVE_LEAVES	(SZ_64M >> PAGE_SHIFT)
#define RESERVE_ORDER	2

static LIST_HEAD(reserved_pages);

/*
 * As kexec does with an image. Pages that boot has freed are among them: more often if they are
 * movable.
 */
int ct_reserve_on(void)
{
	unsigned long nr = global_zone_page_state(NR_FREE_PAGES);
	struct page *page;
	int i;

	for (; nr > RESERVE_LEAVES; nr -= 1 << RESERVE_ORDER) {
		page = alloc_pages(GFP_USER | __GFP_MOVABLE | __GFP_NORETRY | __GFP_NOWARN,
				   RESERVE_ORDER);
		if (!page)
			break;
		for (i = 0; i < 1 << RESERVE_ORDER; i++)
			SetPageReserved(page + i);
		list_add(&page->lru, &reserved_pages);
	}
	return list_empty(&reserved_pages) ? -ENOMEM : 0;
}

int ct_reserve_off(void)
{
	struct page *page, *next;
	int i;

	list_for_each_entry_safe(page, next, &reserved_pages, lru) {
		list_del(&page->lru);
		for (i = 0; i < 1 << RESERVE_ORDER; i++)
			ClearPageReserved(page + i);
		__free_pages(page, RESERVE_ORDER);
	}
	return 0;
}

/* ---- a module that is refused ----------------------------------------------- */

static char refused[MODULE_NAME_LEN];

static int refuse(struct notifier_block *nb, unsigned long state, void *data)
{
	struct module *mod = data;

	if (state != MODULE_STATE_COMING || strcmp(mod->name, refused))
		return NOTIFY_DONE;
	return notifier_from_errno(-EPERM);
}

/* After all others. */
static struct notifier_block refuse_nb = {
	.notifier_call	= refuse,
	.priority	= INT_MIN,
};

int ct_refuse(const char *name)
{
	strscpy(refused, name, sizeof(refused));
	return 0;
}

int ct_odd_init(void)
{
	return register_module_notifier(&refuse_nb);
}

void ct_odd_exit(void)
{
	unregister_module_notifier(&refuse_nb);
	ct_half_off();
	ct_reserve_off();
}
