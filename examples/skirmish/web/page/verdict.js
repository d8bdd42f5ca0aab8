// The screen at the end of a match: who has won, how the match went, and where to go next.

import { el, text, clock } from "./dom.js";
import { t } from "./text.js";
import { of } from "./palette.js";
import { graph } from "./graph.js";
import { rematch } from "./rematch.js";
import { solo, keepSolo } from "./solo.js";

const afterMS = 1800; // the last blow is seen first

export class Verdict {
  // name(player) returns the name of a player. rest() moves the focus back to the map.
  constructor({ name, rest }) {
    Object.assign(this, { name, rest });
    this.title = el("h2", { tabindex: "-1", id: "verdict" });
    this.about = el("p", { class: "soft" });
    this.charts = el("div", { class: "charts" });
    this.totals = el("table", {});
    this.problem = el("p", { class: "problem", role: "alert", hidden: true });
    this.replay = el("a", { class: "button main" }, t("Watch the replay"));
    this.again = el("button", { onclick: () => this.#again() }, t("Rematch"));
    this.copy = el("button", { onclick: () => this.#copy() }, t("Copy link"));
    this.link = el("input", { readonly: true, hidden: true, "aria-label": t("Link") });
    this.element = el("section", { class: "verdict", role: "dialog", "aria-labelledby": "verdict", hidden: true, onkeydown: (e) => e.key === "Escape" && this.close() },
      el("div", { class: "sheet" }, el("header", {}, this.title, this.about), this.charts, el("div", { class: "totals", tabindex: "0", role: "region", "aria-label": t("Totals") }, this.totals), this.problem, this.link,
        el("footer", {}, this.replay, this.again, this.copy,
          el("a", { class: "button", href: "#/" }, t("Back to the lobby")),
          el("button", { onclick: () => this.close() }, t("Keep watching")))));
  }

  // begin forgets a match.
  begin(match) {
    clearTimeout(this.timer);
    this.match = match;
    this.key = this.kept = "";
    this.element.hidden = this.link.hidden = this.problem.hidden = true;
  }

  get open() { return !this.element.hidden; }

  // update shows the verdict once there is one, and again when there is another. It returns "victory", "defeat" or "over" when a
  // new one is known, or else "".
  update(state) {
    this.state = state;
    const { panel, link } = state, { account, winner } = panel;
    const result = winner ? (!account ? "over" : account.team === winner - 1 ? "victory" : "defeat") : account?.defeated ? "defeat" : "";
    this.#replay(alone() ? winner && solo : state.replay); // the page has the replay of a match without a server
    if (alone() && winner) this.#keep(link.state);
    this.again.hidden = !account;
    this.copy.hidden = alone(); // nobody else has that match
    const key = result && `${result} ${winner}`;
    if (this.key === key) return "";
    this.key = key;
    clearTimeout(this.timer);
    if (result) this.timer = setTimeout(() => this.show(), link.state === "live" ? afterMS : 0);
    return result;
  }

  // show shows the verdict that is known.
  show() {
    const { panel, match } = this.state, [result] = this.key.split(" "), json = samestep.history();
    if (!result || !json) return;
    const history = JSON.parse(json);
    text(this.title, { victory: t("Victory"), defeat: t("Defeat"), over: this.#winners(panel) }[result]);
    text(this.about, panel.winner ? t("{match} · {time}", { match: this.match, time: clock(history.ticks.at(-1) ?? 0, match.tick_micros) }) : t("The match goes on without you."));
    this.element.dataset.result = result;
    this.#charts(history, match.tick_micros);
    this.#table(history, panel);
    this.element.hidden = false;
    this.title.focus();
  }

  close() {
    this.element.hidden = true;
    this.rest();
  }

  #winners(panel) {
    const names = panel.players.filter((p) => p.team === panel.winner - 1).map((p) => this.name(p.player));
    return names.length === 1 ? t("{name} has won", { name: names[0] }) : t("{names} have won", { names: names.join(", ") });
  }

  #charts({ ticks, players }, micros) {
    const lines = (key) => players.map((p) => ({ name: this.name(p.player), colour: of(p.player).fill, values: p[key] }));
    this.charts.replaceChildren(
      graph(t("Army"), ticks, lines("army"), micros), graph(t("Crystals gathered"), ticks, lines("gathered"), micros), graph(t("Kills"), ticks, lines("kills"), micros));
  }

  #table({ players }, panel) {
    const head = [t("Player"), t("Largest army"), t("Most workers"), t("Crystals gathered"), t("Kills"), t("Losses")];
    const rows = players.map((p) => {
      const name = el("th", { scope: "row" }, el("i", { class: "dot" }), this.name(p.player), p.team === panel.winner - 1 && el("small", {}, t("winner")));
      name.style.setProperty("--colour", of(p.player).fill);
      const numbers = [Math.max(0, ...p.army), Math.max(0, ...p.workers), p.gathered.at(-1), p.kills.at(-1), p.losses.at(-1)];
      return el("tr", {}, name, ...numbers.map((n) => el("td", {}, n ?? 0)));
    });
    this.totals.replaceChildren(el("thead", {}, el("tr", {}, ...head.map((h) => el("th", { scope: "col" }, h)))), el("tbody", {}, ...rows));
  }

  // #keep keeps the replay of a match without a server when it is won, and again when it has ended.
  #keep(state) {
    if (this.kept === state) return;
    this.kept = state;
    keepSolo();
  }

  // #replay links to the replay once the server has it.
  #replay(name) {
    if (name) this.replay.href = `#/replay/${encodeURIComponent(name)}?play`;
    else this.replay.removeAttribute("href");
    if (name) this.replay.removeAttribute("aria-disabled");
    else this.replay.setAttribute("aria-disabled", "true");
    this.replay.setAttribute("role", "link"); // also without an address
    this.replay.title = name ? "" : t("The replay is ready when the match has ended.");
  }

  // #again goes to a match of the same configuration, and tells the others of it.
  async #again() {
    if (alone()) {
      const query = new URLSearchParams(location.hash.split("?")[1]);
      query.set("seed", JSON.parse(samestep.request()).seed);
      const to = `#/now?${query}`;
      if (location.hash === to) dispatchEvent(new HashChangeEvent("hashchange")); // shows the screen anew
      else location.hash = to;
      return;
    }
    this.again.disabled = true;
    try {
      const to = await rematch(this.match, this.state.match.id);
      if (this.state.link.state === "live") samestep.say(t("Rematch: {link}", { link: addressOf(to.replace(/\?.*/, "")) }));
      await new Promise((done) => setTimeout(done, 300)); // the line is sent before the match is left
      location.hash = to;
    } catch (error) {
      this.problem.hidden = false;
      text(this.problem, t("There is no rematch: {reason}", { reason: error.message }));
    }
    this.again.disabled = false;
  }

  async #copy() {
    const link = addressOf(this.replay.getAttribute("href")?.replace("?play", "") ?? `#/watch/${encodeURIComponent(this.match)}`);
    try {
      await navigator.clipboard.writeText(link);
      text(this.copy, t("Copied"));
      setTimeout(() => text(this.copy, t("Copy link")), 2000);
    } catch { // not allowed
      this.link.hidden = false;
      this.link.value = link;
      this.link.select();
    }
  }
}

// alone reports whether the match has no server.
const alone = () => location.hash.startsWith("#/now");

const addressOf = (hash) => location.href.replace(/#.*/, "") + hash;
