// The countdown before a match of the user's own.

import { el, text } from "./dom.js";
import { t } from "./text.js";

// countdown counts from three over an element, as long as going() is true.
export async function countdown(over, going, seconds = 3) {
  const number = el("b", {}), shown = el("div", { class: "countdown", role: "status" }, el("span", {}, t("Your match begins")), number);
  over.append(shown);
  for (let left = seconds; left > 0 && going(); left--) {
    text(number, left);
    await new Promise((resolve) => setTimeout(resolve, 700));
  }
  shown.remove();
}
