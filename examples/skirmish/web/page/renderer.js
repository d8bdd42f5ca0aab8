// Draws frames on two canvases: one for the ground and the fog, redrawn only after a change, and above it one for
// moving things.

import { Ground, Fog } from "./ground.js";
import { Sprites, radius, BASE } from "./sprites.js";
import { Frame, ZONE, CRYSTAL, UNIT, PLACE, SELECTED, UNBUILT, LOADED } from "./frame.js";
import { drawEffects } from "./effects.js";
import { of } from "./palette.js";
import { signs, land } from "./land.js";

const few = 24; // up to this number of selected units, all have a health bar

export class Renderer {
  // source has frame(array), ground(array) and fog(array), which fill an array and return the number of bytes.
  constructor(ground, moving, source) {
    this.layers = { ground: ground.getContext("2d", { alpha: false }), moving: moving.getContext("2d") };
    this.canvases = [ground, moving];
    this.source = source;
    this.bytes = new Uint8Array(1 << 18);
    this.frame = new Frame();
    this.sprites = new Sprites();
    this.ratio = 1;
    this.times = new Float64Array(600); // milliseconds to draw each of the last frames
    this.drawn = 0;
    this.reset();
  }

  // reset forgets the map before another match.
  reset() {
    this.ground = this.fog = null;
    this.fogTick = this.fogTeam = -1;
    this.shown = "";
  }

  // resize sets the size of the canvases in CSS pixels.
  resize(width, height) {
    this.width = width;
    this.height = height;
    this.ratio = Math.min(devicePixelRatio || 1, 2);
    for (const canvas of this.canvases) {
      canvas.width = Math.round(width * this.ratio);
      canvas.height = Math.round(height * this.ratio);
    }
    this.shown = "";
  }

  // draw draws the next frame; it returns false if there is none yet.
  draw(...args) {
    const began = performance.now();
    const words = this.#fill((bytes) => this.source.frame(bytes, ...args));
    if (!words) return false;
    const frame = this.frame.read(new Int32Array(words.buffer, 0, words.length >> 2));
    this.#know(frame);
    this.#drawGround(frame);
    this.#drawMoving(frame);
    this.times[this.drawn++ % this.times.length] = performance.now() - began;
    return true;
  }

  // #fill lets fill write into a buffer, which grows as needed.
  #fill(fill) {
    for (;;) {
      const n = fill(this.bytes);
      if (!n) return null;
      if (n <= this.bytes.length) return this.bytes.subarray(0, n);
      this.bytes = new Uint8Array(n * 2);
    }
  }

  // #know loads the ground and the fog if they have changed.
  #know(frame) {
    const size = frame.size;
    if (!this.ground || this.ground.size !== size) {
      const rock = new Uint8Array(size * size);
      if (this.source.ground(rock) !== rock.length) return;
      this.ground = new Ground(rock, size);
      this.fog = new Fog(size);
      this.fogTick = -1;
    }
    if (this.fogTick !== frame.fogTick || this.fogTeam !== frame.team) {
      const cells = new Uint8Array(size * size);
      if (this.source.fog(cells) !== cells.length) return;
      this.fog.set(cells);
      this.fogTick = frame.fogTick;
      this.fogTeam = frame.team;
      this.shown = "";
    }
  }

  #drawGround(frame) {
    const key = `${frame.x},${frame.y},${frame.cell}`;
    if (!this.ground || key === this.shown) return;
    this.shown = key;
    const c = this.layers.ground, k = frame.cell * this.ratio;
    c.setTransform(1, 0, 0, 1, 0, 0);
    c.fillStyle = `rgb(${land.unknown.join()})`;
    c.fillRect(0, 0, c.canvas.width, c.canvas.height);
    // the visible part of the map
    const left = Math.max(0, Math.floor(frame.x - this.width / 2 / frame.cell - 1));
    const top = Math.max(0, Math.floor(frame.y - this.height / 2 / frame.cell - 1));
    const right = Math.min(frame.size, Math.ceil(frame.x + this.width / 2 / frame.cell + 1));
    const bottom = Math.min(frame.size, Math.ceil(frame.y + this.height / 2 / frame.cell + 1));
    if (right <= left || bottom <= top) return;
    const x = (left - frame.x) * k + c.canvas.width / 2, y = (top - frame.y) * k + c.canvas.height / 2;
    const w = (right - left) * k, h = (bottom - top) * k, g = this.ground.cell;
    c.imageSmoothingEnabled = true;
    c.drawImage(this.ground.canvas, left * g, top * g, (right - left) * g, (bottom - top) * g, x, y, w, h);
    c.drawImage(this.fog.canvas, left, top, right - left, bottom - top, x, y, w, h);
    c.strokeStyle = land.border; // of the map
    c.lineWidth = 2;
    c.strokeRect(c.canvas.width / 2 - frame.x * k, c.canvas.height / 2 - frame.y * k, frame.size * k, frame.size * k);
  }

  #drawMoving(frame) {
    const c = this.layers.moving;
    c.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    c.clearRect(0, 0, this.width, this.height);
    const at = { x: this.width / 2 - frame.x * frame.cell, y: this.height / 2 - frame.y * frame.cell, k: frame.cell / PLACE };
    drawZones(c, frame, at);
    drawCrystals(c, frame, at);
    const chosen = drawRings(c, frame, at);
    this.#drawUnits(c, frame, at);
    drawBars(c, frame, at, chosen <= few);
    drawEffects(c, frame, at);
    if (frame.ghost) this.#drawGhost(c, frame, at);
  }

  #drawUnits(c, frame, at) {
    const w = frame.words, cell = Math.max(2, Math.round(frame.cell * this.ratio));
    c.imageSmoothingEnabled = false;
    for (let i = frame.units.start; i < frame.units.end; i += UNIT) {
      const look = w[i + 3], kind = look & 255, flags = (look >> 16) & 255;
      const picture = this.sprites.get(kind, (look >> 8) & 255, look >>> 24, cell);
      const size = picture.width / this.ratio;
      const x = w[i] * at.k + at.x, y = w[i + 1] * at.k + at.y;
      if (flags & UNBUILT) c.globalAlpha = 0.35 + ((w[i + 5] & 0xffff) / 1000) * 0.5;
      c.drawImage(picture, x - size / 2, y - size / 2, size, size);
      if (flags & UNBUILT) {
        c.globalAlpha = 1;
        drawScaffold(c, x, y, radius[kind] * frame.cell);
      }
      if (flags & LOADED && frame.cell > 9) drawGem(c, x - frame.cell * 0.3, y - frame.cell * 0.3, frame.cell * 0.2);
    }
  }

  #drawGhost(c, frame, at) {
    const { kind, fits, x, y } = frame.ghost;
    const picture = this.sprites.get(kind, frame.player, 0, Math.max(2, Math.round(frame.cell * this.ratio)));
    const size = picture.width / this.ratio, px = x * frame.cell + at.x, py = y * frame.cell + at.y;
    c.globalAlpha = 0.6;
    c.drawImage(picture, px - size / 2, py - size / 2, size, size);
    c.globalAlpha = 1;
    c.strokeStyle = fits ? signs.well : signs.dying;
    c.lineWidth = 2;
    c.beginPath();
    c.arc(px, py, radius[kind] * frame.cell, 0, 7);
    c.stroke();
    if (fits) return;
    c.fillStyle = "rgba(239,83,80,.3)";
    c.fill();
  }

  // quantile returns a quantile of the times of the last frames, in milliseconds.
  quantile(part) {
    const n = Math.min(this.drawn, this.times.length);
    const sorted = Array.from(this.times.subarray(0, n)).sort((a, b) => a - b);
    return n ? sorted[Math.min(n - 1, Math.floor(n * part))] : 0;
  }
}

function drawZones(c, frame, at) {
  const w = frame.words, colours = [signs.teleport, signs.shrine, signs.hoard, signs.spawn];
  for (let i = frame.zones.start; i < frame.zones.end; i += ZONE) {
    const x = w[i] * at.k + at.x, y = w[i + 1] * at.k + at.y, r = w[i + 2] * at.k, kind = w[i + 3] & 255;
    const rests = w[i + 3] & 256, holder = w[i + 3] >> 16;
    c.strokeStyle = c.fillStyle = holder ? of(holder - 1).fill : colours[kind];
    c.globalAlpha = rests ? 0.1 : 0.22;
    c.beginPath();
    c.arc(x, y, r, 0, 7);
    c.fill();
    c.globalAlpha = rests ? 0.3 : 0.9;
    c.lineWidth = 2;
    c.setLineDash(kind === 0 ? [r * 0.5, r * 0.3] : []);
    c.lineDashOffset = kind === 0 && !rests ? -frame.tick * 0.8 : 0;
    c.stroke();
    c.setLineDash([]);
    c.beginPath();
    if (kind === 1) {
      c.rect(x - r * 0.12, y - r * 0.4, r * 0.24, r * 0.8);
      c.rect(x - r * 0.4, y - r * 0.12, r * 0.8, r * 0.24);
    } else if (kind === 2) {
      for (let k = 0; k < 3; k++) c.rect(x - r * 0.36 + k * r * 0.26, y - r * 0.16, r * 0.2, r * 0.32);
    } else if (kind === 3) {
      c.rect(x - r * 0.3, y - r * 0.4, r * 0.08, r * 0.8); // a flag
      c.rect(x - r * 0.3, y - r * 0.4, r * 0.6, r * 0.4);
    } else {
      c.arc(x, y, r * 0.25, 0, 7);
    }
    c.fill();
    c.globalAlpha = 1;
  }
}

function drawGem(c, x, y, r) {
  c.fillStyle = signs.crystal;
  c.strokeStyle = signs.crystalDark;
  c.lineWidth = Math.max(1, r * 0.18);
  c.beginPath();
  c.moveTo(x, y - r * 1.5);
  c.lineTo(x + r * 0.8, y - r * 0.3);
  c.lineTo(x + r * 0.4, y + r);
  c.lineTo(x - r * 0.5, y + r);
  c.lineTo(x - r * 0.8, y - r * 0.3);
  c.closePath();
  c.fill();
  c.stroke();
}

function drawCrystals(c, frame, at) {
  const w = frame.words, size = frame.cell * 0.42;
  for (let i = frame.crystals.start; i < frame.crystals.end; i += CRYSTAL) {
    const x = w[i] * at.k + at.x, y = w[i + 1] * at.k + at.y, left = w[i + 2] / 1000;
    c.globalAlpha = left > 0 ? 1 : 0.3;
    c.fillStyle = "rgba(111,227,255,.13)";
    c.beginPath();
    c.arc(x, y, size * 1.9, 0, 7);
    c.fill();
    const r = size * (0.4 + 0.5 * left);
    drawGem(c, x - size * 0.7, y + size * 0.3, r * 0.7);
    drawGem(c, x + size * 0.7, y + size * 0.2, r * 0.75);
    drawGem(c, x, y, r);
    c.globalAlpha = 1;
  }
}

// drawRings draws a ring around each selected unit, as one path, and returns their number.
function drawRings(c, frame, at) {
  const w = frame.words;
  let chosen = 0;
  c.beginPath();
  for (let i = frame.units.start; i < frame.units.end; i += UNIT) {
    if (!((w[i + 3] >> 16) & SELECTED)) continue;
    const x = w[i] * at.k + at.x, y = w[i + 1] * at.k + at.y, r = radius[w[i + 3] & 255] * frame.cell * 1.15 + 1;
    c.moveTo(x + r, y);
    c.arc(x, y, r, 0, 7);
    chosen++;
  }
  if (!chosen) return 0;
  c.fillStyle = "rgba(190,255,200,.16)";
  c.fill();
  c.strokeStyle = signs.selected;
  c.lineWidth = 1.5;
  c.stroke();
  return chosen;
}

// drawBars draws the health of hurt or selected units, and the progress of buildings.
function drawBars(c, frame, at, all) {
  const w = frame.words, height = Math.max(2, Math.min(5, frame.cell * 0.14));
  for (let i = frame.units.start; i < frame.units.end; i += UNIT) {
    const look = w[i + 3], kind = look & 255, health = w[i + 4], flags = (look >> 16) & 255, made = w[i + 5] & 0xffff;
    if (health >= 1000 && !(all && flags & SELECTED) && !made) continue;
    const half = Math.max(5, radius[kind] * frame.cell * (kind >= BASE ? 0.8 : 1.1));
    const x = w[i] * at.k + at.x - half, y = w[i + 1] * at.k + at.y - radius[kind] * frame.cell * 1.15 - height - 3;
    c.fillStyle = signs.back;
    c.fillRect(x - 1, y - 1, 2 * half + 2, height + 2);
    c.fillStyle = health > 600 ? signs.well : health > 300 ? signs.worn : signs.dying;
    c.fillRect(x, y, (2 * half * health) / 1000, height);
    if (!made) continue;
    c.fillStyle = signs.back;
    c.fillRect(x - 1, y + height + 1, 2 * half + 2, height + 1);
    c.fillStyle = of((look >> 8) & 255).light;
    c.fillRect(x, y + height + 1, (2 * half * made) / 1000, height);
  }
}

function drawScaffold(c, x, y, r) {
  c.strokeStyle = "rgba(226,190,120,.9)";
  c.lineWidth = Math.max(1, r * 0.06);
  c.beginPath();
  for (let k = -1; k <= 1; k++) {
    c.moveTo(x + k * r * 0.6, y - r * 0.85);
    c.lineTo(x + k * r * 0.6, y + r * 0.85);
    c.moveTo(x - r * 0.85, y + k * r * 0.6);
    c.lineTo(x + r * 0.85, y + k * r * 0.6);
  }
  c.stroke();
}
