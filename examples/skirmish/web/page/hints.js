// Hints for new players: one at a time, until it is done or closed, and never again.

import { el, remember, recall } from "./dom.js";
import { t } from "./text.js";
import { keymap } from "./actions.js";

const touch = matchMedia("(pointer: coarse)");

// hints are what a new player does: its name, when it is of use, the kind of the order that does it, and its words.
const hints = [
  {
    name: "gather", orders: ["gather"], when: ({ account }) => account.idle > 0,
    words: () => (touch.matches ? t("Tap a worker, then a crystal: it mines there.") : t("Drag a box around your workers, then right-click a crystal: they mine there.")),
  },
  {
    name: "build", orders: ["build", "train"], when: ({ account }) => account.workers > 0 || account.army > 0,
    words: () => (touch.matches ? t("Crystals buy more: tap your base and press Worker, or tap a worker and press Barracks.") : t("Crystals buy more: click your base and press Worker, or click a worker and press Build ({key}), then Barracks, then the ground.", { key: keymap.shown("KeyB") })),
  },
  {
    name: "attack", orders: ["attack"], when: ({ account }) => account.army > 0,
    words: () => (touch.matches ? t("Attack: tap soldiers, press Attack, then tap the place.") : t("Attack: select soldiers, press {key}, then click where the enemy is. They fight on the way.", { key: keymap.shown("KeyA") })),
  },
];

export class Hints {
  constructor() {
    this.done = new Set(recall("hints").split(" "));
    this.words = el("p", {});
    this.element = el("aside", { class: "tip", hidden: true, "aria-label": t("Hint") },
      this.words, el("button", { onclick: () => this.#finish(this.shown), "aria-label": t("close this hint") }, "×"));
  }

  #finish(name) {
    this.done.add(name);
    remember("hints", [...this.done].join(" "));
    this.element.hidden = true;
    this.shown = "";
  }

  // update shows the hint for a panel of a live match, after the events of a status.
  update(panel, events) {
    for (const e of events) {
      for (const hint of hints) if (e.sort === "order" && hint.orders.includes(e.kind) && !this.done.has(hint.name)) this.#finish(hint.name);
    }
    const playing = panel.account && !panel.account.defeated && !panel.winner;
    const hint = playing && hints.find((h) => !this.done.has(h.name) && h.when(panel));
    this.element.hidden = !hint;
    if (!hint || this.shown === hint.name) return;
    this.shown = hint.name;
    this.words.textContent = hint.words();
  }
}
