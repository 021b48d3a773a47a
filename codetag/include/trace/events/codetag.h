/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Allocations and frees of traced call sites, see Documentation/admin-guide/mm/codetag.rst.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM codetag

#if !defined(_TRACE_CODETAG_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_CODETAG_H

#include <linux/tracepoint.h>
#include <linux/types.h>
#include <trace/events/mmflags.h>

/*
 * @id is that of the call site, @bytes are what its counters change by. bpftrace does not know
 * size_t on a kernel without BTF.
 */
TRACE_EVENT(alloc,

	TP_PROTO(unsigned int id, const void *address, size_t bytes, gfp_t gfp, int node),

	TP_ARGS(id, address, bytes, gfp, node),

	TP_STRUCT__entry(
		__field(unsigned int,	id)
		__field(int,		node)
		__field(const void *,	address)
		__field(unsigned long,	bytes)
		__field(unsigned long,	gfp)
	),

	TP_fast_assign(
		__entry->id = id;
		__entry->node = node;
		__entry->address = address;
		__entry->bytes = bytes;
		__entry->gfp = (__force unsigned long)gfp;
	),

	TP_printk("id=%u address=%p bytes=%lu gfp=%s node=%d", __entry->id, __entry->address,
		  __entry->bytes, show_gfp_flags(__entry->gfp), __entry->node)
);

TRACE_EVENT(free,

	TP_PROTO(unsigned int id, const void *address, size_t bytes, int node),

	TP_ARGS(id, address, bytes, node),

	TP_STRUCT__entry(
		__field(unsigned int,	id)
		__field(int,		node)
		__field(const void *,	address)
		__field(unsigned long,	bytes)
	),

	TP_fast_assign(
		__entry->id = id;
		__entry->node = node;
		__entry->address = address;
		__entry->bytes = bytes;
	),

	TP_printk("id=%u address=%p bytes=%lu node=%d", __entry->id, __entry->address,
		  __entry->bytes, __entry->node)
);

#endif /* _TRACE_CODETAG_H */

#include <trace/define_trace.h>
