// The dialog in which the user chooses keys.

import { el, text } from "./dom.js";
import { nameOf } from "./keymap.js";
import { t } from "./text.js";

export class KeyDialog {
  constructor(keymap) {
    this.keymap = keymap;
    this.said = el("p", { class: "said", role: "status" });
    this.rows = keymap.actions.map((action) => {
      const button = el("button", { type: "button", onclick: () => this.#ask(action) });
      return { action, button, row: el("li", {}, el("span", {}, t(action.label)), button) };
    });
    this.element = el("dialog", { class: "keydialog", "aria-label": t("Keys"), onkeydown: (e) => this.#key(e), onclose: () => this.#ask(null) },
      el("h2", {}, t("Keys")),
      el("p", { class: "soft" }, t("Press a button, and then the new key.")),
      el("ul", {}, ...this.rows.map((r) => r.row)),
      this.said,
      el("p", { class: "actions" },
        el("button", { type: "button", onclick: () => this.#reset() }, t("Usual keys")),
        el("button", { type: "button", class: "main", onclick: () => this.element.close() }, t("Done"))));
  }

  open() {
    this.#ask(null);
    this.element.showModal();
  }

  // #ask waits for the key of an action; null shows the present keys only.
  #ask(action) {
    this.asked = action;
    text(this.said, action ? t("Press the new key of “{action}”. Esc keeps the old one.", { action: t(action.label) }) : "");
    for (const r of this.rows) {
      r.button.classList.toggle("on", r.action === action);
      const key = r.action === action ? "…" : nameOf(this.keymap.keyOf(r.action));
      text(r.button, key);
      r.button.setAttribute("aria-label", `${t(r.action.label)}: ${key}`);
    }
  }

  #key(e) {
    const action = this.asked;
    if (!action || e.repeat) return;
    if (/^(Shift|Control|Alt|Meta)/.test(e.code)) return; // of another key
    e.preventDefault();
    const taken = e.code === "Escape" ? undefined : this.keymap.taken(action, e.code);
    if (taken) {
      const key = nameOf(e.code);
      text(this.said, taken === true ? t("{key} has a fixed meaning.", { key }) : t("{key} is already the key of “{action}”.", { key, action: t(taken.label) }));
      return;
    }
    if (e.code !== "Escape") this.keymap.choose(action, e.code);
    this.#ask(null);
  }

  #reset() {
    this.keymap.reset();
    this.#ask(null);
  }
}
