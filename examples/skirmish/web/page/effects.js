// Draws effects: shots, deaths, and the ways of units.

import { EFFECT } from "./frame.js";
import { of } from "./palette.js";

// The kinds of effects, as package scene numbers them.
const STRIKE = 1, ARROW = 2, PUFF = 3, RUIN = 4, DONE = 5, SPARK = 6, WAY = 7, ASSAULT = 8;

// drawEffects draws the effects of a frame.
export function drawEffects(c, frame, at) {
  const w = frame.words;
  for (let i = frame.effects.start; i < frame.effects.end; i += EFFECT) {
    const x = w[i + 1] * at.k + at.x, y = w[i + 2] * at.k + at.y;
    const tx = w[i + 3] * at.k + at.x, ty = w[i + 4] * at.k + at.y;
    draw[w[i] & 255]?.(c, frame.cell, of((w[i] >> 8) & 255), ((w[i] >> 16) & 255) / 255, x, y, tx, ty);
  }
  c.globalAlpha = 1;
}

function ring(c, x, y, r, width, colour, alpha) {
  c.globalAlpha = alpha;
  c.strokeStyle = colour;
  c.lineWidth = width;
  c.beginPath();
  c.arc(x, y, r, 0, 7);
  c.stroke();
}

function way(c, x, y, tx, ty, colour) {
  c.globalAlpha = 0.45;
  c.strokeStyle = c.fillStyle = colour;
  c.lineWidth = 1;
  c.setLineDash([4, 5]);
  c.beginPath();
  c.moveTo(x, y);
  c.lineTo(tx, ty);
  c.stroke();
  c.setLineDash([]);
  c.globalAlpha = 0.8;
  c.beginPath();
  c.arc(tx, ty, 2.5, 0, 7);
  c.fill();
}

const draw = {
  [STRIKE](c, cell, p, age, x, y, tx, ty) {
    const a = Math.atan2(ty - y, tx - x), r = cell * 0.45;
    c.globalAlpha = 1 - age;
    c.strokeStyle = "#fff3d6";
    c.lineWidth = Math.max(1, cell * 0.09);
    c.beginPath();
    c.arc(tx - Math.cos(a) * r * 0.6, ty - Math.sin(a) * r * 0.6, r, a - 1 + age, a + 0.6 + age);
    c.stroke();
  },
  [ARROW](c, cell, p, age, x, y, tx, ty) {
    const dx = tx - x, dy = ty - y, length = Math.hypot(dx, dy) || 1, s = (cell * 0.5) / length;
    const hx = x + dx * age, hy = y + dy * age;
    c.globalAlpha = 1;
    c.strokeStyle = p.light;
    c.lineWidth = Math.max(1, cell * 0.08);
    c.beginPath();
    c.moveTo(hx, hy);
    c.lineTo(hx - dx * s, hy - dy * s);
    c.stroke();
  },
  [PUFF](c, cell, p, age, x, y) {
    c.globalAlpha = (1 - age) * 0.55;
    c.fillStyle = p.dark;
    c.beginPath();
    c.arc(x, y, cell * (0.35 + age * 0.5), 0, 7);
    c.fill();
    ring(c, x, y, cell * (0.3 + age * 0.7), Math.max(1, cell * 0.07), p.light, 1 - age);
  },
  [RUIN](c, cell, p, age, x, y) {
    c.globalAlpha = (1 - age) * 0.7;
    c.fillStyle = "#2a2320";
    c.beginPath();
    c.arc(x, y, cell * (1.4 + age), 0, 7);
    c.fill();
    c.fillStyle = "#ff9d3c";
    for (let k = 0; k < 7; k++) {
      const a = k * 0.9 + 0.4, d = cell * (0.3 + age * (1.2 + (k % 3) * 0.5));
      c.fillRect(x + Math.cos(a) * d, y + Math.sin(a) * d, cell * 0.22 * (1 - age), cell * 0.22 * (1 - age));
    }
  },
  [DONE](c, cell, p, age, x, y) {
    ring(c, x, y, cell * (0.5 + age * 1.4), Math.max(1, cell * 0.1 * (1 - age)), p.light, 1 - age);
  },
  [SPARK](c, cell, p, age, x, y) {
    ring(c, x, y, cell * (0.9 - age * 0.6), Math.max(1, cell * 0.12), "#ffffff", 1 - age);
  },
  [WAY](c, cell, p, age, x, y, tx, ty) { way(c, x, y, tx, ty, "#b9f5c4"); },
  [ASSAULT](c, cell, p, age, x, y, tx, ty) { way(c, x, y, tx, ty, "#ff9a8f"); },
};
