// The last match without a server: its replay is in the program, and when it has ended also in this browser, because the program
// forgets it when the page is loaded again.

import { remember, recall } from "./dom.js";
import { t } from "./text.js";

// solo is the name of its replay.
export const solo = ":solo";

const stored = "solo";
const more = 1 << 16; // bytes by which the replay of a match that is on may have grown

const held = () => globalThis.samestep?.soloReplay?.(new Uint8Array(0)) || 0;

// soloSize returns its size in bytes, or 0 if there is none.
export const soloSize = () => held() || Math.floor((recall(stored).length * 3) / 4);

// soloReplay returns its bytes.
export function soloReplay() {
  const size = held();
  if (size) {
    const bytes = new Uint8Array(size + more), written = samestep.soloReplay(bytes);
    if (written <= bytes.length) return bytes.subarray(0, written);
  }
  const text = atob(recall(stored));
  if (!text) throw new Error(t("this browser has kept none"));
  return Uint8Array.from(text, (c) => c.charCodeAt(0));
}

// keepSolo keeps it in this browser.
export function keepSolo() {
  const bytes = soloReplay(), parts = [];
  for (let i = 0; i < bytes.length; i += 0x8000) parts.push(String.fromCharCode(...bytes.subarray(i, i + 0x8000)));
  remember(stored, btoa(parts.join("")));
}
