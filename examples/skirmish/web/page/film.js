// Reads a film: frames that package scene has kept in a file (see scene.Film), so that they need no program.

import { TICK, ZONES, CRYSTALS, UNITS, EFFECTS, X, Y, ZOOM, SIZE, TEAM, WORDS, ZONE, CRYSTAL, UNIT, EFFECT, PLACE, WALKING, HURT } from "./frame.js";

const place = PLACE / 16, heading = 16, share = 50; // the steps of its numbers
const far = 32; // a unit that is so far from its next place jumps there
const everything = 255; // the team that sees the whole map

export class Film {
  constructor(bytes) {
    let at = 0;
    const column = (length) => {
      const list = new Int32Array(length);
      for (let i = 0, v = 0; i < length; i++) {
        let b = bytes[at++], word = b & 127;
        for (let shift = 7; b > 127; shift += 7) word |= ((b = bytes[at++]) & 127) << shift;
        list[i] = v += (word >>> 1) ^ -(word & 1);
      }
      return list;
    };
    const columns = (count, length) => Array.from({ length: count }, () => column(length));
    const [every, frames, size, zones, crystals, units, effects] = column(7);
    Object.assign(this, { every, frames, size, zones, crystals });
    this.rock = Uint8Array.from(column(size * size));
    this.places = column(zones * ZONE + crystals * CRYSTAL);
    this.units = columns(3, units);
    this.samples = columns(6, units * frames);
    this.effects = columns(7, effects);
    this.last = (frames - 1) * every; // tick
    this.most = 4 * (WORDS + this.places.length + units * UNIT + effects * EFFECT); // bytes of a frame
  }

  ground(cells) {
    cells.set(this.rock);
    return cells.length;
  }

  // fog: everything is seen.
  fog(cells) {
    return cells.fill(2).length;
  }

  // frame fills bytes with the frame at a tick, which may be between two, and returns their number. camera has x and y, in cells, and the
  // pixels of a cell.
  frame(bytes, tick, camera) {
    if (bytes.length < this.most) return this.most;
    const w = new Int32Array(bytes.buffer);
    w.fill(0, 0, WORDS);
    w[TICK] = tick;
    w[ZONES] = this.zones;
    w[CRYSTALS] = this.crystals;
    w[X] = camera.x * PLACE;
    w[Y] = camera.y * PLACE;
    w[ZOOM] = camera.cell * 256;
    w[SIZE] = this.size;
    w[TEAM] = everything;
    w.set(this.places, WORDS);
    const units = WORDS + this.places.length, effects = this.#units(w, units, tick), end = this.#effects(w, effects, tick);
    w[UNITS] = (effects - units) / UNIT;
    w[EFFECTS] = (end - effects) / EFFECT;
    return 4 * end;
  }

  // #units writes the living units, each between two samples. It returns the end of their words.
  #units(w, at, tick) {
    const [looks, first, gone] = this.units, [x, y, flags, headings, health, work] = this.samples, { frames } = this;
    const frame = Math.min(Math.floor(tick / this.every), frames - 1), part = tick / this.every - frame, quarter = Math.floor(part * 4);
    for (let unit = 0; unit < looks.length; unit++) {
      if (tick < first[unit] || tick >= gone[unit]) continue;
      const i = unit * frames + frame, next = frame + 1 < frames ? i + 1 : i, dx = x[next] - x[i], dy = y[next] - y[i];
      const go = Math.abs(dx) < far && Math.abs(dy) < far ? part * place : 0;
      let flag = flags[i];
      if (dx || dy) flag |= WALKING;
      if (health[next] < health[i] && quarter === (unit & 3)) flag |= HURT; // not all that were hit flash at once
      w[at] = x[i] * place + dx * go;
      w[at + 1] = y[i] * place + dy * go;
      w[at + 2] = unit;
      w[at + 3] = looks[unit] | (flag << 16) | ((headings[i] * heading) << 24);
      w[at + 4] = health[i] * share;
      w[at + 5] = work[i] * share;
      at += UNIT;
    }
    return at;
  }

  // #effects writes the effects that are shown. It returns the end of their words.
  #effects(w, at, tick) {
    const [begins, ticks, sorts, x, y, dx, dy] = this.effects;
    for (let i = 0; i < begins.length && begins[i] <= tick; i++) {
      const age = (tick - begins[i]) / ticks[i];
      if (age >= 1) continue;
      w[at] = sorts[i] | (Math.floor(age * 255) << 16);
      w[at + 1] = x[i] * place;
      w[at + 2] = y[i] * place;
      w[at + 3] = (x[i] + dx[i]) * place;
      w[at + 4] = (y[i] + dy[i]) * place;
      at += EFFECT;
    }
    return at;
  }
}
