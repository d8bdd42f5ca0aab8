// The panel of a replay: the selected unit's state, the commands around now, and the checksums.

import { el, text } from "./dom.js";
import { playerName, t } from "./text.js";
import { Commands } from "./commands.js";

export class Unit {
  // hooks: go(tick) jumps to a tick; follow() toggles following the selected unit.
  constructor(hooks) {
    this.hooks = hooks;
    this.fields = el("table", { class: "fields" });
    this.follow = el("button", { onclick: () => hooks.follow() }, t("Follow"));
    this.unitTitle = el("h2", {}, t("No unit is selected"));
    this.unit = el("section", { "aria-label": t("State of the selected unit") },
      el("header", {}, this.unitTitle, this.follow), this.fields,
      el("p", { class: "soft" }, t("Click a unit to see its state.")));
    this.commands = new Commands(hooks.go);
    this.element = el("aside", { class: "inspector" }, this.unit, this.commands.list, this.commands.about);
    this.hint = this.unit.lastChild;
  }

  open(about) {
    this.commands.open(about);
  }

  update(state, about) {
    this.#unit(state, about);
    this.commands.update(state, about);
  }

  #unit(state, about) {
    const json = state.chosen ? samestep.watchFields() : "";
    this.follow.hidden = !json;
    this.hint.hidden = !!state.chosen;
    this.follow.setAttribute("aria-pressed", String(state.follow));
    this.follow.classList.toggle("on", state.follow);
    if (!state.chosen) {
      text(this.unitTitle, t("No unit is selected"));
      this.fields.replaceChildren();
      this.rows = null;
      return;
    }
    if (!json) {
      text(this.unitTitle, t("Unit {unit} is not alive at this tick", { unit: state.chosen }));
      return;
    }
    const unit = JSON.parse(json), flat = flatten(unit);
    const name = playerName(about.players, unit.Owner);
    text(this.unitTitle, t("{kind} {unit} of {name}", { kind: t(state.kind), unit: state.chosen, name }));
    if (!this.rows || this.rows.size !== flat.length) {
      this.rows = new Map(flat.map(([name]) => [name, el("td")]));
      this.fields.replaceChildren(...flat.map(([name]) => el("tr", {}, el("th", { scope: "row" }, name), this.rows.get(name))));
    }
    for (const [name, value] of flat) {
      const cell = this.rows.get(name);
      cell.classList.toggle("new", cell.textContent !== "" && cell.textContent !== value);
      text(cell, value);
    }
  }
}

// flatten returns the fields of a value by their paths.
function flatten(value, path = "") {
  if (value === null || typeof value !== "object") return [[path, String(value)]];
  return Object.entries(value).flatMap(([key, v]) => flatten(v, path ? `${path}.${key}` : key));
}
