// Draws effects: shots, deaths, orders, calls to allies, and the ways of units.

import { radius } from "./shapes.js";
import { EFFECT } from "./frame.js";
import { of } from "./palette.js";
import { t } from "./text.js";

// The kinds of effects, as package scene numbers them.
export const STRIKE = 1, ARROW = 2, PUFF = 3, RUIN = 4, DONE = 5, SPARK = 6, WAY = 7, ASSAULT = 8, PING = 9;
const GLOW = 14, SHADE = 15, GHOST = 16;
const MOVED = 10, ATTACKED = 11, GATHERED = 12, BUILT = 13;

const ages = 8; // pictures of an effect as it ages
const angles = 16; // pictures of one with a direction

export const marks = { [MOVED]: "#b9f5c4", [ATTACKED]: "#ff8378", [GATHERED]: "#6fe3ff", [BUILT]: "#ffd67a" };

// drawEffects draws the effects of a frame that lie below its lines; calm: nothing flashes.
export function drawEffects(pen, sprites, frame, at, cell, calm) {
  const w = frame.words;
  for (let i = frame.effects.start; i < frame.effects.end; i += EFFECT) {
    const sort = w[i] & 255, owner = (w[i] >> 8) & 255, age = (w[i] >> 16) & 255;
    if (!pictures[sort] || (calm && (sort === SPARK || sort === RUIN || sort === STRIKE))) continue;
    let x = w[i + 1] * at.k + at.x, y = w[i + 2] * at.k + at.y;
    const tx = w[i + 3] * at.k + at.x, ty = w[i + 4] * at.k + at.y, part = age / 255;
    let turn = 0;
    if (sort === ARROW) { // an arc, of which the shadow is not drawn
      const rise = Math.hypot(tx - x, ty - y) * 0.18, slope = Math.cos(part * Math.PI) * Math.PI * rise;
      turn = Math.atan2(ty - y - slope, tx - x);
      x += (tx - x) * part;
      y += (ty - y) * part - Math.sin(part * Math.PI) * rise;
    } else if (sort === STRIKE) {
      turn = Math.atan2(ty - y, tx - x);
      x = tx - Math.cos(turn) * cell * 0.3;
      y = ty - Math.sin(turn) * cell * 0.3;
    }
    const step = sort === ARROW ? 0 : Math.min(ages - 1, Math.floor(part * ages));
    const heading = sort === ARROW || sort === STRIKE ? (Math.round((turn * angles) / (2 * Math.PI)) + angles) % angles : 0;
    const { size, draw } = pictures[sort];
    const picture = sprites.get(4, ((owner * angles + heading) * ages + step) * 16 + sort, (cell) => Math.max(cell, 5) * size + 2, (c, cell) => {
      c.rotate((heading * 2 * Math.PI) / angles);
      draw(c, Math.max(cell, 5), of(owner), step / (ages - 1));
    });
    pen.stamp(picture, x, y);
  }
}

// drawLines draws the ways of selected units, the calls to allies and what differs from the match, on the canvas in CSS pixels.
// stamp(kind, owner, x, y) draws a unit or building.
export function drawLines(c, frame, at, calm, stamp) {
  const w = frame.words;
  for (let i = frame.effects.start; i < frame.effects.end; i += EFFECT) {
    const sort = w[i] & 255, x = w[i + 1] * at.k + at.x, y = w[i + 2] * at.k + at.y;
    if (sort === WAY || sort === ASSAULT) way(c, x, y, w[i + 3] * at.k + at.x, w[i + 4] * at.k + at.y, sort === WAY ? "#b9f5c4" : "#ff9a8f");
    else if (sort === PING) ping(c, x, y, of((w[i] >> 8) & 255), ((w[i] >> 16) & 255) / 255, calm);
  }
  c.globalAlpha = 1;
  drawMarks(c, frame, at, calm);
  drawGhosts(c, frame, at, calm, stamp);
}

// drawMarks draws the units that differ from another state: they glow, and a dashed shade is where they are in the other one.
function drawMarks(c, frame, at, calm) {
  const w = frame.words, pulse = calm ? 0.5 : 0.5 + 0.5 * Math.sin(performance.now() / 180);
  for (let i = frame.effects.start; i < frame.effects.end; i += EFFECT) {
    const sort = w[i] & 255;
    if (sort !== GLOW && sort !== SHADE) continue;
    const r = Math.max(6, radius[(w[i] >> 16) & 255] * frame.cell * 1.3), [x, y, tx, ty] = [1, 2, 3, 4].map((k) => w[i + k] * at.k + (k % 2 ? at.x : at.y));
    c.beginPath();
    if (sort === GLOW) {
      c.arc(x, y, r + 3 * pulse, 0, 7);
      c.lineWidth = 7;
      c.strokeStyle = `rgba(255,64,110,${0.2 + 0.25 * pulse})`;
      c.stroke();
      c.lineWidth = 2.5;
      c.strokeStyle = "#ff4d6d";
      c.stroke();
      continue;
    }
    c.setLineDash([4, 4]);
    c.lineWidth = 2;
    c.strokeStyle = "#ffffff";
    c.arc(tx, ty, r, 0, 7);
    c.fillStyle = "rgba(255,255,255,.18)";
    c.fill();
    if (Math.hypot(tx - x, ty - y) > r) {
      c.moveTo(x, y);
      c.lineTo(tx, ty);
    }
    c.stroke();
    c.setLineDash([]);
  }
}

// drawGhosts draws units as the match has them, above those that differ, and their health there and here.
function drawGhosts(c, frame, at, calm, stamp) {
  const w = frame.words;
  for (let i = frame.effects.start; i < frame.effects.end; i += EFFECT) {
    if ((w[i] & 255) !== GHOST) continue;
    const kind = (w[i] >> 16) & 255, owner = (w[i] >> 8) & 255, [match, here] = [w[i + 3], w[i + 4]];
    const x = w[i + 1] * at.k + at.x, foot = w[i + 2] * at.k + at.y, r = Math.max(9, radius[kind] * frame.cell);
    const y = foot - 2.6 * r - 10 - (calm ? 0 : 4 * Math.sin(performance.now() / 400));
    const light = c.createLinearGradient(0, y, 0, foot);
    light.addColorStop(0, "rgba(120,235,255,.45)");
    light.addColorStop(1, "rgba(120,235,255,0)");
    c.fillStyle = light;
    c.beginPath();
    c.moveTo(x - r, y);
    c.lineTo(x + r, y);
    c.lineTo(x + r * 0.3, foot);
    c.lineTo(x - r * 0.3, foot);
    c.fill();
    c.globalAlpha = 0.75;
    stamp(kind, owner, x, y);
    c.globalAlpha = 1;
    c.setLineDash([4, 4]);
    c.lineWidth = 2;
    c.strokeStyle = "#8ff0ff";
    c.beginPath();
    c.arc(x, y, r * 1.25, 0, 7);
    c.stroke();
    c.setLineDash([]);
    label(c, match === here ? t("the match") : t("{match} in the match, {here} here", { match, here }), x, y - r * 1.25 - 12);
  }
}

// label writes a line of text around a place.
function label(c, line, x, y) {
  c.font = "600 12px system-ui, sans-serif";
  c.textAlign = "center";
  c.textBaseline = "middle";
  const half = c.measureText(line).width / 2 + 7;
  c.fillStyle = "rgba(8,14,20,.85)";
  c.fillRect(x - half, y - 10, 2 * half, 20);
  c.fillStyle = "#d8faff";
  c.fillText(line, x, y + 0.5);
}

// ping draws rings that close in on a place.
export function ping(c, x, y, p, age, calm) {
  c.lineWidth = 3;
  for (let k = 0; k < 2; k++) {
    const part = calm ? 0.4 : (age * 4 + k * 0.5) % 1;
    c.globalAlpha = (1 - age) * (0.35 + part * 0.65);
    c.strokeStyle = k ? p.light : p.fill;
    c.beginPath();
    c.arc(x, y, 8 + 34 * (1 - part), 0, 7);
    c.stroke();
  }
  c.globalAlpha = Math.min(1, (1 - age) * 3);
  c.fillStyle = p.fill;
  c.strokeStyle = "#0c1116";
  c.lineWidth = 1.5;
  c.beginPath();
  c.moveTo(x, y);
  c.lineTo(x - 7, y - 15);
  c.arc(x, y - 18, 7.6, Math.PI * 0.87, Math.PI * 2.13);
  c.closePath();
  c.fill();
  c.stroke();
  c.globalAlpha = 1;
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

function ring(c, r, width, colour, alpha) {
  c.globalAlpha = alpha;
  c.strokeStyle = colour;
  c.lineWidth = width;
  c.beginPath();
  c.arc(0, 0, Math.max(0.5, r), 0, 7);
  c.stroke();
}

function disc(c, x, y, r, colour, alpha) {
  c.globalAlpha = alpha;
  c.fillStyle = colour;
  c.beginPath();
  c.arc(x, y, Math.max(0.3, r), 0, 7);
  c.fill();
}

// mark returns the picture of an order's target: chevrons that close in on it.
const mark = (colour) => ({
  size: 1.3,
  draw(c, cell, p, age) {
    const r = cell * (1.15 - age * 0.75), s = cell * 0.28;
    c.globalAlpha = 1 - age * 0.8;
    for (const [width, stroke] of [[Math.max(3, cell * 0.2), "rgba(6,10,14,.6)"], [Math.max(1.5, cell * 0.11), colour]]) {
      c.strokeStyle = stroke;
      c.lineWidth = width;
      c.beginPath();
      for (let k = 0; k < 4; k++) {
        c.moveTo(r + s, -s);
        c.lineTo(r, 0);
        c.lineTo(r + s, s);
        c.rotate(Math.PI / 2);
      }
      c.stroke();
    }
  },
});

// pictures are drawn for a cell of some pixels, the owner's colours and an age from 0 to 1; size is half of the side, in cells.
const pictures = {
  [STRIKE]: {
    size: 0.7,
    draw(c, cell, p, age) { // the sweep of a sword
      c.globalAlpha = 1 - age;
      c.fillStyle = "#fff3d6";
      c.beginPath();
      c.arc(0, 0, cell * 0.48, -1.2 + age, 0.7 + age);
      c.arc(-cell * 0.18, 0, cell * 0.48, 0.6 + age, -1.1 + age, true);
      c.fill();
    },
  },
  [ARROW]: {
    size: 0.5,
    draw(c, cell, p) {
      const l = cell * 0.3, w = Math.max(1, cell * 0.07);
      c.lineCap = "round";
      for (const [width, colour] of [[w * 2.2, "rgba(6,10,14,.55)"], [w, "#fff6e0"]]) {
        c.strokeStyle = colour;
        c.lineWidth = width;
        c.beginPath();
        c.moveTo(-l, 0);
        c.lineTo(l, 0);
        c.stroke();
      }
      c.fillStyle = p.light; // the feathers
      c.fillRect(-l * 1.1, -w, l * 0.5, 2 * w);
    },
  },
  [PUFF]: {
    size: 1.2,
    draw(c, cell, p, age) { // smoke in the owner's colour
      for (let k = 0; k < 6; k++) {
        const a = k * 1.05 + 0.3, d = cell * (0.1 + age * 0.62);
        disc(c, Math.cos(a) * d, Math.sin(a) * d - age * cell * 0.2, cell * (0.26 - age * 0.17), k % 2 ? p.dark : "#d9d4c8", (1 - age) * 0.75);
      }
      ring(c, cell * (0.3 + age * 0.7), Math.max(1, cell * 0.07), p.light, 1 - age);
    },
  },
  [RUIN]: {
    size: 3,
    draw(c, cell, p, age) {
      for (let k = 0; k < 9; k++) {
        const d = cell * (0.5 + age * 0.9);
        disc(c, Math.cos(k * 0.7) * d, Math.sin(k * 0.7) * d - age * cell * 0.4, cell * (0.55 + (k % 3) * 0.2), "#2a2320", (1 - age) * 0.5);
      }
      if (age < 0.5) {
        const glow = c.createRadialGradient(0, 0, 0, 0, 0, cell * (2.2 - age * 3));
        glow.addColorStop(0, "rgba(255,244,200,.95)");
        glow.addColorStop(0.4, "rgba(255,170,70,.75)");
        glow.addColorStop(1, "rgba(255,110,30,0)");
        disc(c, 0, 0, cell * (2.2 - age * 3), glow, 1 - age * 2);
      }
      for (let k = 0; k < 16; k++) {
        const a = k * 0.9 + 0.4, d = cell * (0.3 + age * (1.1 + (k % 4) * 0.42)), s = cell * 0.26 * (1 - age);
        c.globalAlpha = 1 - age * 0.6;
        c.fillStyle = ["#ff9d3c", "#8a8f98", p.fill, "#4b4038"][k % 4];
        c.fillRect(Math.cos(a) * d - s / 2, Math.sin(a) * d - s / 2, s, s);
      }
    },
  },
  [DONE]: {
    size: 2.1,
    draw(c, cell, p, age) {
      ring(c, cell * (0.5 + age * 1.4), Math.max(1, cell * 0.12 * (1 - age)), p.light, 1 - age);
      ring(c, cell * (0.3 + age * 1.1), Math.max(1, cell * 0.08 * (1 - age)), "#ffffff", 0.6 * (1 - age));
    },
  },
  [SPARK]: {
    size: 1.1,
    draw(c, cell, p, age) {
      ring(c, cell * (0.9 - age * 0.6), Math.max(1, cell * 0.12), "#ffffff", 1 - age);
      for (let k = 0; k < 8; k++) disc(c, Math.cos(k * 0.785) * cell * (0.2 + age * 0.7), Math.sin(k * 0.785) * cell * (0.2 + age * 0.7), cell * 0.07, "#fff3b0", 1 - age);
    },
  },
  [MOVED]: mark(marks[MOVED]),
  [ATTACKED]: mark(marks[ATTACKED]),
  [GATHERED]: mark(marks[GATHERED]),
  [BUILT]: mark(marks[BUILT]),
};
