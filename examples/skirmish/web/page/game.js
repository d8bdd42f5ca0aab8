// The screen of a live match: the map, and the panels around it.

import { el, recall } from "./dom.js";
import { tokenFor, tokenToWatch, forget } from "./token.js";
import { Renderer } from "./renderer.js";
import { Input } from "./input.js";
import { Minimap } from "./minimap.js";
import { Hud } from "./hud.js";
import { socketOf, listed, seated, Recording } from "./match.js";
import { Rename } from "./rename.js";
import { countdown } from "./countdown.js";
import { t } from "./text.js";
import { soloRequest } from "./solo.js";
import { LastEvents } from "./lastevents.js";

const statusMS = 150;
const dotsMS = 200;
const aimMS = 80;

export class Game {
  constructor(root) {
    this.root = root;
    this.ground = el("canvas", { class: "map", "aria-hidden": "true" });
    this.moving = el("canvas", {
      class: "map", tabindex: "0", id: "map", role: "application",
      "aria-label": t("The map. Arrow keys scroll. C selects, and Enter gives an order, in the middle of the screen. Esc deselects. Tab leaves the map, unless units of several kinds are selected: then it goes through the kinds."),
    });
    this.box = el("div", { class: "box", hidden: true });
    this.cross = el("div", { class: "cross", hidden: true });
    this.small = el("canvas", { class: "minimap", "aria-label": t("Minimap") });
    this.hud = new Hud(this.small, { chat: () => this.hud.write(), map: this.moving });
    this.rename = new Rename();
    this.hud.top.querySelector(".menu").prepend(this.rename.element);
    root.append(this.ground, this.moving, this.box, this.cross, this.hud.element);
    this.renderer = new Renderer(this.ground, this.moving, program);
    this.minimap = new Minimap(this.small, lookAt, (x, y, e) => this.#order(x, y, e));
    this.input = new Input(this.moving, root, {
      box: (...corners) => this.#box(...corners), chat: () => this.hud.write(), middle: () => this.#middle(), event: () => this.events.jump(),
    });
    this.events = new LastEvents();
    this.recording = new Recording();
    new ResizeObserver(() => this.#resize()).observe(root);
    const bars = new ResizeObserver(() => this.#cover());
    for (const bar of [this.hud.top, this.hud.bottom]) bars.observe(bar);
    globalThis.page = this; // for debugging and tests
  }

  // show joins a match to play or to watch it, with the token in the address, or else the one that the lobby remembers.
  show(name, query, watch = false) {
    const token = this.token = (watch ? tokenToWatch : tokenFor)(name, query.get("token"));
    if (query.has("token")) history.replaceState(null, "", `#/${watch ? "watch" : "play"}/${encodeURIComponent(name)}${query.get("feed") === "1" ? "?feed=1" : ""}`); // a token must not stay in the address
    this.#begin(name, watch);
    this.recording.begin(name);
    this.rename.begin(watch ? "" : token);
    this.views = query.get("feed") === "1";
    this.#join(name, token);
  }

  // solo plays the match without a server that the address names, after a countdown.
  async solo(query) {
    const visit = (this.visit = {});
    this.token = "";
    this.#begin(t("Your match"), false, true);
    this.recording.begin("");
    this.rename.begin("");
    await countdown(this.root, () => this.visit === visit);
    if (this.visit !== visit) return; // the user has left
    let problem;
    try {
      problem = samestep.solo(recall("name") || t("you"), JSON.stringify(soloRequest(query)));
    } catch (error) { // the address is wrong
      problem = error.message;
    }
    if (problem) this.hud.fail(problem, false);
  }

  // #begin shows a match from its beginning. alone says that it has no server.
  #begin(name, watch, alone = false) {
    this.root.hidden = false;
    document.title = `${name} · Skirmish`;
    this.renderer.reset();
    this.events.reset();
    this.hud.begin(name, watch, alone);
    this.#resize();
    this.moving.focus();
    this.state = null;
    this.statusAt = this.dotsAt = this.aimedAt = this.before = 0;
    this.next = requestAnimationFrame((now) => this.#frame(now));
    this.timer = setInterval(() => this.#status(), 1000); // also while the page is hidden
  }

  // #join first asks whether the match exists, because a failing WebSocket gives no reason.
  async #join(name, token) {
    const visit = (this.visit = {});
    const found = await listed(name).catch(() => true); // then the WebSocket fails
    if (this.visit !== visit) return; // the user has left
    if (!found) {
      this.hud.fail(t("There is no such match on this server."), false);
      return;
    }
    this.hud.link.keep(found.grace_ms);
    samestep.join(socketOf(name), token, this.views || found.players_see === "views", found.match ?? "");
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
    this.root.style.setProperty("--below", `${this.covered.below}px`);
    this.cross.style.top = `${this.#middle().y}px`;
  }

  // #middle returns the middle of the visible map, which the panels do not cover.
  #middle() {
    const { clientWidth: wide, clientHeight: high } = this.root, { above, below } = this.covered;
    return { x: Math.round(wide / 2), y: Math.round((high + above - below) / 2) };
  }

  // #order gives the order of a press on the minimap, in fractions of the map's sides, as if it were on the map; it returns
  // whether there was one.
  #order(x, y, e) {
    const { frame, width, height } = this.renderer;
    if (!(this.state?.net.seat >= 0)) return false;
    const px = (x * frame.size - frame.x) * frame.cell + width / 2, py = (y * frame.size - frame.y) * frame.cell + height / 2;
    if (e.button === 0 && e.altKey) samestep.ping(px, py);
    else if (e.button === 2) samestep.act(px, py, e.shiftKey);
    else if (e.button === 0 && samestep.mode()) samestep.click(px, py, e.shiftKey, false);
    else return false;
    return true;
  }

  // #aim shows by the pointer what a click does.
  #aim() {
    const { x, y } = this.input.pointer;
    this.moving.dataset.aim = (x >= 0 && samestep.aim(x, y)) || "";
  }

  #frame(now) {
    this.next = requestAnimationFrame((then) => this.#frame(then));
    this.input.pan(Math.min(100, now - this.before) / 1000);
    this.before = now;
    const dots = now - this.dotsAt >= dotsMS, { pointer } = this.input;
    const drawn = this.renderer.draw(this.renderer.width, this.renderer.height, this.covered.above, this.covered.below, pointer.x, pointer.y, dots);
    if (drawn && dots) {
      this.dotsAt = now;
      this.minimap.draw(this.renderer, this.covered);
      this.hud.alarms.draw(this.small, this.renderer.frame.size);
    }
    if (drawn && now - this.aimedAt >= aimMS) {
      this.aimedAt = now;
      this.#aim();
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
    if (this.state.link.views && !this.views) { // the token is for views
      this.views = true;
      this.#join(this.hud.name, this.token);
      return;
    }
    seated(this.hud.name, this.state);
    this.events.take(this.state);
    const healed = this.state.desync?.healed ?? 0;
    if (healed && healed !== this.healed) this.renderer.sweep();
    this.healed = healed;
    this.hud.update(this.state, this.renderer);
  }

  #box(x0, y0, x1, y1) {
    this.box.hidden = x0 === undefined;
    if (this.box.hidden) return;
    Object.assign(this.box.style, {
      left: `${Math.min(x0, x1)}px`, top: `${Math.min(y0, y1)}px`, width: `${Math.abs(x1 - x0)}px`, height: `${Math.abs(y1 - y0)}px`,
    });
  }
}

const lookAt = (x, y) => samestep.lookAt(Math.round(x * 65535), Math.round(y * 65535));

// program calls the WebAssembly program, which is loaded after this module.
const program = {
  frame: (...args) => samestep.frame(...args),
  ground: (array) => samestep.ground(array),
  fog: (array) => samestep.fog(array),
  explores: () => globalThis.page.state?.views, // the ground is known bit by bit
};
