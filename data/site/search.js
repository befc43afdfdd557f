// The search over all titles and headings. The index is a script, which also loads from file://, and
// only when the field is first used.
"use strict";
(() => {
	const root = document.currentScript.src.replace(/search\.js.*$/, "");
	const form = document.querySelector("header form");
	const field = form.elements.q;
	const list = document.getElementById("found");

	// All words must be in the heading, the title of its page or its address; a title comes first, then a beginning.
	function find(words) {
		const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
		const hits = [];
		for (const [heading, page, address] of wanted.length ? window.headings : []) {
			const text = heading.toLowerCase(), all = [text, page, address].join(" ").toLowerCase();
			if (wanted.every(word => all.includes(word)))
				hits.push([(page ? 2 : 0) + (text.includes(wanted[0]) ? 0 : 2) + (text.startsWith(wanted[0]) ? 0 : 1), heading, page, address]);
		}
		return hits.sort((a, b) => a[0] - b[0]).slice(0, 12);
	}

	function show() {
		if (!window.headings)
			return load();
		list.replaceChildren(...find(field.value).map(([, heading, page, address]) => {
			const item = document.createElement("li"), link = document.createElement("a"), where = document.createElement("small");
			link.href = root + address;
			link.textContent = heading;
			where.textContent = page;
			link.append(where);
			item.append(link);
			return item;
		}));
		if (field.value.trim() && !list.children.length)
			list.append(Object.assign(document.createElement("li"), {textContent: "No heading has all of these words."}));
		list.hidden = !list.children.length;
	}

	function load() {
		if (document.getElementById("headings"))
			return;
		document.head.append(Object.assign(document.createElement("script"), {id: "headings", src: root + "headings.js", onload: show}));
	}

	field.addEventListener("focus", show);
	field.addEventListener("input", show);
	form.addEventListener("submit", event => {
		const first = list.querySelector("a");
		if (first && !list.hidden) {
			event.preventDefault();
			location.href = first.href;
		}
	});
	form.addEventListener("keydown", event => { if (event.key === "Escape") list.hidden = true; });
	document.addEventListener("click", event => { if (!form.contains(event.target)) list.hidden = true; });
	const asked = new URLSearchParams(location.search).get("q");
	if (asked) {
		field.value = asked;
		show();
	}
})();
