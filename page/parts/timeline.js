// The timeline of a replay: commands, keyframes, checksums and desyncs. The control is a range input, so it works with
// mouse, touch and keyboard. A canvas behind it has the picture, with the charts of games that have some.

import { el, clock } from "./dom.js";
import { t } from "./text.js";
import { of } from "./palette.js";
import { Charts } from "./charts.js";

const laneTop = 12; // pixels above the players' lanes, for keyframes and checksums

export class Timeline {
  // go(tick) jumps to a tick; charts are the game's, as charts.js has them, or undefined.
  constructor(go, charts) {
    this.charts = new Charts(charts, () => this.#redraw());
    this.canvas = el("canvas", { "aria-hidden": "true" });
    this.range = el("input", {
      type: "range", class: "seek", min: "0", max: "1", step: "1", value: "0", "aria-label": t("Tick"),
      oninput: () => go(Number(this.range.value)),
    });
    this.hint = el("output", { class: "hint", hidden: true });
    this.colours = ["ink", "good", "bad", "back"].map((name) => el("i", { class: name, hidden: true })); // the page's colours
    this.element = el("div", { class: "timeline" }, this.canvas, this.range, this.charts.values, this.hint, ...this.colours);
    this.element.addEventListener("pointermove", (e) => this.#point(e));
    this.element.addEventListener("pointerleave", () => (this.hint.hidden = true));
    new ResizeObserver(() => this.#redraw()).observe(this.element);
    addEventListener("palette", () => this.#redraw());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.#redraw());
  }

  open(about) {
    this.about = about;
    this.marks = [];
    this.charts.open(about);
    this.range.min = about.first;
    this.range.max = about.last;
    this.#redraw();
  }

  close() {
    this.about = null;
  }

  // at shows the current tick; marks are ticks whose checksum differed in this viewer.
  at(tick, marks) {
    const about = this.about;
    if (!about) return;
    if (document.activeElement !== this.range || !this.range.matches(":active")) this.range.value = tick;
    this.charts.at(tick);
    this.range.setAttribute("aria-valuetext", t("tick {tick}, {time}", { tick, time: clock(tick, about.tick_micros) }) + this.charts.says(tick));
    if (marks.length !== this.marks.length) {
      this.marks = marks;
      this.#redraw();
    }
  }

  #point(e) {
    const about = this.about;
    if (!about) return;
    const part = Math.min(1, Math.max(0, e.offsetX / this.element.clientWidth));
    const tick = Math.round(about.first + part * (about.last - about.first));
    this.hint.hidden = false;
    this.hint.textContent = t("{time} · tick {tick}", { time: clock(tick, about.tick_micros), tick }) + this.charts.says(tick);
    const wide = this.element.clientWidth, half = this.hint.offsetWidth / 2;
    this.hint.style.left = `${Math.max(half, Math.min(wide - half, part * wide))}px`; // within the timeline
  }

  // faults returns the ticks whose checksums differed, ascending: in the log and in this viewer.
  faults() {
    return [...new Set([...(this.data?.mismatches ?? []), ...this.marks].map(({ tick }) => tick))].sort((a, b) => a - b);
  }

  // #runs returns the first and the last tick of each lasting desync.
  #runs() {
    const { first, last, checks } = this.about, apart = (4 * (last - first)) / Math.max(1, checks), runs = [];
    for (const tick of this.faults()) {
      const run = runs.at(-1);
      if (run && tick - run[1] <= apart) run[1] = tick;
      else runs.push([tick, tick]);
    }
    return runs;
  }

  // #x returns the position of a tick in pixels of the canvas.
  #x(tick) {
    const { first, last } = this.about;
    return ((tick - first) / Math.max(1, last - first)) * this.canvas.width;
  }

  #redraw() {
    if (!this.about || !this.element.clientWidth) return;
    const ratio = Math.min(devicePixelRatio || 1, 2);
    const width = Math.round(this.element.clientWidth * ratio), height = Math.round(this.element.clientHeight * ratio);
    if (this.canvas.width !== width || this.canvas.height !== height) Object.assign(this.canvas, { width, height });
    const columns = Math.max(1, Math.floor(this.element.clientWidth / 3));
    if (this.data?.columns !== columns || this.data.of !== this.about) {
      this.data = JSON.parse(samestep.watchTimeline(columns) ?? "null");
      if (!this.data) return;
      this.data.of = this.about;
    }
    const c = this.canvas.getContext("2d"), [ink, good, bad, back] = this.colours.map((e) => getComputedStyle(e).color);
    c.clearRect(0, 0, width, height);
    const charted = this.charts.draw(c, (tick) => this.#x(tick), laneTop * ratio, ratio, back);
    c.globalCompositeOperation = "destination-over"; // the lanes lie below the chart
    this.#drawLanes(c, ratio, charted ? 0.35 : 1);
    c.globalCompositeOperation = "source-over";
    c.fillStyle = good;
    const step = width / columns;
    for (const i of this.data.checked) c.fillRect((i + 0.5) * step - ratio, 8 * ratio, 2 * ratio, 2 * ratio);
    c.fillStyle = ink;
    for (const tick of this.data.keyframes) c.fillRect(this.#x(tick) - ratio / 2, 0, ratio, 7 * ratio);
    c.fillStyle = bad;
    for (const [from, to] of this.#runs()) {
      const x = this.#x(from);
      c.fillRect(x - ratio / 2, 0, ratio, height);
      c.fillRect(x, 8 * ratio, this.#x(to) - x, ratio); // a lasting one does not cover the lanes
      c.beginPath();
      c.moveTo(x - 5 * ratio, 0);
      c.lineTo(x + 5 * ratio, 0);
      c.lineTo(x, 8 * ratio);
      c.fill();
    }
  }

  // #drawLanes draws a lane for each player; the height is the number of commands per second, and strong its opacity.
  #drawLanes(c, ratio, strong) {
    const lanes = this.data.activity.length, { width, height } = this.canvas;
    const top = laneTop * ratio, high = (height - top) / Math.max(1, lanes), step = width / this.data.columns;
    this.data.activity.forEach((rates, player) => {
      const bottom = top + (player + 1) * high;
      c.fillStyle = of(player).fill;
      c.globalAlpha = 0.16 * strong;
      c.fillRect(0, bottom - ratio, width, ratio);
      c.globalAlpha = strong;
      rates.forEach((rate, i) => {
        if (!rate) return;
        const h = Math.max(2 * ratio, Math.sqrt(rate / this.data.most) * (high - ratio));
        c.fillRect(i * step, bottom - h, Math.max(step - ratio * 0.5, ratio), h);
      });
    });
    c.globalAlpha = 1;
  }
}
