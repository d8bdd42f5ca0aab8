// The shapes of units and buildings, seen from above. The light comes from the upper left.

export const radius = [0, 0.375, 0.375, 0.375, 2, 1.5, 1]; // of each kind, in cells

const WORKER = 1, SOLDIER = 2, ARCHER = 3, BASE = 4, BARRACKS = 5, TOWER = 6;
const LEFT = 1, RIGHT = 2, HIT = 3;

const skin = "#f0d9b5", wood = "#a9834f", steel = "#e9edf2", iron = "#5c6670", ink = "#1b1f24";

function shape(c, points, fill, stroke) {
  c.beginPath();
  points.forEach(([x, y], i) => (i ? c.lineTo(x, y) : c.moveTo(x, y)));
  c.closePath();
  c.fillStyle = fill;
  c.fill();
  if (!stroke) return;
  c.strokeStyle = stroke;
  c.stroke();
}

function disc(c, x, y, r, fill, stroke) {
  c.beginPath();
  c.arc(x, y, r, 0, 7);
  c.fillStyle = fill;
  c.fill();
  if (!stroke) return;
  c.strokeStyle = stroke;
  c.stroke();
}

function line(c, points, stroke, width) {
  c.strokeStyle = stroke;
  c.lineWidth = width;
  c.lineCap = "round";
  c.beginPath();
  points.forEach(([x, y], i) => (i ? c.lineTo(x, y) : c.moveTo(x, y)));
  c.stroke();
}

function polygon(n, r, turn = 0) {
  return Array.from({ length: n }, (_, i) => {
    const a = turn + (i * 2 * Math.PI) / n;
    return [Math.cos(a) * r, Math.sin(a) * r];
  });
}

const moved = (points, x, y) => points.map(([px, py]) => [px + x, py + y]);

// lit makes what is drawn almost white.
export function lit(c) {
  const { width, height } = c.canvas;
  c.setTransform(1, 0, 0, 1, 0, 0);
  c.globalCompositeOperation = "source-atop";
  c.fillStyle = "rgba(255,255,255,.7)";
  c.fillRect(0, 0, width, height);
}

// plain are the signs of units that are only a few pixels wide. They differ in shape, size and lightness.
export const plain = {
  [WORKER](c, r, p) { // a small light disc
    disc(c, 0, 0, r * 0.85, p.dark);
    disc(c, 0, 0, r * 0.55, p.light);
  },
  [SOLDIER](c, r, p) { // a large square
    c.fillStyle = ink;
    c.fillRect(-r * 1.15, -r * 1.15, r * 2.3, r * 2.3);
    c.fillStyle = p.fill;
    c.fillRect(-r * 0.85, -r * 0.85, r * 1.7, r * 1.7);
  },
  [ARCHER](c, r, p) { // a triangle with a light tip
    shape(c, [[0, -r * 1.5], [r * 1.35, r * 1.05], [-r * 1.35, r * 1.05]], ink);
    shape(c, [[0, -r * 1.0], [r * 0.9, r * 0.75], [-r * 0.9, r * 0.75]], p.fill);
    shape(c, [[0, -r * 1.0], [r * 0.45, -r * 0.05], [-r * 0.45, -r * 0.05]], p.light);
  },
};

// units draws a unit that looks into a direction.
export function units(c, kind, r, p, direction, pose) {
  c.fillStyle = "rgba(5,8,10,.38)";
  c.beginPath();
  c.ellipse(r * 0.16, r * 0.28, r * 0.98, r * 0.85, 0, 0, 7);
  c.fill();
  c.rotate(direction);
  if (pose === LEFT || pose === RIGHT) { // the feet
    const step = pose === LEFT ? r * 0.4 : -r * 0.4;
    disc(c, step, -r * 0.42, r * 0.24, ink);
    disc(c, -step, r * 0.42, r * 0.24, ink);
  }
  c.lineWidth = Math.max(1, r * 0.14);
  drawn[kind](c, r, p, pose === HIT);
}

// A unit looks east. hits: it strikes, shoots or mines.
const drawn = {
  [WORKER](c, r, p, hits) { // round and small, with a straw hat and a pick
    const reach = hits ? 0.25 : 0;
    line(c, [[r * 0.1, r * 0.5], [r * (0.95 + reach), r * (hits ? 0.15 : 0.6)]], wood, Math.max(1, r * 0.18));
    line(c, [[r * (0.8 + reach), r * (hits ? -0.2 : 0.3)], [r * (1.1 + reach), r * (hits ? 0.45 : 0.9)]], steel, Math.max(1, r * 0.16));
    c.lineWidth = Math.max(1, r * 0.14);
    c.beginPath();
    c.ellipse(-r * 0.05, 0, r * 0.7, r * 0.86, 0, 0, 7);
    c.fillStyle = p.fill;
    c.fill();
    c.strokeStyle = p.dark;
    c.stroke();
    disc(c, r * 0.05, 0, r * 0.4, "#e9c46a", "#8a6a24");
    disc(c, r * 0.05, 0, r * 0.18, "#f7e1a0");
  },
  [SOLDIER](c, r, p, hits) { // broad, with a shield in front and a sword
    line(c, hits ? [[r * 0.2, r * 0.75], [r * 1.65, r * 0.1]] : [[0, r * 0.8], [r * 0.85, r * 1.15]], "#2b3036", Math.max(1.6, r * 0.3));
    line(c, hits ? [[r * 0.2, r * 0.75], [r * 1.65, r * 0.1]] : [[0, r * 0.8], [r * 0.85, r * 1.15]], steel, Math.max(1, r * 0.18));
    c.lineWidth = Math.max(1, r * 0.14);
    shape(c, [[r * 0.35, -r * 0.8], [r * 0.35, r * 0.8], [-r * 0.2, r * 1.0], [-r * 0.8, r * 0.5], [-r * 0.8, -r * 0.5], [-r * 0.2, -r * 1.0]], p.fill, p.dark);
    shape(c, [[r * 0.2, -r * 1.05], [r * 0.7, -r * 0.85], [r * 1.0, -r * 0.2], [r * 0.75, r * 0.3], [r * 0.4, r * 0.1]], p.light, p.dark);
    disc(c, -r * 0.12, 0, r * 0.44, "#8d97a3", "#22282e");
    line(c, [[-r * 0.5, 0], [r * 0.25, 0]], p.fill, Math.max(1, r * 0.2)); // the crest
  },
  [ARCHER](c, r, p, hits) { // a slim pointed cloak behind a wide bow
    const pull = hits ? 0.05 : -0.35;
    c.lineCap = "round";
    c.strokeStyle = "#3b2a14";
    c.lineWidth = Math.max(1.6, r * 0.28);
    c.beginPath();
    c.arc(r * 0.05, 0, r * 1.15, -1.15, 1.15);
    c.stroke();
    c.strokeStyle = "#e0b978";
    c.lineWidth = Math.max(1, r * 0.16);
    c.stroke();
    line(c, [[r * 0.52, -r * 1.05], [r * (0.5 + pull), 0], [r * 0.52, r * 1.05]], "#f5f0e4", Math.max(0.7, r * 0.07));
    if (!hits) line(c, [[-r * 0.1, 0], [r * 1.4, 0]], "#f5f0e4", Math.max(0.8, r * 0.1));
    c.lineWidth = Math.max(1, r * 0.14);
    shape(c, [[r * 0.55, 0], [r * 0.05, -r * 0.55], [-r * 1.15, -r * 0.45], [-r * 0.8, 0], [-r * 1.15, r * 0.45], [r * 0.05, r * 0.55]], p.fill, p.dark);
    shape(c, [[r * 0.5, 0], [-r * 0.05, -r * 0.36], [-r * 0.5, 0], [-r * 0.05, r * 0.36]], p.dark);
    disc(c, r * 0.12, 0, r * 0.26, skin, p.dark);
  },
};

// building draws a building of which a part from 0 to 1 is complete.
export function building(c, r, half, part, draw) {
  if (part >= 1) {
    draw(c);
    return;
  }
  shape(c, polygon(10, r * 1.05, 0.3), "rgba(120,98,66,.85)", "rgba(60,46,28,.9)"); // the foundation
  c.save();
  c.beginPath();
  c.rect(-half, r * (1.1 - 2.2 * part), 2 * half, 2 * half);
  c.clip();
  draw(c);
  c.restore();
  c.lineWidth = Math.max(1, r * 0.05);
  c.strokeStyle = "rgba(226,190,120,.95)";
  c.beginPath();
  for (let k = -1; k <= 1; k++) {
    c.moveTo(k * r * 0.62, -r * 0.9);
    c.lineTo(k * r * 0.62, r * 0.9);
    c.moveTo(-r * 0.9, k * r * 0.62);
    c.lineTo(r * 0.9, k * r * 0.62);
  }
  c.stroke();
}

const cast = (c, points, r) => shape(c, moved(points, r * 0.14, r * 0.2), "rgba(5,8,10,.42)");

// roof is a roof with two slopes, of which the upper one has the light.
function roof(c, left, top, right, bottom, light, fill, dark) {
  const middle = (top + bottom) / 2;
  shape(c, [[left, top], [right, top], [right, middle], [left, middle]], light, dark);
  shape(c, [[left, middle], [right, middle], [right, bottom], [left, bottom]], fill, dark);
}

export const buildings = {
  [BASE](c, r, p) { // a castle with eight sides, four round towers and a keep
    c.lineWidth = Math.max(1, r * 0.045);
    const wall = polygon(8, r * 0.98, Math.PI / 8);
    cast(c, wall, r);
    shape(c, wall, "#777d87", "#2f343b");
    shape(c, polygon(8, r * 0.82, Math.PI / 8), "#b3a98f", "#5c626b"); // the yard
    for (const [x, y] of polygon(4, r * 0.86, Math.PI / 4)) {
      disc(c, x + r * 0.05, y + r * 0.07, r * 0.24, "rgba(5,8,10,.35)");
      disc(c, x, y, r * 0.23, "#9aa0a9", "#2f343b");
      disc(c, x, y, r * 0.16, p.fill, p.dark);
      disc(c, x - r * 0.04, y - r * 0.04, r * 0.06, p.light);
    }
    shape(c, moved(polygon(4, r * 0.64, 0), r * 0.06, r * 0.09), "rgba(5,8,10,.4)");
    const k = r * 0.62;
    shape(c, [[0, -k], [0, 0], [-k, 0]], p.light, p.dark);
    shape(c, [[0, -k], [k, 0], [0, 0]], p.fill, p.dark);
    shape(c, [[-k, 0], [0, 0], [0, k]], p.fill, p.dark);
    shape(c, [[k, 0], [0, k], [0, 0]], p.dark, p.dark);
    disc(c, 0, 0, r * 0.13, "#ffe9a8", "#7a5a16");
  },
  [BARRACKS](c, r, p) { // a long house with a gate and crossed swords
    c.lineWidth = Math.max(1, r * 0.055);
    const wall = [[-r * 0.95, -r * 0.68], [r * 0.95, -r * 0.68], [r * 0.95, r * 0.72], [-r * 0.95, r * 0.72]];
    cast(c, wall, r);
    shape(c, wall, "#8a7458", "#2e261d");
    roof(c, -r * 0.88, -r * 0.62, r * 0.88, r * 0.46, p.light, p.fill, p.dark);
    c.strokeStyle = p.dark;
    c.lineWidth = Math.max(0.6, r * 0.025);
    c.beginPath();
    for (let x = -0.66; x < 0.8; x += 0.22) {
      c.moveTo(r * x, -r * 0.62);
      c.lineTo(r * x, r * 0.46);
    }
    c.stroke();
    c.lineWidth = Math.max(1, r * 0.05);
    shape(c, [[-r * 0.2, r * 0.46], [r * 0.2, r * 0.46], [r * 0.2, r * 0.8], [-r * 0.2, r * 0.8]], "#2e261d", "#c8ab7c");
    disc(c, 0, -r * 0.08, r * 0.36, "#f2ead8", p.dark);
    for (const s of [-1, 1]) line(c, [[-s * r * 0.2, r * 0.12], [s * r * 0.2, -r * 0.28]], "#3a4048", Math.max(1, r * 0.09));
  },
  [TOWER](c, r, p) { // a round tower with battlements and a flag
    c.lineWidth = Math.max(1, r * 0.08);
    cast(c, polygon(12, r * 0.95), r * 1.7);
    disc(c, 0, 0, r * 0.93, "#8a8f98", "#2f343b");
    for (const [x, y] of polygon(8, r * 0.78, 0.2)) disc(c, x, y, r * 0.15, x + y < 0 ? "#d2d6dc" : "#a3a9b1", "#4a5059");
    disc(c, 0, 0, r * 0.58, "#6c727b", "#3a3f46");
    line(c, [[-r * 0.1, r * 0.3], [-r * 0.1, -r * 0.75]], "#3b2a14", Math.max(1, r * 0.12));
    c.lineWidth = Math.max(1, r * 0.07);
    shape(c, [[-r * 0.1, -r * 0.78], [r * 0.75, -r * 0.42], [-r * 0.1, -r * 0.05]], p.fill, p.dark);
    disc(c, -r * 0.1, r * 0.3, r * 0.14, p.light, p.dark);
  },
};
