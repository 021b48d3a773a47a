/* SPDX-License-Identifier: GPL-2.0 */
/* Text of an XML file. */
#ifndef CODETAG_XML_H
#define CODETAG_XML_H

#include "base/text.h"

/* Appends @s as XML has it, between tags or in an attribute. What XML cannot hold becomes a '?'. */
void xml_add(struct text *to, const char *s);

#endif
