// The ground with its rocks, drawn once, and the fog of war above it.

import { land } from "./land.js";

const largest = 4096; // pixels along a side of the image

// random returns a number from 0 to 1 that depends on the place only.
function random(x, y, n) {
  let h = (x * 374761393 + y * 668265263 + n * 2147483647) | 0;
  h = Math.imul(h ^ (h >>> 13), 1274126177);
  return ((h ^ (h >>> 16)) >>> 0) / 4294967296;
}

// Ground is the image of a map.
export class Ground {
  // rock has one byte for each cell, row by row.
  constructor(rock, size) {
    this.size = size;
    this.cell = Math.max(4, Math.min(20, Math.floor(largest / size)));
    this.canvas = new OffscreenCanvas(size * this.cell, size * this.cell);
    this.small = new OffscreenCanvas(size, size);
    this.#grass();
    this.#rocks(rock);
    this.#thumbnail(rock);
  }

  #grass() {
    const c = this.canvas.getContext("2d");
    const { cell, size } = this;
    c.fillStyle = land.grass;
    c.fillRect(0, 0, this.canvas.width, this.canvas.height);
    for (let i = 0; i < size * size * 0.9; i++) {
      const x = random(i, 1, 7) * size, y = random(i, 2, 7) * size, r = 0.2 + random(i, 3, 7) * 1.1;
      c.fillStyle = i % 2 ? land.grassLight : land.grassDark;
      c.globalAlpha = 0.16;
      c.beginPath();
      c.ellipse(x * cell, y * cell, r * cell, r * cell * 0.7, random(i, 4, 7) * 3, 0, 7);
      c.fill();
    }
    c.globalAlpha = 0.5;
    c.lineWidth = 1;
    c.strokeStyle = land.grassLight;
    c.beginPath();
    for (let i = 0; i < size * size * 0.5; i++) {
      const x = random(i, 5, 7) * size * cell, y = random(i, 6, 7) * size * cell;
      c.moveTo(x, y);
      c.lineTo(x + (random(i, 8, 7) - 0.5) * cell * 0.2, y - cell * 0.18);
    }
    c.stroke();
    c.globalAlpha = 1;
  }

  #rocks(rock) {
    const c = this.canvas.getContext("2d");
    const { cell, size } = this;
    const is = (x, y) => x < 0 || y < 0 || x >= size || y >= size || rock[y * size + x] === 1;
    const outline = (x, y, dx, dy) => {
      // cut a corner of the cell if both neighbours there are open
      const n = 8, points = [];
      for (let i = 0; i < n; i++) {
        const a = ((i + 0.5) * 2 * Math.PI) / n, sx = Math.sign(Math.cos(a)), sy = Math.sign(Math.sin(a));
        const side = Math.abs(Math.cos(a)) > Math.abs(Math.sin(a)) ? is(x + sx, y) : is(x, y + sy);
        const other = Math.abs(Math.cos(a)) > Math.abs(Math.sin(a)) ? is(x, y + sy) : is(x + sx, y);
        let px = sx * 0.5, py = sy * 0.5;
        if (!side && !other) (px = Math.cos(a) * 0.5), (py = Math.sin(a) * 0.5);
        const rough = side ? 0.52 : 0.44 + random(x * 2 + sx, y * 2 + sy, i) * 0.08;
        points.push([(x + 0.5 + px * 2 * rough) * cell + dx, (y + 0.5 + py * 2 * rough) * cell + dy]);
      }
      c.moveTo(points[0][0], points[0][1]);
      for (const [px, py] of points) c.lineTo(px, py);
      c.closePath();
    };
    const all = (fill, dx, dy) => {
      c.fillStyle = fill;
      c.beginPath();
      for (let y = 0; y < size; y++) for (let x = 0; x < size; x++) if (is(x, y)) outline(x, y, dx, dy);
      c.fill();
    };
    all(land.rockShade, cell * 0.2, cell * 0.3);
    all(land.rockDark, 0, cell * 0.08);
    all(land.rock, 0, -cell * 0.1);
    this.#gravel(is);
    c.globalAlpha = 0.5;
    c.strokeStyle = land.rockLight;
    c.lineWidth = Math.max(1, cell * 0.07);
    c.beginPath();
    for (let y = 0; y < size; y++) {
      for (let x = 0; x < size; x++) {
        if (!is(x, y) || is(x, y - 1)) continue;
        c.moveTo((x + 0.15) * cell, (y - 0.02) * cell);
        c.lineTo((x + 0.85) * cell, (y - 0.02) * cell);
      }
    }
    c.stroke();
    c.globalAlpha = 1;
  }

  // #gravel gives the rocks a rough texture.
  #gravel(is) {
    const c = this.canvas.getContext("2d"), { cell, size } = this;
    c.globalAlpha = 0.3;
    for (let y = 0; y < size; y++) {
      for (let x = 0; x < size; x++) {
        if (!is(x, y)) continue;
        for (let k = 0; k < 4; k++) {
          const r = cell * (0.06 + random(x, y, k + 30) * 0.13);
          c.fillStyle = k % 2 ? land.rockLight : land.rockDark;
          c.beginPath();
          c.ellipse((x + 0.12 + random(x, y, k) * 0.76) * cell, (y + 0.02 + random(x, y, k + 10) * 0.76) * cell, r, r * 0.6, random(x, y, k + 20) * 3, 0, 7);
          c.fill();
        }
      }
    }
    c.globalAlpha = 1;
  }

  #thumbnail(rock) {
    const c = this.small.getContext("2d");
    const image = c.createImageData(this.size, this.size);
    for (let i = 0; i < rock.length; i++) image.data.set(rock[i] ? [118, 122, 130, 255] : [66, 88, 54, 255], 4 * i);
    c.putImageData(image, 0, 0);
  }
}

// Fog is an image with one pixel for each cell, drawn enlarged and smoothed.
export class Fog {
  constructor(size) {
    this.size = size;
    this.canvas = new OffscreenCanvas(size, size);
    this.image = new ImageData(size, size);
  }

  // set takes one byte for each cell: 0 unexplored, 1 explored, 2 visible.
  set(cells) {
    const [r, g, b] = land.unknown;
    const alpha = [255, Math.round(255 * land.explored), 0];
    const { data } = this.image;
    for (let i = 0; i < cells.length; i++) {
      data[4 * i] = r;
      data[4 * i + 1] = g;
      data[4 * i + 2] = b;
      data[4 * i + 3] = alpha[cells[i]];
    }
    this.canvas.getContext("2d").putImageData(this.image, 0, 0);
  }
}
