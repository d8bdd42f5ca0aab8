// The last match without a server: its replay is in the program, and when it has ended also in this browser, because the program
// forgets it when the page is loaded again.

import { remember, recall } from "./dom.js";
import { t } from "./text.js";

// solo is the name of its replay.
export const solo = ":solo";

const stored = "solo";
const more = 1 << 16; // bytes by which the replay of a match that is on may have grown

const held = () => globalThis.samestep?.soloReplay?.(new Uint8Array(0)) || 0;

// soloAddress returns the address of a match without a server, as a request to a server would have it; by default of a usual match.
export function soloAddress({ config, ...rest } = {}) {
  const query = new URLSearchParams({ ...rest, ...(config && { config: JSON.stringify(config) }) });
  return query.size ? `#/now?${query}` : "#/now";
}

// soloRequest returns the request of such an address with all its values, for the page's game.
export function soloRequest(query) {
  const { players = "2", bot = "easy", tick_rate = "20", seed, units = "0", scenario = "", config = "{}" } = Object.fromEntries(query);
  const [{ name }] = JSON.parse(samestep.games());
  const usual = JSON.parse(samestep.configuration(name, Number(players), Number(units), scenario));
  if (usual.error) throw new Error(usual.error);
  return {
    players: Number(players), bot, tick_rate: Number(tick_rate), seed: Number(seed) >>> 0 || crypto.getRandomValues(new Uint32Array(1))[0] || 1,
    config: { ...usual.value, ...JSON.parse(config) },
  };
}

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
