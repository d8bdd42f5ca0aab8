// The fields that have changed since the tick before.

import { el, text } from "./dom.js";

export class Changes {
  // show(path) shows a field in the tree.
  constructor(show) {
    this.show = show;
    this.facts = el("small", { class: "soft" });
    this.list = el("ol", { class: "hits", "aria-label": "Changed fields" });
    this.element = el("section", { class: "state" }, this.facts, this.list);
  }

  update(tick) {
    const { list, total } = JSON.parse(samestep.changes());
    text(this.facts, `${total || "no"} ${total === 1 ? "field has" : "fields have"} changed from tick ${tick - 1} to ${tick}${total > list.length ? `; the first ${list.length}:` : ""}`);
    const key = JSON.stringify(list);
    if (key === this.key || this.list.matches(":active")) return; // a button must not be replaced while it is pressed
    this.key = key;
    this.list.replaceChildren(...list.map(({ path, a, b }) => el("li", {}, el("button", { onclick: () => this.show(path) },
      el("span", { class: "name" }, path), el("span", { class: "value" }, el("del", {}, clip(a)), " → ", clip(b))))));
  }
}

const clip = (value) => (value.length > 80 ? `${value.slice(0, 80)}…` : value);
