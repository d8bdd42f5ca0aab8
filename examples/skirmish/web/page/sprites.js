// Draws each picture once for a size, an owner, a heading and a pose, and keeps it.

import { of } from "./palette.js";
import { units, buildings, plain, building, lit, radius } from "./shapes.js";

// Kinds, as package skirmish numbers them.
export const WORKER = 1, SOLDIER = 2, ARCHER = 3, BASE = 4, BARRACKS = 5, TOWER = 6;

// The poses of a unit.
export const STAND = 0, LEFT = 1, RIGHT = 2, HIT = 3;

export const stages = 8; // of a building under construction; at this one it is complete

const headings = 16;
const limit = 96e6; // bytes of the kept pictures
const smallest = 3; // the least radius of a unit, in pixels
const simple = 5; // below this radius a unit is a sign of its kind

// A Picture has its middle at (half, half).
export class Picture {
  // draw draws on a context whose origin is the middle; read: the pixels will be wanted.
  constructor(half, draw, read) {
    this.half = half;
    this.canvas = new OffscreenCanvas(2 * half, 2 * half);
    const c = this.canvas.getContext("2d", { willReadFrequently: read });
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
  #read = false;
  #bytes = 0;

  // use sets the pixels of a cell and whether pixels will be wanted, and forgets pictures made for something else.
  use(cell, read) {
    if (cell !== this.#cell || read !== this.#read) this.clear();
    this.#cell = cell;
    this.#read = read;
  }

  clear() {
    this.#kept.clear();
    this.#bytes = 0;
  }

  // get returns the picture of a key below 2^31. At the first request it makes one from half of its side, half(cell), by
  // draw(context, cell).
  get(family, key, half, draw) {
    const whole = family * 2147483648 + key;
    let picture = this.#kept.get(whole);
    if (picture) return picture;
    if (this.#bytes > limit) this.clear();
    picture = new Picture(Math.ceil(half(this.#cell)), (c) => draw(c, this.#cell), this.#read);
    this.#bytes += 16 * picture.half ** 2;
    this.#kept.set(whole, picture);
    return picture;
  }

  // unit returns the picture of a unit; the heading is in 1/256 of a turn. A flashing one was hit.
  unit(kind, owner, heading, pose, flash) {
    const far = Math.max(radius[kind] * this.#cell, smallest) < simple;
    const turn = far ? 0 : Math.round((heading * headings) / 256) % headings;
    const key = ((((far ? STAND : pose) * headings + turn) * 64 + owner) * 8 + kind) * 2 + flash;
    const size = (cell) => Math.max(radius[kind] * cell, smallest);
    return this.get(0, key, (cell) => Math.max(4, size(cell) * 1.7 + 2), (c, cell) => {
      if (far) plain[kind](c, size(cell), of(owner));
      else units(c, kind, size(cell), of(owner), (turn * 2 * Math.PI) / headings, pose);
      if (flash) lit(c);
    });
  }

  // building returns the picture of a building at a stage of its construction.
  building(kind, owner, stage, flash) {
    const size = (cell) => Math.max(radius[kind] * cell, smallest), half = (cell) => Math.max(4, size(cell) * 1.4 + 2);
    return this.get(1, ((stage * 64 + owner) * 8 + kind) * 2 + flash, half, (c, cell) => {
      building(c, size(cell), half(cell), stage / stages, () => buildings[kind](c, size(cell), of(owner)));
      if (flash) lit(c);
    });
  }
}
