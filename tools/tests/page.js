// SPDX-License-Identifier: GPL-2.0-only
// Uses a page of 'codetag chart -o FILE.html' in jsdom: what its numbers are after
// each step. Usage: node page.js FILE [STEP…]; a step is view=, at=PATH (a click),
// find=, time= or attribute=; prints a line a step: the sum, what was found, how
// many names are drawn.
"use strict";
const { JSDOM } = require("jsdom");
const errors = [];
const virtualConsole = new (require("jsdom").VirtualConsole)();
virtualConsole.on("jsdomError", error => errors.push(error));

JSDOM.fromFile(process.argv[2], { runScripts: "dangerously", virtualConsole }).then(({ window }) => {
	const document = window.document;
	const find = selector => document.querySelector(selector);
	const plain = text => text.replace(/\u202f/g, "");
	const tell = () => console.log([
		plain(find("#crumbs").textContent).replace(/.* : (-?\d+).*/, "$1"),
		plain(find("#found").textContent) || "-",
		document.querySelectorAll(".node").length,
		plain(find("#notes").textContent) || "-",
	].join(" | "));
	const enter = (selector, event, value) => {
		find(selector).value = value;
		find(selector).dispatchEvent(new window.Event(event));
	};

	tell();
	for (const step of process.argv.slice(3)) {
		const [key, value] = step.split(/=(.*)/);
		if (key === "view")
			find(`button[value="${value}"]`).click();
		else if (key === "at")
			find(`.node[data-path="${value}"]`).dispatchEvent(new window.Event("click"));
		else if (key === "find")
			enter("#find", "input", value);
		else if (key === "time")
			enter("#slider", "input", value);
		else if (key === "attribute")
			enter("#attribute", "change", value);
		tell();
	}
	if (errors.length) {
		console.log(errors.map(String).join("\n"));
		process.exitCode = 1;
	}
});
