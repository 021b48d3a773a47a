// SPDX-License-Identifier: GPL-2.0-only
#include "write/xml.h"

void xml_add(struct text *to, const char *s)
{
	for (; *s; s++) {
		switch (*s) {
		case '&':
			text_puts(to, "&amp;");
			break;
		case '<':
			text_puts(to, "&lt;");
			break;
		case '"':
			text_puts(to, "&quot;");
			break;
		default:
			text_add(to, (unsigned char)*s < ' ' ? "?" : s, 1);
		}
	}
}
