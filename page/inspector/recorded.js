// The screen of a replay of any game, or of a recording of another engine: the picture and the state at any tick.

import { el } from "./dom.js";
import { Viewer } from "./replay.js";
import { Commands } from "./commands.js";
import { Inspection } from "./inspection.js";
import { of } from "./palette.js";

export class Recorded extends Viewer {
  constructor(root, title) {
    let go = () => {};
    const commands = new Commands((tick) => go(tick));
    const inspection = new Inspection([["Commands", el("div", { class: "inspector" }, commands.list, commands.about)]]);
    const missing = el("p", { class: "missing", role: "status", hidden: true }); // why the tick of a recording has no state
    inspection.tree.element.prepend(missing);
    const field = el("div", { class: "field" }, inspection.chart.element);
    super(root, {
      title, field, focus: inspection.chart.canvas, top: [], over: [], side: inspection.element,
      keys: ["Space", "play", ", .", "step", "[ ]", "speed", "0", "fit"],
    });
    go = (tick) => this.go(tick);
    Object.assign(this, { commands, inspection, missing });
    inspection.chart.canvas.addEventListener("keydown", (e) => {
      if (!e.altKey && !e.metaKey && !e.ctrlKey && !e.defaultPrevented && this.key(e.code)) e.preventDefault();
    });
  }

  opened(about) {
    this.inspection.reset();
    this.commands.open(about);
    this.players.replaceChildren(...about.players.map(({ name, player }) => {
      const dot = el("i", { class: "dot" });
      dot.style.setProperty("--colour", of(player).fill);
      return el("li", { class: "score" }, dot, name);
    }));
  }

  closed() {}

  moved() {}

  drawn() {
    this.inspection.frame(performance.now());
  }

  looked(state, about) {
    this.commands.update(state, about);
    this.#lack(state);
  }

  // #lack says that the tick has no state, and links to the nearest ticks that have one.
  #lack({ missing = "", nearest = [] }) {
    this.missing.hidden = !missing;
    if (this.lacks === missing) return;
    this.lacks = missing;
    this.missing.replaceChildren(missing, ...nearest.flatMap((tick) => [" ", el("button", { onclick: () => this.go(tick) }, `Go to tick ${tick}`)]));
  }
}
