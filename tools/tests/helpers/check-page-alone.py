#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Is an HTML page complete by itself, with no reference to anything else?

Usage: check-page-alone.py PAGE
"""
import html.parser
import re
import sys


class Page(html.parser.HTMLParser):
    scripts, links = 0, []
    def handle_starttag(self, tag, attrs):
        self.scripts += tag == "script"
        self.links += [v for k, v in attrs if k in ("src", "href")] + [tag] * (tag in ("link", "img"))


page = Page()
text = open(sys.argv[1], encoding="utf-8").read()
page.feed(text)
assert page.scripts == 3 and not page.links, (page.scripts, page.links)
assert "default-src \x27none\x27" in text and "BSD-3-Clause" in text
assert not re.search(r"@(DATA|D3|DRAW)@", text)
