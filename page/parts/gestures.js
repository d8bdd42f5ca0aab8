// What the inputs of live matches and of replays share.

export const dragPixels = 6; // a press that moves farther is a drag
export const speed = 900; // pixels per second, for scrolling

const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

// isArrow reports whether a key is an arrow key.
export const isArrow = (code) => Object.hasOwn(arrows, code);

// direction returns the sum of the pressed arrow keys, as [x, y].
export function direction(held) {
  let dx = 0, dy = 0;
  for (const code of held) {
    dx += arrows[code][0];
    dy += arrows[code][1];
  }
  return [dx, dy];
}

// coarse reports whether the user's pointer is a finger.
export const coarse = () => matchMedia("(pointer: coarse)").matches;

// spread returns the middle of two fingers, and their distance.
export function spread(pointers) {
  const [a, b] = [...pointers.values()];
  return { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2, apart: Math.max(1, Math.hypot(a.x - b.x, a.y - b.y)) };
}

// wheelZoom returns the factor of a turn of the wheel, in thousandths.
export function wheelZoom(e) {
  const pixels = e.deltaY * (e.deltaMode === 1 ? 16 : 1);
  return Math.round(1000 * Math.exp(-Math.max(-80, Math.min(80, pixels)) / 500));
}
