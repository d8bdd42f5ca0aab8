// The screen of a replay of any game, or of a recording of another engine: the picture and the state at any tick.

import { el } from "./dom.js";
import { t, told, playerName } from "./text.js";
import { listen } from "./keys.js";
import { Viewer } from "./replay.js";
import { Commands } from "./commands.js";
import { Inspection } from "./inspection.js";
import { of } from "./palette.js";

export class Recorded extends Viewer {
  constructor(root, title) {
    let go = () => {};
    const commands = new Commands((tick) => go(tick));
    const inspection = new Inspection([[t("Commands"), el("div", { class: "inspector" }, commands.list, commands.about)]]);
    const missing = el("p", { class: "missing", role: "status", hidden: true }); // why the tick of a recording has no state
    inspection.tree.element.prepend(missing);
    const field = el("div", { class: "field" }, inspection.chart.element);
    const as = el("select", { "aria-label": t("See as"), hidden: true });
    super(root, {
      title, field, focus: inspection.chart.canvas, top: [as], over: [], side: inspection.element,
      keys: [t("Space"), t("play"), ", .", t("step"), "[ ]", t("speed"), "0", t("fit")],
    });
    go = (tick) => this.go(tick);
    Object.assign(this, { commands, inspection, missing, as });
    as.onchange = () => this.#seeAs(as.value);
    listen(field, (e) => !e.altKey && !e.metaKey && !e.ctrlKey && this.key(e.code));
  }

  // aim selects the viewer, and the field of what it sees that the address names, once the tick is there.
  aim(query) {
    this.linked = query.get("path");
    if (!this.as.hidden) this.#seeAs(query.get("as") ?? "");
  }

  // #seeAs shows what a viewer may see, such as player:3, or everything.
  #seeAs(viewer) {
    this.as.value = viewer;
    samestep.watchAs(this.as.value || viewer);
    this.inspection.reset();
  }

  // view returns the path that the address has, or else that of the selected row.
  view() {
    const { path } = this.inspection.tree, shown = this.linked || (path === this.link?.row ? this.link.path : path);
    return { ...(shown && { path: shown }), ...(this.as.value && { as: this.as.value }) };
  }

  // #follow goes to the field of the address when its tick is shown.
  #follow(tick) {
    if (!this.linked || this.seeking || this.inspection.tick !== tick) return;
    this.inspection.show(this.linked);
    this.link = { path: this.linked, row: this.inspection.tree.path };
    this.linked = null;
  }

  opened(about) {
    this.linked = this.link = null;
    this.inspection.reset();
    this.commands.open(about);
    this.as.hidden = !about.views;
    this.as.replaceChildren(el("option", { value: "" }, t("everything")),
      ...about.players.map(({ player }) => el("option", { value: `player:${player}` }, t("what {name} sees", { name: playerName(about.players, player) }))),
      el("option", { value: "spectator" }, t("what spectators see")));
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
    this.#follow(state.tick);
  }

  // #lack says that the tick has no state, and links to the nearest ticks that have one.
  #lack({ missing = "", nearest = [] }) {
    this.missing.hidden = !missing;
    if (this.lacks === missing) return;
    this.lacks = missing;
    this.missing.replaceChildren(told(missing), ...nearest.flatMap((tick) => [" ", el("button", { onclick: () => this.go(tick) }, t("Go to tick {tick}", { tick }))]));
  }
}
