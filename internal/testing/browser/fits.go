//go:build !js && !wasip1

package browser

// fits finds what a user cannot reach or read: controls and texts beyond the edge of the screen or cut off by a part of the page that
// does not scroll, controls and placeholders that are wider than their box, and controls under something else. An open dialog covers the rest.
const fits = `(() => {
	const found = [], dialogs = [...document.querySelectorAll("dialog[open], [role=dialog]")].filter((e) => e.checkVisibility());
	const root = dialogs.at(-1) ?? document.body, page = document.documentElement, scrolls = page.scrollHeight > innerHeight + 1;
	const named = (e) => (e.tagName.toLowerCase() + (typeof e.className === "string" && e.className ? "." + e.className.trim().replace(/ +/g, ".") : "") + " " + JSON.stringify((e.textContent || e.getAttribute("aria-label") || e.name || "").slice(0, 40)));
	// seen returns how far a box goes beyond what can be seen or scrolled to, and the part that is seen now.
	const seen = (e, box) => {
		let { left, right, top, bottom } = box, beyond = 0;
		for (let p = e; p && p !== page; p = p.parentElement) {
			const style = getComputedStyle(p), r = p.getBoundingClientRect();
			if (p !== e || e.matches(":not(button, select, input)")) {
				const scrolled = { x: /auto|scroll/.test(style.overflowX), y: /auto|scroll/.test(style.overflowY) };
				const hidden = { x: /hidden|clip/.test(style.overflowX) && style.textOverflow !== "ellipsis", y: /hidden|clip/.test(style.overflowY) };
				if (hidden.x) beyond = Math.max(beyond, r.left - left, right - r.right);
				if (hidden.y && p !== document.body) beyond = Math.max(beyond, r.top - top, bottom - r.bottom);
				if (scrolled.x || style.textOverflow === "ellipsis") [left, right] = [Math.max(left, r.left), Math.min(right, r.right)];
				if (scrolled.y) [top, bottom] = [Math.max(top, r.top), Math.min(bottom, r.bottom)];
			}
			if (style.position === "fixed") break;
		}
		beyond = Math.max(beyond, -left, right - innerWidth);
		if (!scrolls) beyond = Math.max(beyond, -top, bottom - innerHeight);
		return { beyond, left, right, top, bottom };
	};
	const shown = (e) => e.checkVisibility({ visibilityProperty: true, opacityProperty: true });
	if (page.scrollWidth > innerWidth) found.push("the page is " + (page.scrollWidth - innerWidth) + " px wider than the screen");
	for (const e of root.querySelectorAll("button, a[href], select, input, summary, canvas.minimap")) {
		const box = e.getBoundingClientRect();
		if (!shown(e) || box.width < 2 || e.matches(".seek")) continue;
		const s = seen(e, box);
		if (s.beyond > 1) found.push(named(e) + " is " + Math.round(s.beyond) + " px beyond the edge");
		if (e.matches("button, a.button") && (e.scrollWidth > e.clientWidth + 1 || e.scrollHeight > e.clientHeight + 1) && getComputedStyle(e).display !== "inline") found.push(named(e) + " is too small for its text");
		const x = (s.left + s.right) / 2, y = (s.top + s.bottom) / 2;
		if (s.right - s.left < 2 || s.bottom - s.top < 2 || x < 0 || y < 0 || x >= innerWidth || y >= innerHeight) continue;
		const over = document.elementFromPoint(x, y);
		if (over && !e.contains(over) && !over.contains(e) && getComputedStyle(e).pointerEvents !== "none") found.push(named(e) + " is under " + named(over));
	}
	const pen = document.createElement("canvas").getContext("2d");
	for (const e of root.querySelectorAll("input[placeholder]")) {
		if (!shown(e) || e.value) continue;
		const style = getComputedStyle(e), room = e.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
		pen.font = style.font;
		const { width } = pen.measureText(e.placeholder);
		if (width > room + 1) found.push(named(e) + ": its placeholder " + JSON.stringify(e.placeholder) + " is " + Math.round(width - room) + " px too wide");
	}
	const range = document.createRange(), texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
	while (texts.nextNode()) {
		const text = texts.currentNode, e = text.parentElement;
		if (!text.data.trim() || e.closest("option, select, script, svg") || !shown(e)) continue;
		range.selectNodeContents(text);
		const { beyond } = seen(e, range.getBoundingClientRect());
		if (beyond > 1.5) found.push(named(e) + ": its text is " + Math.round(beyond) + " px beyond the edge");
	}
	return [...new Set(found)];
})()`

// Fits fails the test if a control or a text of the screen cannot be reached or read.
func (b *Tab) Fits(screen string) {
	b.T.Helper()
	for _, problem := range Value[[]string](b, fits) {
		b.T.Errorf("%s: %s", screen, problem)
	}
}
