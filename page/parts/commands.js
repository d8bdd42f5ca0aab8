// The panel of a replay's commands around now, and the facts of its file.

import { el, text, clock } from "./dom.js";
import { fill, playerName, t, told } from "./text.js";
import { of } from "./palette.js";

const listed = 60; // commands in the list

export class Commands {
  // go(tick) jumps to a tick.
  constructor(go) {
    this.go = go;
    this.commands = el("ol", { class: "commands" });
    this.list = el("section", { "aria-label": t("Commands around now") }, el("h2", {}, t("Commands")), this.commands);
    this.facts = el("dl", { class: "facts" });
    this.about = el("details", {}, el("summary", {}, t("Replay")), this.facts);
  }

  open(about) {
    this.shown = -1;
    this.listKey = "";
    const row = (name, value, bad) => (value ? [el("dt", {}, name), el("dd", { class: bad ? "bad" : undefined }, value)] : []);
    const { commands, checks, recorded } = about, ticks = about.last - about.first;
    this.facts.replaceChildren(
      ...row(t("match"), about.match), ...row(t("recorded on"), about.platform), ...row(t("rules"), `${about.game} ${about.build}`),
      ...row(t("length"), `${clock(ticks, about.tick_micros)}, ${ticks === 1 ? t("1 tick") : t("{ticks} ticks", { ticks })}`),
      ...row(t("size"), [`${(about.size / 1024).toFixed(0)} KiB`, commands === 1 ? t("1 command") : t("{commands} commands", { commands }), checks === 1 ? t("1 checksum") : t("{checks} checksums", { checks })].join(", ")),
      ...row(t("states"), recorded && t("{states} recorded", { states: recorded.states })), ...row(t("type"), recorded?.type),
      ...row(t("ended"), told(about.ended)), ...row(t("damage"), told(about.damage), true));
    for (const { tick, player } of JSON.parse(samestep.watchTimeline(1)).mismatches.slice(0, 50)) {
      const name = playerName(about.players, player);
      const at = el("button", { onclick: () => this.go(tick) }, t("tick {tick}", { tick }));
      this.facts.append(el("dt", {}, t("desync")), el("dd", { class: "bad" }, ...fill(t("{tick} of {name} during the match"), { name, tick: at })));
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
    const faults = state.desyncs.map(({ tick, got, want }) => t("tick {tick}: got {got}, want {want}", { tick, got, want }));
    if (state.fault) faults.push(told(state.fault));
    if (faults.length === this.faults.length) return;
    this.faults = faults;
    for (const old of this.facts.querySelectorAll(".fault")) old.remove();
    for (const fault of faults.slice(0, 50)) this.facts.append(el("dt", { class: "fault" }, t("desync")), el("dd", { class: "fault bad" }, fault));
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
          el("button", { onclick: () => this.go(e.tick), title: t("Go to tick {tick}", { tick: e.tick }) },
            el("time", {}, clock(e.tick, about.tick_micros)), dot, el("span", {}, told(e.text, (seat) => playerName(about.players, seat)))));
      }));
      if (!entries.length) this.commands.append(el("li", { class: "soft" }, t("No commands.")));
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
