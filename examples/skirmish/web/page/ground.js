// The ground with its rocks, and the fog of war above it. A worker paints the ground tile by tile for the zoom that needs it,
// so that a large map neither takes long to appear nor fills the memory.

import { land } from "./land.js";

const side = 256; // pixels along a side of a tile
const fine = [4, 8, 16, 32]; // pixels for a cell
const kept = 260; // tiles, about 65 MB
const reach = 4; // cells from a rock as far as it shows
const asked = 3; // tiles that the worker is asked for at a time: what is in view may change soon

// Ground is the picture of a map.
export class Ground {
  #tiles = new Map(); // the least recently drawn first
  #open = new Set(); // the tiles that the worker paints
  #stale = new Set(); // those of them that it paints in vain

  // rock has one byte for each cell, row by row; changed() is called when there is more of the picture.
  constructor(rock, size, changed) {
    this.size = size;
    this.rock = rock;
    this.small = thumbnail(rock, size);
    this.worker = new Worker(new URL("./tiles.js", import.meta.url), { type: "module" });
    this.worker.onmessage = ({ data }) => {
      if (data.small) this.small = data.small;
      else this.#take(data);
      changed();
    };
    this.worker.postMessage({ rock, size });
  }

  // change changes the rock: tiles near to what is new are painted again.
  change(rock) {
    const { size } = this, near = [size, size, -1, -1]; // left, top, right and bottom of what is new
    for (let i = 0; i < rock.length; i++) {
      if (rock[i] === this.rock[i]) continue;
      const x = i % size, y = (i - x) / size;
      near[0] = Math.min(near[0], x), near[1] = Math.min(near[1], y), near[2] = Math.max(near[2], x), near[3] = Math.max(near[3], y);
    }
    if (near[2] < 0) return;
    this.rock = rock;
    this.worker.postMessage({ rock, size });
    const shows = (key) => {
      const cell = Math.floor(key / 65536), cells = side / cell, left = (key % 256) * cells, top = (Math.floor(key / 256) % 256) * cells;
      return left <= near[2] + reach && left + cells >= near[0] - reach && top <= near[3] + reach && top + cells >= near[1] - reach;
    };
    for (const key of this.#open) if (shows(key)) this.#stale.add(key);
    for (const [key, tile] of this.#tiles) {
      if (!shows(key)) continue;
      tile.close();
      this.#tiles.delete(key);
    }
  }

  close() {
    this.worker.terminate();
    for (const tile of this.#tiles.values()) tile.close();
    this.#tiles.clear();
  }

  #take({ key, tile }) {
    this.#open.delete(key);
    if (this.#stale.delete(key)) {
      tile.close();
      return;
    }
    if (this.#tiles.size >= kept) {
      const [oldest, gone] = this.#tiles.entries().next().value;
      gone.close();
      this.#tiles.delete(oldest);
    }
    this.#tiles.set(key, tile);
  }

  // draw draws the ground with its upper left corner at a place, both in pixels; k is the pixels of a cell.
  draw(c, x, y, k) {
    const { width, height } = c.canvas, cell = fine.find((f) => f >= k * 0.6) ?? fine.at(-1), cells = side / cell;
    c.imageSmoothingEnabled = true;
    const left = Math.max(0, -x / k), top = Math.max(0, -y / k), right = Math.min(this.size, (width - x) / k), bottom = Math.min(this.size, (height - y) / k);
    for (let j = Math.floor(top / cells); j * cells < bottom; j++) {
      for (let i = Math.floor(left / cells); i * cells < right; i++) {
        const tile = this.#tile(cell, i, j);
        const x0 = Math.round(x + i * cells * k), y0 = Math.round(y + j * cells * k);
        const wide = Math.min(cells, this.size - i * cells), high = Math.min(cells, this.size - j * cells); // the map may end within the tile
        const w = Math.round(x + (i * cells + wide) * k) - x0, h = Math.round(y + (j * cells + high) * k) - y0;
        if (tile) c.drawImage(tile, 0, 0, wide * cell, high * cell, x0, y0, w, h);
        else this.#drawCoarse(c, cell, i * cells, j * cells, wide, high, x0, y0, w, h);
      }
    }
  }

  // #drawCoarse draws a part of the map, in cells, from a tile with fewer pixels, or from the small picture.
  #drawCoarse(c, cell, left, top, wide, high, ...to) {
    for (let k = cell / 2; k >= fine[0]; k /= 2) {
      const cells = side / k, i = Math.floor(left / cells), j = Math.floor(top / cells), tile = this.#tiles.get((k * 256 + j) * 256 + i);
      if (!tile) continue;
      c.drawImage(tile, (left - i * cells) * k, (top - j * cells) * k, wide * k, high * k, ...to);
      return;
    }
    c.drawImage(this.small, left, top, wide, high, ...to);
  }

  // #tile returns a tile, or asks for it.
  #tile(cell, i, j) {
    const key = (cell * 256 + j) * 256 + i, tile = this.#tiles.get(key);
    if (tile) {
      this.#tiles.delete(key);
      this.#tiles.set(key, tile);
    } else if (this.#open.size < asked && !this.#open.has(key)) {
      this.#open.add(key);
      this.worker.postMessage({ key, left: (i * side) / cell, top: (j * side) / cell, side, cell });
    }
    return tile;
  }
}

// thumbnail returns a picture with one pixel for each cell, until the worker has a better one.
function thumbnail(rock, size) {
  const canvas = new OffscreenCanvas(size, size), image = new ImageData(size, size);
  for (let i = 0; i < rock.length; i++) image.data.set([...(rock[i] ? land.rock : land.grass), 255], 4 * i);
  canvas.getContext("2d").putImageData(image, 0, 0);
  return canvas;
}

// Fog is an image with one pixel for each cell, drawn enlarged and smoothed.
export class Fog {
  constructor(size) {
    this.size = size;
    this.canvas = new OffscreenCanvas(size, size);
    this.image = new ImageData(size, size);
    this.rows = new Uint16Array(size * size);
    const [r, g, b] = land.unknown, word = (b << 16) | (g << 8) | r;
    this.words = new Uint32Array(this.image.data.buffer).fill(word);
  }

  // set takes one byte for each cell: 0 unexplored, 1 explored, 2 visible. The edges are blurred.
  set(cells) {
    const { size, rows } = this, opacity = [255, Math.round(255 * land.explored), 0], { data } = this.image;
    for (let y = 0, i = 0; y < size; y++) {
      for (let x = 0; x < size; x++, i++) {
        const here = opacity[cells[i]];
        rows[i] = 2 * here + (x ? opacity[cells[i - 1]] : here) + (x < size - 1 ? opacity[cells[i + 1]] : here);
      }
    }
    for (let y = 0, i = 0; y < size; y++) {
      for (let x = 0; x < size; x++, i++) {
        data[4 * i + 3] = (2 * rows[i] + (y ? rows[i - size] : rows[i]) + (y < size - 1 ? rows[i + size] : rows[i]) + 8) >> 4;
      }
    }
    this.canvas.getContext("2d").putImageData(this.image, 0, 0);
  }
}
