// The screen of a live match of any game: the picture, the state, and forms for commands.

import { el, text, clock } from "./dom.js";
import { t, told } from "./text.js";
import { tokenFor, tokenToWatch, forget } from "./token.js";
import { socketOf, listed, seated, Recording } from "./match.js";
import { learn } from "./rules.js";
import { Banner } from "./banner.js";
import { News } from "./news.js";
import { Rename } from "./rename.js";
import { Strip } from "./strip.js";
import { Checks } from "./checks.js";
import { Forms } from "./forms.js";
import { Inspection } from "./inspection.js";
import { of } from "./palette.js";

const statusMS = 150;

export class Live {
  constructor(root, title) {
    this.root = root;
    this.game = title;
    this.forms = new Forms((place) => this.inspection.chart.pick(place), (kind, value) => this.#send(kind, value));
    this.inspection = new Inspection([[t("Commands"), this.forms.element]]);
    this.checks = new Checks(() => this.#corrupt(), t("the selected field of the state, or its first one,"));
    this.strip = new Strip();
    this.banner = new Banner();
    this.recording = new Recording();
    this.news = new News(() => this.inspection.chart.canvas.focus());
    this.rename = new Rename();
    this.title = el("strong", { class: "title" });
    this.players = el("ul", { class: "scores", "aria-label": t("Players") });
    this.field = el("div", { class: "field" }, this.inspection.chart.element, this.banner.element, this.checks.element, this.news.element);
    root.append(el("div", { class: "stage" },
      el("header", { class: "top" }, this.players, this.title, this.strip.word, el("div", { class: "menu" },
        this.rename.element,
        el("button", { onclick: () => this.news.write() }, t("Chat")),
        (this.sums = el("button", { onclick: () => this.checks.toggle(), title: t("checksums and desyncs") }, t("Checks"))),
        el("button", { onclick: (e) => this.#giveUp(e.target), title: t("leave the seat for good") }, t("Give up")),
        el("a", { class: "button", href: "#/" }, t("Leave")))),
      this.field, this.inspection.element, this.strip.element));
    this.times = [];
    globalThis.page = this; // for debugging and tests
  }

  // show joins a match to play or to watch it, with the token in the address, or else the one that the lobby remembers.
  show(name, query, watch = false) {
    this.root.hidden = false;
    this.name = name;
    document.title = `${name} · ${this.game}`;
    text(this.title, name);
    const token = (this.token = (watch ? tokenToWatch : tokenFor)(name, query.get("token")));
    if (query.has("token")) history.replaceState(null, "", `#/${watch ? "watch" : "play"}/${encodeURIComponent(name)}${query.get("feed") === "1" ? "?feed=1" : ""}`); // a token must not stay in the address
    this.banner.begin(name, watch);
    this.rename.begin(watch ? "" : token);
    this.recording.begin(name);
    this.views = query.get("feed") === "1";
    this.news.begin();
    this.checks.reset();
    this.forms.reset();
    this.inspection.reset();
    this.state = null;
    this.statusAt = 0;
    this.#join(name, token);
    this.next = requestAnimationFrame((now) => this.#frame(now));
    this.timer = setInterval(() => this.#status(), 1000); // also while the page is hidden
    this.inspection.chart.canvas.focus();
  }

  // #join first asks whether the match exists and of which game it is, because a failing WebSocket gives no reason.
  async #join(name, token) {
    const visit = (this.visit = {});
    let match;
    try {
      match = await listed(name);
    } catch (error) {
      if (this.visit === visit) this.banner.fail(t("The server does not answer: {reason}.", { reason: error.message }), false);
      return;
    }
    if (this.visit !== visit) return; // the user has left
    if (!match) {
      this.banner.fail(t("There is no such match on this server."), false);
      return;
    }
    this.of = match.game;
    document.title = `${name} · ${match.game}`;
    this.banner.keep(match.grace_ms);
    const lacks = await learn(match.game, match.build, match.rules);
    if (this.visit !== visit) return;
    const problem = lacks || samestep.join(socketOf(name), token, match.game, match.build, match.rules ?? "", this.views || match.players_see === "views", match.match ?? "");
    if (problem) this.banner.fail(problem, false);
  }

  hide() {
    this.visit = null;
    this.root.hidden = true;
    clearInterval(this.timer);
    cancelAnimationFrame(this.next);
    samestep.leave(false);
  }

  // #giveUp asks by a second click.
  #giveUp(button) {
    if (button.dataset.sure) {
      samestep.leave(true);
      location.hash = "#/";
      return;
    }
    button.dataset.sure = "yes";
    text(button, t("Give up for good?"));
    setTimeout(() => {
      delete button.dataset.sure;
      text(button, t("Give up"));
    }, 3000);
  }

  #corrupt() {
    const path = this.inspection.tree.leaf();
    if (path) samestep.corrupt(path);
  }

  #send(kind, value) {
    const problem = samestep.send(kind, JSON.stringify(value));
    if (problem === null) return t("There is no match.");
    return told(problem);
  }

  #frame(now) {
    this.next = requestAnimationFrame((then) => this.#frame(then));
    const began = performance.now();
    this.inspection.frame(now);
    this.times.push(performance.now() - began);
    if (this.times.length > 100) this.times.shift();
    if (now - this.statusAt < statusMS) return;
    this.statusAt = now;
    this.#status();
  }

  #status() {
    const json = samestep.status();
    if (!json) return;
    const state = (this.state = JSON.parse(json));
    state.replay = this.recording.of(state);
    if (state.link.refused) this.token = forget(this.name, this.token);
    if (state.link.views && !this.views) { // the token is for views
      this.views = true;
      this.#join(this.name, this.token);
      return;
    }
    seated(this.name, state);
    for (const line of state.lines) this.news.tell(line);
    this.banner.update(state);
    this.strip.update(state, [...this.times].sort((a, b) => a - b)[Math.floor(this.times.length * 0.95)] ?? 0);
    this.checks.update(state);
    this.sums.hidden = !!state.views; // there is no state to compare
    if (!state.match) return;
    text(this.title, `${this.of} · ${this.name} · ${clock(state.net.tick, state.match.tick_micros)}`);
    this.forms.update(state.net.seat);
    this.#names(state);
  }

  #names({ match, net }) {
    const key = JSON.stringify([match.players, net.seat, [...this.news.names]]);
    if (this.namesKey === key) return;
    this.namesKey = key;
    this.players.replaceChildren(...Array.from({ length: Math.min(match.players, 32) }, (_, p) => {
      const dot = el("i", { class: "dot" });
      dot.style.setProperty("--colour", of(p).fill);
      return el("li", { class: `score${p === net.seat ? " me" : ""}` }, dot, this.news.player(p), p === net.seat && el("b", {}, t("you")));
    }));
  }
}
