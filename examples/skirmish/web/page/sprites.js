// Draws each picture once for a size, an owner, a heading and a pose, and keeps it.

import { of } from "./palette.js";
import { units, buildings, plain, building, lit, radius } from "./shapes.js";

// Kinds, as package skirmish numbers them.
export const WORKER = 1, SOLDIER = 2, ARCHER = 3, BASE = 4, BARRACKS = 5, TOWER = 6;

// The poses of a unit.
export const STAND = 0, LEFT = 1, RIGHT = 2, HIT = 3;

export const stages = 8; // of a building under construction; at this one it is complete

const headings = 16;
const limit = 3000; // kept pictures
const smallest = 3; // the least radius of a unit, in pixels
const simple = 5; // below this radius a unit is a sign of its kind

// A Picture has its middle at (half, half).
export class Picture {
  // draw draws on a context whose origin is the middle.
  constructor(half, draw) {
    this.half = half;
    this.canvas = new OffscreenCanvas(2 * half, 2 * half);
    const c = this.canvas.getContext("2d", { willReadFrequently: true });
    c.translate(half, half);
    c.lineJoin = "round";
    draw(c);
  }

  // pixels are those of the picture, 4 bytes each.
  get pixels() {
    const side = 2 * this.half;
    this.read ??= new Uint32Array(this.canvas.getContext("2d").getImageData(0, 0, side, side).data.buffer);
    return this.read;
  }
}

// Sprites keeps pictures of one size.
export class Sprites {
  #kept = new Map();
  #cell = 0;

  // size sets the pixels of a cell, and forgets the pictures of another size.
  size(cell) {
    if (cell !== this.#cell) this.clear();
    this.#cell = cell;
  }

  clear() {
    this.#kept.clear();
  }

  // get returns the picture of a key below 2^31, and makes it by make(cell) at the first request.
  get(family, key, make) {
    const whole = family * 2147483648 + key;
    let picture = this.#kept.get(whole);
    if (picture) return picture;
    if (this.#kept.size >= limit) this.#kept.clear();
    picture = make(this.#cell);
    this.#kept.set(whole, picture);
    return picture;
  }

  // unit returns the picture of a unit; the heading is in 1/256 of a turn. A flashing one was hit.
  unit(kind, owner, heading, pose, flash) {
    const far = Math.max(radius[kind] * this.#cell, smallest) < simple;
    const turn = far ? 0 : Math.round((heading * headings) / 256) % headings;
    const key = ((((far ? STAND : pose) * headings + turn) * 64 + owner) * 8 + kind) * 2 + flash;
    return this.get(0, key, (cell) => {
      const r = Math.max(radius[kind] * cell, smallest), colours = of(owner);
      return new Picture(Math.max(4, Math.ceil(r * 1.7 + 2)), (c) => {
        if (far) plain[kind](c, r, colours);
        else units(c, kind, r, colours, (turn * 2 * Math.PI) / headings, pose);
        if (flash) lit(c);
      });
    });
  }

  // building returns the picture of a building at a stage of its construction.
  building(kind, owner, stage, flash) {
    return this.get(1, ((stage * 64 + owner) * 8 + kind) * 2 + flash, (cell) => {
      const r = Math.max(radius[kind] * cell, smallest), half = Math.max(4, Math.ceil(r * 1.4 + 2));
      return new Picture(half, (c) => {
        building(c, r, half, stage / stages, (c) => buildings[kind](c, r, of(owner)));
        if (flash) lit(c);
      });
    });
  }
}
