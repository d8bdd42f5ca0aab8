// Reads the blocks of numbers that package scene writes.

// The words of the header, as scene.Head… names them.
export const TICK = 0, ZONES = 1, CRYSTALS = 2, UNITS = 3, EFFECTS = 4, DOTS = 5, FOG = 6, X = 7, Y = 8, ZOOM = 9, SIZE = 10, TEAM = 14, WORDS = 17;
const GHOST = 11, GHOST_X = 12, GHOST_Y = 13, PLAYER = 15, FRIENDS = 16;

export const ZONE = 4, CRYSTAL = 3, UNIT = 6, EFFECT = 5, DOT = 1; // words of each
export const SELECTED = 1, UNBUILT = 2, LOADED = 4, WALKING = 8, FIGHTING = 16, HURT = 32, WORKING = 64; // flags
export const PLACE = 1024; // places are in 1/1024 of a cell

// Frame is a view of one block, reused for each.
export class Frame {
  read(words) {
    this.words = words;
    this.tick = words[TICK];
    this.fogTick = words[FOG];
    this.x = words[X] / PLACE;
    this.y = words[Y] / PLACE;
    this.cell = words[ZOOM] / 256; // pixels for a cell
    this.size = words[SIZE];
    this.team = words[TEAM];
    this.player = words[PLAYER];
    this.friends = words[FRIENDS];
    this.seat = this.friends ? this.player : -1;
    this.ghost = words[GHOST] && {
      kind: words[GHOST] & 255, fits: words[GHOST] < 256, x: words[GHOST_X] / PLACE, y: words[GHOST_Y] / PLACE,
    };
    let at = WORDS;
    this.zones = this.#part(at, words[ZONES], ZONE);
    this.crystals = this.#part((at = this.zones.end), words[CRYSTALS], CRYSTAL);
    this.units = this.#part((at = this.crystals.end), words[UNITS], UNIT);
    this.effects = this.#part((at = this.units.end), words[EFFECTS], EFFECT);
    this.dots = this.#part(this.effects.end, words[DOTS], DOT);
    return this;
  }

  #part(start, count, step) {
    return { start, count, step, end: start + count * step };
  }
}
