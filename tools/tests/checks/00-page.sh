# SPDX-License-Identifier: GPL-2.0
# What the checks of several files ask of a page.

# page_data HTML: what is drawn, as JSON
page_data() {
	sed -n '/^<script type="application\/json"/,/^<\/script>/p' "$1" | sed '1d;$d'
}
