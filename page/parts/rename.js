// The button with which a guest takes another name during a match. Others have the name of their token.

import { el, remember, recall } from "./dom.js";
import { t } from "./text.js";

export class Rename {
  constructor() {
    this.name = el("input", { type: "text", maxlength: "20", autocomplete: "nickname", required: true, "aria-label": t("Your name") });
    this.dialog = el("dialog", { class: "rename", "aria-label": t("Your name") }, el("form", { method: "dialog", onsubmit: () => this.#take() },
      this.name, el("button", { class: "main", type: "submit" }, t("Rename")), el("button", { type: "button", onclick: () => this.dialog.close() }, t("Cancel"))));
    this.element = el("span", { hidden: true }, el("button", { onclick: () => this.#ask() }, t("Name")), this.dialog);
    this.dialog.addEventListener("keydown", (event) => event.stopPropagation()); // no key of the match
  }

  // begin offers it to guests, in a match that is joined with a token.
  begin(token) {
    this.element.hidden = !token.startsWith("guest:");
  }

  #ask() {
    this.name.value = recall("name");
    this.dialog.showModal();
  }

  // #take joins again under the new name: the server knows the seat by the guest's secret.
  #take() {
    const name = this.name.value.trim();
    if (!name || name === recall("name")) return;
    remember("name", name);
    dispatchEvent(new HashChangeEvent("hashchange"));
  }
}
