// Draws frames on two canvases: one for the ground and the fog, redrawn only after a change, and above it one for
// moving things.

import { Ground, Fog } from "./ground.js";
import { Sprites, BASE, STAND, LEFT, RIGHT, HIT, stages } from "./sprites.js";
import { radius } from "./shapes.js";
import { Frame, UNIT, PLACE, SELECTED, UNBUILT, LOADED, WALKING, FIGHTING, HURT, WORKING } from "./frame.js";
import { Brush, Press, colourOf } from "./pens.js";
import { drawZones, drawCrystals, gem } from "./places.js";
import { drawEffects, drawLines } from "./effects.js";
import { of, relate, side } from "./palette.js";
import { signs, land } from "./land.js";
import { recall } from "./dom.js";

const few = 24; // up to this number of selected units, all have a health bar
const most = 9e6; // pixels of a canvas
const sweepMS = 1400; // in which a line runs over the map
const drawnPixels = 2000; // of a canvas, in the time in which a browser without a graphics processor draws one picture

const colours = Object.fromEntries(["well", "worn", "dying", "back"].map((name) => [name, colourOf(signs[name])]));
const calm = matchMedia("(prefers-reduced-motion: reduce)");

export class Renderer {
  // source has frame(array), ground(array) and fog(array), which fill an array and return the number of bytes, and perhaps
  // explores(), which says whether the ground changes with the fog.
  constructor(ground, moving, source) {
    this.layers = { ground: ground.getContext("2d", { alpha: false }), moving: moving.getContext("2d") };
    this.canvases = [ground, moving];
    this.source = source;
    this.bytes = new Uint8Array(1 << 18);
    this.frame = new Frame();
    this.sprites = new Sprites();
    this.brush = new Brush(this.layers.moving);
    this.press = new Press(this.layers.moving);
    this.ratio = 1;
    this.times = new Float64Array(600); // milliseconds to draw each of the last frames
    this.drawn = 0;
    addEventListener("palette", () => this.#choose());
    this.#choose();
    this.reset();
  }

  // #choose takes what the user has chosen.
  #choose() {
    this.sprites.clear();
    this.outlines = recall("outlines") === "on";
  }

  // reset forgets the map before another match.
  reset() {
    this.ground?.close();
    this.ground = this.fog = null;
    this.fogTick = this.fogTeam = -1;
    this.shown = "";
  }

  // resize sets the size of the canvases in CSS pixels.
  resize(width, height) {
    this.width = width;
    this.height = height;
    this.ratio = Math.min(devicePixelRatio || 1, 2, Math.sqrt(most / (width * height)));
    for (const canvas of this.canvases) {
      canvas.width = Math.round(width * this.ratio);
      canvas.height = Math.round(height * this.ratio);
    }
    this.press.forget();
    this.shown = "";
  }

  // draw draws the next frame; it returns false if there is none yet.
  draw(...args) {
    const began = performance.now();
    const words = this.#fill((bytes) => this.source.frame(bytes, ...args));
    if (!words) return false;
    const frame = this.frame.read(new Int32Array(words.buffer, 0, words.length >> 2));
    relate(frame.seat, frame.friends);
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
      this.ground?.close();
      this.ground = new Ground(rock, size, () => (this.shown = ""));
      this.fog = new Fog(size);
      this.fogTick = -1;
    }
    if (this.fogTick !== frame.fogTick || this.fogTeam !== frame.team) {
      const cells = new Uint8Array(size * size);
      if (this.source.fog(cells) !== cells.length) return;
      this.fog.set(cells);
      if (this.source.explores?.()) {
        const rock = new Uint8Array(size * size);
        if (this.source.ground(rock) === rock.length) this.ground.change(rock);
      }
      this.fogTick = frame.fogTick;
      this.fogTeam = frame.team;
      this.shown = "";
    }
  }

  #drawGround(frame) {
    const key = `${frame.x},${frame.y},${frame.cell}`;
    if (!this.ground || key === this.shown) return;
    const c = this.layers.ground, k = frame.cell * this.ratio, { width, height } = c.canvas;
    const x = width / 2 - frame.x * k, y = height / 2 - frame.y * k;
    c.setTransform(1, 0, 0, 1, 0, 0);
    c.fillStyle = `rgb(${land.unknown.join()})`;
    c.fillRect(0, 0, width, height);
    this.ground.draw(c, x, y, k);
    this.shown = key;
    // the visible part of the fog
    const left = Math.max(0, Math.floor(-x / k)), top = Math.max(0, Math.floor(-y / k));
    const right = Math.min(frame.size, Math.ceil((width - x) / k)), bottom = Math.min(frame.size, Math.ceil((height - y) / k));
    if (right <= left || bottom <= top) return;
    c.drawImage(this.fog.canvas, left, top, right - left, bottom - top, x + left * k, y + top * k, (right - left) * k, (bottom - top) * k);
    c.strokeStyle = land.border; // of the map
    c.lineWidth = 2;
    c.strokeRect(x, y, frame.size * k, frame.size * k);
  }

  #drawMoving(frame) {
    const c = this.layers.moving, { sprites } = this, { width, height } = c.canvas;
    const k = frame.cell * this.ratio, at = { x: width / 2 - frame.x * k, y: height / 2 - frame.y * k, k: k / PLACE };
    const pen = frame.units.count * drawnPixels > width * height ? this.press : this.brush;
    if (pen !== this.pen) this.press.forget();
    this.pen = pen;
    sprites.use(Math.max(2, Math.round(k)), pen === this.press);
    pen.begin();
    drawZones(pen, sprites, frame, at, calm.matches);
    drawCrystals(pen, sprites, frame, at);
    const chosen = drawRings(pen, sprites, frame, at, this.outlines && k >= 14);
    drawUnits(pen, sprites, frame, at, k);
    drawEffects(pen, sprites, frame, at, k, calm.matches);
    drawBars(pen, frame, at, k, this.ratio, chosen <= few);
    pen.end();
    c.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    const css = { x: at.x / this.ratio, y: at.y / this.ratio, k: frame.cell / PLACE };
    drawLines(c, frame, css, calm.matches, (kind, owner, x, y) => this.#stamp(c, kind, owner, x, y));
    if (frame.ghost) this.#drawGhost(c, frame, css);
    if (this.sweptAt && !calm.matches) this.#drawSweep(c, frame, css);
  }

  // sweep lets a line run over the map: the state has been repaired.
  sweep() {
    this.sweptAt = performance.now();
  }

  #drawSweep(c, frame, at) {
    const part = (performance.now() - this.sweptAt) / sweepMS;
    if (part >= 1) {
      this.sweptAt = 0;
      return;
    }
    const size = frame.size * frame.cell, wide = size / 5, x = at.x + part * (size + wide) - wide;
    const light = c.createLinearGradient(x, 0, x + wide, 0);
    light.addColorStop(0, "rgba(90,230,150,0)");
    light.addColorStop(0.95, "rgba(90,230,150,.4)");
    light.addColorStop(1, "rgba(230,255,240,.9)");
    c.fillStyle = light;
    c.fillRect(x, at.y, wide, size);
  }

  // #stamp draws a unit or a building at a place of the canvas in CSS pixels.
  #stamp(c, kind, owner, x, y) {
    const picture = kind >= BASE ? this.sprites.building(kind, owner, stages, 0) : this.sprites.unit(kind, owner, 0, STAND, 0), half = picture.half / this.ratio;
    c.drawImage(picture.canvas, x - half, y - half, 2 * half, 2 * half);
  }

  #drawGhost(c, frame, at) {
    const { kind, fits, x, y } = frame.ghost, px = x * frame.cell + at.x, py = y * frame.cell + at.y;
    c.globalAlpha = 0.6;
    this.#stamp(c, kind, frame.player, px, py);
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

// drawRings draws a ring around each selected unit, and with outlines one in the colour of its side around each of the others.
// It returns the number of selected units.
function drawRings(pen, sprites, frame, at, outlines) {
  const w = frame.words;
  let chosen = 0;
  for (let i = frame.units.start; i < frame.units.end; i += UNIT) {
    const kind = w[i + 3] & 255, selected = (w[i + 3] >> 16) & SELECTED;
    if (!selected && !outlines) continue;
    chosen += selected;
    const whose = selected ? 3 : side((w[i + 3] >> 8) & 255);
    const size = (cell) => radius[kind] * cell * 1.18 + 1.5;
    const picture = sprites.get(5, whose * 8 + kind, (cell) => size(cell) + 3,
      (c, cell) => ring(c, size(cell), selected ? signs.selected : signs.sides[whose], selected));
    pen.stamp(picture, w[i] * at.k + at.x, w[i + 1] * at.k + at.y);
  }
  return chosen;
}

function ring(c, r, colour, selected) {
  c.beginPath();
  c.arc(0, 0, r, 0, 7);
  c.fillStyle = "rgba(190,255,200,.16)";
  if (selected) c.fill();
  c.strokeStyle = "rgba(6,10,14,.6)";
  c.lineWidth = 3.2;
  c.stroke();
  c.strokeStyle = colour;
  c.lineWidth = 1.7;
  c.stroke();
}

function drawUnits(pen, sprites, frame, at, k) {
  const w = frame.words, load = k > 9;
  for (let i = frame.units.start; i < frame.units.end; i += UNIT) {
    const look = w[i + 3], kind = look & 255, flags = (look >> 16) & 255, owner = (look >> 8) & 255;
    const x = w[i] * at.k + at.x, y = w[i + 1] * at.k + at.y, flash = flags & HURT && !calm.matches ? 1 : 0;
    if (kind >= BASE) {
      const stage = flags & UNBUILT ? Math.min(stages - 1, Math.floor(((w[i + 5] & 0xffff) * stages) / 1000)) : stages;
      pen.stamp(sprites.building(kind, owner, stage, flash), x, y);
      if (stage === stages && w[i + 4] < 600) burn(pen, sprites, frame.tick, x, y, radius[kind] * k, w[i + 4], w[i + 2]);
      continue;
    }
    pen.stamp(sprites.unit(kind, owner, look >>> 24, pose(flags, w[i + 5], frame.tick + w[i + 2]), flash), x, y);
    if (load && flags & LOADED) pen.stamp(sprites.get(6, 0, (cell) => cell * 0.4 + 2, (c, cell) => gem(c, 0, 0, cell * 0.22)), x - k * 0.26, y - k * 0.26);
  }
}

// pose returns the pose of a unit; rest is the part of the time that is left to its next hit, in 1/1000.
function pose(flags, rest, count) {
  if (flags & FIGHTING && rest > 600) return HIT;
  if (flags & WALKING) return (count >> 2) & 1 ? LEFT : RIGHT;
  return flags & WORKING && (count >> 3) & 1 ? HIT : STAND;
}

// burn draws fire and smoke on a damaged building.
function burn(pen, sprites, tick, x, y, r, health, seed) {
  const fires = health < 200 ? 4 : health < 400 ? 3 : 2;
  for (let n = 0; n < fires; n++) {
    const a = seed + n * 2.1, step = calm.matches ? 2 : ((tick >> 1) + n * 3) % 6;
    const picture = sprites.get(7, step, (cell) => cell * 1.1 + 3, (c, cell) => fire(c, Math.max(3, cell * 0.5), step / 5));
    pen.stamp(picture, x + Math.cos(a) * r * 0.5, y + Math.sin(a) * r * 0.5);
  }
}

function fire(c, r, part) {
  const blob = (x, y, size, colour, opacity) => {
    c.globalAlpha = opacity;
    c.fillStyle = colour;
    c.beginPath();
    c.arc(x, y, size, 0, 7);
    c.fill();
  };
  blob(r * 0.3 * part, -r * (0.6 + part), r * (0.35 + part * 0.3), "#2b2724", 0.55 * (1 - part * 0.7));
  blob(-r * 0.2, -r * (0.3 + part * 0.7), r * 0.34, "#4a423c", 0.5 * (1 - part * 0.6));
  blob(0, 0, r * (0.5 - Math.abs(part - 0.5) * 0.2), "#ff7a1e", 0.9);
  blob(r * 0.1, -r * 0.12, r * (0.3 + Math.abs(part - 0.5) * 0.1), "#ffd24a", 0.95);
}

// drawBars draws the health of hurt or selected units, and the progress of buildings.
function drawBars(pen, frame, at, k, ratio, all) {
  const w = frame.words, height = Math.max(2, Math.round(Math.min(5 * ratio, k * 0.14)));
  for (let i = frame.units.start; i < frame.units.end; i += UNIT) {
    const look = w[i + 3], kind = look & 255, health = w[i + 4], flags = (look >> 16) & 255, made = kind >= BASE ? w[i + 5] & 0xffff : 0;
    if (health >= 1000 && !(all && flags & SELECTED) && !made) continue;
    const half = Math.max(5, Math.round(radius[kind] * k * (kind >= BASE ? 0.8 : 1.1)));
    const x = Math.round(w[i] * at.k + at.x) - half, y = Math.round(w[i + 1] * at.k + at.y - radius[kind] * k * 1.15) - height - 3;
    pen.bar(x - 1, y - 1, 2 * half + 2, height + 2, colours.back);
    pen.bar(x, y, (2 * half * health) / 1000, height, health > 600 ? colours.well : health > 300 ? colours.worn : colours.dying);
    if (!made) continue;
    pen.bar(x - 1, y + height + 1, 2 * half + 2, height + 1, colours.back);
    pen.bar(x, y + height + 1, (2 * half * made) / 1000, height, light((look >> 8) & 255));
  }
}

const lights = new Map();

// light returns the light colour of a player.
function light(player) {
  const css = of(player).light;
  if (!lights.has(css)) lights.set(css, colourOf(css));
  return lights.get(css);
}
