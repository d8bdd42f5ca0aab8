// The panels around the map: resources, selection, buttons, connection, news and chat.

import { el, text, bar, clock } from "./dom.js";
import { of } from "./palette.js";
import { Checks } from "./checks.js";
import { Strip } from "./strip.js";
import { Banner } from "./banner.js";
import { News } from "./news.js";
import { help } from "./help.js";
import { keymap, shown } from "./actions.js";
import { coarse } from "./gestures.js";
import { t, told } from "./text.js";
import { Affairs } from "./affairs.js";
import { Alarms } from "./alarms.js";
import { Hints } from "./hints.js";
import { Sounds } from "./sounds.js";
import { Verdict } from "./verdict.js";
import { icon } from "./icons.js";

const folded = 4; // players beyond these are folded

export class Hud {
  constructor(minimap, { map }) {
    this.map = map;
    this.checks = new Checks(() => samestep.corrupt(), t("the health of a unit"));
    this.strip = new Strip();
    this.link = new Banner();
    this.banner = this.link.element;
    this.news = new News(() => this.map.focus(), ["built"]);
    this.sounds = new Sounds();
    this.alarms = new Alarms({ tell: (said, sort) => this.news.tell({ sort, player: -1, text: said }), play: (name) => this.sounds.play(name) });
    this.hints = new Hints();
    this.verdict = new Verdict({ name: (player) => this.news.player(player), rest: () => this.map.focus() });
    this.help = help();
    this.affairs = new Affairs((action) => this.#press(() => samestep.button(action)), (player) => this.news.player(player));
    this.#top();
    this.#bottom(minimap);
    this.#question();
    this.#noise();
    for (const change of ["palette", "keymap"]) addEventListener(change, () => (this.keys = {}));
    this.element = el("div", { class: "hud" },
      this.top, this.banner, this.question, this.alarms.edges, this.hints.element, this.news.element, this.checks.element, this.affairs.element, this.noise, this.help,
      this.bottom, this.strip.element, this.verdict.element);
  }

  #top() {
    const fact = (name, label) => (this[name] = el("b", {}, "–"), el("span", { title: label }, icon(name), this[name], el("small", {}, label)));
    this.account = el("div", { class: "account" },
      fact("crystals", t("crystals")), fact("units", t("units")), fact("army", t("army")), fact("workers", t("workers")));
    this.idle = el("button", { hidden: true, title: t("the next idle worker ({key})", { key: keymap.shown("KeyI") }), onclick: () => samestep.key("KeyI", false, false) });
    this.title = el("div", { class: "title" });
    this.scores = el("div", { class: "scores", role: "group", "aria-label": t("Players") });
    this.top = el("div", { class: "top" },
      this.account, this.idle, this.title, this.strip.word, this.scores,
      el("div", { class: "menu" },
        (this.result = tool("result", t("Result"), t("the result of the match"), () => this.verdict.show(), { class: "main", hidden: true })),
        tool("chat", t("Chat"), t("chat ({key})", { key: keymap.shown("Slash") }), () => this.write()),
        (this.team = tool("team", t("Team"), t("alliances, surrender and spectators"), () => this.#open(this.affairs.element), { hidden: true })),
        (this.sums = tool("checks", t("Checks"), t("checksums and desyncs"), () => this.#open(this.checks.element))),
        tool("sound", t("Sound"), t("volume of the sounds"), () => this.#open(this.noise)),
        tool("shortcuts", t("Shortcuts"), t("shortcuts: mouse, touch and keyboard"), () => this.#open(this.help)),
        el("a", { class: "button tool", href: "#/", title: t("leave the match"), onclick: (e) => this.#leave(e) }, icon("leave"), el("span", {}, t("Leave"))),
      ));
  }

  // #noise makes the panel of the sounds.
  #noise() {
    const volume = el("input", { type: "range", min: "0", max: "100", value: String(Math.round(100 * this.sounds.volume)) }), mute = el("input", { type: "checkbox", checked: this.sounds.muted });
    volume.oninput = mute.onchange = () => this.sounds.set(Number(volume.value) / 100, mute.checked);
    volume.onchange = () => this.sounds.play("select");
    this.noise = el("aside", { class: "side sounds", hidden: true, "aria-label": t("Sound") },
      el("header", {}, el("h2", {}, t("Sound")), el("button", { onclick: () => (this.noise.hidden = true), "aria-label": t("close") }, "×")),
      el("label", {}, t("Volume"), volume), el("label", {}, mute, t("Mute")));
  }

  #bottom(minimap) {
    this.selected = el("div", { class: "chosen", "aria-live": "polite" });
    this.groups = el("div", { class: "groups", "aria-label": t("Control groups") });
    this.buttons = el("div", { class: "buttons", role: "toolbar", "aria-label": t("Orders") });
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
    this.question = el("div", { class: "banner question", role: "dialog", "aria-label": t("Leave the match?"), hidden: true, onkeydown: (e) => e.key === "Escape" && close() },
      el("strong", {}, t("Leave the match?")),
      el("p", {}, t("Your units defend themselves, and you can rejoin for a while. If you give up, your seat is lost.")),
      el("p", {},
        el("a", { class: "button main", href: "#/" }, t("Leave")), " ",
        el("a", { class: "button", href: "#/", onclick: () => samestep.leave(true) }, t("Give up")), " ",
        el("button", { onclick: close }, t("Stay"))));
  }

  // #open toggles a side panel.
  #open(panel) {
    const shown = panel.hidden;
    this.checks.element.hidden = this.affairs.element.hidden = this.noise.hidden = this.help.hidden = true;
    panel.hidden = !shown;
  }

  // covered returns the height in pixels of the bars over the map.
  covered() {
    return { above: this.top.offsetHeight, below: this.strip.element.offsetHeight + this.bottom.offsetHeight };
  }

  // begin resets the panels for a match. alone says that it has no server.
  begin(name, watching, alone) {
    this.name = name;
    this.watching = watching;
    this.news.begin();
    this.hints.begin();
    this.link.begin(name, watching, alone);
    this.question.hidden = true;
    this.state = null;
    this.seen = "";
    this.checks.reset();
    this.affairs.reset(alone);
    this.team.title = alone ? t("surrender") : t("alliances, surrender and spectators");
    this.alarms.reset();
    this.verdict.begin(name);
    this.chosen = "";
    this.team.hidden = this.result.hidden = true;
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
    for (const line of state.lines ?? []) {
      this.news.tell(line);
      if (line.sort === "chat") this.sounds.play("chat");
      else if (line.sort === "problem") this.sounds.play("error");
    }
    this.link.update(state);
    this.strip.update(state, renderer.quantile(0.95));
    this.checks.update(state);
    this.sums.hidden = !!state.views; // there is no state to compare
    if (state.views && !this.seen) this.news.tell({ sort: "views", player: -1, text: t("You are sent what you may see, and nothing else") });
    this.seen = state.views;
    const { panel, match } = state;
    this.bottom.classList.toggle("ready", !!panel);
    if (!panel) return;
    text(this.title, `${this.name} · ${clock(state.net.tick, match.tick_micros)}`);
    this.#account(panel.account);
    this.#affairs(panel.affairs);
    this.#scores(panel, state.net.seat);
    this.#selection(panel, state.net.seat);
    this.#groups(panel.groups, state.net.seat);
    this.#buttons(panel);
    document.body.dataset.mode = panel.mode.split(":")[0];
    this.#happened(state, panel, renderer);
  }

  // #happened shows and lets hear what has happened since the last status.
  #happened(state, panel, renderer) {
    const events = state.events ?? [];
    this.alarms.take(events, renderer.frame, renderer.width, renderer.height);
    this.hints.update(panel, events);
    const result = this.verdict.update(state), chosen = JSON.stringify([panel.one?.id, panel.chosen?.map((k) => [k.kind, k.number])]);
    if (result) this.sounds.play(result === "defeat" ? "defeat" : "victory");
    this.result.hidden = !this.verdict.key || this.verdict.open;
    this.element.classList.toggle("decided", !!panel.winner);
    if (this.chosen !== chosen && (panel.one || panel.chosen?.length)) this.sounds.play("select");
    this.chosen = chosen;
    const full = panel.account?.units >= panel.account?.cap;
    if (full && this.full === false) this.news.tell({ sort: "problem", player: -1, text: t("You have as many units as a player can have: {cap}", { cap: panel.account.cap }) });
    this.full = full;
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
    text(this.idle, t("{number} idle", { number: account.idle }));
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
    const mine = (p) => (p.player === seat ? 0 : 1), players = [...panel.players].sort((a, b) => mine(a) - mine(b)), open = this.scores.querySelector("details")?.open ?? false;
    const chips = players.map((p) => {
      const { units, kills, losses, status } = p;
      const chip = el("span", { class: `score ${status}${p.player === seat ? " me" : ""}`, title: `${units === 1 ? t("1 unit") : t("{units} units", { units })}, ${killed(kills)}, ${losses === 1 ? t("1 loss") : t("{losses} losses", { losses })}, ${t(status)}` },
        el("i", { class: "dot" }), this.news.player(p.player), el("b", {}, p.units));
      chip.style.setProperty("--colour", of(p.player).fill);
      return chip;
    });
    const more = chips.splice(chips.length > folded + 1 ? folded : chips.length);
    this.scores.replaceChildren(...chips, ...(more.length ? [el("details", { open }, el("summary", {}, t("{number} more", { number: more.length })), el("div", {}, ...more))] : []));
  }

  #selection(panel, seat) {
    if (!this.#changed("chosen", [panel.chosen, panel.one, panel.winner, panel.account?.defeated, panel.hiding])) return;
    const parts = [];
    if (panel.winner) parts.push(el("p", { class: "victory" }, panel.account ? (panel.account.team === panel.winner - 1 ? t("Victory") : t("Defeat")) : t("Team {team} has won", { team: panel.winner })));
    else if (panel.account?.defeated) parts.push(el("p", { class: "victory" }, t("Defeated")));
    const one = panel.one;
    if (one) {
      const name = el("strong", {}, t(one.kind)), owner = el("span", { class: "owner" }, this.news.player(one.owner));
      owner.style.setProperty("--colour", of(one.owner).fill);
      parts.push(el("p", {}, name, " ", owner, el("small", {}, ` ${t(one.task || "")}${one.kills ? ` · ${killed(one.kills)}` : ""}`)));
      parts.push(bar(one.health / one.full, `${one.health} / ${one.full}`, "health"));
      if (one.making) parts.push(el("div", { class: "queue", title: t("in the queue: {number}", { number: one.queue }) }, ...Array.from({ length: Math.min(one.queue, 8) }, () => icon(one.making)), bar(one.work / 1000, one.queue > 1 ? t("{kind} and {number} more", { kind: t(one.making), number: one.queue - 1 }) : t(one.making), "work")));
      else if (one.work) parts.push(bar(one.work / 1000, t("under construction"), "work"));
    } else if (panel.chosen?.length) {
      parts.push(el("ul", {}, ...panel.chosen.map((k) => el("li", {}, icon(k.kind), el("b", {}, k.number), ` ${t(k.number > 1 && k.kind !== "barracks" ? `${k.kind}s` : k.kind)}`, bar(k.health / 1000, "", "health")))));
    } else if (!parts.length) {
      parts.push(el("p", { class: "hint" }, seat < 0 ? `${t("You are spectating.")} ${panel.hiding ? `${hidden(panel.hiding)} ` : ""}${coarse() ? t("Tap a unit to see its details.") : t("Click a unit to see its details.")}` : coarse() ? t("Tap a unit, or drag a box around several, then tap where they go or what they attack.") : t("Drag a box around units to select them, then right-click to move or attack.")));
    }
    this.selected.replaceChildren(...parts);
  }

  #groups(groups, seat) {
    if (seat < 0 || !this.#changed("groups", groups)) return;
    this.groups.replaceChildren(...groups.flatMap((n, i) => n === 0 ? [] : [
      el("button", { title: t("select group {n} (key {n}); Ctrl + {n} makes the selected units group {n}, Shift + {n} adds them to it", { n: i + 1 }), onclick: (e) => this.#press(() => samestep.key(`Digit${i + 1}`, e.shiftKey, e.ctrlKey)) },
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
        class: b.on ? "on" : "", "aria-disabled": b.able ? undefined : "true", title: `${t(b.label)}: ${told(b.hint)} (${shown(b)})`,
        onclick: () => this.#press(() => samestep.button(b.action)),
      }, el("kbd", {}, shown(b)), icon(b.action.split(":").at(-1)), el("span", {}, t(b.label)), b.cost ? el("small", {}, el("i", { class: "sign crystals" }), b.cost) : "")));
  }

  // fail shows why the match cannot be joined.
  fail(reason, other) {
    this.link.fail(reason, other);
  }
}

const killed = (kills) => (kills === 1 ? t("1 kill") : t("{kills} kills", { kills }));

// hidden says that some players hide what they see.
const hidden = (number) => (number === 1 ? t("You do not see what one of the players sees, who hides it.") : t("You do not see what {number} of the players see, who hide it.", { number }));

// tool returns a button of the menu: an icon, and a word where there is room.
const tool = (name, word, title, press, attributes = {}) => el("button", { ...attributes, class: `tool ${attributes.class ?? ""}`, title, "aria-label": word, onclick: press }, icon(name), el("span", {}, word));
