// Graphs: lines over the ticks of a match.

import { el, clock } from "./dom.js";
import { t } from "./text.js";

const wide = 300, high = 100; // units of the picture

// graph returns a graph. ticks are ascending, and micros is the time of one; lines are { name, colour, values } with a
// value for each tick.
export function graph(title, ticks, lines, micros) {
  const most = Math.max(1, ...lines.flatMap((l) => l.values)), first = ticks[0] ?? 0, last = ticks.at(-1) ?? 0;
  const svg = shape("svg", {
    viewBox: `0 0 ${wide} ${high}`, preserveAspectRatio: "none", role: "img",
    "aria-label": t("{title} over time; at the end {values}", { title, values: lines.map((l) => `${l.name} ${l.values.at(-1) ?? 0}`).join(", ") }),
  });
  for (let i = 0; i <= 4; i++) svg.append(shape("line", { x1: 0, x2: wide, y1: (high * i) / 4, y2: (high * i) / 4, class: "grid" }));
  for (const { colour, values } of lines) {
    const points = values.map((v, i) => `${((ticks[i] - first) / Math.max(1, last - first)) * wide},${high - (v / most) * (high - 3)}`);
    svg.append(shape("polyline", { points: points.join(" "), stroke: colour }));
  }
  return el("figure", { class: "graph" }, el("figcaption", {}, title), el("small", { class: "most" }, most), svg,
    el("small", { class: "span" }, el("span", {}, clock(first, micros)), el("span", {}, clock(last, micros))));
}

function shape(name, attributes) {
  const e = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
  return e;
}
