// The form that creates a match: what people know of a match is in sight, and the rest is under "More".

import { el, text, recall } from "./dom.js";
import { t, told } from "./text.js";
import { program } from "./program.js";
import { knows, learn, sumOf } from "./rules.js";
import { guest } from "./token.js";
import { partOf } from "./fields.js";

const strengths = { easy: t("easy"), normal: t("normal"), hard: t("hard") }; // as games call them
const speeds = [[10, t("slow")], [20, t("normal")], [30, t("fast")]]; // ticks a second

export class Creation {
  // games is a promise of the page's games. complain(problem) shows a problem or "", made() tells of a new match, and now(request)
  // starts one without a server.
  constructor(games, { complain, made, now }) {
    Object.assign(this, { complain, made, now, games: [] });
    this.config = el("div", { class: "config" });
    this.game = el("select", { name: "game", onchange: () => { this.chosen = true; this.#offer(); } });
    this.scenario = el("select", { name: "scenario", onchange: () => this.#fit() });
    this.players = el("input", { name: "players", type: "number", min: "1", max: "250", value: "2", onchange: () => this.#configure() });
    this.strength = el("select", { name: "bot" });
    this.speed = el("select", { name: "tick_rate" });
    this.number = el("input", { type: "number", min: "1", max: "1000", "aria-label": t("Ticks a second"), value: "20", oninput: () => this.#speed(this.number.value) });
    const number = (name, attributes) => el("input", { name, type: "number", ...attributes });
    const labels = (this.labels = {
      scenario: field(t("Map"), this.scenario), game: field(t("Game"), this.game), bot: field(t("Strength of the bots"), this.strength),
      units: field(t("Units"), number("units", { min: "0", max: "65535", value: "0", title: t("0: as many as in a usual match"), onchange: () => this.#configure() })),
    });
    this.served = [ // what only a server needs
      field(t("Name"), el("input", {
        name: "name", pattern: "[A-Za-z0-9_\\-][A-Za-z0-9._\\-]{0,63}", placeholder: t("one is drawn"), title: t("letters, digits, dots, dashes and underscores"),
      })),
      field(t("of them bots"), number("bots", { min: "0", max: "250", value: "1" })),
      field(t("Admin token"), el("input", { name: "token", type: "password", autocomplete: "off", placeholder: t("only if the server requires one") })),
    ];
    const [name, bots, token] = this.served;
    this.note = el("p", { class: "soft", hidden: true }, t("There is no server here: the match is in this browser, and bots have the other seats."));
    this.submit = el("button", { class: "main", type: "submit" }, t("Create"));
    this.more = el("details", { class: "more", ontoggle: () => this.more.open && !this.part && this.#configure() }, el("summary", {}, t("More")), el("div", { class: "options" },
      name,
      labels.units, field(t("Ticks a second"), this.number),
      field(t("Seed"), number("seed", { min: "0", max: "4294967295", placeholder: t("random") })),
      token,
      this.config));
    this.form = el("form", { onsubmit: (event) => { event.preventDefault(); this.#create(new FormData(this.form)); } },
      labels.game, labels.scenario,
      field(t("Players"), this.players), bots,
      labels.bot, field(t("Speed"), this.speed), this.more, this.note,
      this.submit);
    this.#speed("20");
    this.element = el("section", { class: "creation" }, el("h2", {}, t("Create a match")), this.form);
    games.then((list) => {
      this.games = list;
      this.game.replaceChildren(...list.map(({ name }) => el("option", { value: name }, name)));
      this.#offer();
    }).catch((error) => this.complain(t("The games of this server are not known: {reason}.", { reason: error.message })));
    program.addEventListener("progress", () => program.running && this.#configure());
  }

  // alone says whether the page is without a server.
  alone(yes) {
    if (this.offline === yes) return;
    this.offline = yes;
    for (const part of this.served) part.hidden = yes;
    this.note.hidden = !yes;
    this.players.min = yes ? "2" : "1";
    text(this.submit, yes ? t("Play") : t("Create"));
  }

  // prefer chooses a game until the user does: that of the server's matches.
  prefer(name) {
    if (this.chosen || !this.games.length) return;
    this.chosen = true;
    if (this.game.value === name) return;
    this.game.value = name;
    this.#offer();
  }

  // #speed offers the usual speeds, and that of the number.
  #speed(rate) {
    const other = rate === "" || speeds.some(([ticks]) => String(ticks) === rate) ? [] : [[rate, rate === "1" ? t("1 tick a second") : t("{rate} ticks a second", { rate })]];
    const own = this.paced ? [["", t("usual")]] : []; // that of the game
    this.speed.replaceChildren(...[...own, ...speeds, ...other].map(([ticks, name]) => el("option", { value: String(ticks), selected: String(ticks) === rate }, name)));
  }

  // #offer shows what the chosen game lets the user choose.
  #offer() {
    const game = this.games.find((g) => g.name === this.game.value) ?? {};
    const offer = (label, select, names, first = []) => {
      label.hidden = names.length < 2 - first.length;
      select.replaceChildren(...first, ...names.map((name) => el("option", { value: name }, strengths[name] ?? name)));
    };
    this.labels.game.hidden = this.games.length < 2;
    this.scenarios = game.scenarios ?? [];
    offer(this.labels.scenario, this.scenario, this.scenarios.map(({ name }) => name), [el("option", { value: "" }, t("usual"))]);
    offer(this.labels.bot, this.strength, game.bots ?? []);
    if (!!game.paced !== !!this.paced) {
      this.paced = game.paced;
      this.#speed(this.paced ? "" : "20");
    }
    this.#fit();
  }

  // #fit keeps to the seats and the units of the scenario.
  #fit() {
    const seats = this.scenarios.find(({ name }) => name === this.scenario.value)?.players || 250;
    this.players.max = seats;
    this.players.value = Math.min(this.players.value, seats);
    this.labels.units.hidden = !!this.scenario.value || !this.games.find((g) => g.name === this.game.value)?.sized;
    this.#configure();
  }

  // #configure makes the form of the configuration that is usual for the chosen game and size, if the program runs. It fetches
  // the game's rules only for a user who looks at the form. What the user has changed in the form of the same game stays.
  #configure() {
    const data = new FormData(this.form), name = data.get("game") ?? "", game = this.games.find((g) => g.name === name);
    if (!program.running || !game || !knows(sumOf(game))) {
      this.part = null;
      this.#soft(t("The rest of the configuration is shown when the game is loaded."));
      if (program.running && game && this.more.open) learn(name, game.build).then((problem) => (problem ? this.#soft(problem) : this.#configure()));
      return;
    }
    const changed = this.configOf === name ? this.#changes() : {};
    const usual = JSON.parse(samestep.configuration(name, Number(data.get("players")), this.labels.units.hidden ? 0 : Number(data.get("units")), data.get("scenario") ?? "", game.build, sumOf(game)));
    this.configOf = name;
    this.part = null;
    this.config.replaceChildren();
    this.config.hidden = !usual.error && !usual.form.fields.length;
    if (usual.error) {
      this.#soft(t("There is no usual configuration of such a match: {reason}", { reason: told(usual.error) }));
      return;
    }
    this.part = partOf(usual.form);
    this.part.set(usual.value);
    this.usual = this.part.value();
    this.part.set({ ...usual.value, ...changed });
    this.config.append(el("fieldset", {}, el("legend", {}, t("Configuration")), this.part.element));
  }

  // #soft shows a sentence instead of the form of the configuration.
  #soft(sentence) {
    this.config.hidden = false;
    this.config.replaceChildren(el("p", { class: "soft" }, sentence));
  }

  // #changes returns the fields of the configuration that differ from the usual one.
  #changes() {
    if (!this.part) return {};
    return Object.fromEntries(Object.entries(this.part.value()).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(this.usual[name])));
  }

  // #request returns the body of the request.
  #request(data) {
    const number = (name) => Number(data.get(name)), config = this.#changes();
    const request = {
      name: data.get("name") || drawn(), players: number("players"), bots: number("bots"),
    };
    if (data.get("tick_rate")) request.tick_rate = number("tick_rate"); // otherwise the game's
    if (data.get("seed")) request.seed = number("seed"); // otherwise the server draws one
    else if (this.offline) request.seed = crypto.getRandomValues(new Uint32Array(1))[0] || 1;
    if (Object.keys(config).length) request.config = config;
    if (!this.labels.units.hidden && number("units")) request.units = number("units");
    if (this.games.length > 1) request.game = data.get("game");
    if (data.get("scenario")) request.scenario = data.get("scenario");
    if (data.get("bot") && (request.bots || this.offline)) request.bot = data.get("bot");
    return request;
  }

  async #create(data) {
    const request = this.#request(data);
    if (this.offline) {
      const { name, bots, ...rest } = request;
      this.now(rest);
      return;
    }
    try {
      const answer = await fetch("matches", {
        method: "POST", headers: { Authorization: `Bearer ${data.get("token") || recall("token") || guest()}` }, body: JSON.stringify(request),
      });
      if (answer.ok) {
        this.complain("");
        this.#enter(await answer.json());
        return;
      }
      const said = await answer.json().then((a) => a.error.message, () => t("the server answers {status}", { status: answer.status }));
      this.complain(answer.status === 403 ? t("On this server only an admin can create a match, and the server does not know this token.") : t("The match was not created: {reason}.", { reason: told(said) }));
    } catch (error) {
      this.complain(t("The match was not created: {reason}.", { reason: error.message }));
    }
  }

  // #enter plays in the new match, or watches it if bots have all its seats. The server has drawn a token for each seat of a match
  // of an admin's.
  #enter({ name, tokens = [], settings, players }) {
    this.made();
    const token = tokens.length ? `?token=${encodeURIComponent(tokens[0].token)}` : "";
    location.hash = players.length < settings.players ? `#/play/${encodeURIComponent(name)}${token}` : `#/watch/${encodeURIComponent(name)}`;
  }
}

const field = (label, input) => el("label", {}, label, input);

// drawn returns a name for a match that is easy to say.
function drawn() {
  const of = (words) => words[crypto.getRandomValues(new Uint32Array(1))[0] % words.length];
  const adjectives = ["amber", "bold", "brisk", "calm", "clear", "early", "fair", "green", "keen", "lucky", "proud", "quiet", "rapid", "silver", "stern", "swift"];
  const places = ["bay", "bridge", "canyon", "cliff", "creek", "field", "ford", "forest", "gate", "harbour", "hill", "mesa", "pass", "ridge", "river", "valley"];
  return `${of(adjectives)}-${of(places)}-${10 + (crypto.getRandomValues(new Uint32Array(1))[0] % 90)}`;
}
