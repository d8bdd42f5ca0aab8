// The panels around the map: resources, selection, buttons, connection, news and chat.

import { el, text, bar, clock } from "./dom.js";
import { of } from "./palette.js";
import { Checks } from "./checks.js";
import { Strip } from "./strip.js";
import { Banner } from "./banner.js";
import { News } from "./news.js";
import { help } from "./help.js";
import { Affairs } from "./affairs.js";

export class Hud {
  constructor(minimap, { map }) {
    this.map = map;
    this.checks = new Checks(() => samestep.corrupt(), "the health of a unit");
    this.strip = new Strip();
    this.link = new Banner();
    this.banner = this.link.element;
    this.news = new News(() => this.map.focus(), ["built"]);
    this.help = help();
    this.affairs = new Affairs((action) => this.#press(() => samestep.button(action)), (player) => this.news.player(player));
    this.#top();
    this.#bottom(minimap);
    this.#question();
    addEventListener("palette", () => (this.keys = {}));
    this.element = el("div", { class: "hud" },
      this.top, this.banner, this.question, this.news.element, this.checks.element, this.affairs.element, this.help, this.bottom, this.strip.element);
  }

  #top() {
    const fact = (name, label) => (this[name] = el("b", {}, "–"), el("span", { title: label }, el("i", { class: `sign ${name}` }), this[name], el("small", {}, label)));
    this.account = el("div", { class: "account" },
      fact("crystals", "crystals"), fact("units", "units"), fact("army", "army"), fact("workers", "workers"));
    this.idle = el("button", { hidden: true, title: "the next idle worker (I)", onclick: () => samestep.key("KeyI", false, false) });
    this.title = el("div", { class: "title" });
    this.scores = el("div", { class: "scores", "aria-label": "Players" });
    this.top = el("div", { class: "top" },
      this.account, this.idle, this.title, this.scores,
      el("div", { class: "menu" },
        el("button", { onclick: () => this.write(), title: "chat (/)" }, "Chat"),
        (this.team = el("button", { hidden: true, onclick: () => this.#open(this.affairs.element), title: "alliances, surrender and spectators" }, "Team")),
        el("button", { onclick: () => this.#open(this.checks.element), title: "checksums and desyncs" }, "Checks"),
        el("button", { onclick: () => this.#open(this.help), title: "shortcuts: mouse, touch and keyboard" }, "Shortcuts"),
        el("a", { class: "button", href: "#/", onclick: (e) => this.#leave(e) }, "Leave"),
      ));
  }

  #bottom(minimap) {
    this.selected = el("div", { class: "chosen", "aria-live": "polite" });
    this.groups = el("div", { class: "groups", "aria-label": "Control groups" });
    this.buttons = el("div", { class: "buttons", role: "toolbar", "aria-label": "Orders" });
    this.bottom = el("div", { class: "bottom" }, minimap, el("div", { class: "middle" }, this.groups, this.selected), this.buttons);
  }

  // #leave asks players before they leave.
  #leave(event) {
    const account = this.state?.panel?.account;
    if (!account || account.defeated || this.state.panel.winner || this.state.link.state !== "live") return;
    event.preventDefault();
    this.question.hidden = false;
    this.question.querySelector("a").focus();
  }

  #question() {
    const close = () => {
      this.question.hidden = true;
      this.map.focus();
    };
    this.question = el("div", { class: "banner question", role: "dialog", "aria-label": "Leave the match", hidden: true, onkeydown: (e) => e.key === "Escape" && close() },
      el("strong", {}, "Leave the match?"),
      el("p", {}, "Your units defend themselves, and you can rejoin for a while. If you give up, your seat is lost."),
      el("p", {},
        el("a", { class: "button main", href: "#/" }, "Leave"), " ",
        el("a", { class: "button", href: "#/", onclick: () => samestep.leave(true) }, "Give up"), " ",
        el("button", { onclick: close }, "Stay")));
  }

  // #open toggles a side panel.
  #open(panel) {
    const shown = panel.hidden;
    this.checks.element.hidden = this.affairs.element.hidden = this.help.hidden = true;
    panel.hidden = !shown;
  }

  // covered returns the height in pixels of the bars over the map.
  covered() {
    return { above: this.top.offsetHeight, below: this.strip.element.offsetHeight + this.bottom.querySelector(".middle").offsetHeight };
  }

  // begin resets the panels for a match.
  begin(name, watching) {
    this.name = name;
    this.watching = watching;
    this.news.begin();
    this.link.begin(name, watching);
    this.question.hidden = true;
    this.state = null;
    this.checks.reset();
    this.affairs.reset();
    this.team.hidden = true;
    this.account.hidden = this.idle.hidden = true;
    this.bottom.classList.remove("ready");
    this.title.textContent = name;
    document.body.dataset.mode = "";
    for (const part of [this.selected, this.groups, this.buttons, this.scores]) part.replaceChildren();
    this.keys = {};
  }

  // write opens the chat line.
  write() {
    this.news.write();
  }

  // update shows a live.Status of the program.
  update(state, renderer) {
    this.state = state;
    for (const line of state.lines ?? []) this.news.tell(line);
    this.link.update(state);
    this.strip.update(state, renderer.quantile(0.95));
    this.checks.update(state);
    const { panel, match } = state;
    this.bottom.classList.toggle("ready", !!panel);
    if (!panel) return;
    text(this.title, `${this.name} · ${clock(state.net.tick, match.tick_rate)}`);
    this.#account(panel.account);
    this.#affairs(panel.affairs);
    this.#scores(panel, state.net.seat);
    this.#selection(panel, state.net.seat);
    this.#groups(panel.groups, state.net.seat);
    this.#buttons(panel);
    document.body.dataset.mode = panel.mode.split(":")[0];
  }

  // #changed reports whether the value of a part is new.
  #changed(part, value) {
    const key = JSON.stringify(value);
    if (this.keys[part] === key) return false;
    this.keys[part] = key;
    return true;
  }

  #account(account) {
    this.account.hidden = !account;
    this.idle.hidden = !account?.idle;
    if (!account) return;
    text(this.crystals, account.crystals);
    text(this.units, `${account.units} / ${account.cap}`);
    text(this.army, account.army);
    text(this.workers, account.workers);
    text(this.idle, `${account.idle} idle`);
  }

  // #affairs marks the button of the panel while somebody waits for an answer.
  #affairs(affairs) {
    this.team.hidden = !affairs;
    if (!affairs) return;
    const asked = affairs.others.some((o) => o.offer.includes("to you")) || affairs.votes > 0;
    this.team.classList.toggle("on", asked);
    this.affairs.update(affairs);
  }

  #scores(panel, seat) {
    if (!this.#changed("scores", [panel.players, [...this.news.names]])) return;
    this.scores.replaceChildren(...panel.players.map((p) => {
      const chip = el("span", { class: `score ${p.status}${p.player === seat ? " me" : ""}`, title: `${p.units} units, ${p.kills} kills, ${p.losses} losses, ${p.status}` },
        el("i", { class: "dot" }), this.news.player(p.player), el("b", {}, p.units));
      chip.style.setProperty("--colour", of(p.player).fill);
      return chip;
    }));
  }

  #selection(panel, seat) {
    if (!this.#changed("chosen", [panel.chosen, panel.one, panel.winner, panel.account?.defeated, panel.hiding])) return;
    const parts = [];
    if (panel.winner) parts.push(el("p", { class: "victory" }, panel.account ? (panel.account.team === panel.winner - 1 ? "Victory" : "Defeat") : `Team ${panel.winner} has won`));
    else if (panel.account?.defeated) parts.push(el("p", { class: "victory" }, "Defeated"));
    const one = panel.one;
    if (one) {
      const name = el("strong", {}, one.kind), owner = el("span", { class: "owner" }, this.news.player(one.owner));
      owner.style.setProperty("--colour", of(one.owner).fill);
      parts.push(el("p", {}, name, " ", owner, el("small", {}, ` ${one.task || ""}${one.kills ? ` · ${one.kills} kills` : ""}`)));
      parts.push(bar(one.health / one.full, `${one.health} / ${one.full}`, "health"));
      if (one.making) parts.push(bar(one.work / 1000, `${one.making}${one.queue > 1 ? ` and ${one.queue - 1} more` : ""}`, "work"));
      else if (one.work) parts.push(bar(one.work / 1000, "under construction", "work"));
    } else if (panel.chosen?.length) {
      parts.push(el("ul", {}, ...panel.chosen.map((k) => el("li", {}, el("b", {}, k.number), ` ${k.kind}${k.number > 1 && k.kind !== "barracks" ? "s" : ""}`, bar(k.health / 1000, "", "health")))));
    } else if (!parts.length) {
      parts.push(el("p", { class: "hint" }, seat < 0 ? `You are spectating. ${panel.hiding ? `You do not see what ${panel.hiding} of the players see, who hide it. ` : ""}Click a unit to see its details.` : "Drag a box around units to select them, then right-click to move or attack."));
    }
    this.selected.replaceChildren(...parts);
  }

  #groups(groups, seat) {
    if (seat < 0 || !this.#changed("groups", groups)) return;
    this.groups.replaceChildren(...groups.flatMap((n, i) => n === 0 ? [] : [
      el("button", { title: `select group ${i + 1} (key ${i + 1}); Shift + ${i + 1} makes the selected units group ${i + 1}`, onclick: (e) => this.#press(() => samestep.key(`Digit${i + 1}`, e.shiftKey, e.ctrlKey)) },
        el("kbd", {}, i + 1), n),
    ]));
  }

  #press(f) {
    f();
    this.map.focus();
  }

  #buttons(panel) {
    if (!this.#changed("buttons", panel.buttons)) return;
    this.buttons.replaceChildren(...(panel.buttons ?? []).map((b) =>
      el("button", {
        class: b.on ? "on" : "", "aria-disabled": b.able ? undefined : "true", title: `${b.label}: ${b.hint} (${b.key})`,
        onclick: () => this.#press(() => samestep.button(b.action)),
      }, el("kbd", {}, b.key), el("span", {}, b.label), b.cost ? el("small", {}, el("i", { class: "sign crystals" }), b.cost) : "")));
  }

  // fail shows why the match cannot be joined.
  fail(reason, other) {
    this.link.fail(reason, other);
  }
}
