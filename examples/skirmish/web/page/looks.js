// What the user can choose about the picture.

import { el, recall, remember } from "./dom.js";
import { choice } from "./palette.js";
import { t } from "./text.js";

// looks returns the controls.
export function looks() {
  const outlines = el("input", { type: "checkbox", checked: recall("outlines") === "on", onchange: () => {
    remember("outlines", outlines.checked ? "on" : "");
    dispatchEvent(new Event("palette"));
  } });
  return el("section", { class: "looks", "aria-label": t("Picture") },
    choice(el), el("label", {}, outlines, " ", t("rings around units: mine, allies, enemies")));
}
