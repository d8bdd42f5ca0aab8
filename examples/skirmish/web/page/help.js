// The panel of shortcuts: mouse, touch and keyboard.

import { el } from "./dom.js";
import { looks } from "./looks.js";
import { keymap } from "./actions.js";
import { KeyDialog } from "./keydialog.js";
import { nameOf } from "./keymap.js";
import { coarse } from "./gestures.js";
import { t } from "./text.js";

const mouse = () => [
  [t("left-click"), t("select; with Shift, add or remove")],
  [t("double-click"), t("select all of that kind")],
  [t("drag"), t("select in a box; with Shift, add")],
  [t("right-click"), t("move, attack, gather or help to build, also on the minimap; with Shift, queue the order")],
  [t("Alt + click"), t("show a place to allies")],
  [t("wheel, edge of the screen"), t("zoom; scroll, as the wheel button does")],
];

const touch = () => [
  [t("tap"), t("select a unit, or else give the selected ones an order")],
  [t("long press"), t("give an order, also where your own units are")],
  [t("drag"), t("select in a box")],
  [t("two fingers"), t("scroll and zoom")],
];

const keys = () => [
  ...keymap.actions.map((a) => [nameOf(keymap.keyOf(a)), t(a.label)]),
  ["1 – 9", t("select a group; twice: jump to it")],
  [t("Ctrl + 1 – 9"), t("make a group; with Shift, add to it")],
  [t("arrows"), t("scroll")],
  ["Esc", t("cancel an order, or deselect")],
];

// help returns the panel, hidden at first.
export function help() {
  const list = el("dl"), dialog = new KeyDialog(keymap);
  const show = () => {
    const rows = [...(coarse() ? [...touch(), ...mouse()] : [...mouse(), ...touch()]), [t("Team (at the top)"), t("offer, accept or break an alliance; vote to surrender; hide from spectators")], ...keys()];
    list.replaceChildren(...rows.flatMap(([key, does]) => [el("dt", {}, key), el("dd", {}, does)]));
  };
  show();
  addEventListener("keymap", show);
  const panel = el("aside", { class: "side help", hidden: true, "aria-label": t("Shortcuts") },
    el("header", {}, el("h2", {}, t("Shortcuts")), el("button", { onclick: () => (panel.hidden = true), "aria-label": t("close") }, "×")),
    el("p", {}, el("button", { class: "change", onclick: () => dialog.open() }, t("Change keys…"))),
    list,
    looks(),
    dialog.element,
  );
  return panel;
}
