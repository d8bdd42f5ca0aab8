// The page of keys: what the mouse, fingers and keys do.

import { el } from "./dom.js";

const rows = [
  ["drag", "choose who is in the box; with shift, beside those who are chosen"],
  ["click, twice", "choose one; all of its kind on the screen"],
  ["other button", "go there, attack, mine or help to build; with shift, afterwards"],
  ["touch", "choose an own unit, or give those chosen an order; two fingers move and zoom"],
  ["wheel, + −", "zoom; with shift, move the view"],
  ["arrows, border, wheel button", "move the view"],
  ["space, enter", "choose, and give an order, in the middle of the screen"],
  ["1 … 9", "choose a group; again, go there"],
  ["shift 1 … 9", "make those who are chosen a group; with control, add them to it"],
  ["F, I, H", "choose all who fight; the next idle worker; look home"],
  ["letters on the buttons", "what the buttons do; the next click says where"],
  ["escape", "give up an order, or choose nobody"],
  ["/", "chat"],
];

// help returns a panel of keys, hidden at first.
export function help() {
  const panel = el("aside", { class: "side help", hidden: true, "aria-label": "Keys" },
    el("header", {}, el("h2", {}, "Keys"), el("button", { onclick: () => (panel.hidden = true), "aria-label": "close" }, "×")),
    el("dl", {}, ...rows.flatMap(([key, does]) => [el("dt", {}, key), el("dd", {}, does)])),
  );
  return panel;
}
