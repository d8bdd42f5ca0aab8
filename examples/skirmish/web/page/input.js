// Mouse, touch and keyboard on the map of a live match.

import { listen } from "./keys.js";
import { keymap } from "./actions.js";
import { dragPixels, speed, isArrow, direction, spread, wheelZoom } from "./gestures.js";

const edge = 10; // pixels from the screen's edge that scroll
const twiceMS = 350;
const longMS = 450; // a finger that stays so long gives an order

// Input turns events of an element into calls of the program.
export class Input {
  // hooks: box(x0, y0, x1, y1) shows the selection box, and box() hides it; chat() opens the chat; middle() is the middle of
  // the visible map; event() jumps to the last event. Keys count while screen is shown.
  constructor(element, screen, hooks) {
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
    listen(screen, (e) => this.#key(e));
    addEventListener("keyup", (e) => this.held.delete(e.code));
    addEventListener("blur", () => this.held.clear());
    addEventListener("pointermove", (e) => {
      if (e.pointerType === "mouse") Object.assign(this.pointer, { windowX: e.clientX, windowY: e.clientY, inside: !e.target.closest?.(".minimap") });
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
    if (p.touch) p.timer = setTimeout(() => this.#long(p), longMS);
    if (this.pointers.size === 2) {
      this.hooks.box();
      for (const other of this.pointers.values()) other.gesture = true;
      this.spread = spread(this.pointers);
    }
    e.preventDefault();
  }

  // #long is a finger that stays: an order, as by the right button.
  #long(p) {
    if (p.dragged || p.gesture || !this.pointers.size) return;
    p.gesture = true; // it does nothing more
    if (navigator.userActivation?.hasBeenActive) navigator.vibrate?.(15);
    samestep.act(p.x, p.y, false);
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
    clearTimeout(p?.timer);
    if (!p || p.gesture) return;
    const add = e.shiftKey;
    if (e.altKey && p.button === 0 && !p.dragged) {
      samestep.ping(p.x, p.y);
    } else if (p.button === 2) {
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
    clearTimeout(this.pointers.get(e.pointerId)?.timer);
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

  // #key handles a key, and reports whether it has a function. A key of the user's stands for one of the usual keys.
  #key(e) {
    if (e.altKey || e.metaKey) return false;
    if (isArrow(e.code)) {
      this.held.add(e.code);
      return (this.cross = true);
    }
    if (e.ctrlKey && !e.code.startsWith("Digit")) return false; // the browser's
    return keymap.usual(e.code).some((code) => this.#does(code, e));
  }

  // #does does what a usual key means. Without a mouse, the arrow keys scroll and the middle of the screen is the pointer.
  #does(code, e) {
    const { x, y } = this.hooks.middle();
    switch (code) {
      case "KeyC":
        this.cross = true;
        samestep.click(x, y, e.shiftKey, e.repeat);
        return true;
      case "Enter":
        this.cross = true;
        if (samestep.mode()) samestep.click(x, y, e.shiftKey, false);
        else samestep.act(x, y, e.shiftKey);
        return true;
      case "Space":
        this.hooks.event();
        return true;
      case "Equal": case "NumpadAdd":
        samestep.zoom(1150, x, y);
        return true;
      case "Minus": case "NumpadSubtract":
        samestep.zoom(870, x, y);
        return true;
      case "Slash":
        this.hooks.chat();
        return true;
    }
    if (e.code === "Tab" && e.target !== this.element && e.target !== document.body) return false; // it moves the focus
    return samestep.key(code, e.shiftKey, e.ctrlKey) === true;
  }
}
