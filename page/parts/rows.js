// A list whose rows are changed in place, so that they keep the focus and a press of a button while the list is updated.

import { el } from "./dom.js";

export class Rows {
  // label names the list. make(key) returns a row: its element, and update(item). none is shown in an empty list.
  constructor(label, make, none) {
    this.element = el("ul", { class: "cards", "aria-label": label });
    this.none = el("li", { class: "none" }, none);
    this.make = make;
    this.rows = new Map();
  }

  // update shows items. Two items of the same key have the same row.
  update(items, keyOf) {
    const keys = new Set(items.map(keyOf));
    for (const [key, row] of this.rows) {
      if (keys.has(key)) continue;
      row.element.remove();
      this.rows.delete(key);
    }
    items.forEach((item, i) => {
      const key = keyOf(item);
      if (!this.rows.has(key)) this.rows.set(key, this.make(key));
      const row = this.rows.get(key), at = this.element.children[i];
      if (at !== row.element) this.element.insertBefore(row.element, at ?? null);
      row.update(item);
    });
    if (items.length) this.none.remove();
    else this.element.append(this.none);
  }
}
