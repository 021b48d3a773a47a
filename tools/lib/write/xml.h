/* SPDX-License-Identifier: GPL-2.0-only */
/* Text of an XML file. */
#ifndef CODETAG_XML_H
#define CODETAG_XML_H

#include "base/text.h"

/*
 * Appends @s for XML, between tags or in an attribute. Characters that XML cannot contain
 * become '?'.
 */
void xml_add(struct text *to, const char *s);

#endif
