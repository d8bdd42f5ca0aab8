// The lobby: the matches and replays of this server. It needs no program.

import { el, text, bytes, clock, remember, recall } from "./dom.js";
import { playerName, t, told, languages, language, choose } from "./text.js";
import { program } from "./program.js";
import { siteGames } from "./rules.js";
import { Rows } from "./rows.js";
import { Creation } from "./creation.js";
import { seatOf } from "./match.js";
import { solo, soloSize } from "./solo.js";
import { newer, keep } from "./version.js";

const pollMS = 2000;
const quietPolls = 3; // after so many the page is kept, so that this delays nothing that the user does
const maxReplays = 100; // the latest are listed

export class Lobby {
  // title and about are texts. now(request) starts a match without a server, and without a request a usual one; backdrop has an element behind the title with
  // show() and hide(), and documents is the address of the game's documents: a page may lack each of these.
  constructor(root, { title, about, now, backdrop, documents }) {
    Object.assign(this, { root, title, backdrop, offline: !!now });
    this.games = games();
    this.polls = 0;
    this.name = el("input", {
      id: "name", type: "text", maxlength: "20", autocomplete: "nickname", placeholder: t("guest"), value: recall("name"),
      oninput: () => remember("name", this.name.value.trim()),
    });
    this.token = el("input", {
      id: "token", type: "text", autocomplete: "off", spellcheck: "false", placeholder: t("only if the server requires one"), value: recall("token"),
      oninput: () => remember("token", this.token.value.trim()),
    });
    this.matches = new Rows(t("Matches"), (name) => this.#match(name), t("There are no matches. Create one below."));
    this.replays = new Rows(t("Replays"), (name) => replay(name), t("There are no replays yet."));
    this.problem = el("p", { class: "problem", role: "alert", hidden: true });
    this.news = el("p", { class: "problem good", role: "status", hidden: true }, t("There is a new version of this page."), " ",
      el("button", { onclick: () => location.reload() }, t("Load it")));
    this.creation = new Creation(this.games, { complain: (problem) => this.#complain(problem), made: () => this.#poll(), now });
    const watching = section(t("Matches"),
      el("div", { class: "who" }, el("label", { for: "name" }, t("Your name"), this.name), el("label", { for: "token" }, t("Your token"), this.token)),
      this.matches.element);
    const replays = section(t("Replays"), this.replays.element,
      el("p", {}, el("a", { href: "#/replay/" }, t("Open a replay file")), t(", or drop it on the page.")));
    const to = (name, place) => el("button", { class: "plain", onclick: () => place.scrollIntoView({ behavior: still() ? "auto" : "smooth" }) }, name);
    root.append(
      el("header", { class: `hero${backdrop ? " backed" : ""}` }, backdrop?.element,
        el("div", { class: "pitch" },
          (this.heading = el("h1", {}, title)), el("p", {}, about),
          now && this.#now(now),
          el("nav", { class: "links" }, to(t("Watch a match"), watching), to(t("Replays"), replays), to(t("Create a match"), this.creation.element),
            documents && el("a", { href: documents }, t("Documents"))))),
      el("div", { class: "rooms" }, this.news, this.problem, watching, this.creation.element, replays, footer()),
    );
  }

  // rename gives the page another title.
  rename(title) {
    if (document.title === this.title) document.title = title;
    this.title = title;
    text(this.heading, title);
  }

  // #now returns the button of a match at once, which shows how much of the program has arrived.
  #now(now) {
    const part = el("i", {}), label = el("span", {}, t("Play now"));
    const show = () => {
      part.style.width = `${program.running ? 0 : 100 * program.part}%`;
      part.hidden = program.running;
    };
    program.addEventListener("progress", show);
    show();
    return el("p", { class: "once" }, el("button", { class: "main", id: "now", onclick: () => now() }, part, label), el("small", {}, t("You against a bot, in this browser. Nothing to fill in.")));
  }

  show() {
    this.root.hidden = false;
    document.title = this.title;
    this.backdrop?.show();
    this.#poll();
    this.timer = setInterval(() => document.hidden || this.#poll(), pollMS);
  }

  hide() {
    this.root.hidden = true;
    this.backdrop?.hide();
    clearInterval(this.timer);
  }

  #complain(problem) {
    this.problem.hidden = !problem;
    text(this.problem, problem);
  }

  async #poll() {
    if (program.running && ++this.polls === quietPolls) keep();
    let answer;
    try {
      answer = await fetch("matches");
      if (!answer.ok) throw new Error(t("the server answers {status}", { status: answer.status }));
      this.#list(await answer.json(), await this.games);
      if (this.unreachable) this.#complain("");
      this.unreachable = false;
      this.creation.alone(false);
      newer().then((yes) => (this.news.hidden = !yes));
    } catch (error) {
      this.unreachable = true;
      this.creation.alone(this.offline && (!answer || answer.status === 404));
      this.#complain(navigator.onLine || !this.offline ? t("Cannot load the list of matches: {reason}.", { reason: error.message }) : t("You are offline. You can still play against a bot."));
    }
    let list = [];
    try {
      const answer = await fetch("replays");
      if (answer.ok) list = await answer.json();
    } catch {
      // the message is shown already
    }
    this.replays.update([...own(), ...list.slice(0, maxReplays)], (r) => r.name);
  }

  #list(matches, games) {
    const own = matches.filter((m) => m.state !== "failed" && games.some((g) => g.name === m.game));
    if (own.length) this.creation.prefer(own[0].game);
    this.matches.update(own, (m) => m.name);
  }

  #match(name) {
    const facts = el("span", {}), who = el("ul", { class: "people" });
    const play = el("button", { class: "main", onclick: () => this.#go(`#/play/${encodeURIComponent(name)}`) });
    const watch = el("button", { onclick: () => this.#go(`#/watch/${encodeURIComponent(name)}`) }, t("Spectate"));
    return {
      element: el("li", {}, el("div", {}, el("strong", {}, name), facts, who), el("div", { class: "actions" }, play, watch)),
      update: (m) => {
        const seats = m.settings.players, own = seatOf(m.name, m.match, m.players), free = Math.max(0, seats - m.players.length);
        text(facts, m.ended ? t("over: {reason}", { reason: told(m.ended) }) : [
          m.state === "lobby" ? t("not begun yet") : clock(m.tick, m.settings.tick_micros),
          seats === 1 ? t("{taken} of 1 seat taken", { taken: m.players.length }) : t("{taken} of {seats} seats taken", { taken: m.players.length, seats }),
          m.stats.spectators && (m.stats.spectators === 1 ? t("1 watching") : t("{number} watching", { number: m.stats.spectators })),
        ].filter(Boolean).join(" · "));
        people(who, m, own);
        text(play, own === null ? t("Play") : t("Rejoin"));
        play.hidden = !!m.ended || (own === null && !free && !recall(`token of ${name}`));
        watch.hidden = !!m.ended;
        watch.classList.toggle("main", play.hidden);
      },
    };
  }

  #go(hash) {
    this.#complain("");
    location.hash = hash;
  }
}

// games returns the games of this page: from the site, or else from the program.
async function games() {
  const listed = siteGames();
  if (listed) return listed;
  while (!program.running) await new Promise((resolve) => program.addEventListener("progress", resolve, { once: true }));
  return JSON.parse(samestep.games());
}

const states = { joining: t("joins"), away: t("away"), taken_over: t("away"), bot: t("bot"), playing: "" };
const manyPeople = 12;

// people shows who has the seats of a match.
function people(list, { players }, own) {
  const names = players.slice(0, manyPeople).map((p) => {
    const name = playerName(players, p.seat), state = p.seat === own ? t("you") : states[p.state];
    return state && !name.startsWith(state) ? `${name} (${state})` : name;
  });
  if (players.length > manyPeople) names.push("…");
  const key = JSON.stringify(names);
  if (list.dataset.key === key) return;
  list.dataset.key = key;
  list.replaceChildren(...names.map((name) => el("li", {}, name)));
}

// own returns the replay of the user's last match without a server, if there is one.
function own() {
  const size = soloSize();
  return size ? [{ name: solo, size_bytes: size }] : [];
}

function replay(name) {
  const facts = el("span", {});
  return {
    element: el("li", {}, el("div", {}, el("strong", {}, name === solo ? t("Your match") : name), facts),
      el("div", { class: "actions" }, el("a", { class: "button", href: `#/replay/${encodeURIComponent(name)}?play` }, t("Watch")))),
    update: (r) => text(facts, [r.ended && new Date(r.ended).toLocaleString(language()), bytes(Number(r.size_bytes))].filter(Boolean).join(" · ")),
  };
}

function section(name, ...content) {
  return el("section", {}, el("h2", {}, name), ...content);
}

// still reports whether the user wants less motion.
const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

function footer() {
  const select = el("select", { id: "language", onchange: () => { choose(select.value); location.reload(); } },
    ...Object.entries(languages).map(([code, name]) => el("option", { value: code, selected: code === language() }, name)));
  return el("footer", {}, el("label", { for: "language" }, t("Language"), " ", select));
}
