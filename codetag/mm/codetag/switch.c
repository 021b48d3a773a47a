// SPDX-License-Identifier: GPL-2.0-only
/*
 * Switching the profiler: vm.mem_profiling, at boot and at run time.
 */
#define pr_fmt(fmt) "codetag: " fmt

#include <linux/alloc_tag.h>
#include <linux/capability.h>
#include <linux/init.h>
#include <linux/mutex.h>
#include <linux/string.h>
#include <linux/sysctl.h>

DEFINE_STATIC_KEY_MAYBE(CONFIG_MEM_ALLOC_PROFILING_ENABLED_BY_DEFAULT,
			mem_alloc_profiling_key);
DEFINE_STATIC_KEY_MAYBE(CONFIG_MEM_ALLOC_PROFILING_ENABLED_BY_DEFAULT,
			alloc_tag_refs_key);

/* "never": nothing was set up to keep ids in, and never will be. */
static bool mem_profiling_never __ro_after_init =
	!IS_ENABLED(CONFIG_MEM_ALLOC_PROFILING_ENABLED_BY_DEFAULT);

/**
 * mem_alloc_profiling_permanently_disabled - has profiling been ruled out until the next boot?
 *
 * Context: Any, once the early parameters are parsed.
 * Return: true after sysctl.vm.mem_profiling=never, and without the parameter if
 *	   CONFIG_MEM_ALLOC_PROFILING_ENABLED_BY_DEFAULT is not set.
 */
bool mem_alloc_profiling_permanently_disabled(void)
{
	return mem_profiling_never;
}

/*
 * Frees must look for ids before the first id exists, and ever after.
 */
static void mem_profiling_switch(bool on)
{
	if (on) {
		static_branch_enable(&alloc_tag_refs_key);
		static_branch_enable(&mem_alloc_profiling_key);
	} else {
		static_branch_disable(&mem_alloc_profiling_key);
	}
}

/*
 * The words that all ways of switching accept. 7.x kernels choose small references with
 * "1,compressed". codetag stores only 16-bit ids, so both words mean the same.
 */
static int mem_profiling_parse(const char *value, bool *on)
{
	if (!strcmp(value, "1") || !strcmp(value, "1,compressed"))
		*on = true;
	else if (!strcmp(value, "0"))
		*on = false;
	else
		return -EINVAL;
	return 0;
}

static int __init mem_profiling_param(char *arg)
{
	bool on = false;

	if (!arg)
		return -EINVAL;

	if (strcmp(arg, "never") && mem_profiling_parse(arg, &on)) {
		pr_warn("sysctl.vm.mem_profiling=%s: not 0, 1 or never; ignored\n", arg);
		return 0;
	}

	mem_profiling_never = !strcmp(arg, "never");
	mem_profiling_switch(on);
	if (!on)
		static_branch_disable(&alloc_tag_refs_key);
	return 0;
}
early_param("sysctl.vm.mem_profiling", mem_profiling_param);

#ifdef CONFIG_SYSCTL

static DEFINE_MUTEX(mem_profiling_mutex);

static int mem_profiling_write(const char *value)
{
	bool on;

	/* The value of the boot parameter comes here a second time. */
	if (mem_profiling_never && !strcmp(value, "never"))
		return 0;

	if (mem_profiling_parse(value, &on)) {
		pr_warn_ratelimited("vm.mem_profiling: '%s' is neither 0 nor 1\n", value);
		return -EINVAL;
	}
	if (mem_profiling_never && on) {
		pr_warn_ratelimited("vm.mem_profiling: not set up at boot; boot with sysctl.vm.mem_profiling=1, or =0 to turn it on later\n");
		return -EOPNOTSUPP;
	}

	if (on != static_key_enabled(&mem_alloc_profiling_key))
		mem_profiling_switch(on);
	return 0;
}

static int mem_profiling_handler(const struct ctl_table *table, int write,
				 void *buffer, size_t *lenp, loff_t *ppos)
{
	char value[32] = "";
	const struct ctl_table tmp = {
		.data	= value,
		.maxlen	= sizeof(value),
		.mode	= table->mode,
	};
	int ret;

	if (write && !capable(CAP_SYS_ADMIN))
		return -EPERM;

	mutex_lock(&mem_profiling_mutex);
	if (!write)
		strscpy(value, static_key_enabled(&mem_alloc_profiling_key) ? "1" : "0");
	ret = proc_dostring(&tmp, write, buffer, lenp, ppos);
	if (!ret && write)
		ret = mem_profiling_write(strim(value));
	mutex_unlock(&mem_profiling_mutex);
	return ret;
}

static struct ctl_table mem_profiling_sysctls[] = {
	{
		.procname	= "mem_profiling",
		.mode		= 0644,
		.proc_handler	= mem_profiling_handler,
	},
};

static int __init mem_profiling_sysctl_init(void)
{
	register_sysctl_init("vm", mem_profiling_sysctls);
	return 0;
}
subsys_initcall(mem_profiling_sysctl_init);

#endif /* CONFIG_SYSCTL */
