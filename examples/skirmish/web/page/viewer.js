// The screen of a replay: the map at any tick, the commands around it, and the state of any unit.

import { el, text } from "./dom.js";
import { Viewer as Base } from "./replay.js";
import { Renderer } from "./renderer.js";
import { Minimap } from "./minimap.js";
import { ViewerInput } from "./viewerinput.js";
import { Unit } from "./unit.js";
import { of } from "./palette.js";
import { t } from "./text.js";

const everything = 255;

export class Viewer extends Base {
  constructor(root) {
    const ground = el("canvas", { class: "map", "aria-hidden": "true" });
    const moving = el("canvas", {
      class: "map", tabindex: "0", role: "application",
      "aria-label": t("The map. Arrow keys scroll, Space plays and pauses, comma and period step by one tick."),
    });
    const ground2 = el("canvas", { class: "map", "aria-hidden": "true" });
    const moving2 = el("canvas", { class: "map", tabindex: "-1", role: "img", "aria-label": t("The map of the other side") });
    const half = el("div", { class: "half" }, ground, moving), other = el("div", { class: "half beside" }, ground2, moving2);
    const field = el("div", { class: "field" }, half, other), small = el("canvas", { class: "minimap", "aria-label": t("Minimap") });
    const sight = el("select", { "aria-label": t("Vision"), onchange: () => this.#see() });
    const inspector = new Unit({ go: (tick) => this.go(tick), follow: () => this.follow() });
    super(root, {
      title: "Skirmish", field, focus: moving, top: [el("label", {}, el("span", {}, t("Vision"), " "), sight)], over: [small], side: inspector.element,
      keys: [t("Space"), t("play"), ", .", t("step"), "[ ]", t("speed"), "N P", t("mismatch"), "F", t("follow")], charts,
    });
    Object.assign(this, { field, half, moving, sight, inspector });
    this.beside = new Renderer(ground2, moving2, otherSide);
    new ViewerInput(moving2, this);
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
    this.near = false; // to the unit of the address, when its tick is there
    this.renderer.reset();
    this.beside.reset();
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
      return el("option", { value: String(team) }, names.join(", ") || t("team {team}", { team }));
    });
    this.sight.replaceChildren(el("option", { value: String(everything) }, t("everything")), ...teams);
  }

  #see() {
    samestep.watchSee(Number(this.sight.value));
    this.moving.focus();
  }

  #resize() {
    if (!this.half.clientWidth || !this.about) return;
    this.renderer.resize(this.half.clientWidth, this.half.clientHeight);
    if (this.comparing) this.beside.resize(this.half.clientWidth, this.half.clientHeight);
  }

  view() {
    const { chosen, aim } = this.state, [x, y, zoom] = aim;
    const sight = this.sight.value;
    return { ...(chosen && { unit: chosen }), ...(Number(sight) !== everything && { sight }), x: x / 1000, y: y / 1000, zoom: (zoom / 256).toFixed(1) };
  }

  aim(query) {
    if (query.has("sight")) {
      this.sight.value = query.get("sight");
      if (this.sight.selectedIndex < 0) this.sight.value = String(everything);
      this.#see();
    }
    const [x, y, zoom] = ["x", "y", "zoom"].map((name) => Number(query.get(name) ?? NaN));
    if (Number.isFinite(x + y + zoom)) samestep.watchAim(Math.round(x * 1000), Math.round(y * 1000), Math.round(zoom * 256));
    const path = query.get("path"); // in the state, which says of what the ID is
    const unit = Number(path === null ? query.get("unit") : /^Units\[ID=(\d+)\]/.exec(path)?.[1]);
    if (!(unit > 0 && unit < 2 ** 32)) return;
    samestep.watchSelect(unit);
    this.near = !Number.isFinite(x + y + zoom);
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
    if (this.comparing) this.beside.draw(this.renderer.width, this.renderer.height, fraction, false);
  }

  looked(state, about) {
    if (this.near && !this.seeking && this.tick === state.tick) {
      this.near = false;
      samestep.watchNear();
    }
    this.scores.forEach(({ row, count }, p) => {
      const account = state.players[p];
      if (!account) return;
      const { Units: units, Crystals: crystals } = account;
      text(count, `${units === 1 ? t("1 unit") : t("{units} units", { units })}, ${crystals === 1 ? t("1 crystal") : t("{crystals} crystals", { crystals })}`);
      row.classList.toggle("defeated", account.Status === 2);
    });
    this.inspector.update(state, about);
  }
}

// charts are how the match goes for each player.
const charts = {
  read: (after) => samestep.watchHistory(after),
  kinds: [
    { key: "army", name: t("Army"), lines: [{ key: "army", name: t("Army") }] },
    { key: "economy", name: t("Economy"), lines: [{ key: "gathered", name: t("Crystals gathered") }, { key: "workers", name: t("workers") }] },
  ],
};

// program calls the WebAssembly program, which is loaded after this module.
const program = {
  frame: (...args) => samestep.watchFrame(...args),
  ground: (array) => samestep.watchGround(array),
  fog: (array) => samestep.watchFog(array),
};

// otherSide is the program's picture of the other side.
const otherSide = {
  frame: (...args) => samestep.watchFrameBeside(...args),
  ground: (array) => samestep.watchGround(array),
  fog: (array) => samestep.watchFogBeside(array),
};
