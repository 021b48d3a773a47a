# SPDX-License-Identifier: GPL-2.0-only
# Functions about pages for the checks of several files.

# page_data HTML: the data of a page, as JSON
page_data() {
	sed -n '/^<script type="application\/json"/,/^<\/script>/p' "$1" | sed '1d;$d'
}
