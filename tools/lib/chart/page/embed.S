/* SPDX-License-Identifier: GPL-2.0-only */
/* The page, before and after its data, as the Makefile puts it together. */
	.section .rodata
	.global page_head, page_tail, page_end
page_head:
	.incbin "head.html"
page_tail:
	.incbin "tail.html"
page_end:
	.section .note.GNU-stack,"",%progbits
