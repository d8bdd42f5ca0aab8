// The panel of a replay: the selected unit's state, the commands around now, and the checksums.

import { el, text, clock } from "./dom.js";
import { of } from "./palette.js";

const listed = 60; // commands in the list

export class Inspector {
  // hooks: go(tick) jumps to a tick; follow() toggles following the selected unit.
  constructor(hooks) {
    this.hooks = hooks;
    this.fields = el("table", { class: "fields" });
    this.follow = el("button", { onclick: () => hooks.follow() }, "Follow");
    this.unitTitle = el("h2", {}, "No unit is selected");
    this.unit = el("section", { "aria-label": "State of the selected unit" },
      el("header", {}, this.unitTitle, this.follow), this.fields,
      el("p", { class: "soft" }, "Click a unit to see its state."));
    this.commands = el("ol", { class: "commands" });
    this.list = el("section", { "aria-label": "Commands around now" }, el("h2", {}, "Commands"), this.commands);
    this.facts = el("dl", { class: "facts" });
    this.element = el("aside", { class: "inspector" }, this.unit, this.list,
      el("details", {}, el("summary", {}, "Replay"), this.facts));
    this.hint = this.unit.lastChild;
  }

  open(about) {
    this.shown = -1;
    const row = (name, value, bad) => (value ? [el("dt", {}, name), el("dd", { class: bad ? "bad" : undefined }, value)] : []);
    this.facts.replaceChildren(
      ...row("match", about.match), ...row("recorded on", about.platform), ...row("rules", `${about.game} ${about.build}`),
      ...row("length", `${clock(about.last - about.first, about.tick_rate)}, ${about.last - about.first} ticks`),
      ...row("size", `${(about.size / 1024).toFixed(0)} KiB, ${about.commands} commands, ${about.checks} checksums`),
      ...row("ended", about.ended), ...row("damage", about.damage, true));
    for (const { tick, player } of JSON.parse(skirmish.watchTimeline(1)).dissents.slice(0, 50)) {
      const name = about.players[player]?.name ?? `player ${player}`;
      this.facts.append(el("dt", {}, "desync"), el("dd", { class: "bad" },
        el("button", { onclick: () => this.hooks.go(tick) }, `tick ${tick}`), ` of ${name} during the match`));
    }
    this.element.querySelector("details").open = !!about.damage;
    this.faults = [];
  }

  update(state, about) {
    this.#unit(state, about);
    if (state.tick !== this.shown) {
      this.shown = state.tick;
      this.#list(state.tick, about);
    } else if (this.commands.clientHeight !== this.height) {
      this.#reveal();
    }
    const faults = state.desyncs.map((d) => `tick ${d.tick}: got ${d.got}, want ${d.want}`);
    if (state.fault) faults.push(state.fault);
    if (faults.length === this.faults.length) return;
    this.faults = faults;
    for (const old of this.facts.querySelectorAll(".fault")) old.remove();
    for (const fault of faults.slice(0, 50)) this.facts.append(el("dt", { class: "fault" }, "desync"), el("dd", { class: "fault bad" }, fault));
    this.element.querySelector("details").open = true;
  }

  // #reveal scrolls to the last command up to now, unless the mouse is over the list.
  #reveal() {
    this.height = this.commands.clientHeight;
    if (this.current && !this.commands.matches(":hover")) this.commands.scrollTop = this.current.offsetTop - this.height / 2;
  }

  #unit(state, about) {
    const json = state.chosen ? skirmish.watchFields() : "";
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

  #list(tick, about) {
    const entries = JSON.parse(skirmish.watchCommands(listed));
    const key = `${entries[0]?.tick} ${entries.at(-1)?.tick} ${entries.length}`;
    if (key !== this.listKey) {
      this.listKey = key;
      this.commands.replaceChildren(...entries.map((e) => {
        const dot = el("i", { class: "dot" });
        dot.style.setProperty("--colour", e.player < about.players.length ? of(e.player).fill : "#888");
        return el("li", { "data-tick": String(e.tick) },
          el("button", { onclick: () => this.hooks.go(e.tick), title: `Go to tick ${e.tick}` },
            el("time", {}, clock(e.tick, about.tick_rate)), dot, el("span", {}, e.text)));
      }));
      if (!entries.length) this.commands.append(el("li", { class: "soft" }, "No commands."));
    }
    let last = null;
    for (const item of this.commands.children) {
      const past = Number(item.dataset.tick) <= tick;
      item.classList.toggle("past", past);
      item.removeAttribute("aria-current");
      if (past) last = item;
    }
    last?.setAttribute("aria-current", "true");
    this.current = last;
    this.#reveal();
  }
}

// flatten returns the fields of a value by their paths.
function flatten(value, path = "") {
  if (value === null || typeof value !== "object") return [[path, String(value)]];
  return Object.entries(value).flatMap(([key, v]) => flatten(v, path ? `${path}.${key}` : key));
}
