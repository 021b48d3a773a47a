/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The numbers of the kernel's layout table that the command needs: their names in the table and
 * in the code. Not every kernel has those of the second list; they are then 0.
 */
#ifndef CODETAG_NUMBERS_H
#define CODETAG_NUMBERS_H

#define NUMBERS(X, MAY)								\
	X(TAGS, "__start_alloc_tags")						\
	X(TAGS_END, "__stop_alloc_tags")					\
	X(BUILTIN_END, "codetag_builtin_end")					\
	X(RESERVED_TAGS, "codetag_reserved_tags")				\
	X(UNTAGGED_TAG, "alloc_tag_untagged")					\
	X(ID_UNREPRESENTABLE, "CODETAG_ID_UNREPRESENTABLE")			\
	X(ID_UNLOADED, "CODETAG_ID_UNLOADED")					\
	X(ID_UNTAGGED, "CODETAG_ID_UNTAGGED")					\
	X(NR_RESERVED, "CODETAG_ID_NR_RESERVED")				\
	X(ID_TAIL, "CODETAG_ID_TAIL")						\
	X(ID_FIRST, "CODETAG_ID_FIRST")						\
	X(STATE_INACCURATE, "CODETAG_INACCURATE")				\
	X(TAG_SIZE, "sizeof alloc_tag")						\
	X(TAG_STATE, "alloc_tag.ct.state")					\
	X(TAG_LINE, "alloc_tag.ct.lineno")					\
	X(TAG_FUNCTION, "alloc_tag.ct.function")				\
	X(TAG_FILE, "alloc_tag.ct.filename")					\
	X(COUNTERS_SIZE, "sizeof alloc_tag_counters")				\
	X(COUNTERS_BYTES, "alloc_tag_counters.bytes")				\
	X(COUNTERS_ALLOCS, "alloc_tag_counters.allocs")				\
	X(COUNTERS_FREES, "alloc_tag_counters.frees")				\
	X(PARTS, "codetag_parts_of")						\
	X(NR_PARTS, "length codetag_parts_of")					\
	X(PARTS_SIZE, "sizeof codetag_parts")					\
	X(PARTS_ID, "codetag_parts.id")						\
	X(PARTS_NR, "codetag_parts.nr")						\
	X(RANGES, "codetag_ranges")						\
	X(RANGE_SIZE, "sizeof codetag_range")					\
	X(RANGE_LIST, "codetag_range.list")					\
	X(RANGE_MOD, "codetag_range.mod")					\
	X(RANGE_TAGS, "codetag_range.tags")					\
	X(RANGE_NR, "codetag_range.nr")						\
	X(RANGE_FIRST, "codetag_range.first")					\
	X(RANGE_COUNTERS, "codetag_range.counters")				\
	X(RANGE_BLOCK, "codetag_range.block")					\
	X(RANGE_NAME, "codetag_range.modname")					\
	MAY(PROFILING, "mem_alloc_profiling_key")				\
	MAY(KEY_ENABLED, "static_key.enabled")					\
	MAY(FREE_FLAG_BITS, "page_tag_free_bits")				\
	MAY(SLOT_BYTES, "page_tag_slot_bytes")					\
	MAY(PAGES_LOST, "page_tag_nr_lost")					\
	MAY(NOT_REPRESENTABLE, "pgalloc_tag_nr_not_representable")		\
	MAY(FREED_IN_PARTS, "pgalloc_tag_nr_freed_in_parts")			\
	MAY(VECTOR_BYTES, "codetag_slab_vector_bytes")				\
	MAY(INLINE_BYTES, "codetag_slab_inline_bytes")				\
	MAY(VECTORS_FAILED, "codetag_slab_vectors_failed")			\
	MAY(IDS_DAMAGED, "codetag_ids_damaged")					\
	MAY(PARTS_LOST, "codetag_parts_nr_lost")				\
	MAY(MODULES_WITHOUT_ID, "codetag_modules_without_id")			\
	MAY(NAMES_LOST, "codetag_names_lost")					\
	MAY(ID_END, "codetag_id_end")						\
	MAY(BLOCK_SIZE, "CODETAG_BLOCK_SIZE")					\
	MAY(BLOCKS_USED, "codetag_blocks_used")					\
	MAY(NR_BLOCKS, "CODETAG_NR_BLOCKS")					\
	MAY(SITES, "codetag_sites")						\
	MAY(SITE_SIZE, "sizeof codetag_site")					\
	MAY(SITE_LIST, "codetag_site.list")					\
	MAY(SITE_ID, "codetag_site.id")						\
	MAY(SITE_SPLIT, "codetag_site.split_wanted")				\
	MAY(SITE_MAX, "codetag_site.max")					\
	MAY(SITE_NR, "codetag_site.nr")						\
	MAY(SITE_LOST, "codetag_site.lost")					\
	MAY(BLOCK_SIZE_OF, "sizeof codetag_block")				\
	MAY(BLOCK_CONTEXTS, "codetag_block.contexts")				\
	MAY(BLOCK_COUNTERS_SIZE, "sizeof codetag_block_counters")		\
	MAY(BLOCK_PARTS, "codetag_block_counters.parts")			\
	MAY(CONTEXT_SIZE, "sizeof codetag_context")				\
	MAY(CONTEXT_SITE, "codetag_context.site")				\
	MAY(CONTEXT_SPLIT, "codetag_context.split_by")				\
	MAY(CONTEXT_FRAMES, "codetag_context.nr_frames")			\
	MAY(CONTEXT_TEXT, "codetag_context.text")				\
	MAY(CONTEXT_WORDS, "codetag_context.words")				\
	MAY(CONTEXT_STACK, "codetag_context.stack")				\
	MAY(STACK_TEXT, "codetag_stack_text.text")				\
	MAY(STACK_TEXT_BYTES, "codetag_stack_text.bytes")			\
	MAY(MAX_CONTEXTS, "codetag_max_contexts")				\
	MAY(CONTEXTS_LOST, "codetag_contexts_nr_lost")				\
	MAY(KEY_NAMES, "codetag_key_names")					\
	MAY(NR_KEYS, "length codetag_key_names")				\
	MAY(SPLIT_DEPTH, "CODETAG_SPLIT_DEPTH")					\
	MAY(VALUE_WORDS, "CODETAG_VALUE_WORDS")					\
	MAY(STACK_DEPTH, "CODETAG_DEPTH_MAX")					\
	MAY(SMALL_KEYS, "CODETAG_SMALL_KEYS")					\
	MAY(CPU_SHIFT, "CODETAG_CPU_SHIFT")					\
	MAY(ACCOUNTED_SHIFT, "CODETAG_ACCOUNTED_SHIFT")				\
	MAY(GFP_SHIFT, "CODETAG_GFP_SHIFT")					\
	MAY(HIERARCHY_SHIFT, "CODETAG_HIERARCHY_SHIFT")				\
	MAY(TASK_NAME, "TASK_COMM_LEN")						\
	MAY(GFP_NAMES, "gfpflag_names")						\
	MAY(FLAGS_SIZE, "sizeof trace_print_flags")				\
	MAY(FLAGS_MASK, "trace_print_flags.mask")				\
	MAY(FLAGS_NAME, "trace_print_flags.name")				\
	MAY(JIFFIES, "jiffies_64")						\
	MAY(JIFFIES_BEGIN, "INITIAL_JIFFIES")					\
	MAY(HZ, "HZ")								\
	X(POSSIBLE, "__cpu_possible_mask")					\
	MAY(CPU_OFFSETS, "__per_cpu_offset")					\
	MAY(PERCPU_START, "__per_cpu_start")					\
	MAY(PERCPU_END, "__per_cpu_end")					\
	MAY(CHUNK_RESERVED, "pcpu_reserved_chunk")				\
	MAY(UNIT_OFFSETS, "pcpu_unit_offsets")					\
	X(CHUNK_LISTS, "pcpu_chunk_lists")					\
	X(CHUNK_NR_LISTS, "pcpu_nr_slots")					\
	X(CHUNK_UNIT, "PCPU_MIN_ALLOC_SIZE")					\
	X(CHUNK_LIST, "pcpu_chunk.list")					\
	X(CHUNK_BOUNDS, "pcpu_chunk.bound_map")					\
	X(CHUNK_BASE, "pcpu_chunk.base_addr")					\
	X(CHUNK_ALLOCATED, "pcpu_chunk.alloc_map")				\
	X(CHUNK_START, "pcpu_chunk.start_offset")				\
	X(CHUNK_END, "pcpu_chunk.end_offset")					\
	X(CHUNK_IDS, "pcpu_chunk.codetag_ids")					\
	X(CHUNK_PAGES, "pcpu_chunk.nr_pages")					\
	X(CHUNK_POPULATED, "pcpu_chunk.populated")				\
	MAY(CHUNK_NR_POPULATED, "pcpu_chunk.nr_populated")			\
	X(STORE, "page_tag_store")						\
	X(STORE_FLAGS, "PAGE_TAG_FLAGS")					\
	X(STORE_SLOT, "PAGE_TAG_SLOT")						\
	X(STORE_EXT, "PAGE_TAG_EXT")						\
	X(SLOTS, "page_tag_slots")						\
	MAY(EXT_SIZE, "page_ext_size")						\
	MAY(EXT_OPS, "page_tag_ext_ops")					\
	MAY(EXT_OFFSET, "page_ext_operations.offset")				\
	X(PAGE_SIZE_OF, "sizeof page")						\
	X(PAGE_FLAGS, "page.flags")						\
	X(PAGE_TYPE, "page.page_type")						\
	X(PAGE_PRIVATE, "page.private")						\
	X(FOLIO_MAPPING, "folio.mapping")					\
	X(FOLIO_REFCOUNT, "folio._refcount")					\
	X(FOLIO_FLAGS_1, "folio._flags_1")					\
	X(PG_HEAD, "PG_head")							\
	X(PG_RESERVED, "PG_reserved")						\
	X(TYPE_BUDDY, "PGTY_buddy")						\
	X(TYPE_OFFLINE, "PGTY_offline")						\
	X(TYPE_TABLE, "PGTY_table")						\
	X(TYPE_GUARD, "PGTY_guard")						\
	X(TYPE_HUGETLB, "PGTY_hugetlb")						\
	X(TYPE_SLAB, "PGTY_slab")						\
	X(ZONE_SHIFT, "ZONES_PGSHIFT")						\
	X(ZONE_MASK, "ZONES_MASK")						\
	X(NODE_SHIFT, "NODES_PGSHIFT")						\
	X(NODE_MASK, "NODES_MASK")						\
	X(MAX_PFN, "max_pfn")							\
	X(TYPE_NAMES, "migratetype_names")					\
	X(NR_TYPES, "length migratetype_names")					\
	X(BLOCK_BITS, "NR_PAGEBLOCK_BITS")					\
	X(NR_ZONES, "MAX_NR_ZONES")						\
	MAY(DEVICE_ZONE, "ZONE_DEVICE")						\
	MAY(NODE_DATA, "node_data")						\
	MAY(ONE_NODE, "contig_page_data")					\
	X(NODE_ZONES, "pglist_data.node_zones")					\
	X(ZONE_SIZE, "sizeof zone")						\
	X(ZONE_NAME, "zone.name")						\
	MAY(TOTAL_PAGES, "_totalram_pages")					\
	MAY(TOTAL_SWAP, "total_swap_pages")					\
	MAY(ZONE_MANAGED, "zone.managed_pages")					\
	MAY(ZONE_PRESENT, "zone.present_pages")					\
	MAY(ZONE_STAT, "zone.vm_stat")						\
	MAY(ZONE_CPU_LISTS, "zone.per_cpu_pageset")				\
	MAY(CPU_LISTS_COUNT, "per_cpu_pages.count")				\
	MAY(STAT_FREE, "NR_FREE_PAGES")						\
	MAY(NODE_STAT, "vm_node_stat")						\
	MAY(STAT_ACTIVE_ANON, "NR_ACTIVE_ANON")					\
	MAY(STAT_INACTIVE_ANON, "NR_INACTIVE_ANON")				\
	MAY(STAT_ACTIVE_FILE, "NR_ACTIVE_FILE")					\
	MAY(STAT_INACTIVE_FILE, "NR_INACTIVE_FILE")				\
	MAY(STAT_UNEVICTABLE, "NR_UNEVICTABLE")					\
	MAY(STAT_ANON, "NR_ANON_MAPPED")					\
	MAY(STAT_FILE, "NR_FILE_PAGES")						\
	MAY(STAT_SHMEM, "NR_SHMEM")						\
	MAY(STAT_SLAB_RECLAIMABLE, "NR_SLAB_RECLAIMABLE_B")			\
	MAY(STAT_SLAB, "NR_SLAB_UNRECLAIMABLE_B")				\
	MAY(STAT_RECLAIMABLE, "NR_KERNEL_MISC_RECLAIMABLE")			\
	MAY(STAT_STACKS, "NR_KERNEL_STACK_KB")					\
	MAY(STAT_PAGE_TABLES, "NR_PAGETABLE")					\
	MAY(STAT_SECOND_TABLES, "NR_SECONDARY_PAGETABLE")			\
	MAY(STAT_SWAP_CACHE, "NR_SWAPCACHE")					\
	MAY(ZONES_STAT, "vm_zone_stat")						\
	MAY(STAT_ZSPAGES, "NR_ZSPAGES")						\
	MAY(POISONED, "num_poisoned_pages")					\
	MAY(HUGE_STATES, "hstates")						\
	MAY(NR_HUGE_STATES, "hugetlb_max_hstate")				\
	MAY(HUGE_STATE_SIZE, "sizeof hstate")					\
	MAY(HUGE_STATE_ORDER, "hstate.order")					\
	MAY(HUGE_STATE_PAGES, "hstate.nr_huge_pages")				\
	MAY(RESOURCES, "iomem_resource")					\
	MAY(RESOURCE_START, "resource.start")					\
	MAY(RESOURCE_END, "resource.end")					\
	MAY(RESOURCE_NAME, "resource.name")					\
	MAY(RESOURCE_SIBLING, "resource.sibling")				\
	MAY(RESOURCE_CHILD, "resource.child")					\
	MAY(UTS, "init_uts_ns")							\
	MAY(UTS_HOST, "uts_namespace.name.nodename")				\
	MAY(UTS_RELEASE, "uts_namespace.name.release")				\
	MAY(SECTIONS, "mem_section")						\
	MAY(SECTION_SIZE, "sizeof mem_section")					\
	MAY(SECTION_MAP, "mem_section.section_mem_map")				\
	MAY(SECTION_USAGE, "mem_section.usage")					\
	MAY(SECTION_ONLINE, "SECTION_IS_ONLINE")				\
	MAY(SECTION_SHIFT, "PFN_SECTION_SHIFT")					\
	MAY(SECTIONS_PER_ROOT, "SECTIONS_PER_ROOT")				\
	MAY(SECTIONS_EXTREME, "CONFIG_SPARSEMEM_EXTREME")			\
	MAY(USAGE_BLOCK_FLAGS, "mem_section_usage.pageblock_flags")		\
	MAY(SECTION_EXT, "mem_section.page_ext")				\
	X(CACHES, "slab_caches")						\
	X(CACHE_STRUCT_SIZE, "sizeof kmem_cache")				\
	X(CACHE_LIST, "kmem_cache.list")					\
	X(CACHE_NAME, "kmem_cache.name")					\
	X(CACHE_FLAGS, "kmem_cache.flags")					\
	X(CACHE_SIZE, "kmem_cache.size")					\
	X(CACHE_OBJECT_SIZE, "kmem_cache.object_size")				\
	X(CACHE_OFFSET, "kmem_cache.offset")					\
	MAY(HARDENED, "CONFIG_SLAB_FREELIST_HARDENED")				\
	X(CACHE_RED, "kmem_cache.red_left_pad")					\
	X(CACHE_VECTOR, "kmem_cache.codetag_vector")				\
	MAY(RED_ZONE, "SLAB_RED_ZONE")						\
	X(SLAB_CACHE, "slab.slab_cache")					\
	X(SLAB_COUNTERS, "slab.counters")					\
	X(FEW_FAR, "codetag_few_far_vectors")					\
	X(FEW_FAR_LENGTH, "length codetag_few_far_vectors")			\
	X(MANY_FAR, "codetag_many_far_vectors")					\
	X(MANY_FAR_BITS, "codetag_many_far_vectors_bits")			\
	X(FAR_NODE, "far_vector.node")						\
	X(FAR_SLAB, "far_vector.slab")						\
	X(FAR_IDS, "far_vector.ids")						\
	MAY(KFENCE_POOL, "__kfence_pool")					\
	MAY(KFENCE_SIZE, "KFENCE_POOL_SIZE")					\
	MAY(KFENCE_METADATA, "kfence_metadata")					\
	MAY(KFENCE_METADATA_SIZE, "KFENCE_METADATA_SIZE")			\
	MAY(KFENCE_OBJECT_SIZE_OF, "sizeof kfence_metadata")			\
	MAY(KFENCE_OBJECT_ADDRESS, "kfence_metadata.addr")			\
	MAY(KFENCE_OBJECT_RCU, "kfence_metadata.rcu_head")			\
	MAY(AREA_START, "vmap_area.va_start")					\
	MAY(AREA_END, "vmap_area.va_end")					\
	MAY(AREA_VM, "vmap_area.vm")						\
	MAY(AREA_SIZE_OF, "sizeof vmap_area")					\
	MAY(VM_ADDRESS, "vm_struct.addr")					\
	MAY(VM_SIZE, "vm_struct.size")						\
	MAY(VM_FLAGS, "vm_struct.flags")					\
	MAY(VM_ALLOCATED, "VM_ALLOC")						\
	MAY(VM_CALLER, "vm_struct.caller")					\
	MAY(VM_PAGES, "vm_struct.nr_pages")					\
	MAY(VM_PAGES_SIZE, "sizeof vm_struct.nr_pages")				\
	MAY(VM_SIZE_OF, "sizeof vm_struct")					\
	MAY(MM_TABLES, "mm_struct.pgd")						\
	MAY(MM_RSS, "mm_struct.rss_stat")					\
	MAY(COUNTER_SIZE_OF, "sizeof percpu_counter")				\
	MAY(COUNTER_COUNT, "percpu_counter.count")				\
	MAY(COUNTER_OF_CPUS, "percpu_counter.counters")				\
	MAY(RSS_ANON, "MM_ANONPAGES")						\
	MAY(TASK_MM, "task_struct.mm")						\
	MAY(PAGE_GROUP, "page.memcg_data")					\
	MAY(SLAB_GROUPS, "slab.obj_exts")					\
	MAY(GROUP_FLAGS, "OBJEXTS_FLAGS_MASK")					\
	MAY(GROUP_VECTOR, "MEMCG_DATA_OBJEXTS")					\
	MAY(OBJCG_GROUP, "obj_cgroup.memcg")					\
	MAY(MEMORY_SUBSYSTEM, "memory_cgrp_subsys")				\
	MAY(GROUP_SUBSYSTEM, "mem_cgroup.css.ss")				\
	MAY(GROUP_CGROUP, "mem_cgroup.css.cgroup")				\
	MAY(CGROUP_LEVEL, "cgroup.level")					\
	MAY(CGROUP_ANCESTORS, "cgroup.ancestors")				\
	MAY(CGROUP_NODE, "cgroup.kn")						\
	MAY(KERNFS_NAME, "kernfs_node.name")					\
	X(INIT_TASK, "init_task")						\
	X(TASK_TASKS, "task_struct.tasks")					\
	X(TASK_SIGNAL, "task_struct.signal")					\
	X(TASK_THREAD, "task_struct.thread_node")				\
	X(TASK_STACK, "task_struct.stack")					\
	MAY(TASK_ON_CPU, "task_struct.on_cpu")					\
	MAY(TASK_SP, "task_struct.thread.sp")					\
	MAY(TASK_SP_ARM64, "task_struct.thread.cpu_context.sp")			\
	X(TASK_COMM, "task_struct.comm")					\
	X(TASK_PID, "task_struct.pid")						\
	X(SIGNAL_THREADS, "signal_struct.thread_head")				\
	X(STACK_SIZE, "THREAD_SIZE")						\
	X(TEXT, "_text")							\
	X(TEXT_END, "_etext")							\
	X(KERNEL_END, "_end")							\
	MAY(MODULES, "modules")							\
	MAY(MODULE_LIST, "module.list")						\
	MAY(MODULE_NAME, "module.name")						\
	MAY(MODULE_MEM, "module.mem")						\
	MAY(MODULE_MEM_SIZE, "sizeof module_memory")				\
	MAY(MODULE_BASE, "module_memory.base")					\
	MAY(MODULE_LENGTH, "module_memory.size")				\
	MAY(MODULE_PARTS, "MOD_MEM_NUM_TYPES")					\
	MAY(REQUEST_SIZE, "sizeof request")				\
	MAY(REQUEST_QUEUE, "request.q")					\
	MAY(REQUEST_CTX, "request.mq_ctx")				\
	MAY(REQUEST_REF, "request.ref")					\
	MAY(CTX_QUEUE, "blk_mq_ctx.queue")				\
	MAY(QUEUE_TAGS, "request_queue.tag_set")			\
	MAY(TAGS_DATA_SIZE, "blk_mq_tag_set.cmd_size")			\
	MAY(NET_USERS, "net.passive")						\
	MAY(NET_NEXT_FREE, "net.defer_free_list")				\
	MAY(NR_SYMBOLS, "kallsyms_num_syms")					\
	MAY(SYMBOL_OFFSETS, "kallsyms_offsets")					\
	MAY(SYMBOL_NAMES, "kallsyms_names")					\
	MAY(TOKEN_TABLE, "kallsyms_token_table")				\
	MAY(TOKEN_INDEX, "kallsyms_token_index")				\
	MAY(MODULE_SYMBOLS, "module.kallsyms")					\
	MAY(SYMBOLS_TABLE, "mod_kallsyms.symtab")				\
	MAY(SYMBOLS_NR, "mod_kallsyms.num_symtab")				\
	MAY(SYMBOLS_STRINGS, "mod_kallsyms.strtab")				\
	MAY(ELF_SYM_SIZE, "sizeof Elf_Sym")					\
	MAY(ELF_SYM_NAME, "Elf_Sym.st_name")					\
	MAY(ELF_SYM_VALUE, "Elf_Sym.st_value")					\
	MAY(ELF_SYM_SECTION, "Elf_Sym.st_shndx")

enum number {
#define NUMBER_ENUM(id, name) N_##id,
	NUMBERS(NUMBER_ENUM, NUMBER_ENUM)
#undef NUMBER_ENUM
	N_COUNT
};

#endif
