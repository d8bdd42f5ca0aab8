// The screen of a replay: the map at any tick, the commands around it, and the state of any unit.

import { el, text } from "./dom.js";
import { Viewer as Base } from "./replay.js";
import { Renderer } from "./renderer.js";
import { Minimap } from "./minimap.js";
import { ViewerInput } from "./viewerinput.js";
import { Unit } from "./unit.js";
import { of } from "./palette.js";

const everything = 255;

export class Viewer extends Base {
  constructor(root) {
    const ground = el("canvas", { class: "map", "aria-hidden": "true" });
    const moving = el("canvas", {
      class: "map", tabindex: "0", role: "application",
      "aria-label": "The map. Arrow keys scroll, Space plays and pauses, comma and period step by one tick.",
    });
    const field = el("div", { class: "field" }, ground, moving), small = el("canvas", { class: "minimap", "aria-label": "Minimap" });
    const sight = el("select", { "aria-label": "Vision", onchange: () => this.#see() });
    const inspector = new Unit({ go: (tick) => this.go(tick), follow: () => this.follow() });
    super(root, {
      title: "Skirmish", field, focus: moving, top: [el("label", {}, "Vision ", sight)], over: [small], side: inspector.element,
      keys: ["Space", "play", ", .", "step", "[ ]", "speed", "F", "follow"],
    });
    Object.assign(this, { field, moving, sight, inspector });
    this.renderer = new Renderer(ground, moving, program);
    this.minimap = new Minimap(small, (x, y) => samestep.watchLookAt(Math.round(x * 65535), Math.round(y * 65535)));
    this.input = new ViewerInput(moving, this);
    new ResizeObserver(() => this.#resize()).observe(field);
    addEventListener("palette", () => {
      if (!this.about) return;
      const { value } = this.sight;
      this.#names(this.about);
      this.sight.value = value;
    });
  }

  opened(about) {
    this.renderer.reset();
    this.inspector.open(about);
    this.#names(about);
    this.#resize();
  }

  closed() {}

  #names(about) {
    this.scores = about.players.map(({ name, player }) => {
      const count = el("b");
      const dot = el("i", { class: "dot" });
      dot.style.setProperty("--colour", of(player).fill);
      const row = el("li", { class: "score" }, dot, name, count);
      return { row, count };
    });
    this.players.replaceChildren(...this.scores.map((s) => s.row));
    const state = JSON.parse(samestep.watchState());
    const teams = Array.from({ length: state.teams }, (_, team) => {
      const names = about.players.filter((p) => state.players[p.player]?.Team === team).map((p) => p.name);
      return el("option", { value: String(team) }, names.join(", ") || `team ${team}`);
    });
    this.sight.replaceChildren(el("option", { value: String(everything) }, "everything"), ...teams);
  }

  #see() {
    samestep.watchSee(Number(this.sight.value));
    this.moving.focus();
  }

  #resize() {
    if (this.field.clientWidth && this.about) this.renderer.resize(this.field.clientWidth, this.field.clientHeight);
  }

  select(id) {
    samestep.watchSelect(id);
    this.look();
  }

  follow() {
    samestep.watchFollow(!this.state?.follow);
    this.look();
  }

  moved(seconds) {
    this.input.pan(seconds);
  }

  drawn(fraction, look) {
    if (this.renderer.draw(this.renderer.width, this.renderer.height, fraction, look) && look) this.minimap.draw(this.renderer);
  }

  looked(state, about) {
    this.scores.forEach(({ row, count }, p) => {
      const account = state.players[p];
      if (!account) return;
      text(count, `${account.Units} units, ${account.Crystals} crystals`);
      row.classList.toggle("defeated", account.Status === 2);
    });
    this.inspector.update(state, about);
  }
}

// program calls the WebAssembly program, which is loaded after this module.
const program = {
  frame: (...args) => samestep.watchFrame(...args),
  ground: (array) => samestep.watchGround(array),
  fog: (array) => samestep.watchFog(array),
};
