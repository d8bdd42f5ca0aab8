// Mouse, touch and keyboard on the map of a replay.

import { listen } from "./keys.js";
import { dragPixels, speed, isArrow, direction, spread, wheelZoom } from "./gestures.js";

export class ViewerInput {
  constructor(element, viewer) {
    this.element = element;
    this.viewer = viewer;
    this.pointers = new Map();
    this.held = new Set();
    const on = (name, f, options) => element.addEventListener(name, f, options);
    on("pointerdown", (e) => this.#down(e));
    on("pointermove", (e) => this.#move(e));
    on("pointerup", (e) => this.#up(e));
    on("pointercancel", (e) => this.pointers.delete(e.pointerId));
    on("contextmenu", (e) => e.preventDefault());
    on("wheel", (e) => this.#wheel(e), { passive: false });
    listen(element, (e) => this.#key(e));
    addEventListener("keyup", (e) => this.held.delete(e.code));
    addEventListener("blur", () => this.held.clear());
  }

  // pan scrolls for pressed arrow keys.
  pan(seconds) {
    const [dx, dy] = direction(this.held);
    if (dx || dy) samestep.watchPan(dx * speed * seconds, dy * speed * seconds);
  }

  #down(e) {
    this.element.focus({ preventScroll: true });
    this.element.setPointerCapture(e.pointerId);
    this.pointers.set(e.pointerId, { x0: e.offsetX, y0: e.offsetY, x: e.offsetX, y: e.offsetY, dragged: false });
    if (this.pointers.size === 2) this.spread = spread(this.pointers);
    e.preventDefault();
  }

  #move(e) {
    const p = this.pointers.get(e.pointerId);
    if (!p) return;
    const dx = e.offsetX - p.x, dy = e.offsetY - p.y;
    p.x = e.offsetX;
    p.y = e.offsetY;
    p.dragged ||= this.pointers.size > 1 || Math.hypot(p.x - p.x0, p.y - p.y0) > dragPixels;
    if (this.pointers.size === 2) {
      const now = spread(this.pointers), before = this.spread;
      samestep.watchPan(before.x - now.x, before.y - now.y);
      samestep.watchZoom(Math.round((1000 * now.apart) / before.apart), now.x, now.y);
      this.spread = now;
    } else if (p.dragged) {
      samestep.watchPan(-dx, -dy);
    }
  }

  #up(e) {
    const p = this.pointers.get(e.pointerId);
    this.pointers.delete(e.pointerId);
    if (p && !p.dragged) this.viewer.select(samestep.watchPick(p.x, p.y));
  }

  #wheel(e) {
    e.preventDefault();
    samestep.watchZoom(wheelZoom(e), e.offsetX, e.offsetY);
  }

  // #key handles a key, and reports whether it has a function.
  #key(e) {
    if (e.altKey || e.metaKey || e.ctrlKey) return false;
    const { viewer } = this, x = this.element.clientWidth / 2, y = this.element.clientHeight / 2;
    if (isArrow(e.code)) this.held.add(e.code);
    else if (e.code === "Enter") viewer.select(samestep.watchPick(x, y));
    else if (e.code === "KeyF") viewer.follow();
    else if (e.code === "Escape") viewer.select(0);
    else if (e.code === "Equal" || e.code === "NumpadAdd") samestep.watchZoom(1150, x, y);
    else if (e.code === "Minus" || e.code === "NumpadSubtract") samestep.watchZoom(870, x, y);
    else return viewer.key(e.code);
    return true;
  }
}
