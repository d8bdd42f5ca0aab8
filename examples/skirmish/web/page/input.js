// Mouse, touch and keyboard on the map of a live match.

import { dragPixels, speed, isArrow, direction, spread, wheelZoom } from "./gestures.js";

const edge = 10; // pixels from the screen's edge that scroll
const twiceMS = 350;

// Input turns events of an element into calls of the program.
export class Input {
  // hooks: box(x0, y0, x1, y1) shows the selection box, and box() hides it;
  // chat() opens the chat.
  constructor(element, hooks) {
    this.element = element;
    this.hooks = hooks;
    this.pointers = new Map();
    this.held = new Set();
    this.pointer = { x: -1, y: -1, inside: false };
    this.cross = false; // the keyboard aims at the middle of the screen
    this.last = { time: 0, x: 0, y: 0 };
    const on = (name, f, options) => element.addEventListener(name, f, options);
    on("pointerdown", (e) => this.#down(e));
    on("pointermove", (e) => this.#move(e));
    on("pointerup", (e) => this.#up(e));
    on("pointercancel", (e) => this.#cancel(e));
    on("contextmenu", (e) => e.preventDefault());
    on("wheel", (e) => this.#wheel(e), { passive: false });
    on("keydown", (e) => this.#keydown(e));
    addEventListener("keyup", (e) => this.held.delete(e.code));
    addEventListener("blur", () => this.held.clear());
    addEventListener("pointermove", (e) => {
      if (e.pointerType === "mouse") Object.assign(this.pointer, { windowX: e.clientX, windowY: e.clientY, inside: true });
    });
    document.addEventListener("pointerleave", () => (this.pointer.inside = false));
  }

  // pan scrolls for pressed arrow keys and for a pointer at the edge.
  pan(seconds) {
    let [dx, dy] = direction(this.held);
    const { windowX: x, windowY: y, inside } = this.pointer;
    if (inside && document.hasFocus() && !this.pointers.size) {
      if (x <= edge) dx--;
      if (x >= innerWidth - edge) dx++;
      if (y <= edge) dy--;
      if (y >= innerHeight - edge) dy++;
    }
    if (dx || dy) samestep.pan(Math.sign(dx) * speed * seconds, Math.sign(dy) * speed * seconds);
  }

  #down(e) {
    this.element.focus({ preventScroll: true });
    this.element.setPointerCapture(e.pointerId);
    this.cross = false;
    const p = { x0: e.offsetX, y0: e.offsetY, x: e.offsetX, y: e.offsetY, button: e.button, touch: e.pointerType === "touch", dragged: false };
    this.pointers.set(e.pointerId, p);
    if (this.pointers.size === 2) {
      this.hooks.box();
      for (const other of this.pointers.values()) other.gesture = true;
      this.spread = spread(this.pointers);
    }
    e.preventDefault();
  }

  #move(e) {
    Object.assign(this.pointer, { x: e.offsetX, y: e.offsetY });
    const p = this.pointers.get(e.pointerId);
    if (!p) return;
    const dx = e.offsetX - p.x, dy = e.offsetY - p.y;
    p.x = e.offsetX;
    p.y = e.offsetY;
    if (p.gesture) {
      this.#pinch(dx, dy);
      return;
    }
    p.dragged ||= Math.hypot(p.x - p.x0, p.y - p.y0) > dragPixels;
    if (!p.dragged) return;
    if (p.button === 1) samestep.pan(-dx, -dy);
    else if (p.button === 0) this.hooks.box(p.x0, p.y0, p.x, p.y);
  }

  #pinch() {
    if (this.pointers.size < 2) return;
    const now = spread(this.pointers), before = this.spread;
    samestep.pan(before.x - now.x, before.y - now.y);
    samestep.zoom(Math.round((1000 * now.apart) / before.apart), now.x, now.y);
    this.spread = now;
  }

  #up(e) {
    const p = this.pointers.get(e.pointerId);
    this.pointers.delete(e.pointerId);
    this.hooks.box();
    if (!p || p.gesture) return;
    const add = e.shiftKey;
    if (p.button === 2) {
      samestep.act(p.x, p.y, add);
    } else if (p.button === 0 && p.dragged) {
      samestep.drag(p.x0, p.y0, p.x, p.y, add);
    } else if (p.button === 0 && p.touch) {
      samestep.tap(p.x, p.y);
    } else if (p.button === 0) {
      const twice = e.timeStamp - this.last.time < twiceMS && Math.hypot(p.x - this.last.x, p.y - this.last.y) < dragPixels;
      this.last = { time: e.timeStamp, x: p.x, y: p.y };
      samestep.click(p.x, p.y, add, twice);
    }
  }

  #cancel(e) {
    this.pointers.delete(e.pointerId);
    this.hooks.box();
  }

  #wheel(e) {
    e.preventDefault();
    if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) {
      const step = e.deltaMode === 1 ? 16 : 1;
      samestep.pan((e.deltaX || e.deltaY) * step, e.deltaX ? e.deltaY * step : 0);
      return;
    }
    samestep.zoom(wheelZoom(e), e.offsetX, e.offsetY);
  }

  // #keydown: without a mouse, the arrow keys scroll and the middle of the screen is the pointer.
  #keydown(e) {
    if (e.altKey || e.metaKey) return;
    const x = this.element.clientWidth / 2, y = this.element.clientHeight / 2;
    if (isArrow(e.code)) {
      this.held.add(e.code);
      this.cross = true;
    } else if (e.code === "Space") {
      this.cross = true;
      samestep.click(x, y, e.shiftKey, e.repeat);
    } else if (e.code === "Enter") {
      this.cross = true;
      samestep.act(x, y, e.shiftKey);
    } else if (e.code === "Equal" || e.code === "NumpadAdd") {
      samestep.zoom(1150, x, y);
    } else if (e.code === "Minus" || e.code === "NumpadSubtract") {
      samestep.zoom(870, x, y);
    } else if (e.code === "Slash") {
      this.hooks.chat();
    } else if (!samestep.key(e.code, e.shiftKey, e.ctrlKey)) {
      return;
    }
    e.preventDefault();
  }
}
