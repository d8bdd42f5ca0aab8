// Draws what lies on the ground: zones and crystals.

import { of } from "./palette.js";
import { ZONE, CRYSTAL } from "./frame.js";
import { signs } from "./land.js";

const TELEPORT = 0, SHRINE = 1, HOARD = 2; // the kinds of zones, as package skirmish numbers them; the last one is the spawn zone
const turns = 4; // pictures of a turning zone
const levels = 6; // of a crystal that is mined

// drawZones draws the zones of a frame; still: nothing turns.
export function drawZones(pen, sprites, frame, at, still) {
  const w = frame.words;
  for (let i = frame.zones.start; i < frame.zones.end; i += ZONE) {
    const kind = w[i + 3] & 255, rests = (w[i + 3] >> 8) & 1, holder = (w[i + 3] >> 16) & 31;
    const r = Math.min(w[i + 2] * at.k, 1000), phase = kind === TELEPORT && !rests && !still ? (frame.tick >> 2) % turns : 0;
    const picture = sprites.get(2, (((Math.round(r) * 32 + holder) * turns + phase) * 2 + rests) * 8 + (kind & 7),
      () => r + 3, (c) => zone(c, r, kind, rests, holder, phase / turns));
    pen.stamp(picture, w[i] * at.k + at.x, w[i + 1] * at.k + at.y);
  }
}

function zone(c, r, kind, rests, holder, phase) {
  const colour = holder ? of(holder - 1).fill : [signs.teleport, signs.shrine, signs.hoard, signs.spawn][kind];
  const glow = c.createRadialGradient(0, 0, r * 0.1, 0, 0, r);
  glow.addColorStop(0, `${colour}10`);
  glow.addColorStop(0.75, `${colour}30`);
  glow.addColorStop(1, `${colour}66`);
  c.globalAlpha = rests ? 0.4 : 1;
  c.fillStyle = glow;
  c.beginPath();
  c.arc(0, 0, r, 0, 7);
  c.fill();
  c.strokeStyle = "rgba(6,10,14,.55)";
  c.lineWidth = 4;
  c.stroke();
  c.strokeStyle = c.fillStyle = colour;
  c.lineWidth = 2;
  c.stroke();
  c.beginPath();
  if (kind === TELEPORT) { // a whirl
    for (let arm = 0; arm < 4; arm++) {
      const a = ((arm + phase) * Math.PI) / 2;
      for (let k = 0; k <= 8; k++) c[k ? "lineTo" : "moveTo"](Math.cos(a + k * 0.22) * r * (0.15 + k * 0.085), Math.sin(a + k * 0.22) * r * (0.15 + k * 0.085));
    }
    c.lineWidth = Math.max(1.5, r * 0.08);
    c.stroke();
    return;
  }
  if (kind === SHRINE) {
    c.rect(-r * 0.13, -r * 0.42, r * 0.26, r * 0.84);
    c.rect(-r * 0.42, -r * 0.13, r * 0.29, r * 0.26);
    c.rect(r * 0.13, -r * 0.13, r * 0.29, r * 0.26);
  } else if (kind === HOARD) { // a chest with a lid
    c.rect(-r * 0.4, -r * 0.3, r * 0.8, r * 0.2);
    c.rect(-r * 0.4, -r * 0.04, r * 0.32, r * 0.34);
    c.rect(r * 0.08, -r * 0.04, r * 0.32, r * 0.34);
  } else { // a flag
    c.rect(-r * 0.3, -r * 0.42, r * 0.1, r * 0.84);
    c.moveTo(-r * 0.16, -r * 0.42);
    c.lineTo(r * 0.42, -r * 0.2);
    c.lineTo(-r * 0.16, r * 0.04);
    c.closePath();
  }
  c.lineWidth = 3;
  c.strokeStyle = "rgba(6,10,14,.6)";
  c.stroke();
  c.fill();
}

// gem draws a crystal.
export function gem(c, x, y, r) {
  const side = (points, colour) => {
    c.fillStyle = colour;
    c.beginPath();
    points.forEach(([px, py], i) => c[i ? "lineTo" : "moveTo"](x + px * r, y + py * r));
    c.closePath();
    c.fill();
  };
  const outline = [[0, -1.5], [0.8, -0.3], [0.4, 1], [-0.5, 1], [-0.8, -0.3]];
  side(outline, signs.crystal);
  side([[0, -1.5], [0.8, -0.3], [0.4, 1], [0.05, -0.1]], signs.crystalDark);
  side([[0, -1.5], [0.05, -0.1], [-0.8, -0.3]], signs.crystalLight);
  c.strokeStyle = signs.crystalEdge;
  c.lineWidth = Math.max(0.8, r * 0.14);
  c.beginPath();
  outline.forEach(([px, py], i) => c[i ? "lineTo" : "moveTo"](x + px * r, y + py * r));
  c.closePath();
  c.stroke();
}

// drawCrystals draws the deposits; the fewer crystals are left, the fewer and smaller they are.
export function drawCrystals(pen, sprites, frame, at) {
  const w = frame.words;
  for (let i = frame.crystals.start; i < frame.crystals.end; i += CRYSTAL) {
    const level = Math.ceil((w[i + 2] / 1000) * levels), seed = i % 3;
    const picture = sprites.get(3, level * 3 + seed, (cell) => cell * 1.05 + 3, (c, cell) => deposit(c, Math.max(cell * 0.42, 2.6), level, seed));
    pen.stamp(picture, w[i] * at.k + at.x, w[i + 1] * at.k + at.y);
  }
}

function deposit(c, size, level, seed) {
  c.fillStyle = level ? "rgba(12,38,48,.45)" : "rgba(20,24,26,.35)";
  c.beginPath();
  c.ellipse(size * 0.15, size * 0.55, size * 1.5, size * 0.8, 0, 0, 7);
  c.fill();
  if (!level) { // only rubble is left
    c.fillStyle = "#6f7f86";
    for (let k = 0; k < 5; k++) c.fillRect(Math.cos(k * 2.4 + seed) * size * 0.8, Math.sin(k * 2.4 + seed) * size * 0.4 + size * 0.3, size * 0.34, size * 0.26);
    return;
  }
  const r = size * (0.45 + (0.5 * level) / levels), flip = seed % 2 ? -1 : 1;
  if (level > 1) gem(c, -flip * size * 0.75, size * 0.25, r * 0.68);
  if (level > 3) gem(c, flip * size * 0.8, size * 0.2, r * 0.75);
  gem(c, flip * size * 0.06, -size * 0.05, r);
  if (level > 4) gem(c, -flip * size * 0.3, size * 0.6, r * 0.45);
}
