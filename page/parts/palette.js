// The colours of the players, as the user has chosen them.

import { recall, remember } from "./dom.js";
import { t } from "./text.js";

// The palettes have 16 colours in the order of the seats. The first eight are far apart: in all of them for usual sight, and in
// the second and third one for the eyes that they are named after.
const palettes = {
  usual: {
    label: () => t("Usual"),
    names: [t("Blue"), t("Red"), t("Gold"), t("Green"), t("Violet"), t("Cyan"), t("Orange"), t("Pink"), t("Lime"), t("Navy"), t("Brown"), t("White"), t("Teal"), t("Rose"), t("Olive"), t("Gray")],
    fills: "#3d8bfd #f0483e #f5b921 #3fbf5a #a566f2 #27c4c9 #ff8a34 #ff6fb1 #a6d92b #5668c9 #a9714b #e6e9ee #1f9d84 #d1495b #8f8f2f #8793a3",
  },
  redgreen: {
    label: () => t("Red and green look alike"),
    names: [t("Blue"), t("Orange"), t("Cyan"), t("Purple"), t("Lime"), t("Teal"), t("Mint"), t("Ice"), t("Green"), t("Violet"), t("Sea"), t("Tan"), t("Rose"), t("Red"), t("Jade"), t("Brown")],
    fills: "#2f80ff #ff7a1a #31bec1 #820095 #d8ff61 #2c827d #a0ffd0 #c7feff #30e85b #8126f1 #23ffa5 #c7906b #d28b97 #ea3006 #22da81 #991311",
  },
  blueyellow: {
    label: () => t("Blue and yellow look alike"),
    names: [t("Blue"), t("Red"), t("White"), t("Magenta"), t("Wine"), t("Green"), t("Pink"), t("Violet"), t("Mint"), t("Olive"), t("Mauve"), t("Azure"), t("Purple"), t("Sand"), t("Yellow"), t("Rose")],
    fills: "#1f9bff #f0281e #f1f4ff #ff24fc #892e42 #00ff00 #ffb8f0 #8033f6 #c4ffe2 #574e00 #7f70a1 #006dc8 #632f96 #a69d92 #ffeb6e #bc5574",
  },
  contrast: {
    label: () => t("High contrast"),
    names: [t("Blue"), t("Red"), t("Indigo"), t("Cyan"), t("Magenta"), t("Green"), t("White"), t("Yellow"), t("Brown"), t("Teal"), t("Ice"), t("Orange"), t("Navy"), t("Lime"), t("Gray"), t("Crimson")],
    fills: "#3090ff #ff2020 #3f08df #1ceeff #ff43e8 #00d666 #f9e5eb #ffdd00 #942d00 #009a86 #d3fbe3 #cd701a #205f95 #b8ff01 #8d93a1 #b51d4c",
  },
};

// mix returns a colour between two of six digits.
const mix = (a, b, part) => "#" + [1, 3, 5].map((i) => {
  const from = parseInt(a.slice(i, i + 2), 16), to = parseInt(b.slice(i, i + 2), 16);
  return Math.round(from + (to - from) * part).toString(16).padStart(2, "0");
}).join("");

const shades = (fill, name) => ({ name, fill, dark: mix(fill, "#000000", 0.52), light: mix(fill, "#ffffff", 0.58) });

const usual = palettes.usual.fills.split(" ");
let players, bySide, own = -1, friends = 0;

// take uses what the user has chosen.
function take() {
  const { fills, names } = palettes[palette()];
  players = fills.split(" ").map((fill, i) => shades(fill, names[i]));
  bySide = recall("colours") === "sides";
}
take();

// palette returns the name of the chosen palette.
export function palette() {
  return Object.hasOwn(palettes, recall("palette")) ? recall("palette") : "usual";
}

// of returns the colours of a player.
export function of(player) {
  if (!bySide || own < 0) return players[player % players.length];
  return players[[0, 2, 1][side(player)]];
}

// side returns 0 for the user, 1 for an ally, and 2 for everybody else.
export const side = (player) => (player === own ? 0 : (friends >> player) & 1 ? 1 : 2);

// relate says who the user is, and who has the same team, a bit for each player. Without a seat the user is -1.
export function relate(seat, team) {
  if (seat === own && team === friends) return;
  own = seat;
  friends = team;
  if (bySide) dispatchEvent(new Event("palette"));
}

// chosen returns the colour that the user's palette has for the colour that a game calls that of a player.
export function chosen(fill) {
  const player = usual.indexOf(fill);
  return player < 0 ? fill : of(player).fill;
}

// choice returns a row of controls for the user to choose the colours. The event "palette" on the window follows a change.
export function choice(el) {
  const change = (key, value) => {
    remember(key, value);
    take();
    dispatchEvent(new Event("palette"));
  };
  const which = el("select", { onchange: () => change("palette", which.value) },
    ...Object.entries(palettes).map(([name, p]) => el("option", { value: name, selected: name === palette() }, p.label())));
  const sides = el("input", { type: "checkbox", checked: bySide, onchange: () => change("colours", sides.checked ? "sides" : "") });
  return el("div", { class: "palettes" },
    el("label", {}, t("Colours"), " ", which), el("label", {}, sides, " ", t("one colour for me, one for allies, one for enemies")));
}
