// The panel of shortcuts: mouse, touch and keyboard.

import { el } from "./dom.js";
import { looks } from "./looks.js";

const rows = [
  ["left-click", "select; with Shift, add or remove"],
  ["double-click", "select all of that kind"],
  ["drag", "select in a box; with Shift, add"],
  ["right-click", "move, attack, gather or help to build; with Shift, queue the order"],
  ["letters on the buttons", "move M, attack A, patrol P, gather G, build B R T, then left-click; stop S, train Q W E"],
  ["1 – 9", "select a group; twice: jump to it"],
  ["Shift + 1 – 9", "make a group; with Ctrl, add to it"],
  ["F, I, H", "select the army; the next idle worker; jump to your base"],
  ["Team (at the top)", "offer, accept or break an alliance; vote to surrender; hide from spectators"],
  ["wheel, + −", "zoom"],
  ["arrows, edge", "scroll; the wheel button does too"],
  ["Space, Enter", "left-click and right-click in the middle of the screen"],
  ["Esc", "cancel an order, or deselect"],
  ["/", "chat"],
  ["touch", "tap to select or give an order; two fingers scroll and zoom"],
];

// help returns the panel, hidden at first.
export function help() {
  const panel = el("aside", { class: "side help", hidden: true, "aria-label": "Shortcuts" },
    el("header", {}, el("h2", {}, "Shortcuts"), el("button", { onclick: () => (panel.hidden = true), "aria-label": "close" }, "×")),
    el("dl", {}, ...rows.flatMap(([key, does]) => [el("dt", {}, key), el("dd", {}, does)])),
    looks(),
  );
  return panel;
}
