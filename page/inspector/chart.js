// The chart: the game's own picture, or a map of everything in the state that has a place. A user zooms and moves it.

import { el, text } from "./dom.js";
import { playerName, t, told } from "./text.js";
import { of, chosen } from "./palette.js";
import { listen } from "./keys.js";
import { dragPixels, speed, isArrow, direction, spread, wheelZoom } from "./gestures.js";

const words = 6; // numbers of a place: layer, x, y, player, id, element
const near = 14; // pixels from a place at which a click hits it
const labels = 150; // the most places with a label
const MOVED = 0, PRESSED = 1, RELEASED = 2, KEYDOWN = 3, KEYUP = 4, LEFT = 5; // as package input numbers them
const margin = 28; // pixels around everything, at first

export class Chart {
  // show(path) shows the element of a place in the tree.
  constructor(show) {
    this.show = show;
    this.canvas = el("canvas", {
      class: "chart", tabindex: "0", role: "application",
      "aria-label": t("The map. Arrow keys move it, plus and minus zoom, 0 shows everything. A click on a place shows its fields."),
    });
    this.hint = el("output", { class: "hint", hidden: true });
    this.legend = el("ul", { class: "legend", "aria-label": t("Layers of the map") });
    this.empty = el("p", { class: "empty", hidden: true }, t("Nothing in this state has a place: a struct with the fields X and Y. The panels show its fields."));
    this.fault = el("p", { class: "problem", role: "alert", hidden: true });
    this.prompt = el("p", { class: "prompt", role: "status", hidden: true }, t("Click the map to enter a place. Escape cancels."));
    this.element = el("div", { class: "charted" }, this.canvas, this.legend, this.empty, this.fault, this.prompt, this.hint,
      el("button", { class: "fit", title: t("show everything (0)"), onclick: () => this.fit() }, t("Fit")));
    this.numbers = { places: block(), picture: block(), overlay: block() };
    this.#listen();
    new ResizeObserver(() => (this.dirty = true)).observe(this.element);
    addEventListener("palette", () => (this.dirty = true));
    this.reset();
  }

  reset() {
    this.fitted = false; // the user has not moved it
    this.places = undefined; // until there is a state
    this.off = new Set(); // layers that are not shown
    this.legendKey = "";
    this.legend.replaceChildren();
    this.bounds = null;
    this.count = this.drawn = 0;
    this.selected = -1;
    this.camera = { x: 0, y: 0, scale: 1 };
    this.texts = [];
    this.keys = null; // that the game takes, if it takes clicks
    this.canvas.style.cursor = "";
    this.fault.hidden = this.empty.hidden = true;
    this.cancel();
    this.dirty = true;
  }

  // take takes the places and the picture of a state.
  take(look, fresh) {
    this.keys = look.keys;
    if (!fresh && this.bounds) return;
    this.places = fill(this.numbers.places, samestep.places);
    this.picture = look.drawn ? fill(this.numbers.picture, samestep.picture) : null;
    this.texts = look.texts;
    this.count = this.places.length / words;
    this.fault.hidden = !look.fault;
    text(this.fault, told(look.fault));
    this.#layers(look);
    this.#measure();
    this.empty.hidden = this.count > 0 || look.drawn || !!look.missing;
    if (!this.fitted) this.#fitNow();
    this.dirty = true;
  }

  // pick waits for a click on the map and passes its place, as {x, y}.
  pick(picked) {
    this.picked = picked;
    this.prompt.hidden = false;
    this.canvas.focus();
  }

  cancel() {
    this.picked = null;
    this.prompt.hidden = true;
  }

  // fit shows everything, from now on.
  fit() {
    this.fitted = false;
    this.#fitNow();
  }

  #layers(look) {
    this.layers = look.layers;
    const key = JSON.stringify(look.layers);
    if (this.legendKey === key) return;
    this.legendKey = key;
    this.off = new Set(look.layers.flatMap((l, i) => (l.role === "place" && !look.drawn ? [] : [i])));
    this.legend.replaceChildren(...look.layers.slice(0, 40).map((l, i) => {
      const box = el("input", { type: "checkbox", checked: !this.off.has(i), onchange: () => {
        if (box.checked) this.off.delete(i);
        else this.off.add(i);
        this.#measure();
        this.dirty = true;
      } });
      return el("li", {}, el("label", {}, box, el("i", { class: `mark${i % 4} ${l.role}` }), l.path));
    }));
    this.legend.hidden = !look.layers.length;
  }

  // #measure finds the bounds of everything shown.
  #measure() {
    const b = { left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity };
    const add = (x, y, r = 0) => {
      if (!Number.isFinite(x) || !Number.isFinite(y) || !Number.isFinite(r)) return;
      b.left = Math.min(b.left, x - r);
      b.right = Math.max(b.right, x + r);
      b.top = Math.min(b.top, y - r);
      b.bottom = Math.max(b.bottom, y + r);
    };
    for (let i = 0; i < this.places.length; i += words) {
      const layer = this.places[i];
      if (!this.off.has(layer) && this.layers[layer]?.role !== "vector") add(this.places[i + 1], this.places[i + 2]);
    }
    if (this.picture) each(this.picture, (op, colour, n) => {
      if (op === RECT || op === LINE) {
        add(n[0], n[1]);
        add(n[2], n[3]);
      } else if (op === POLYGON) for (let i = 1; i < n.length; i += 2) add(n[i], n[i + 1]);
      else add(n[0], n[1], op === TEXT ? 0 : Math.abs(n[2]));
    });
    this.bounds = b.left <= b.right ? b : null;
  }

  #fitNow() {
    const b = this.bounds, wide = this.element.clientWidth, high = this.element.clientHeight;
    this.dirty = true;
    if (!b || !wide || !high) return;
    const scale = Math.min((wide - 2 * margin) / Math.max(b.right - b.left, 1e-6), (high - 2 * margin) / Math.max(b.bottom - b.top, 1e-6));
    this.camera = { x: (b.left + b.right) / 2, y: (b.top + b.bottom) / 2, scale: clampScale(b.left === b.right && b.top === b.bottom ? 20 : scale) };
  }

  #screen(x, y) {
    const { camera } = this;
    return [(x - camera.x) * camera.scale + this.wide / 2, (y - camera.y) * camera.scale + this.high / 2];
  }

  // #place returns the place of a pixel.
  #place(x, y) {
    const { camera } = this;
    return { x: (x - this.element.clientWidth / 2) / camera.scale + camera.x, y: (y - this.element.clientHeight / 2) / camera.scale + camera.y };
  }

  // draw draws if anything has changed.
  draw() {
    this.#pan();
    if (!this.dirty || !this.element.clientWidth || !this.places) return;
    this.dirty = false;
    this.drawn++;
    const ratio = Math.min(devicePixelRatio || 1, 2), { canvas } = this;
    this.wide = this.element.clientWidth;
    this.high = this.element.clientHeight;
    if (!this.fitted) this.#fitNow();
    this.dirty = false;
    const width = Math.round(this.wide * ratio), height = Math.round(this.high * ratio);
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    const c = canvas.getContext("2d");
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    c.clearRect(0, 0, this.wide, this.high);
    this.#grid(c);
    if (this.picture) this.#picture(c, this.picture, this.texts);
    this.#dots(c);
    if (this.keys) this.#overlay(c);
  }

  // #grid draws lines at round numbers.
  #grid(c) {
    const { camera } = this, ink = getComputedStyle(this.canvas).color;
    let step = 10 ** Math.floor(Math.log10(80 / camera.scale));
    if (step * camera.scale < 30) step *= 5;
    const left = camera.x - this.wide / 2 / camera.scale, top = camera.y - this.high / 2 / camera.scale;
    const at = this.#screen(Math.ceil(left / step) * step, Math.ceil(top / step) * step), pixels = step * camera.scale;
    if (!(pixels > 8)) return;
    c.strokeStyle = c.fillStyle = ink;
    c.lineWidth = 1;
    c.font = "10px ui-monospace, monospace";
    for (let x = at[0], i = 0; x < this.wide; x += pixels, i++) {
      c.globalAlpha = 0.1;
      c.fillRect(Math.round(x), 0, 1, this.high);
      c.globalAlpha = 0.55;
      c.fillText(short((Math.ceil(left / step) + i) * step), x + 3, this.high - 4);
    }
    for (let y = at[1], i = 0; y < this.high; y += pixels, i++) {
      c.globalAlpha = 0.1;
      c.fillRect(0, Math.round(y), this.wide, 1);
      c.globalAlpha = 0.55;
      c.fillText(short((Math.ceil(top / step) + i) * step), 3, y - 3);
    }
    c.globalAlpha = 1;
  }

  // #overlay draws what the game's input shows: the selection and a preview.
  #overlay(c) {
    const json = samestep.overlay();
    if (!json) return;
    const { text: said, cursor, texts } = JSON.parse(json);
    this.canvas.style.cursor = cursor || "default";
    this.said = said;
    if (said) {
      this.hint.hidden = false;
      text(this.hint, said);
    }
    this.#picture(c, fill(this.numbers.overlay, samestep.overlayPicture), texts);
  }

  // #input tells the game's input of a press, a move or a key.
  #input(sort, e) {
    const { x, y } = e.offsetX === undefined ? { x: 0, y: 0 } : this.#place(e.offsetX, e.offsetY);
    samestep.input(sort, Math.max(0, e.button ?? 0), x, y, 1 / this.camera.scale, performance.now(), e.code ?? "", !!e.shiftKey, e.pointerType === "touch");
    this.dirty = true;
  }

  #picture(c, picture, texts) {
    const k = this.camera.scale;
    each(picture, (op, colour, n) => {
      c.fillStyle = c.strokeStyle = css(colour);
      const [x, y] = op === POLYGON ? [0, 0] : this.#screen(n[0], n[1]);
      c.beginPath();
      if (op === LINE) {
        c.lineWidth = Math.max(0.5, n[4] * k);
        c.moveTo(x, y);
        c.lineTo(...this.#screen(n[2], n[3]));
        c.stroke();
      } else if (op === CIRCLE || op === RING) {
        c.arc(x, y, Math.max(0, n[2] * k), 0, 2 * Math.PI);
        c.lineWidth = Math.max(0.5, (n[3] ?? 0) * k);
        if (op === RING) c.stroke();
        else c.fill();
      } else if (op === RECT) {
        const [right, bottom] = this.#screen(n[2], n[3]);
        c.fillRect(x, y, right - x, bottom - y);
      } else if (op === POLYGON) {
        for (let i = 1; i < n.length; i += 2) c.lineTo(...this.#screen(n[i], n[i + 1]));
        c.fill();
      } else if (op === TEXT && n[2] * k > 3) {
        c.font = `${Math.min(400, n[2] * k)}px system-ui, sans-serif`;
        c.textAlign = "center";
        c.textBaseline = "middle";
        c.fillText(texts[n[3]] ?? "", x, y);
        c.textAlign = "start";
        c.textBaseline = "alphabetic";
      }
    });
  }

  #dots(c) {
    const p = this.places, ink = getComputedStyle(this.canvas).color;
    const shown = this.#visible(), size = shown.length > 3000 ? 2 : shown.length > 400 ? 3 : 5;
    const of_ = (i) => (p[i + 3] < 0 ? { fill: "#8d99a8", dark: "#3d4652" } : of(Math.min(1e6, Math.floor(p[i + 3]))));
    let element = -1, from = null; // the last place of an element, from which its other places hang
    for (let i = 0; i < p.length; i += words) {
      const role = this.layers[p[i]]?.role;
      if (role === "place") [element, from] = [p[i + 5], i];
      if (this.off.has(p[i]) || role === "place" || element !== p[i + 5]) continue;
      const [x0, y0] = this.#screen(p[from + 1], p[from + 2]);
      const [x1, y1] = role === "vector" ? this.#screen(p[from + 1] + p[i + 1], p[from + 2] + p[i + 2]) : this.#screen(p[i + 1], p[i + 2]);
      c.globalAlpha = 0.5;
      c.strokeStyle = of_(i).fill;
      c.lineWidth = 1.5;
      c.setLineDash(role === "vector" ? [] : [4, 4]);
      c.beginPath();
      c.moveTo(x0, y0);
      c.lineTo(x1, y1);
      c.stroke();
    }
    c.setLineDash([]);
    c.globalAlpha = 1;
    for (const i of shown) {
      const [x, y] = this.#screen(p[i + 1], p[i + 2]), look = of_(i);
      c.fillStyle = look.fill;
      c.strokeStyle = i === this.selected ? ink : look.dark;
      c.lineWidth = i === this.selected ? 3 : 1;
      shape(c, p[i] % 4, x, y, i === this.selected ? size + 3 : size);
    }
    if (shown.length > labels) return;
    c.font = "11px system-ui, sans-serif";
    c.fillStyle = ink;
    for (const i of shown) {
      const [x, y] = this.#screen(p[i + 1], p[i + 2]);
      c.globalAlpha = p[i + 3] < 0 ? 0.55 : 1;
      c.fillText(short(p[i + 4]), x + size + 3, y + 4);
    }
    c.globalAlpha = 1;
  }

  // #visible returns the shown places on the screen.
  #visible() {
    const p = this.places, shown = [];
    for (let i = 0; i < p.length; i += words) {
      if (this.off.has(p[i]) || this.layers[p[i]]?.role === "vector") continue;
      const [x, y] = this.#screen(p[i + 1], p[i + 2]);
      if (x > -20 && y > -20 && x < this.wide + 20 && y < this.high + 20) shown.push(i);
    }
    return shown;
  }

  // #at returns the place nearest to a pixel, or -1.
  #at(x, y) {
    let best = -1, least = near * near;
    if (!this.places || !this.wide) return best;
    for (const i of this.#visible()) {
      const [px, py] = this.#screen(this.places[i + 1], this.places[i + 2]), away = (px - x) ** 2 + (py - y) ** 2;
      if (away < least) [best, least] = [i, away];
    }
    return best;
  }

  #listen() {
    const { canvas } = this, on = (name, f, options) => canvas.addEventListener(name, f, options);
    this.pointers = new Map();
    this.held = new Set();
    on("pointerdown", (e) => {
      canvas.focus({ preventScroll: true });
      canvas.setPointerCapture(e.pointerId);
      this.pointers.set(e.pointerId, { x0: e.offsetX, y0: e.offsetY, x: e.offsetX, y: e.offsetY, game: this.#games(e) });
      if (this.#games(e)) this.#input(PRESSED, e);
      if (this.pointers.size === 2) this.spread = spread(this.pointers);
      e.preventDefault();
    });
    on("pointermove", (e) => this.#move(e));
    on("pointerup", (e) => this.#up(e));
    on("pointercancel", (e) => {
      this.pointers.delete(e.pointerId);
      if (this.keys) this.#input(LEFT, e);
    });
    on("pointerleave", (e) => {
      this.hint.hidden = true;
      if (this.keys) this.#input(LEFT, e);
    });
    on("contextmenu", (e) => this.keys && e.preventDefault());
    on("wheel", (e) => {
      e.preventDefault();
      this.#zoom(wheelZoom(e) / 1000, e.offsetX, e.offsetY);
    }, { passive: false });
    listen(this.element, (e) => this.#key(e));
    addEventListener("keyup", (e) => {
      this.held.delete(e.code);
      if (this.keys?.includes(e.code)) this.#input(KEYUP, { code: e.code, shiftKey: e.shiftKey });
    });
    addEventListener("blur", () => {
      this.held.clear();
      if (this.keys) samestep.inputBlur();
    });
  }

  // #games reports whether a press is the game's. The middle button and a finger that moves move the map.
  #games(e) {
    return this.keys && !this.picked && (e.button === 0 || e.button === 2) && e.pointerType !== "touch";
  }

  #move(e) {
    if (this.keys && e.pointerType !== "touch") this.#input(MOVED, e);
    const p = this.pointers.get(e.pointerId);
    if (!p) {
      this.#point(e);
      return;
    }
    const dx = e.offsetX - p.x, dy = e.offsetY - p.y;
    Object.assign(p, { x: e.offsetX, y: e.offsetY });
    p.dragged ||= this.pointers.size > 1 || Math.hypot(p.x - p.x0, p.y - p.y0) > dragPixels;
    if (this.pointers.size === 2) {
      const now = spread(this.pointers), before = this.spread;
      this.#shift(now.x - before.x, now.y - before.y);
      this.#zoom(now.apart / before.apart, now.x, now.y);
      this.spread = now;
    } else if (p.dragged && !p.game) this.#shift(dx, dy);
  }

  #up(e) {
    const p = this.pointers.get(e.pointerId);
    this.pointers.delete(e.pointerId);
    if (p?.game) this.#input(RELEASED, e);
    else if (p && !p.dragged && this.keys && !this.picked && e.pointerType === "touch") {
      this.#input(PRESSED, e);
      this.#input(RELEASED, e);
    }
    if (!p || p.dragged || e.button !== 0) return;
    if (this.picked) {
      const { picked } = this;
      this.cancel();
      picked(this.#place(p.x, p.y));
      return;
    }
    this.selected = this.#at(p.x, p.y);
    this.dirty = true;
    if (this.selected < 0) return;
    const path = samestep.elementAt(this.selected / words);
    if (path) this.show(path);
  }

  // #point shows what is under the pointer.
  #point(e) {
    if (!this.places) return;
    const { x, y } = this.#place(e.offsetX, e.offsetY), i = this.#at(e.offsetX, e.offsetY);
    const what = i < 0 ? "" : `${this.layers[this.places[i]]?.path} · ${short(this.places[i + 4])}${this.places[i + 3] < 0 ? "" : ` · ${playerName([], this.places[i + 3])}`} · `;
    this.hint.hidden = false;
    if (this.keys && this.said) return;
    text(this.hint, i < 0 ? `${short(x)}, ${short(y)}` : `${what}${short(this.places[i + 1])}, ${short(this.places[i + 2])}`);
  }

  #shift(dx, dy) {
    this.fitted = true;
    this.camera.x -= dx / this.camera.scale;
    this.camera.y -= dy / this.camera.scale;
    this.dirty = true;
  }

  #zoom(by, x, y) {
    const before = this.#place(x, y);
    this.fitted = true;
    this.camera.scale = clampScale(this.camera.scale * by);
    const after = this.#place(x, y);
    this.camera.x += before.x - after.x;
    this.camera.y += before.y - after.y;
    this.dirty = true;
  }

  // #pan moves the map while arrow keys are pressed.
  #pan() {
    const now = performance.now(), seconds = Math.min(100, now - (this.pannedAt ?? now)) / 1000;
    this.pannedAt = now;
    const [dx, dy] = direction(this.held);
    if (dx || dy) this.#shift(-dx * speed * seconds, -dy * speed * seconds);
  }

  // #key handles a key, and reports whether it has a function.
  #key(e) {
    if (e.altKey || e.metaKey || e.ctrlKey) return false;
    const x = this.element.clientWidth / 2, y = this.element.clientHeight / 2;
    if (this.keys?.includes(e.code)) this.#input(KEYDOWN, { code: e.code, shiftKey: e.shiftKey });
    else if (isArrow(e.code)) this.held.add(e.code);
    else if (e.code === "Equal" || e.code === "NumpadAdd") this.#zoom(1.15, x, y);
    else if (e.code === "Minus" || e.code === "NumpadSubtract") this.#zoom(1 / 1.15, x, y);
    else if (e.code === "Digit0" || e.code === "Numpad0") this.fit();
    else if (e.code === "Escape") this.cancel();
    else return false;
    return true;
  }
}

// The shapes of a picture, as package canvas numbers them.
const LINE = 1, CIRCLE = 2, RING = 3, RECT = 4, POLYGON = 5, TEXT = 6;
const lengths = { [LINE]: 5, [CIRCLE]: 3, [RING]: 4, [RECT]: 4, [TEXT]: 4 };

// each calls f with each shape of a picture: its number, its colour and its numbers.
function each(picture, f) {
  for (let at = 0; at + 2 <= picture.length; ) {
    const op = picture[at], length = op === POLYGON ? 1 + 2 * picture[at + 2] : lengths[op];
    if (!length) return;
    f(op, picture[at + 1], picture.subarray(at + 2, at + 2 + length));
    at += 2 + length;
  }
}

// css returns a colour of a picture as the user wants to see it.
const css = (colour) => {
  const whole = `#${colour.toString(16).padStart(8, "0")}`;
  return chosen(whole.slice(0, 7)) + whole.slice(7);
};

const clampScale = (scale) => Math.min(1e7, Math.max(1e-12, scale));

// shape draws the mark of a layer.
function shape(c, number, x, y, size) {
  c.beginPath();
  if (number === 0) c.arc(x, y, size, 0, 2 * Math.PI);
  else if (number === 1) c.rect(x - size * 0.85, y - size * 0.85, size * 1.7, size * 1.7);
  else {
    const points = number === 2 ? [[0, -1.2], [1.2, 0], [0, 1.2], [-1.2, 0]] : [[0, -1.2], [1.1, 0.8], [-1.1, 0.8]];
    for (const [dx, dy] of points) c.lineTo(x + dx * size, y + dy * size);
    c.closePath();
  }
  c.fill();
  c.stroke();
}

// short returns a number with at most three decimals.
const short = (v) => (Math.abs(v) >= 1e9 ? v.toExponential(2) : String(Math.round(v * 1000) / 1000));

// A block is memory that the program fills with numbers.
const block = () => ({ bytes: new Uint8Array(8 * 1024) });

// fill lets the program fill a block, which grows, and returns the numbers.
function fill(b, from) {
  let size = from(b.bytes);
  if (size > b.bytes.length) {
    b.bytes = new Uint8Array(2 * size);
    size = from(b.bytes);
  }
  return new Float64Array(b.bytes.buffer, 0, Math.floor(size / 8));
}
