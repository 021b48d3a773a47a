// SPDX-License-Identifier: GPL-2.0-only
// Draws the data of the page: flame graph, treemap and ring, to click, search and slide.
"use strict";
(() => {
const data = JSON.parse(document.getElementById("data").textContent);
const byId = id => document.getElementById(id);
const views = { flame: drawFlame, treemap: drawTreemap, ring: drawRing };
const state = {
	view: data.view, at: "", find: "",
	time: data.times.length - 1, attribute: data.attribute,
};

// ---- the values ---------------------------------------------------------------

// Each site has the values at a time and from there on: [time, value of each attribute, …].
const stored = data.attributes.length;
const attributes = data.attributes.slice();
if (data.times.length > 1)
	data.attributes.forEach((attribute, i) => attributes.push({
		key: attribute.key + "_growth", label: "growth of " + attribute.label,
		bytes: attribute.bytes, of: i,
	}));

function valueOf(site, time, attribute) {
	const of = attributes[attribute].of;
	if (of !== undefined)
		return valueOf(site, time, of) - valueOf(site, 0, of);
	let low = 0, high = site.values.length / (stored + 1);
	while (low < high) {
		const middle = (low + high) >> 1;
		if (site.values[middle * (stored + 1)] <= time)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? site.values[(low - 1) * (stored + 1) + 1 + attribute] : 0;
}

// Nodes by path: directories, files, functions. A path is unique.
const root = { name: "all", path: "", children: [], sites: [] };
const nodes = new Map([["", root]]);
for (const site of data.sites) {
	let node = root;
	node.sites.push(site);
	for (const name of site.stack) {
		const path = node.path ? node.path + "/" + name : name;
		let child = nodes.get(path);
		if (!child) {
			child = { name, path, parent: node, children: [], sites: [] };
			nodes.set(path, child);
			node.children.push(child);
		}
		node = child;
		node.sites.push(site);
	}
	node.leaf = true;
}

// Sums count negative values, too. Only positive values have an area.
function sums() {
	for (const node of nodes.values())
		node.value = node.area = 0;
	let below = 0, count = 0;
	for (const site of data.sites) {
		const value = valueOf(site, state.time, state.attribute);
		for (let name = 0, node = root; node; name++) {
			node.value += value;
			node.area += Math.max(value, 0);
			const path = node.path ? node.path + "/" + site.stack[name] : site.stack[name];
			node = name < site.stack.length ? nodes.get(path) : null;
		}
		if (value < 0) {
			below += value;
			count++;
		}
	}
	return { below, count };
}

function group(n) {
	return String(n).replace(/\B(?=(\d{3})+(?!\d))/g, "\u202f");
}

function short(n) {
	let unit = 0, x = Math.abs(n);
	const units = ["", "K", "M", "G", "T", "P"];
	if (!attributes[state.attribute].bytes)
		return group(n);
	for (; x >= 1024 && unit < 5; unit++)
		x /= 1024;
	return (n < 0 ? "-" : "") + (unit ? x.toFixed(1) : x) + units[unit];
}

function exact(n, attribute) {
	return group(n) + (attribute.bytes ? " bytes" : "");
}

function share(part, whole) {
	return whole ? (100 * part / whole).toFixed(2) + " %" : "–";
}

// ---- search -------------------------------------------------------------------

function matcher() {
	const text = state.find;
	if (!text)
		return null;
	const regex = text.match(/^\/(.+)\/$/);
	try {
		const expression = regex && new RegExp(regex[1], "i");
		if (expression)
			return site => expression.test(site.name);
	} catch (e) {
		return () => false;
	}
	return site => site.name.toLowerCase().includes(text.toLowerCase());
}

function search() {
	const hit = matcher();
	let value = 0, count = 0;
	for (const node of nodes.values())
		node.hit = !hit;
	if (!hit) {
		byId("found").textContent = "";
		return;
	}
	for (const site of data.sites) {
		if (!hit(site))
			continue;
		count++;
		value += valueOf(site, state.time, state.attribute);
		let path = "";
		for (const name of site.stack) {
			path = path ? path + "/" + name : name;
			nodes.get(path).hit = true;
		}
	}
	root.hit = count > 0;
	byId("found").textContent = `${count} found: ` +
		`${exact(value, attributes[state.attribute])}, ${share(value, root.value)}`;
}

// ---- drawing ------------------------------------------------------------------

// Neighbours by size get hues that differ much. A directory keeps its hue at all times.
const hues = new Map();
function assignHues() {
	const last = site => valueOf(site, data.times.length - 1, data.attribute);
	const total = node => node.sites.reduce((sum, site) => sum + last(site), 0);
	root.children.map(node => [total(node), node])
		.sort((a, b) => b[0] - a[0] || (a[1].name < b[1].name ? -1 : 1))
		.forEach(([, node], i) => hues.set(node.path, (210 + i * 137.508) % 360));
}

function colour(node) {
	let top = node, depth = 0;
	if (!node.parent)
		return "#ddd";
	for (; top.parent !== root; top = top.parent)
		depth++;
	// Light enough for black letters.
	return `hsl(${hues.get(top.path).toFixed(1)},${node.leaf ? 45 : 60}%,${Math.min(66 + 4 * depth, 84)}%)`;
}

function focus() {
	return nodes.get(state.at) || root;
}

function hierarchy() {
	return d3.hierarchy(focus(), node => node.children.filter(child => child.area > 0))
		.sum(node => node.leaf ? node.area : 0)
		.sort((a, b) => b.value - a.value || (a.data.name < b.data.name ? -1 : 1));
}

function size() {
	const box = byId("chart").getBoundingClientRect();
	return { w: Math.max(box.width - 24, 0) || 1200, h: Math.max(box.height, 0) || 700 };
}

function canvas(w, h) {
	byId("chart").textContent = "";
	return d3.select("#chart").append("svg").attr("width", w).attr("height", h)
		.attr("role", "img").attr("aria-label", data.title);
}

function react(selection) {
	return selection.attr("class", d => "node" + (d.data.hit ? "" : " dim"))
		.attr("data-path", d => d.data.path)
		.attr("fill", d => colour(d.data))
		.each(function (d) {
			const node = d.data;

			this.onclick = () => zoom(node === focus() && node.parent ? node.parent : node);
			this.onmousemove = event => tip(node, event);
			this.onmouseleave = () => { byId("tip").style.display = "none"; };
		});
}

// The width of a drawn letter, about. A clip would cut texts exactly, but needs an element for each.
const LETTER = 6.6;

function drawnWidth(text) {
	return LETTER * (text.length + 0.6 * text.replace(/[^mwMW…]/g, "").length);
}

function cut(text, width) {
	let room = Math.floor(width / LETTER);
	if (drawnWidth(text) <= width)
		return text;
	while (room > 2 && drawnWidth(text.slice(0, room) + "…") > width)
		room--;
	return room > 2 ? text.slice(0, room) + "…" : "";
}

function label(node, width) {
	const long = `${node.name}  ${short(node.value)}`;
	return drawnWidth(long) <= width ? long : cut(node.name, width);
}

function boxes(svg, drawn, labelY) {
	react(svg.selectAll("rect").data(drawn).enter().append("rect"))
		.attr("x", d => d.x0).attr("y", d => d.y0)
		.attr("width", d => d.x1 - d.x0).attr("height", d => d.y1 - d.y0);
	svg.selectAll("text").data(drawn.filter(d => d.x1 - d.x0 > 30 && d.y1 - d.y0 > 11))
		.enter().append("text").attr("x", d => d.x0 + 3).attr("y", labelY)
		.attr("class", d => d.data.hit ? "" : "dim")
		.text(d => label(d.data, d.x1 - d.x0 - 6));
}

function drawFlame() {
	const top = hierarchy(), { w, h } = size(), above = [];
	const row = Math.max(Math.min(20, h / (top.height + 8)), 12);
	for (let node = focus().parent; node; node = node.parent)
		above.unshift(node);
	d3.partition().size([w, (top.height + 1) * row])(top);
	const drawn = top.descendants().filter(d => d.x1 - d.x0 > 0.4);
	drawn.forEach(d => { d.y0 += above.length * row; d.y1 += above.length * row; });
	above.forEach((node, i) => drawn.push(
		{ data: node, x0: 0, x1: w, y0: i * row, y1: (i + 1) * row }));
	boxes(canvas(w, Math.max(h, (top.height + 1 + above.length) * row)), drawn,
	      d => d.y0 + row * 0.7);
}

function drawTreemap() {
	const top = hierarchy(), { w, h } = size();
	d3.treemap().size([w, h]).paddingTop(15).paddingInner(1).paddingRight(2)
		.paddingBottom(2).paddingLeft(2)(top);
	boxes(canvas(w, h), top.descendants().filter(d => d.x1 - d.x0 > 0.7 && d.y1 - d.y0 > 0.7),
	      d => d.y0 + 11);
}

function drawRing() {
	const top = hierarchy(), { w, h } = size();
	// Outer rings without any part of at least a hundredth are left out. A click shows them.
	const rings = 1 + Math.max(...top.descendants().filter(d => d.value >= top.value / 100)
		.map(d => d.depth));
	d3.partition().size([2 * Math.PI, top.height + 1])(top);
	const ring = Math.min(w, h) / 2 / rings;
	if (rings <= top.height)
		byId("notes").append(` Hidden: ${top.height + 1 - rings} more levels, in which each name has ` +
			"less than 1 %. Click a name to see what it contains.");
	const arc = d3.arc().startAngle(d => d.x0).endAngle(d => d.x1)
		.innerRadius(d => d.y0 * ring).outerRadius(d => d.y1 * ring);
	const svg = canvas(w, h).append("g").attr("transform", `translate(${w / 2},${h / 2})`);
	const drawn = top.descendants().filter(d => d.depth < rings &&
		(d.x1 - d.x0) * d.y1 * ring > 0.7);
	const along = d => (d.x1 - d.x0) * (d.y0 + d.y1) / 2 * ring;
	react(svg.selectAll("path").data(drawn).enter().append("path")).attr("d", arc);
	const turn = d => {
		const angle = (d.x0 + d.x1) / 2 * 180 / Math.PI - 90;
		const upright = along(d) < ring ? angle > 90 ? 180 : 0 :
			angle > 0 && angle < 180 ? -90 : 90;
		return d.depth ? `rotate(${angle}) translate(${(d.y0 + d.y1) / 2 * ring},0) ` +
			`rotate(${upright})` : "";
	};
	svg.selectAll("text").data(drawn.filter(d => !d.depth || (d.x1 - d.x0) * d.y0 * ring > 12))
		.enter().append("text").attr("text-anchor", "middle").attr("dy", ".35em")
		.attr("class", d => d.data.hit ? "" : "dim")
		.attr("transform", turn)
		.text(d => d.depth ? label(d.data, Math.max(ring, along(d) * 0.9) - 6) :
			label(d.data, 2 * ring - 8));
}

function tip(node, event) {
	const box = byId("tip"), lines = [node.path || "all"];
	attributes.forEach((attribute, i) => {
		const value = node.sites.reduce((sum, site) => sum + valueOf(site, state.time, i), 0);
		lines.push(`${attribute.label}: ${exact(value, attribute)}`);
	});
	lines.push(`${share(node.value, root.value)} of all` + (focus() !== root ?
		`, ${share(node.value, focus().value)} of ${focus().path}` : ""));
	if (node.leaf)
		node.sites.forEach(site => lines.push(site.name));
	else
		lines.push(`${group(node.sites.length)} ${data.what}`);
	box.textContent = lines.join("\n");
	box.style.display = "block";
	box.style.left = Math.min(event.clientX + 14, Math.max(innerWidth - box.offsetWidth - 8, 0)) + "px";
	box.style.top = Math.min(event.clientY + 14, Math.max(innerHeight - box.offsetHeight - 8, 0)) + "px";
}

function crumbs() {
	const nav = byId("crumbs"), way = [];
	nav.textContent = "";
	for (let node = focus(); node; node = node.parent)
		way.unshift(node);
	way.forEach((node, i) => {
		const button = document.createElement("button");
		button.type = "button";
		button.textContent = node.name;
		button.onclick = () => zoom(node);
		nav.append(i ? " / " : "", button);
	});
	nav.append(` : ${exact(focus().value, attributes[state.attribute])}, ` +
		   `${share(focus().value, root.value)} of all`);
}

function timeText(time) {
	return time ? new Date(time * 1000).toLocaleString("sv") : "";
}

// The address of the view, so that users can share it.
function remember() {
	const words = Object.entries(state).map(([key, value]) =>
		key + "=" + encodeURIComponent(key === "attribute" ? attributes[value].key : value));
	try {
		history.replaceState(null, "", "#" + words.join("&"));
	} catch (e) { /* a page without an address has none to remember */ }
}

function recall() {
	for (const word of location.hash.slice(1).split("&")) {
		const [key, text] = word.split("=");
		const value = decodeURIComponent(text || "");
		const number = attributes.findIndex(attribute => attribute.key === value);
		if (key === "view" && views[value] || key === "at" && nodes.has(value) || key === "find")
			state[key] = value;
		else if (key === "time" && data.times[value] !== undefined)
			state.time = Number(value);
		else if (key === "attribute" && number >= 0)
			state.attribute = number;
	}
}

function draw() {
	const { below, count } = sums();
	const attribute = attributes[state.attribute];
	search();
	crumbs();
	byId("tip").style.display = "none";
	for (const button of byId("views").children)
		button.setAttribute("aria-pressed", button.value === state.view);
	byId("attribute").value = state.attribute;
	byId("find").value = state.find;
	byId("slider").value = state.time;
	byId("time").textContent = timeText(data.times[state.time]) +
		(data.times.length > 1 ? ` (${state.time + 1} of ${data.times.length})` : "");
	byId("notes").textContent = [
		count ? `Below zero, and not drawn: ${count} ${data.what}, ${exact(below, attribute)}.` : "",
		...data.notes,
	].filter(Boolean).join(" ");
	views[state.view]();
	remember();
}

function set(change) {
	Object.assign(state, change);
	draw();
}

function zoom(node) {
	if (!node.leaf || node.children.length)
		set({ at: node.path });
}

function start() {
	document.title = data.title;
	byId("title").textContent = data.title;
	byId("subtitle").textContent = data.subtitle;
	for (const view in views) {
		const button = document.createElement("button");
		button.type = "button";
		button.value = button.textContent = view;
		button.onclick = () => set({ view });
		byId("views").append(button, " ");
	}
	attributes.forEach((attribute, i) => {
		const option = document.createElement("option");
		option.value = i;
		option.textContent = attribute.label;
		byId("attribute").append(option);
	});
	byId("slider").max = data.times.length - 1;
	byId("times").hidden = data.times.length < 2;
	byId("attribute").onchange = event => set({ attribute: Number(event.target.value) });
	byId("find").oninput = event => set({ find: event.target.value });
	byId("slider").oninput = event => set({ time: Number(event.target.value) });
	byId("reset").onclick = () => set({ at: "", find: "" });
	byId("form").onsubmit = () => false;
	onkeydown = event => {
		if (event.key === "Escape")
			set({ at: "", find: "" });
	};
	onresize = draw;
	assignHues();
	recall();
	draw();
}

start();
})();
