// The fields that have changed since the tick before.

import { el, text } from "./dom.js";
import { t } from "./text.js";

export class Changes {
  // show(path) shows a field in the tree.
  constructor(show) {
    this.show = show;
    this.facts = el("small", { class: "soft" });
    this.list = el("ol", { class: "hits", "aria-label": t("Changed fields") });
    this.element = el("section", { class: "state" }, this.facts, this.list);
  }

  update(tick) {
    const { list, total } = JSON.parse(samestep.changes());
    text(this.facts, said(tick - 1, tick, list.length, total));
    const key = JSON.stringify(list);
    if (key === this.key || this.list.matches(":active")) return; // a button must not be replaced while it is pressed
    this.key = key;
    this.list.replaceChildren(...list.map(({ path, a, b }) => el("li", {}, el("button", { onclick: () => this.show(path) },
      el("span", { class: "name" }, path), el("span", { class: "value" }, el("del", {}, clip(a)), " → ", clip(b))))));
  }
}

// said returns how many fields have changed between two ticks, of which the list shows some.
function said(from, to, shown, total) {
  if (!total) return t("no fields have changed from tick {from} to {to}", { from, to });
  if (total > shown) return t("{total} fields have changed from tick {from} to {to}; the first {shown}:", { total, from, to, shown });
  return total === 1 ? t("1 field has changed from tick {from} to {to}", { from, to }) : t("{total} fields have changed from tick {from} to {to}", { total, from, to });
}

const clip = (value) => (value.length > 80 ? `${value.slice(0, 80)}…` : value);
