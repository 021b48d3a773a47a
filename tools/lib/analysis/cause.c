// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/cause.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/glob.h"
#include "base/memory.h"
#include "base/strmap.h"

/* Outermost frames that all stacks of their kind share: they tell nothing apart. */
static const char *const entries[] = {
	"entry_*", "asm_*", "do_syscall_*", "x64_sys_call", "do_fast_syscall_*", "invoke_syscall*",
	"el0*", "do_el0_*", "handle_syscall", "userspace", "__x64_sys_*", "__ia32_sys_*",
	"__arm64_sys_*", "__se_sys_*", "__do_sys_*", "__sys_*", "___sys_*", "____sys_*", "sys_*", "ksys_*",
	"vfs_*", "new_sync_*", "do_iter_*", "sock_sendmsg*", "sock_write_iter", "sock_read_iter",
	"ret_from_fork*", "kthread", "worker_thread", "process_one_work", "process_scheduled_works",
	"smpboot_thread_fn", "new_thread_handler", "fork_handler", "interrupt_end", "run_ksoftirqd",
	"handle_softirqs", "__do_softirq", "do_softirq*", "__local_bh_enable_ip", "irq_exit*",
	"do_init_module", "load_module", "init_module_from_file", "do_one_initcall",
	"do_initcalls", "kernel_init*",
};

static bool is_entry(const char *func)
{
	for (size_t i = 0; i < sizeof(entries) / sizeof(*entries); i++)
		if (glob_match(entries[i], func))
			return true;
	return false;
}

const struct frame *cause_frame(const struct contexts *contexts, const struct context *context)
{
	for (size_t i = context->frames; i--; ) {
		const struct frame *frame = &contexts->frame[context->frame + i];

		if (!is_entry(frame->func))
			return frame;
	}
	return NULL;
}

/* Keys that another finding of the same cause has, too; "": none. */
static void keys_of(struct text *function, struct text *task, const struct contexts *contexts,
		    const struct stack_finding *f)
{
	const struct frame *frame = cause_frame(contexts, f->context);

	text_clear(function);
	text_clear(task);
	if (frame)
		text_printf(function, "%s [%s]", frame->func, frame->module ? frame->module : "");
	/* Workers and interrupts run for many others. */
	if (f->tasks == 1 && !strpbrk(f->task[0].name, "/<"))
		text_printf(task, "task %s", f->task[0].name);
}

/* The root of the tree that @i is in. */
static size_t root(size_t *parent, size_t i)
{
	while (parent[i] != i)
		i = parent[i] = parent[parent[i]];
	return i;
}

static void join(size_t *parent, size_t a, size_t b)
{
	a = root(parent, a);
	b = root(parent, b);
	parent[a > b ? a : b] = a > b ? b : a;
}

static bool counts(const struct stack_finding *f)
{
	return f->certainty != STACK_GREW;
}

static void join_all(size_t *parent, const struct stack_findings *found,
		     const struct contexts *contexts)
{
	size_t *first = xcalloc(2 * found->count + 1, sizeof(*first));
	struct text key[2] = { { 0 }, { 0 } };
	struct strmap names = { 0 };

	for (size_t i = 0; i < found->count; i++) {
		if (!counts(&found->finding[i]))
			continue;
		keys_of(&key[0], &key[1], contexts, &found->finding[i]);
		for (size_t k = 0; k < 2; k++) {
			size_t before = names.count, n;

			if (!key[k].len)
				continue;
			n = strmap_add(&names, key[k].s, key[k].len);
			if (names.count > before)
				first[n] = i;
			else
				join(parent, first[n], i);
		}
	}
	text_free(&key[0]);
	text_free(&key[1]);
	strmap_free(&names);
	free(first);
}

/* Whether no finding of the same cause before @i is from its call site. */
static bool is_new_site(const struct causes *causes, const struct stack_findings *found, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (causes->of[k] == causes->of[i] &&
		    site_same(&found->finding[k].context->site, &found->finding[i].context->site))
			return false;
	return true;
}

void causes_find(struct causes *causes, const struct stack_findings *found,
		 const struct contexts *contexts)
{
	size_t *parent = xcalloc(found->count + 1, sizeof(*parent));

	*causes = (struct causes){
		.cause = xcalloc(found->count + 1, sizeof(*causes->cause)),
		.of = xcalloc(found->count + 1, sizeof(*causes->of)),
	};
	for (size_t i = 0; i < found->count; i++)
		parent[i] = i;
	join_all(parent, found, contexts);
	for (size_t i = 0; i < found->count; i++) {
		const struct stack_finding *f = &found->finding[i];
		size_t top = root(parent, i);
		struct cause *cause;

		causes->of[i] = SIZE_MAX;
		if (!counts(f))
			continue;
		causes->of[i] = top == i ? causes->count++ : causes->of[top];
		cause = &causes->cause[causes->of[i]];
		if (top == i)
			cause->finding = i;
		cause->stacks++;
		cause->sites += is_new_site(causes, found, i);
		cause->growth += f->trend.growth;
		if (f->certainty != STACK_LEAKS)
			continue;
		cause->leaks++;
		cause->rate += f->trend.drift.slope;
	}
	free(parent);
}

void causes_free(struct causes *causes)
{
	free(causes->cause);
	free(causes->of);
}
