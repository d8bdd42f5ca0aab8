// The screen of a live match: the map, and the panels around it.

import { el } from "./dom.js";
import { tokenFor, tokenToWatch, forget } from "./token.js";
import { Renderer } from "./renderer.js";
import { Input } from "./input.js";
import { Minimap } from "./minimap.js";
import { Hud } from "./hud.js";
import { socketOf, listed, Recording } from "./match.js";

const statusMS = 150;
const dotsMS = 200;

export class Game {
  constructor(root) {
    this.root = root;
    this.ground = el("canvas", { class: "map", "aria-hidden": "true" });
    this.moving = el("canvas", {
      class: "map", tabindex: "0", id: "map", role: "application",
      "aria-label": "The map. Arrow keys scroll. Space selects, and Enter gives an order, in the middle of the screen.",
    });
    this.box = el("div", { class: "box", hidden: true });
    this.cross = el("div", { class: "cross", hidden: true });
    this.small = el("canvas", { class: "minimap", "aria-label": "Minimap" });
    this.hud = new Hud(this.small, { chat: () => this.hud.write(), map: this.moving });
    root.append(this.ground, this.moving, this.box, this.cross, this.hud.element);
    this.renderer = new Renderer(this.ground, this.moving, program);
    this.minimap = new Minimap(this.small, (x, y) => samestep.lookAt(Math.round(x * 65535), Math.round(y * 65535)));
    this.input = new Input(this.moving, {
      box: (...corners) => this.#box(...corners), mark: (x, y) => this.#mark(x, y), chat: () => this.hud.write(),
    });
    this.recording = new Recording();
    new ResizeObserver(() => this.#resize()).observe(root);
    const bars = new ResizeObserver(() => this.#cover());
    for (const bar of [this.hud.top, this.hud.bottom]) bars.observe(bar);
    globalThis.page = this; // for debugging and tests
  }

  // show joins a match to play or to watch it, with the token in the address, or else the one that the lobby remembers.
  show(name, query, watch = false) {
    this.root.hidden = false;
    document.title = `${name} · Skirmish`;
    const token = this.token = (watch ? tokenToWatch : tokenFor)(name, query.get("token"));
    if (query.has("token")) history.replaceState(null, "", `#/${watch ? "watch" : "play"}/${encodeURIComponent(name)}`); // a token must not stay in the address
    this.renderer.reset();
    this.hud.begin(name, watch);
    this.recording.begin(name);
    this.#join(name, token);
    this.#resize();
    this.moving.focus();
    this.state = null;
    this.statusAt = this.dotsAt = this.before = 0;
    this.next = requestAnimationFrame((now) => this.#frame(now));
    this.timer = setInterval(() => this.#status(), 1000); // also while the page is hidden
  }

  // #join first asks whether the match exists, because a failing WebSocket gives no reason.
  async #join(name, token) {
    const visit = (this.visit = {});
    const found = await listed(name).catch(() => true); // then the WebSocket fails
    if (this.visit !== visit) return; // the user has left
    if (!found) {
      this.hud.fail("There is no such match on this server.", false);
      return;
    }
    this.hud.link.keep(found.grace_ms);
    samestep.join(socketOf(name), token);
  }

  hide() {
    this.visit = null;
    this.root.hidden = true;
    clearInterval(this.timer);
    cancelAnimationFrame(this.next);
    samestep.leave(false);
  }

  #resize() {
    if (!this.root.clientWidth) return;
    this.renderer.resize(this.root.clientWidth, this.root.clientHeight);
    this.#cover();
  }

  // #cover measures the bars, whose height depends on their content.
  #cover() {
    this.covered = this.hud.covered();
    this.root.style.setProperty("--above", `${this.covered.above}px`);
  }

  #frame(now) {
    this.next = requestAnimationFrame((then) => this.#frame(then));
    this.input.pan(Math.min(100, now - this.before) / 1000);
    this.before = now;
    const dots = now - this.dotsAt >= dotsMS, { pointer } = this.input;
    const drawn = this.renderer.draw(this.renderer.width, this.renderer.height, this.covered.above, this.covered.below, pointer.x, pointer.y, dots);
    if (drawn && dots) {
      this.dotsAt = now;
      this.minimap.draw(this.renderer);
    }
    this.cross.hidden = !this.input.cross;
    if (now - this.statusAt >= statusMS) {
      this.statusAt = now;
      this.#status();
    }
  }

  #status() {
    const json = samestep.status();
    if (!json) return;
    this.state = JSON.parse(json);
    this.state.replay = this.recording.of(this.state);
    if (this.state.link.refused) this.token = forget(this.hud.name, this.token);
    this.hud.update(this.state, this.renderer);
  }

  #box(x0, y0, x1, y1) {
    this.box.hidden = x0 === undefined;
    if (this.box.hidden) return;
    Object.assign(this.box.style, {
      left: `${Math.min(x0, x1)}px`, top: `${Math.min(y0, y1)}px`, width: `${Math.abs(x1 - x0)}px`, height: `${Math.abs(y1 - y0)}px`,
    });
  }

  // #mark briefly shows the target of an order.
  #mark(x, y) {
    if (!this.state?.panel?.chosen?.length || this.state.net.seat < 0) return;
    const mark = el("div", { class: "mark" });
    Object.assign(mark.style, { left: `${x}px`, top: `${y}px` });
    mark.addEventListener("animationend", () => mark.remove());
    this.root.append(mark);
  }
}

// program calls the WebAssembly program, which is loaded after this module.
const program = {
  frame: (...args) => samestep.frame(...args),
  ground: (array) => samestep.ground(array),
  fog: (array) => samestep.fog(array),
};
