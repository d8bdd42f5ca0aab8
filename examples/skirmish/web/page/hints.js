// Hints for new players: one at a time, until it is done or closed, and never again.

import { el, remember, recall } from "./dom.js";
import { t } from "./text.js";
import { keymap } from "./actions.js";

const touch = matchMedia("(pointer: coarse)");

const enough = 10; // soldiers and archers for a first attack

// hints are what a new player does, in order: its name, when it is of use, the kinds of the orders that do it or a panel that has
// it done, and its words.
const hints = [
  {
    name: "gather", orders: ["gather"], when: ({ account }) => account.idle > 0,
    words: () => (touch.matches ? t("Tap a worker, then a crystal: it mines there.") : t("Drag a box around your workers, then right-click a crystal: they mine there.")),
  },
  {
    name: "worker", orders: ["train"], when: ({ account }) => account.workers > 0,
    words: () => (touch.matches ? t("Crystals buy more workers: tap your base, then Worker.") : t("Crystals buy more workers: click your base and press Worker ({key}).", { key: keymap.shown("KeyQ") })),
  },
  {
    name: "build", orders: ["build"], when: ({ account }) => account.workers > 0,
    words: () => (touch.matches ? t("Soldiers need a barracks: tap a worker, then Build, Barracks and free ground.") : t("Soldiers need a barracks: click a worker, press Build ({key}), then Barracks, and click on free ground.", { key: keymap.shown("KeyB") })),
  },
  {
    name: "soldiers", orders: [], done: ({ account }) => account.army >= enough, when: (_, barracks) => barracks,
    words: () => (touch.matches ? t("Tap your barracks, then Soldier, until you have ten.") : t("Click your barracks and press Soldier ({key}) until you have ten.", { key: keymap.shown("KeyW") })),
  },
  {
    name: "attack", orders: ["attack"], when: ({ account }) => account.army >= enough,
    words: () => (touch.matches ? t("Attack: tap soldiers, press Attack, then tap the place.") : t("Attack: select your army ({army}), press {key}, then click where the enemy is, also on the minimap. They fight on the way.", { army: keymap.shown("KeyF"), key: keymap.shown("KeyA") })),
  },
];

export class Hints {
  constructor() {
    this.done = new Set(recall("hints").split(" "));
    this.barracks = false; // the player has one
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

  // begin forgets a match.
  begin() { this.barracks = false; }

  // update shows the hint for a panel of a live match, after the events of a status.
  update(panel, events) {
    const playing = panel.account && !panel.account.defeated && !panel.winner;
    for (const e of events) {
      if (e.sort === "built" && e.own && e.kind === "barracks") this.barracks = true;
      for (const hint of hints) if (e.sort === "order" && hint.orders.includes(e.kind) && !this.done.has(hint.name)) this.#finish(hint.name);
    }
    for (const hint of hints) if (playing && this.shown === hint.name && hint.done?.(panel)) this.#finish(hint.name);
    const hint = playing && hints.find((h) => !this.done.has(h.name) && h.when(panel, this.barracks));
    this.element.hidden = !hint;
    if (!hint || this.shown === hint.name) return;
    this.shown = hint.name;
    this.words.textContent = hint.words();
  }
}
