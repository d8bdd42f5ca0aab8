// The panel of a replay's commands around now, and the facts of its file.

import { el, text, clock } from "./dom.js";
import { of } from "./palette.js";

const listed = 60; // commands in the list

export class Commands {
  // go(tick) jumps to a tick.
  constructor(go) {
    this.go = go;
    this.commands = el("ol", { class: "commands" });
    this.list = el("section", { "aria-label": "Commands around now" }, el("h2", {}, "Commands"), this.commands);
    this.facts = el("dl", { class: "facts" });
    this.about = el("details", {}, el("summary", {}, "Replay"), this.facts);
  }

  open(about) {
    this.shown = -1;
    this.listKey = "";
    const row = (name, value, bad) => (value ? [el("dt", {}, name), el("dd", { class: bad ? "bad" : undefined }, value)] : []);
    this.facts.replaceChildren(
      ...row("match", about.match), ...row("recorded on", about.platform), ...row("rules", `${about.game} ${about.build}`),
      ...row("length", `${clock(about.last - about.first, about.tick_rate)}, ${about.last - about.first} ticks`),
      ...row("size", `${(about.size / 1024).toFixed(0)} KiB, ${about.commands} commands, ${about.checks} checksums`),
      ...row("states", about.recorded && `${about.recorded.states} recorded`), ...row("type", about.recorded?.type),
      ...row("ended", about.ended), ...row("damage", about.damage, true));
    for (const { tick, player } of JSON.parse(samestep.watchTimeline(1)).dissents.slice(0, 50)) {
      const name = about.players[player]?.name ?? `player ${player}`;
      this.facts.append(el("dt", {}, "desync"), el("dd", { class: "bad" },
        el("button", { onclick: () => this.go(tick) }, `tick ${tick}`), ` of ${name} during the match`));
    }
    this.about.open = !!about.damage;
    this.faults = [];
  }

  update(state, about) {
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
    this.about.open = true;
  }

  // #reveal scrolls to the last command up to now, unless the mouse is over the list.
  #reveal() {
    this.height = this.commands.clientHeight;
    if (this.current && !this.commands.matches(":hover")) this.commands.scrollTop = this.current.offsetTop - this.height / 2;
  }

  #list(tick, about) {
    const entries = JSON.parse(samestep.watchCommands(listed));
    const key = `${entries[0]?.tick} ${entries.at(-1)?.tick} ${entries.length}`;
    if (key !== this.listKey) {
      this.listKey = key;
      this.commands.replaceChildren(...entries.map((e) => {
        const dot = el("i", { class: "dot" });
        dot.style.setProperty("--colour", e.player < about.players.length ? of(e.player).fill : "#888");
        return el("li", { "data-tick": String(e.tick) },
          el("button", { onclick: () => this.go(e.tick), title: `Go to tick ${e.tick}` },
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
