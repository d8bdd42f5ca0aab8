// The ground with its rocks, and the fog of war above it. The ground is drawn tile by tile for the zoom that needs it, a few
// milliseconds in each frame, so that a large map neither takes long to appear nor fills the memory.

import { land } from "./land.js";

const side = 256; // pixels along a side of a tile
const fine = [4, 8, 16, 32]; // pixels for a cell
const plateau = -1.4; // how far from its edge rock is flat
const kept = 260; // tiles, about 65 MB

// table has random numbers from 0 to 1; they are the same for everybody.
const table = new Float32Array(65536);
for (let i = 0, h = 1; i < table.length; i++) {
  h = (Math.imul(h, 1664525) + 1013904223) | 0;
  table[i] = (h >>> 8) / 16777216;
}

// noise returns smooth noise from 0 to 1.
function noise(x, y) {
  const x0 = Math.floor(x), y0 = Math.floor(y), fx = x - x0, fy = y - y0;
  const u = fx * fx * (3 - 2 * fx), v = fy * fy * (3 - 2 * fy);
  const a = (x0 & 255) | ((y0 & 255) << 8), b = ((x0 + 1) & 255) | ((y0 & 255) << 8);
  const c = (x0 & 255) | (((y0 + 1) & 255) << 8), d = ((x0 + 1) & 255) | (((y0 + 1) & 255) << 8);
  const top = table[a] + (table[b] - table[a]) * u;
  return top + (table[c] + (table[d] - table[c]) * u - top) * v;
}

const smooth = (from, to, x) => {
  const t = Math.min(1, Math.max(0, (x - from) / (to - from)));
  return t * t * (3 - 2 * t);
};

// Ground is the picture of a map.
export class Ground {
  #tiles = new Map(); // the least recently drawn first

  // rock has one byte for each cell, row by row.
  constructor(rock, size) {
    this.size = size;
    this.away = distances(rock, size);
    this.small = new OffscreenCanvas(size, size);
    const image = new ImageData(size, size);
    this.#paint(image.data, 0, 0, size, 1);
    this.small.getContext("2d").putImageData(image, 0, 0);
  }

  // #rise returns how far a place is from the edge of rock, in cells: below zero on the rock.
  #rise(x, y) {
    const n = this.size - 1, px = Math.min(n, Math.max(0, x - 0.5)), py = Math.min(n, Math.max(0, y - 0.5));
    const x0 = px | 0, y0 = py | 0, fx = px - x0, fy = py - y0, i = y0 * (n + 1) + x0, right = x0 < n ? 1 : 0, down = y0 < n ? n + 1 : 0;
    const top = this.away[i] + (this.away[i + right] - this.away[i]) * fx;
    return top + (this.away[i + down] + (this.away[i + down + right] - this.away[i + down]) * fx - top) * fy;
  }

  // #paint fills a square of pixels that begins at a cell; cell is the pixels for a cell.
  #paint(data, left, top, pixels, cell) {
    const { grass, meadow, dry, sand, path, rock, rockLight, rockDark } = land, step = 1 / cell;
    const mix = [0, 0, 0];
    const blend = (colour, part) => {
      mix[0] += (colour[0] - mix[0]) * part;
      mix[1] += (colour[1] - mix[1]) * part;
      mix[2] += (colour[2] - mix[2]) * part;
    };
    for (let py = 0, o = 0; py < pixels; py++) {
      const y = top + (py + 0.5) * step;
      for (let px = 0; px < pixels; px++, o += 4) {
        const x = left + (px + 0.5) * step;
        const rough = noise(x * 1.9, y * 1.9), grain = table[(((x * cell) & 255) | (((y * cell) & 255) << 8)) & 65535];
        const away = this.#rise(x, y) + (rough - 0.5) * 0.3;
        let shade = 1;
        if (away < 0) { // rock, with light from the upper left
          const low = this.#rise(x + 0.45, y + 0.45), high = this.#rise(x - 0.45, y - 0.45);
          const slope = Math.max(low, plateau) - Math.max(high, plateau) + (noise(x * 2.7 + 40, y * 2.7) - noise(x * 2.7 + 40.5, y * 2.7 + 0.5)) * 0.9;
          mix[0] = rock[0]; mix[1] = rock[1]; mix[2] = rock[2];
          if (slope > 0) blend(rockDark, Math.min(0.75, slope * 0.8));
          else blend(rockLight, Math.min(0.7, -slope * 0.75));
          if (away > -0.16) blend(rockDark, 0.45 * (1 + away / 0.16));
          shade = 0.9 + rough * 0.2;
        } else {
          mix[0] = grass[0]; mix[1] = grass[1]; mix[2] = grass[2];
          const wide = noise(x / 9, y / 9), middle = noise(x / 2.6 + 50, y / 2.6);
          blend(meadow, smooth(0.42, 0.72, wide * 0.7 + middle * 0.3));
          blend(dry, 0.7 * smooth(0.66, 0.85, noise(x / 6 + 100, y / 6) * 0.8 + middle * 0.2));
          const trail = Math.abs(noise(x / 14 + 200, y / 14 + 30) - 0.5 + (middle - 0.5) * 0.03);
          blend(path, 0.75 * (1 - smooth(0.008, 0.03, trail)));
          blend(sand, 0.9 * (1 - smooth(0.15, 1.15, away + (middle - 0.5) * 0.8)));
          shade = 0.93 + rough * 0.12;
          const cast = this.#rise(x - 0.5, y - 0.7); // the shadow of rock
          if (cast < 0) shade *= 1 - 0.5 * Math.min(1, -cast * 3);
        }
        shade *= 0.97 + grain * 0.06;
        data[o] = mix[0] * shade;
        data[o + 1] = mix[1] * shade;
        data[o + 2] = mix[2] * shade;
        data[o + 3] = 255;
      }
    }
  }

  // draw draws the ground with its upper left corner at a place, both in pixels; k is the pixels of a cell. It makes tiles
  // until a time, and returns whether some are missing.
  draw(c, x, y, k, until) {
    const { width, height } = c.canvas, cell = fine.find((f) => f >= k * 0.8) ?? fine.at(-1), cells = side / cell;
    c.imageSmoothingEnabled = true;
    const left = Math.max(0, -x / k), top = Math.max(0, -y / k), right = Math.min(this.size, (width - x) / k), bottom = Math.min(this.size, (height - y) / k);
    if (left >= right || top >= bottom) return false;
    let missing = false;
    for (let j = Math.floor(top / cells); j * cells < bottom; j++) {
      for (let i = Math.floor(left / cells); i * cells < right; i++) {
        const tile = this.#tile(cell, i, j, performance.now() < until);
        const x0 = Math.round(x + i * cells * k), y0 = Math.round(y + j * cells * k);
        const whole = Math.min(cells, this.size - i * cells), high = Math.min(cells, this.size - j * cells); // the map may end within the tile
        const w = Math.round(x + (i * cells + whole) * k) - x0, h = Math.round(y + (j * cells + high) * k) - y0;
        if (tile) c.drawImage(tile, 0, 0, whole * cell, high * cell, x0, y0, w, h);
        else c.drawImage(this.small, i * cells, j * cells, whole, high, x0, y0, w, h);
        missing ||= !tile;
      }
    }
    return missing;
  }

  #tile(cell, i, j, make) {
    const key = (cell * 256 + j) * 256 + i;
    let tile = this.#tiles.get(key);
    if (!tile && !make) return null;
    if (tile) {
      this.#tiles.delete(key);
    } else {
      if (this.#tiles.size >= kept) this.#tiles.delete(this.#tiles.keys().next().value);
      const image = new ImageData(side, side);
      this.#paint(image.data, (i * side) / cell, (j * side) / cell, side, cell);
      tile = new OffscreenCanvas(side, side);
      tile.getContext("2d").putImageData(image, 0, 0);
    }
    this.#tiles.set(key, tile);
    return tile;
  }
}

// distances returns how far the middle of each cell is from the edge of rock, in cells: below zero on rock. Beyond the map
// there is none.
function distances(rock, size) {
  const far = 4, away = new Float32Array(size * size);
  const nearest = (x, y, kind) => {
    let best = far * far;
    for (let dy = -far; dy <= far; dy++) {
      if (y + dy < 0 || y + dy >= size) continue;
      for (let dx = -far; dx <= far; dx++) {
        if (x + dx < 0 || x + dx >= size || rock[(y + dy) * size + x + dx] !== kind) continue;
        const nx = Math.max(0, Math.abs(dx) - 0.5), ny = Math.max(0, Math.abs(dy) - 0.5);
        best = Math.min(best, nx * nx + ny * ny);
      }
    }
    return Math.sqrt(best);
  };
  // a cell without the other kind around it needs no search: sums counts rock in rectangles
  const sums = new Uint32Array((size + 1) * (size + 1));
  for (let y = 0; y < size; y++) for (let x = 0; x < size; x++)
    sums[(y + 1) * (size + 1) + x + 1] = rock[y * size + x] + sums[y * (size + 1) + x + 1] + sums[(y + 1) * (size + 1) + x] - sums[y * (size + 1) + x];
  for (let y = 0; y < size; y++) {
    for (let x = 0; x < size; x++) {
      const l = Math.max(0, x - far), t = Math.max(0, y - far), r = Math.min(size, x + far + 1), b = Math.min(size, y + far + 1);
      const n = sums[b * (size + 1) + r] - sums[t * (size + 1) + r] - sums[b * (size + 1) + l] + sums[t * (size + 1) + l];
      const is = rock[y * size + x];
      if (is) away[y * size + x] = n === (r - l) * (b - t) ? -far : -nearest(x, y, 0);
      else away[y * size + x] = n === 0 ? far : nearest(x, y, 1);
    }
  }
  return away;
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
