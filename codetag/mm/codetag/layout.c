// SPDX-License-Identifier: GPL-2.0-only
/*
 * The layout table, for programs that read an image of a machine's memory.
 *
 * It says where everything is that such a program reads, so that it needs no debug
 * information, no symbols and no vmlinux of the kernel. Nothing in the kernel reads it.
 * The compiler works out each number, so none can be wrong; a member that is renamed
 * does not compile.
 *
 * A program finds it by a line of VMCOREINFO or, in an image without that, by its magic.
 */
#include <linux/alloc_tag.h>
#include <linux/cgroup.h>
#include <linux/codetag_layout.h>
#include <linux/hugetlb.h>
#include <linux/init.h>
#include <linux/ioport.h>
#include <linux/jiffies.h>
#include <linux/jump_label.h>
#include <linux/kfence.h>
#include <linux/kernfs.h>
#include <linux/kmemleak.h>
#include <linux/log2.h>
#include <linux/memblock.h>
#include <linux/memcontrol.h>
#include <linux/mm.h>
#include <linux/mmzone.h>
#include <linux/module.h>
#include <linux/page_ext.h>
#include <linux/page_tag.h>
#include <linux/percpu.h>
#include <linux/percpu_counter.h>
#include <linux/pgtable.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/swap.h>
#include <linux/trace_events.h>
#include <linux/utsname.h>
#include <linux/vmalloc.h>
#include <linux/vmstat.h>
#include <net/net_namespace.h>
#include <asm/sections.h>
#ifdef CONFIG_BLOCK
#include "../../block/blk-mq.h"
#endif
#ifdef CONFIG_KALLSYMS
#include "../../kernel/kallsyms_internal.h"
#endif
#ifdef CONFIG_MODULES
#include "../../kernel/module/internal.h"
#endif
#include "../internal.h"
#ifdef CONFIG_KFENCE
#include "../kfence/kfence.h"
#endif
#include "../percpu-internal.h"
#include "../slab.h"
#include "context.h"
#include "context_stack.h"
#include "page_store.h"
#include "site.h"
#include "slab_far.h"
#include "parts.h"
#include "split.h"
#include "stats.h"
#include "tags.h"

#define ADDRESS(_symbol)		{ #_symbol, (unsigned long)&(_symbol) }
#define OFFSET(_struct, _member)	{ #_struct "." #_member, \
					  offsetof(struct _struct, _member) }
#define MEMBER_SIZE(_struct, _member)	{ "sizeof " #_struct "." #_member, \
					  sizeof_field(struct _struct, _member) }
#define SIZE(_struct)			{ "sizeof " #_struct, sizeof(struct _struct) }
#define LENGTH(_array)			{ "length " #_array, ARRAY_SIZE(_array) }
#define NUMBER(_name)			{ #_name, _name }

/* PAGE_TAG_FREE_BITS, which is no constant to all compilers */
static int page_tag_free_bits __ro_after_init;

static const struct codetag_layout_entry codetag_layout_entries[] = {
	/* Call sites and their counters */
	ADDRESS(__start_alloc_tags),
	ADDRESS(__stop_alloc_tags),
	ADDRESS(codetag_builtin_end),
	ADDRESS(codetag_reserved_tags),
	ADDRESS(alloc_tag_untagged),
	NUMBER(CODETAG_ID_UNREPRESENTABLE),
	NUMBER(CODETAG_ID_UNLOADED),
	NUMBER(CODETAG_ID_UNTAGGED),
	NUMBER(CODETAG_ID_NR_RESERVED),
	NUMBER(CODETAG_ID_TAIL),
	NUMBER(CODETAG_ID_FIRST),
	NUMBER(CODETAG_INACCURATE),
	SIZE(alloc_tag),
	OFFSET(alloc_tag, ct.state),
	OFFSET(alloc_tag, ct.lineno),
	OFFSET(alloc_tag, ct.function),
	OFFSET(alloc_tag, ct.filename),
	SIZE(alloc_tag_counters),
	OFFSET(alloc_tag_counters, bytes),
	OFFSET(alloc_tag_counters, allocs),
	OFFSET(alloc_tag_counters, frees),
	ADDRESS(codetag_parts_of),
	LENGTH(codetag_parts_of),
	SIZE(codetag_parts),
	OFFSET(codetag_parts, id),
	OFFSET(codetag_parts, nr),
	ADDRESS(codetag_ranges),
	OFFSET(codetag_range, list),
	OFFSET(codetag_range, mod),
	OFFSET(codetag_range, tags),
	OFFSET(codetag_range, nr),
	OFFSET(codetag_range, first),
	OFFSET(codetag_range, counters),
	OFFSET(codetag_range, block),
	OFFSET(codetag_range, modname),
	SIZE(codetag_range),

	/* Numbers of the file stats */
	ADDRESS(mem_alloc_profiling_key),
	OFFSET(static_key, enabled),
	ADDRESS(page_tag_free_bits),
	ADDRESS(page_tag_slot_bytes),
	ADDRESS(page_tag_nr_lost),
	ADDRESS(pgalloc_tag_nr_not_representable),
	ADDRESS(codetag_parts_nr_lost),
	ADDRESS(pgalloc_tag_nr_freed_in_parts),
	ADDRESS(codetag_slab_vector_bytes),
	ADDRESS(codetag_slab_inline_bytes),
	ADDRESS(codetag_slab_vectors_failed),
	ADDRESS(codetag_ids_damaged),
	ADDRESS(codetag_modules_without_id),
	ADDRESS(codetag_names_lost),
	ADDRESS(codetag_id_end),
#ifdef CONFIG_MODULES
	NUMBER(CODETAG_BLOCK_SIZE),
	ADDRESS(codetag_blocks_used),
	NUMBER(CODETAG_NR_BLOCKS),
#endif

	/* Contexts */
#ifdef CONFIG_CODETAG_CONTEXTS
	ADDRESS(codetag_sites),
	SIZE(codetag_site),
	OFFSET(codetag_site, list),
	OFFSET(codetag_site, id),
	OFFSET(codetag_site, split_wanted),
	OFFSET(codetag_site, max),
	OFFSET(codetag_site, nr),
	OFFSET(codetag_site, lost),
	SIZE(codetag_block),
	SIZE(codetag_block_counters),
	OFFSET(codetag_block_counters, parts),
	OFFSET(codetag_block, contexts),
	SIZE(codetag_context),
	OFFSET(codetag_context, site),
	OFFSET(codetag_context, split_by),
	OFFSET(codetag_context, nr_frames),
	OFFSET(codetag_context, text),
	OFFSET(codetag_context, words),
	OFFSET(codetag_context, stack),
	OFFSET(codetag_stack_text, text),
	OFFSET(codetag_stack_text, bytes),
	ADDRESS(codetag_max_contexts),
	ADDRESS(codetag_contexts_nr_lost),
	ADDRESS(codetag_key_names),
	LENGTH(codetag_key_names),
	NUMBER(CODETAG_SPLIT_DEPTH),
	NUMBER(CODETAG_VALUE_WORDS),
	NUMBER(CODETAG_DEPTH_MAX),
	NUMBER(CODETAG_SMALL_KEYS),
	NUMBER(CODETAG_CPU_SHIFT),
	NUMBER(CODETAG_ACCOUNTED_SHIFT),
	NUMBER(CODETAG_GFP_SHIFT),
	NUMBER(CODETAG_HIERARCHY_SHIFT),
	NUMBER(TASK_COMM_LEN),
	ADDRESS(gfpflag_names),
	SIZE(trace_print_flags),
	OFFSET(trace_print_flags, mask),
	OFFSET(trace_print_flags, name),
	ADDRESS(jiffies_64),
	NUMBER(INITIAL_JIFFIES),
	NUMBER(HZ),
#endif

	/* CPUs and per-CPU memory */
	ADDRESS(__cpu_possible_mask),
#ifdef CONFIG_SMP
	ADDRESS(__per_cpu_offset),
	ADDRESS(__per_cpu_start),
	ADDRESS(__per_cpu_end),
	ADDRESS(pcpu_reserved_chunk),
	ADDRESS(pcpu_unit_offsets),
#endif
	ADDRESS(pcpu_chunk_lists),
	ADDRESS(pcpu_nr_slots),
	NUMBER(PCPU_MIN_ALLOC_SIZE),
	OFFSET(pcpu_chunk, list),
	OFFSET(pcpu_chunk, bound_map),
	OFFSET(pcpu_chunk, base_addr),
	OFFSET(pcpu_chunk, alloc_map),
	OFFSET(pcpu_chunk, start_offset),
	OFFSET(pcpu_chunk, end_offset),
	OFFSET(pcpu_chunk, codetag_ids),
	OFFSET(pcpu_chunk, nr_pages),
	OFFSET(pcpu_chunk, populated),
	OFFSET(pcpu_chunk, nr_populated),

	/* Pages and where they have their ids */
	ADDRESS(page_tag_store),
	NUMBER(PAGE_TAG_FLAGS),
	NUMBER(PAGE_TAG_SLOT),
	NUMBER(PAGE_TAG_EXT),
	ADDRESS(page_tag_slots),
#ifdef CONFIG_PAGE_EXTENSION
	ADDRESS(page_ext_size),
	ADDRESS(page_tag_ext_ops),
	OFFSET(page_ext_operations, offset),
#endif
	SIZE(page),
	OFFSET(page, flags),
	OFFSET(page, page_type),
	OFFSET(page, private),
	OFFSET(folio, mapping),
	OFFSET(folio, _refcount),
	OFFSET(folio, _flags_1),
	NUMBER(PG_head),
	NUMBER(PG_reserved),
	NUMBER(PGTY_buddy),
	NUMBER(PGTY_offline),
	NUMBER(PGTY_table),
	NUMBER(PGTY_guard),
	NUMBER(PGTY_hugetlb),
	NUMBER(PGTY_slab),
	NUMBER(ZONES_PGSHIFT),
	NUMBER(ZONES_MASK),
	NUMBER(NODES_PGSHIFT),
	NUMBER(NODES_MASK),
	ADDRESS(max_pfn),
	ADDRESS(migratetype_names),
	LENGTH(migratetype_names),
	NUMBER(NR_PAGEBLOCK_BITS),
	NUMBER(MAX_NR_ZONES),
#ifdef CONFIG_ZONE_DEVICE
	NUMBER(ZONE_DEVICE),
#endif
#ifdef CONFIG_NUMA
	ADDRESS(node_data),
#else
	ADDRESS(contig_page_data),
#endif
	OFFSET(pglist_data, node_zones),
	SIZE(zone),
	OFFSET(zone, name),

	/* Counters of the machine, as in /proc/meminfo */
	ADDRESS(_totalram_pages),
#ifdef CONFIG_SWAP
	ADDRESS(total_swap_pages),
#endif
	OFFSET(zone, managed_pages),
	OFFSET(zone, present_pages),
	OFFSET(zone, vm_stat),
	OFFSET(zone, per_cpu_pageset),
	OFFSET(per_cpu_pages, count),
	NUMBER(NR_FREE_PAGES),
	ADDRESS(vm_node_stat),
	NUMBER(NR_ACTIVE_ANON),
	NUMBER(NR_INACTIVE_ANON),
	NUMBER(NR_ACTIVE_FILE),
	NUMBER(NR_INACTIVE_FILE),
	NUMBER(NR_UNEVICTABLE),
	NUMBER(NR_ANON_MAPPED),
	NUMBER(NR_FILE_PAGES),
	NUMBER(NR_SHMEM),
	NUMBER(NR_SLAB_RECLAIMABLE_B),
	NUMBER(NR_SLAB_UNRECLAIMABLE_B),
	NUMBER(NR_KERNEL_MISC_RECLAIMABLE),
	NUMBER(NR_KERNEL_STACK_KB),
	NUMBER(NR_PAGETABLE),
	NUMBER(NR_SECONDARY_PAGETABLE),
#ifdef CONFIG_SWAP
	NUMBER(NR_SWAPCACHE),
#endif
#ifdef CONFIG_ZSMALLOC
	ADDRESS(vm_zone_stat),
	NUMBER(NR_ZSPAGES),
#endif
#ifdef CONFIG_MEMORY_FAILURE
	ADDRESS(num_poisoned_pages),
#endif
#ifdef CONFIG_HUGETLB_PAGE
	ADDRESS(hstates),
	ADDRESS(hugetlb_max_hstate),
	SIZE(hstate),
	OFFSET(hstate, order),
	OFFSET(hstate, nr_huge_pages),
#endif
	ADDRESS(iomem_resource),
	OFFSET(resource, start),
	OFFSET(resource, end),
	OFFSET(resource, name),
	OFFSET(resource, sibling),
	OFFSET(resource, child),
	ADDRESS(init_uts_ns),
	OFFSET(uts_namespace, name.nodename),
	OFFSET(uts_namespace, name.release),

#ifdef CONFIG_SPARSEMEM
	ADDRESS(mem_section),
	SIZE(mem_section),
	OFFSET(mem_section, section_mem_map),
	OFFSET(mem_section, usage),
	NUMBER(SECTION_IS_ONLINE),
	NUMBER(PFN_SECTION_SHIFT),
	NUMBER(SECTIONS_PER_ROOT),
	OFFSET(mem_section_usage, pageblock_flags),
#ifdef CONFIG_PAGE_EXTENSION
	OFFSET(mem_section, page_ext),
#endif
#endif
#ifdef CONFIG_SPARSEMEM_EXTREME
	NUMBER(CONFIG_SPARSEMEM_EXTREME),
#endif

	/* Slabs */
	ADDRESS(slab_caches),
	SIZE(kmem_cache),
	OFFSET(kmem_cache, list),
	OFFSET(kmem_cache, name),
	OFFSET(kmem_cache, flags),
	OFFSET(kmem_cache, size),
	OFFSET(kmem_cache, object_size),
	OFFSET(kmem_cache, offset),
	OFFSET(kmem_cache, red_left_pad),
#ifdef CONFIG_SLAB_FREELIST_HARDENED
	NUMBER(CONFIG_SLAB_FREELIST_HARDENED),
#endif
	OFFSET(kmem_cache, codetag_vector),
#ifdef CONFIG_SLUB_DEBUG
	{ "SLAB_RED_ZONE", (unsigned long __force)SLAB_RED_ZONE },
#endif
	OFFSET(slab, slab_cache),
	OFFSET(slab, counters),
	OFFSET(slab, __page_type),
	ADDRESS(codetag_few_far_vectors),
	LENGTH(codetag_few_far_vectors),
	ADDRESS(codetag_many_far_vectors),
	ADDRESS(codetag_many_far_vectors_bits),
	OFFSET(far_vector, node),
	OFFSET(far_vector, slab),
	OFFSET(far_vector, ids),
#ifdef CONFIG_KFENCE
	ADDRESS(__kfence_pool),
	NUMBER(KFENCE_POOL_SIZE),
	ADDRESS(kfence_metadata),
	NUMBER(KFENCE_METADATA_SIZE),
	SIZE(kfence_metadata),
	OFFSET(kfence_metadata, addr),
	OFFSET(kfence_metadata, rcu_head),
#endif

	/* Control groups of pages and objects */
#ifdef CONFIG_MEMCG
	OFFSET(page, memcg_data),
	OFFSET(slab, obj_exts),
	NUMBER(OBJEXTS_FLAGS_MASK),
	NUMBER(MEMCG_DATA_OBJEXTS),
	OFFSET(obj_cgroup, memcg),
	ADDRESS(memory_cgrp_subsys),
	OFFSET(mem_cgroup, css.ss),
	OFFSET(mem_cgroup, css.cgroup),
	OFFSET(cgroup, level),
	OFFSET(cgroup, ancestors),
	OFFSET(cgroup, kn),
	OFFSET(kernfs_node, name),
#endif

	/* Areas of vmalloc space, and page tables of processes */
#ifdef CONFIG_MMU
	OFFSET(vmap_area, va_start),
	OFFSET(vmap_area, va_end),
	OFFSET(vmap_area, vm),
	SIZE(vmap_area),
	OFFSET(vm_struct, addr),
	OFFSET(vm_struct, size),
	OFFSET(vm_struct, flags),
	NUMBER(VM_ALLOC),
	OFFSET(vm_struct, caller),
	OFFSET(vm_struct, nr_pages),
	MEMBER_SIZE(vm_struct, nr_pages),
	SIZE(vm_struct),
	OFFSET(mm_struct, pgd),
	OFFSET(mm_struct, rss_stat),
	SIZE(percpu_counter),
	OFFSET(percpu_counter, count),
#ifdef CONFIG_SMP
	OFFSET(percpu_counter, counters),
#endif
	NUMBER(MM_ANONPAGES),
	OFFSET(task_struct, mm),
#endif

	/* Tasks and code */
	ADDRESS(init_task),
	OFFSET(task_struct, tasks),
	OFFSET(task_struct, signal),
	OFFSET(task_struct, thread_node),
	OFFSET(task_struct, stack),
#ifdef CONFIG_SMP
	OFFSET(task_struct, on_cpu),
#endif
#ifdef CONFIG_X86
	OFFSET(task_struct, thread.sp),
#endif
#ifdef CONFIG_ARM64
	OFFSET(task_struct, thread.cpu_context.sp),
#endif
	OFFSET(task_struct, comm),
	OFFSET(task_struct, pid),
	OFFSET(signal_struct, thread_head),
	NUMBER(THREAD_SIZE),
	ADDRESS(_text),
	ADDRESS(_etext),
	ADDRESS(_end),
#ifdef CONFIG_MODULES
	ADDRESS(modules),
	OFFSET(module, list),
	OFFSET(module, name),
	OFFSET(module, mem),
	SIZE(module_memory),
	OFFSET(module_memory, base),
	OFFSET(module_memory, size),
	NUMBER(MOD_MEM_NUM_TYPES),
#endif

	/* Memory with old pointers: it is kept for reuse, or waits for its free */
#ifdef CONFIG_BLOCK
	SIZE(request),
	OFFSET(request, q),
	OFFSET(request, mq_ctx),
	OFFSET(request, ref),
	OFFSET(blk_mq_ctx, queue),
	OFFSET(request_queue, tag_set),
	OFFSET(blk_mq_tag_set, cmd_size),
#endif
#ifdef CONFIG_NET
	OFFSET(net, passive),
	OFFSET(net, defer_free_list),
#endif

	/* Names of functions */
#ifdef CONFIG_KALLSYMS
	ADDRESS(kallsyms_num_syms),
	ADDRESS(kallsyms_offsets),
	ADDRESS(kallsyms_names),
	ADDRESS(kallsyms_token_table),
	ADDRESS(kallsyms_token_index),
#ifdef CONFIG_MODULES
	OFFSET(module, kallsyms),
	OFFSET(mod_kallsyms, symtab),
	OFFSET(mod_kallsyms, num_symtab),
	OFFSET(mod_kallsyms, strtab),
	{ "sizeof Elf_Sym", sizeof(Elf_Sym) },
	{ "Elf_Sym.st_name", offsetof(Elf_Sym, st_name) },
	{ "Elf_Sym.st_value", offsetof(Elf_Sym, st_value) },
	{ "Elf_Sym.st_shndx", offsetof(Elf_Sym, st_shndx) },
#endif
#endif
};

struct codetag_layout codetag_layout __ro_after_init __aligned(64) = {
	.magic		= CODETAG_LAYOUT_MAGIC,
	.version	= CODETAG_LAYOUT_VERSION,
};

/*
 * Filled in at run time: a memory image may also hold a copy of the kernel file, whose table
 * must not look valid.
 */
static int __init codetag_layout_init(void)
{
	phys_addr_t ram = memblock_start_of_DRAM();
	struct slab slab = { .objects = -1 };

	codetag_layout.word = sizeof(unsigned long);
	codetag_layout.page_shift = PAGE_SHIFT;
	codetag_layout.entries = (unsigned long)codetag_layout_entries;
	codetag_layout.nr = ARRAY_SIZE(codetag_layout_entries);
	/* Not __va(0): on arm64 that has no meaning if memory begins above 0. */
	codetag_layout.direct_map = (unsigned long)__va(ram) - ram;
	/* Otherwise each section has an array of its own. */
	if (IS_ENABLED(CONFIG_SPARSEMEM_VMEMMAP) || IS_ENABLED(CONFIG_FLATMEM))
		codetag_layout.memory_map = (unsigned long)pfn_to_page(0);
	codetag_layout.counters = (unsigned long)&builtin_alloc_tag_counters;
	codetag_layout.nr_cpus = nr_cpu_ids;
	codetag_layout.nr_nodes = nr_node_ids;
	codetag_layout.objects = slab.counters;
	codetag_layout.block_order = pageblock_order;
	codetag_layout.flags_shift = PAGE_TAG_SHIFT;
	codetag_layout.flags_bits = PAGE_TAG_BITS;
#ifdef CONFIG_SPARSEMEM
	codetag_layout.section_roots = NR_SECTION_ROOTS;
#endif
#ifdef CONFIG_MMU
	codetag_layout.tables = __pa_symbol(swapper_pg_dir);
	codetag_layout.top_shift = PGDIR_SHIFT;
	codetag_layout.top_bits = ilog2(PTRS_PER_PGD);
#ifdef CONFIG_ARM64
	/* The processor may know one level less than the kernel does. */
#if CONFIG_PGTABLE_LEVELS > 4
	if (!pgtable_l5_enabled()) {
		codetag_layout.top_shift = P4D_SHIFT;
		codetag_layout.top_bits = ilog2(PTRS_PER_P4D);
	}
#elif CONFIG_PGTABLE_LEVELS > 3
	if (!pgtable_l4_enabled()) {
		codetag_layout.top_shift = PUD_SHIFT;
		codetag_layout.top_bits = ilog2(PTRS_PER_PUD);
	}
#endif
#endif
	codetag_layout.vmalloc = VMALLOC_START;
	codetag_layout.vmalloc_end = VMALLOC_END;
#endif
	page_tag_free_bits = PAGE_TAG_FREE_BITS;
	codetag_layout.self = __pa_symbol(&codetag_layout);
	return 0;
}
early_initcall(codetag_layout_init);
