// A worker that paints the ground of a map, tile by tile, so that the page never waits for it. A message with rock and size
// begins a map, and is answered by its small picture. Each other message has the number of a tile, its first cells, its
// pixels along a side, and the pixels for a cell, and is answered by its picture.

import { land } from "./land.js";

const plateau = -1.4; // how far from its edge rock is flat

let size, away;

onmessage = ({ data }) => {
  if (data.rock) {
    size = data.size;
    away = distances(data.rock, size);
    post({ small: picture(0, 0, size, 1) });
  } else {
    post({ key: data.key, tile: picture(data.left, data.top, data.side, data.cell) });
  }
};

const post = (message) => postMessage(message, [message.small ?? message.tile]);

function picture(left, top, side, cell) {
  const image = new ImageData(side, side), canvas = new OffscreenCanvas(side, side);
  paint(image.data, left, top, side, cell);
  canvas.getContext("2d").putImageData(image, 0, 0);
  return canvas.transferToImageBitmap();
}

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

// rise returns how far a place is from the edge of rock, in cells: below zero on the rock.
function rise(x, y) {
  const n = size - 1, px = Math.min(n, Math.max(0, x - 0.5)), py = Math.min(n, Math.max(0, y - 0.5));
  const x0 = px | 0, y0 = py | 0, fx = px - x0, fy = py - y0, i = y0 * (n + 1) + x0, right = x0 < n ? 1 : 0, down = y0 < n ? n + 1 : 0;
  const top = away[i] + (away[i + right] - away[i]) * fx;
  return top + (away[i + down] + (away[i + down + right] - away[i + down]) * fx - top) * fy;
}

// paint fills a square of pixels that begins at a cell; cell is the pixels for a cell.
function paint(data, left, top, pixels, cell) {
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
      const edge = rise(x, y) + (rough - 0.5) * 0.3;
      let shade = 1;
      if (edge < 0) { // rock, with light from the upper left
        const low = rise(x + 0.45, y + 0.45), high = rise(x - 0.45, y - 0.45);
        const slope = Math.max(low, plateau) - Math.max(high, plateau) + (noise(x * 2.7 + 40, y * 2.7) - noise(x * 2.7 + 40.5, y * 2.7 + 0.5)) * 0.9;
        mix[0] = rock[0]; mix[1] = rock[1]; mix[2] = rock[2];
        if (slope > 0) blend(rockDark, Math.min(0.75, slope * 0.8));
        else blend(rockLight, Math.min(0.7, -slope * 0.75));
        if (edge > -0.16) blend(rockDark, 0.45 * (1 + edge / 0.16));
        shade = 0.9 + rough * 0.2;
      } else {
        mix[0] = grass[0]; mix[1] = grass[1]; mix[2] = grass[2];
        const wide = noise(x / 9, y / 9), middle = noise(x / 2.6 + 50, y / 2.6);
        blend(meadow, smooth(0.42, 0.72, wide * 0.7 + middle * 0.3));
        blend(dry, 0.7 * smooth(0.66, 0.85, noise(x / 6 + 100, y / 6) * 0.8 + middle * 0.2));
        const trail = Math.abs(noise(x / 14 + 200, y / 14 + 30) - 0.5 + (middle - 0.5) * 0.03);
        blend(path, 0.75 * (1 - smooth(0.008, 0.03, trail)));
        blend(sand, 0.9 * (1 - smooth(0.15, 1.15, edge + (middle - 0.5) * 0.8)));
        shade = 0.93 + rough * 0.12;
        const cast = rise(x - 0.5, y - 0.7); // the shadow of rock
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
