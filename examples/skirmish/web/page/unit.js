// The panel of a replay: the selected unit's state, the commands around now, and the checksums.

import { el, text } from "./dom.js";
import { Commands } from "./commands.js";

export class Unit {
  // hooks: go(tick) jumps to a tick; follow() toggles following the selected unit.
  constructor(hooks) {
    this.hooks = hooks;
    this.fields = el("table", { class: "fields" });
    this.follow = el("button", { onclick: () => hooks.follow() }, "Follow");
    this.unitTitle = el("h2", {}, "No unit is selected");
    this.unit = el("section", { "aria-label": "State of the selected unit" },
      el("header", {}, this.unitTitle, this.follow), this.fields,
      el("p", { class: "soft" }, "Click a unit to see its state."));
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
      text(this.unitTitle, "No unit is selected");
      this.fields.replaceChildren();
      this.rows = null;
      return;
    }
    if (!json) {
      text(this.unitTitle, `Unit ${state.chosen} is not alive at this tick`);
      return;
    }
    const unit = JSON.parse(json), flat = flatten(unit);
    text(this.unitTitle, `${state.kind} ${state.chosen} of ${about.players[unit.Owner]?.name ?? `player ${unit.Owner}`}`);
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
