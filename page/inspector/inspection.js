// What the screens of a match and of a replay share: the chart, and beside it the state, its changes and further panels. The
// program's state is taken at most once for each frame, and less often if it is large.

import { el } from "./dom.js";
import { t } from "./text.js";
import { Chart } from "./chart.js";
import { Tree } from "./tree.js";
import { Changes } from "./changes.js";

const rest = 4; // the pause after looking at a state, in multiples of the time that it took
const panelMS = 100; // between two updates of the panels

export class Inspection {
  // more are further panels: a title and an element.
  constructor(more) {
    this.tree = new Tree();
    this.changes = new Changes((path) => this.show(path));
    this.chart = new Chart((path) => this.show(path));
    const panels = [[t("State"), this.tree.element], [t("Changes"), this.changes.element], ...more];
    this.tabs = panels.map(([title, panel], i) => {
      panel.id ||= `panel-${title.toLowerCase()}-${++made}`;
      panel.setAttribute("role", "tabpanel");
      panel.setAttribute("aria-label", title);
      return el("button", {
        role: "tab", "aria-controls": panel.id, onclick: () => this.#open(i), onkeydown: (e) => this.#key(e, i),
      }, title);
    });
    this.panels = panels.map(([, panel]) => panel);
    this.element = el("aside", { class: "panels" }, el("div", { class: "tabs", role: "tablist", "aria-label": t("Panels") }, ...this.tabs), ...this.panels);
    this.#open(0);
  }

  #open(chosen) {
    this.tabs.forEach((tab, i) => {
      tab.setAttribute("aria-selected", String(i === chosen));
      tab.tabIndex = i === chosen ? 0 : -1;
      this.panels[i].hidden = i !== chosen;
    });
    this.panelAt = 0;
  }

  #key(e, i) {
    const to = { ArrowLeft: i - 1, ArrowRight: i + 1, Home: 0, End: this.tabs.length - 1 }[e.key];
    if (to === undefined || !this.tabs[to]) return;
    e.preventDefault();
    this.#open(to);
    this.tabs[to].focus();
  }

  // show shows a field in the tree.
  show(path) {
    this.#open(0);
    this.tree.show(path);
  }

  reset() {
    this.tick = -1;
    this.lookAt = this.panelAt = 0;
    this.chart.reset();
    this.tree.reset();
  }

  // frame takes the state if it is time, and draws.
  frame(now) {
    if (now >= this.lookAt) {
      const began = performance.now();
      const json = samestep.look();
      if (json) {
        const look = JSON.parse(json);
        if (look.tick !== this.tick) this.fresh = this.panelAt <= now;
        this.chart.take(look, look.tick !== this.tick);
        this.tick = look.tick;
        this.bytes = look.bytes;
        this.tree.missing = !!look.missing;
      }
      this.lookAt = now + rest * (performance.now() - began);
    }
    this.chart.draw();
    if (now < this.panelAt || this.tick < 0) return;
    const began = performance.now();
    if (!this.tree.element.hidden) this.tree.update(this.tick, this.bytes);
    if (!this.changes.element.hidden) this.changes.update(this.tick);
    this.panelAt = now + Math.max(panelMS, 2 * rest * (performance.now() - began));
  }
}

let made = 0; // panels, for their ids
