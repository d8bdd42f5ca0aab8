// The panel of shortcuts: mouse, touch and keyboard.

import { el } from "./dom.js";

const rows = [
  ["left-click", "select a unit; with Shift, add or remove it"],
  ["double-click", "select all units of that kind on the screen"],
  ["drag", "select the units in a box; with Shift, add them"],
  ["right-click", "move, attack, gather or help to build; with Shift, queue the order"],
  ["letters on the buttons", "move M, attack A, patrol P, gather G, build B R T: then left-click the target; stop S, train Q W E"],
  ["1 – 9", "select a control group; press twice to jump to it"],
  ["Shift + 1 – 9", "make the selected units a control group; with Ctrl, add them to it"],
  ["F, I, H", "select the whole army; select the next idle worker; jump to your base"],
  ["wheel, + −", "zoom"],
  ["arrow keys, screen edge, wheel button", "scroll; Shift + wheel scrolls too"],
  ["Space, Enter", "left-click and right-click in the middle of the screen"],
  ["Esc", "cancel an order (right-click does too), or clear the selection"],
  ["/", "chat"],
  ["touch", "tap your unit to select it, tap elsewhere to give an order; two fingers scroll and zoom"],
];

// help returns the panel, hidden at first.
export function help() {
  const panel = el("aside", { class: "side help", hidden: true, "aria-label": "Shortcuts" },
    el("header", {}, el("h2", {}, "Shortcuts"), el("button", { onclick: () => (panel.hidden = true), "aria-label": "close" }, "×")),
    el("dl", {}, ...rows.flatMap(([key, does]) => [el("dt", {}, key), el("dd", {}, does)])),
  );
  return panel;
}
