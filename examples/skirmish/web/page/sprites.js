// Draws units and buildings once for each size, owner and heading, and keeps the images.

import { of } from "./palette.js";

// Kinds, as package skirmish numbers them.
export const WORKER = 1, SOLDIER = 2, ARCHER = 3, BASE = 4, BARRACKS = 5, TOWER = 6;

// radius is the radius of each kind, in cells.
export const radius = [0, 0.375, 0.375, 0.375, 2, 1.5, 1];

const headings = 16;
const limit = 1500; // kept images
const smallest = 3; // the least radius of a unit, in pixels
const plain = 5; // below this a unit is a dot

// Sprites is a cache of images. It draws an image at the first request.
export class Sprites {
  #kept = new Map();

  // get returns the image of a kind. The size is in pixels per cell, the heading in 1/256 of a turn.
  get(kind, owner, heading, cell) {
    const turn = kind >= BASE ? 0 : Math.round((heading * headings) / 256) % headings;
    const key = ((cell * 64 + owner) * 8 + kind) * headings + turn;
    let picture = this.#kept.get(key);
    if (!picture) {
      if (this.#kept.size >= limit) this.#kept.clear();
      picture = draw(kind, owner, turn, cell);
      this.#kept.set(key, picture);
    }
    return picture;
  }
}

// draw makes an image. The unit is in its middle.
function draw(kind, owner, turn, cell) {
  const r = Math.max(radius[kind] * cell, smallest);
  const half = Math.max(3, Math.ceil(r * 1.45 + 2));
  const canvas = new OffscreenCanvas(2 * half, 2 * half);
  const c = canvas.getContext("2d");
  c.translate(half, half);
  const colours = of(owner);
  c.lineJoin = "round";
  if (kind >= BASE) {
    buildings[kind](c, r, colours);
    return canvas;
  }
  if (r < plain) {
    c.lineWidth = 1;
    disc(c, 0, 0, r, colours.fill, kind === WORKER ? colours.light : colours.dark);
    return canvas;
  }
  shadow(c, r);
  c.rotate((turn * 2 * Math.PI) / headings);
  c.lineWidth = Math.max(1, r * 0.16);
  units[kind](c, r, colours);
  return canvas;
}

function shadow(c, r) {
  c.fillStyle = "rgba(5,8,10,.35)";
  c.beginPath();
  c.ellipse(r * 0.12, r * 0.25, r * 1.02, r * 0.9, 0, 0, 7);
  c.fill();
}

function shape(c, points, fill, stroke) {
  c.beginPath();
  points.forEach(([x, y], i) => (i ? c.lineTo(x, y) : c.moveTo(x, y)));
  c.closePath();
  c.fillStyle = fill;
  c.fill();
  if (stroke) {
    c.strokeStyle = stroke;
    c.stroke();
  }
}

function disc(c, x, y, r, fill, stroke) {
  c.beginPath();
  c.arc(x, y, r, 0, 7);
  c.fillStyle = fill;
  c.fill();
  if (stroke) {
    c.strokeStyle = stroke;
    c.stroke();
  }
}

// Units look east; the image is rotated.
const units = {
  [WORKER](c, r, p) {
    shape(c, [[r * 0.55, -r * 0.35], [r * 1.15, -r * 0.62], [r * 1.2, -r * 0.28], [r * 0.6, -r * 0.1]], "#c9b28b", "#4d3f29");
    disc(c, 0, 0, r * 0.82, p.fill, p.dark);
    disc(c, r * 0.12, 0, r * 0.42, "#f0d9b5", p.dark);
    c.fillStyle = "#e8b93c";
    c.beginPath();
    c.arc(r * 0.05, 0, r * 0.44, Math.PI * 0.5, Math.PI * 1.5);
    c.fill();
  },
  [SOLDIER](c, r, p) {
    c.strokeStyle = "#e9edf2";
    c.lineWidth = Math.max(1, r * 0.2);
    c.beginPath();
    c.moveTo(r * 0.1, r * 0.72);
    c.lineTo(r * 1.35, r * 0.42);
    c.stroke();
    c.lineWidth = Math.max(1, r * 0.17);
    shape(c, [[r * 0.95, 0], [r * 0.35, -r * 0.95], [-r * 0.75, -r * 0.7], [-r * 0.75, r * 0.7], [r * 0.35, r * 0.95]], p.fill, p.dark);
    shape(c, [[r * 0.95, 0], [r * 0.35, -r * 0.95], [r * 0.1, 0], [r * 0.35, r * 0.95]], p.light);
    disc(c, -r * 0.15, 0, r * 0.4, "#5c6670", "#22282e");
  },
  [ARCHER](c, r, p) {
    c.strokeStyle = "#d9b27c";
    c.lineWidth = Math.max(1, r * 0.17);
    c.beginPath();
    c.arc(r * 0.15, 0, r * 1.05, -1.1, 1.1);
    c.stroke();
    c.strokeStyle = "#f5f0e4";
    c.lineWidth = Math.max(0.7, r * 0.08);
    c.beginPath();
    c.moveTo(-r * 0.2, 0);
    c.lineTo(r * 1.3, 0);
    c.stroke();
    c.lineWidth = Math.max(1, r * 0.15);
    shape(c, [[r * 0.7, 0], [-r * 0.7, -r * 0.72], [-r * 0.4, 0], [-r * 0.7, r * 0.72]], p.fill, p.dark);
    disc(c, -r * 0.02, 0, r * 0.34, p.light, p.dark);
  },
};

function polygon(n, r, turn = 0) {
  return Array.from({ length: n }, (_, i) => {
    const a = turn + (i * 2 * Math.PI) / n;
    return [Math.cos(a) * r, Math.sin(a) * r];
  });
}

function castShadow(c, points, r) {
  c.save();
  c.translate(r * 0.1, r * 0.16);
  shape(c, points, "rgba(5,8,10,.4)");
  c.restore();
}

const buildings = {
  [BASE](c, r, p) {
    c.lineWidth = Math.max(1, r * 0.05);
    const wall = polygon(8, r * 0.98, Math.PI / 8);
    castShadow(c, wall, r);
    shape(c, wall, "#8a8f98", "#2f343b");
    shape(c, polygon(8, r * 0.8, Math.PI / 8), "#a9aeb6", "#5c626b");
    for (const [x, y] of polygon(4, r * 0.86, Math.PI / 4)) disc(c, x, y, r * 0.2, p.fill, p.dark);
    shape(c, polygon(4, r * 0.62, 0), p.dark, "#14181d");
    shape(c, polygon(4, r * 0.52, 0), p.fill);
    shape(c, [[0, -r * 0.52], [r * 0.52, 0], [0, 0]], p.light);
    disc(c, 0, 0, r * 0.14, "#fff6d8", p.dark);
  },
  [BARRACKS](c, r, p) {
    c.lineWidth = Math.max(1, r * 0.06);
    const wall = [[-r * 0.92, -r * 0.7], [r * 0.92, -r * 0.7], [r * 0.92, r * 0.7], [-r * 0.92, r * 0.7]];
    castShadow(c, wall, r);
    shape(c, wall, "#7d6a55", "#2e261d");
    shape(c, [[-r * 0.84, -r * 0.62], [r * 0.84, -r * 0.62], [r * 0.84, 0], [-r * 0.84, 0]], p.fill);
    shape(c, [[-r * 0.84, 0], [r * 0.84, 0], [r * 0.84, r * 0.5], [-r * 0.84, r * 0.5]], p.dark);
    c.strokeStyle = p.light;
    c.beginPath();
    c.moveTo(-r * 0.84, 0);
    c.lineTo(r * 0.84, 0);
    c.stroke();
    shape(c, [[-r * 0.2, r * 0.5], [r * 0.2, r * 0.5], [r * 0.2, r * 0.76], [-r * 0.2, r * 0.76]], "#2e261d");
    c.strokeStyle = "#e9edf2";
    c.lineWidth = Math.max(1, r * 0.08);
    for (const s of [-1, 1]) {
      c.beginPath();
      c.moveTo(-s * r * 0.3, -r * 0.46);
      c.lineTo(s * r * 0.3, -r * 0.12);
      c.stroke();
    }
  },
  [TOWER](c, r, p) {
    c.lineWidth = Math.max(1, r * 0.08);
    const wall = polygon(12, r * 0.95);
    castShadow(c, wall, r * 1.4);
    shape(c, wall, "#8a8f98", "#2f343b");
    for (const [x, y] of polygon(6, r * 0.8)) disc(c, x, y, r * 0.17, "#b7bcc4", "#4a5059");
    disc(c, 0, 0, r * 0.55, p.fill, p.dark);
    disc(c, -r * 0.1, -r * 0.1, r * 0.28, p.light);
  },
};
