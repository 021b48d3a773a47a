// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel parameter bench_possible=N: CPUs could be added until there are N. A sum of per-CPU
 * counters then takes as long as on a machine with N CPUs. A virtual machine says so in its ACPI
 * tables, but Linux does not believe these without a hypervisor that it knows.
 */
#include <linux/init.h>
#include <linux/kernel.h>
#include <asm/apic.h>

static int __init bench_possible(char *arg)
{
	unsigned int nr, i;

	if (!arg || kstrtouint(arg, 0, &nr) || nr > 255)
		return -EINVAL;
	for (i = 1; i < nr; i++)
		topology_register_apic(i, i, false);
	return 0;
}
early_param("bench_possible", bench_possible);
