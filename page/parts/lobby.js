// The lobby: the matches and replays of this server.

import { el, bytes, clock, remember, recall } from "./dom.js";
import { guest } from "./token.js";
import { partOf } from "./fields.js";

const pollMS = 2000;
const maxReplays = 100; // the latest are listed

export class Lobby {
  // title and about are texts. The program knows the games that it can play.
  constructor(root, title, about) {
    this.root = root;
    this.title = title;
    this.games = JSON.parse(samestep.games());
    this.name = el("input", {
      id: "name", type: "text", maxlength: "20", autocomplete: "nickname", placeholder: "guest", value: recall("name"),
      oninput: () => remember("name", this.name.value.trim()),
    });
    this.token = el("input", {
      id: "token", type: "text", autocomplete: "off", spellcheck: "false", placeholder: "only if the server requires one", value: recall("token"),
      oninput: () => remember("token", this.token.value.trim()),
    });
    this.matches = el("ul", { class: "cards", "aria-label": "Matches" });
    this.replays = el("ul", { class: "cards", "aria-label": "Replays" });
    this.problem = el("p", { class: "problem", role: "alert", hidden: true });
    root.append(
      el("header", {},
        el("h1", {}, title),
        el("p", {}, about),
      ),
      this.problem,
      el("section", {},
        el("h2", {}, "Matches"),
        el("div", { class: "who" }, el("label", { for: "name" }, "Your name", this.name), el("label", { for: "token" }, "Your token", this.token)),
        this.matches,
      ),
      this.#creation(),
      el("section", {},
        el("h2", {}, "Replays"),
        this.replays,
        el("p", {}, el("a", { href: "#/replay/" }, "Open a replay file"), ", or drop it on the page."),
      ),
    );
  }

  show() {
    this.root.hidden = false;
    document.title = this.title;
    this.#poll();
    this.timer = setInterval(() => this.#poll(), pollMS);
  }

  hide() {
    this.root.hidden = true;
    clearInterval(this.timer);
  }

  #complain(text) {
    this.problem.hidden = !text;
    this.problem.textContent = text;
  }

  async #poll() {
    try {
      const answer = await fetch("matches");
      if (!answer.ok) throw new Error(`the server answers ${answer.status}`);
      this.#list(await answer.json());
      if (this.unreachable) this.#complain("");
      this.unreachable = false;
    } catch (error) {
      this.unreachable = true;
      this.#complain(`Cannot load the list of matches: ${error.message}.`);
    }
    try {
      const answer = await fetch("replays");
      this.#listReplays(answer.ok ? await answer.json() : []);
    } catch {
      // the message is shown already
    }
  }

  // update shows a list if it has changed: a button must not be replaced while it is pressed.
  #update(list, shown, items, none) {
    const key = JSON.stringify(shown);
    if (list.dataset.key === key) return;
    list.dataset.key = key;
    list.replaceChildren(...(items.length ? items : [el("li", { class: "none" }, none)]));
  }

  #list(matches) {
    const first = matches.find((m) => this.games.some((g) => g.name === m.game))?.game;
    if (first && !this.chosen) this.choose(first);
    const games = matches.filter((m) => this.games.some((g) => g.name === m.game));
    const facts = games.map((m) => [m.name, m.settings.players, m.stats.players, m.stats.spectators, m.ended ?? "", clock(m.tick, m.settings.tick_rate)]);
    this.#update(this.matches, facts, facts.map((f) => this.#match(...f)), "There are no matches. Create one below.");
  }

  #match(name, seats, players, spectators, ended, time) {
    const free = Math.max(0, seats - players);
    return el("li", {},
      el("div", {},
        el("strong", {}, name),
        el("span", {}, ended ? `over: ${ended}` : `${time} · ${players} of ${seats} players${spectators ? ` · ${spectators} spectators` : ""}`),
      ),
      el("div", { class: "actions" },
        el("button", { class: "main", disabled: !!ended, onclick: () => this.#go(`#/play/${encodeURIComponent(name)}`), title: free ? "" : "all seats are taken" }, "Play"),
        el("button", { disabled: !!ended, onclick: () => this.#go(`#/watch/${encodeURIComponent(name)}`) }, "Spectate"),
      ),
    );
  }

  #go(hash) {
    this.#complain("");
    location.hash = hash;
  }

  #listReplays(replays) {
    const rows = replays.slice(0, maxReplays).map((r) => [r.name, Number(r.size_bytes), new Date(r.ended).toLocaleString()]);
    this.#update(this.replays, rows, rows.map(([name, size, ended]) =>
      el("li", {},
        el("div", {}, el("strong", {}, name), el("span", {}, `${ended} · ${bytes(size)}`)),
        el("div", { class: "actions" }, el("a", { class: "button", href: `#/replay/${encodeURIComponent(name)}` }, "Watch")),
      )), "There are no replays yet.");
  }

  #creation() {
    const field = (label, attributes) => el("label", {}, label, el("input", attributes));
    const configure = () => this.#configure(form);
    this.config = el("div", { class: "config" });
    const game = el("select", { name: "game", onchange: () => { this.chosen = true; configure(); } }, ...this.games.map(({ name }) => el("option", { value: name }, name)));
    this.units = field("Units", { name: "units", type: "number", min: "0", max: "65535", value: "0", title: "0: as many as in a usual match", onchange: configure });
    const form = el("form", {
      onsubmit: (event) => {
        event.preventDefault();
        this.#create(new FormData(form));
      },
    },
      field("Name", { name: "name", required: true, pattern: "[A-Za-z0-9_\\-][A-Za-z0-9._\\-]{0,63}", value: "duel", title: "letters, digits, dots, dashes and underscores" }),
      el("label", { hidden: this.games.length < 2 }, "Game", game),
      field("Players", { name: "players", type: "number", min: "1", max: "250", value: "2", onchange: configure }),
      this.units,
      field("Ticks a second", { name: "tick_rate", type: "number", min: "1", max: "1000", value: "20" }),
      field("Seed", { name: "seed", type: "number", min: "0", max: "4294967295", value: "1" }),
      field("Bots", { name: "bots", type: "number", min: "0", max: "250", value: "1" }),
      field("Admin token", { name: "token", type: "password", autocomplete: "off", placeholder: "only if the server requires one" }),
      el("button", { class: "main", type: "submit" }, "Create"),
      this.config,
    );
    this.choose = (name) => { // the game of the server's matches, until the user chooses another
      this.chosen = true;
      game.value = name;
      configure();
    };
    configure();
    return el("section", {}, el("details", {}, el("summary", {}, "Create a match"), form));
  }

  // #configure makes the form of the configuration that is usual for the chosen game and size. What the user has changed in
  // the form of the same game stays.
  #configure(form) {
    const data = new FormData(form), name = data.get("game") ?? "", changed = this.configOf === name ? this.#changes() : {};
    const usual = JSON.parse(samestep.configuration(name, Number(data.get("players")), Number(data.get("units"))));
    this.units.hidden = !this.games.find((g) => g.name === name)?.sized;
    this.configOf = name;
    this.part = null;
    this.config.replaceChildren();
    this.config.hidden = !usual.error && !usual.form.fields.length;
    if (usual.error) {
      this.config.append(el("p", { class: "soft" }, `There is no usual configuration of such a match: ${usual.error}`));
      return;
    }
    this.part = partOf(usual.form);
    this.part.set(usual.value);
    this.usual = this.part.value();
    this.part.set({ ...usual.value, ...changed });
    this.config.append(el("fieldset", {}, el("legend", {}, "Configuration"), this.part.element));
  }

  // #changes returns the fields of the configuration that differ from the usual one.
  #changes() {
    if (!this.part) return {};
    return Object.fromEntries(Object.entries(this.part.value()).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(this.usual[name])));
  }

  async #create(data) {
    const number = (name) => Number(data.get(name));
    const request = { name: data.get("name"), players: number("players"), tick_rate: number("tick_rate"), seed: number("seed"), bots: number("bots") };
    const config = this.#changes();
    if (Object.keys(config).length) request.config = config;
    if (!this.units.hidden && number("units")) request.units = number("units");
    if (this.games.length > 1) request.game = data.get("game");
    try {
      const answer = await fetch("matches", {
        method: "POST", headers: { Authorization: `Bearer ${data.get("token") || recall("token") || guest()}` }, body: JSON.stringify(request),
      });
      if (answer.ok) {
        this.#complain("");
        this.#poll();
        return;
      }
      const said = await answer.json().then((a) => a.error.message, () => `the server answers ${answer.status}`);
      this.#complain(answer.status === 403 ? "On this server only an admin can create a match, and the server does not know this token." : `The match was not created: ${said}.`);
    } catch (error) {
      this.#complain(`The match was not created: ${error.message}.`);
    }
  }
}
