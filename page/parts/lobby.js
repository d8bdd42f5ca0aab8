// The lobby: the matches and replays of this server.

import { el, bytes, clock, remember, recall } from "./dom.js";
import { guest } from "./token.js";

const pollMS = 2000;
const maxReplays = 100; // the latest are listed

export class Lobby {
  // options: title and about are texts; games are the names of the games that the program can play; fields are further
  // fields of a new match: a label, a name and the attributes of the input.
  constructor(root, options) {
    this.root = root;
    this.options = options;
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
        el("h1", {}, options.title),
        el("p", {}, options.about),
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
    document.title = this.options.title;
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
      const answer = await fetch("/matches");
      if (!answer.ok) throw new Error(`the server answers ${answer.status}`);
      this.#list(await answer.json());
      if (this.unreachable) this.#complain("");
      this.unreachable = false;
    } catch (error) {
      this.unreachable = true;
      this.#complain(`Cannot load the list of matches: ${error.message}.`);
    }
    try {
      const answer = await fetch("/replays");
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
    const games = matches.filter((m) => this.options.games.includes(m.game));
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
    const form = el("form", {
      onsubmit: (event) => {
        event.preventDefault();
        this.#create(new FormData(form));
      },
    },
      field("Name", { name: "name", required: true, pattern: "[A-Za-z0-9_\\-][A-Za-z0-9._\\-]{0,63}", value: "duel", title: "letters, digits, dots, dashes and underscores" }),
      field("Players", { name: "players", type: "number", min: "1", max: "16", value: "2" }),
      ...this.options.fields.map(([label, name, attributes]) => field(label, { name, type: "number", ...attributes })),
      field("Ticks a second", { name: "tick_rate", type: "number", min: "5", max: "60", value: "20" }),
      field("Seed", { name: "seed", type: "number", min: "0", max: "4294967295", value: "1" }),
      field("Bots", { name: "bots", type: "number", min: "0", max: "15", value: "1" }),
      field("Admin token", { name: "token", type: "password", autocomplete: "off", placeholder: "only if the server requires one" }),
      el("button", { class: "main", type: "submit" }, "Create"),
    );
    return el("section", {}, el("details", {}, el("summary", {}, "Create a match"), form));
  }

  async #create(data) {
    const number = (name) => Number(data.get(name));
    const request = { name: data.get("name"), players: number("players"), tick_rate: number("tick_rate"), seed: number("seed"), bots: number("bots") };
    for (const [, key] of this.options.fields) request[key] = number(key);
    try {
      const answer = await fetch("/matches", {
        method: "POST", headers: { Authorization: `Bearer ${data.get("token") || recall("token") || guest()}` }, body: JSON.stringify(request),
      });
      if (answer.ok) {
        this.#complain("");
        this.#poll();
        return;
      }
      const said = (await answer.text()).trim();
      this.#complain(answer.status === 403 ? "On this server only an admin can create a match, and the server does not know this token." : `The match was not created: ${said}.`);
    } catch (error) {
      this.#complain(`The match was not created: ${error.message}.`);
    }
  }
}
