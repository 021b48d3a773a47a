// SPDX-License-Identifier: GPL-2.0-only
#include "model/callers.h"

#include <stdlib.h>
#include <string.h>

#include "base/glob.h"
#include "base/memory.h"

/* Functions that only allocate for their callers. */
static const char *const known[] = {
	"__alloc_frozen_pages*", "__alloc_pages*", "__alloc_skb", "__build_skb",
	"__dev_alloc_skb", "__devm_alloc_percpu", "__folio_alloc*", "__get_free_pages*",
	"__kmalloc*", "__kmemdup_nul", "__kvmalloc*", "__napi_alloc_skb", "__netdev_alloc_skb",
	"__pskb_copy_fclone", "__vmalloc*", "alloc_inode", "alloc_pages*",
	"alloc_skb_with_frags", "build_skb", "devm_kasprintf", "devm_kmalloc", "devm_kmemdup",
	"devm_krealloc", "devm_kstrdup*", "devm_kvasprintf", "folio_alloc*", "get_free_pages*",
	"get_page_from_freelist", "get_zeroed_page*", "kasprintf", "kmalloc*",
	"kmem_cache_alloc*", "kmemdup*", "krealloc*", "kstrdup*", "kstrndup", "kvasprintf*",
	"kvmalloc*", "kvmemdup", "kvrealloc*", "kzalloc*", "memdup_user*", "mempool_alloc*",
	"mempool_kmalloc*", "napi_alloc_skb", "netdev_alloc_skb*", "post_alloc_hook",
	"prep_new_page", "pskb_copy", "skb_clone", "skb_copy", "sock_alloc_send_pskb",
	"sock_alloc_send_skb", "sock_kmalloc", "sock_wmalloc", "strndup_user",
	"vma_alloc_folio*", "vmalloc*", "vmemdup_user", "vzalloc*",
};

void helpers_add(struct helpers *helpers, char *list)
{
	for (char *name = strtok(list, ","); name; name = strtok(NULL, ",")) {
		GROW(helpers->pattern, helpers->count, helpers->room);
		helpers->pattern[helpers->count++] = name;
	}
}

/*
 * Compilers make copies of functions and call them "name.part.0". The function inside of a
 * wrapper of the kernel is called "name_noprof".
 */
static bool is_func(const char *pattern, const char *func)
{
	static const char inner[] = "_noprof";
	char name[256];
	size_t len = strcspn(func, "."), end = len - strlen(inner);

	if (!len || len >= sizeof(name))
		return glob_match(pattern, func);
	memcpy(name, func, len);
	name[len] = '\0';
	if (glob_match(pattern, name))
		return true;
	if (len <= strlen(inner) || strcmp(name + end, inner))
		return false;
	name[end] = '\0';
	return glob_match(pattern, name);
}

bool helpers_have(const struct helpers *helpers, const char *func)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (is_func(known[i], func))
			return true;
	for (size_t i = 0; i < helpers->count; i++)
		if (is_func(helpers->pattern[i], func))
			return true;
	return false;
}

void helpers_free(struct helpers *helpers)
{
	free(helpers->pattern);
	*helpers = (struct helpers){ 0 };
}

void callers_of(struct callers *callers, const struct contexts *contexts,
		const struct context *context, const struct helpers *helpers)
{
	callers->count = 0;
	callers->function = NULL;
	callers->module = context->frames ? "vmlinux" : NULL;
	for (size_t i = 0; i < context->frames; i++) {
		const struct frame *frame = &contexts->frame[context->frame + i];
		bool own = !i && is_func(context->site.func, frame->func);
		bool helper = helpers_have(helpers, frame->func);

		if (!own && !helper && !callers->function)
			callers->function = frame;
		if (own || (helper && helpers->fold))
			continue;
		GROW(callers->frame, callers->count, callers->room);
		callers->frame[callers->count++] = frame;
	}
	for (size_t i = context->frames; i--; )
		if (contexts->frame[context->frame + i].module)
			callers->module = contexts->frame[context->frame + i].module;
}

void callers_free(struct callers *callers)
{
	free(callers->frame);
	*callers = (struct callers){ 0 };
}

void frame_name(struct text *text, const struct frame *frame)
{
	text_puts(text, frame->func);
	if (frame->module)
		text_printf(text, " [%s]", frame->module);
}

void frame_place(struct text *text, const struct frame *frame)
{
	text_puts(text, frame->func);
	if (frame->offset)
		text_printf(text, "+%s", frame->offset);
	if (frame->module)
		text_printf(text, " [%s]", frame->module);
}
