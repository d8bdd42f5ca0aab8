// What the screens of all replays share: opening a file, the timeline, playing and seeking. A page's own viewer extends
// Viewer. It shows the state in its field, and has these methods:
//
//	opened(about)              a replay is open
//	closed()                   none is
//	drawn(fraction, look)      a frame is due, at a fraction of the way to the present tick in 1/65536; look is true a few times a second
//	looked(state, about)       update the panels
//	moved(seconds)             time has passed
//	view()                     what else the address has of the view, by name
//	aim(query)                 show the view that the address has

import { el, text, clock, recall } from "./dom.js";
import { fill, playerName, t, told } from "./text.js";
import { learnReplay } from "./rules.js";
import { Timeline } from "./timeline.js";
import { Differences } from "./differences.js";
import { solo, soloReplay } from "./solo.js";

const speeds = [0.25, 0.5, 1, 2, 4, 8, 16, 32, 64];
const one = 65536; // fractions of a tick are in 1/65536
const maxFile = 256 << 20; // bytes
const busyMS = 30, playMS = 10; // time to simulate between two frames, while seeking and playing
const panelMS = 150; // between two updates of the panels
const addressMS = 500; // between two updates of the address

// called returns what people call a replay.
const called = (name) => (name === solo ? t("Your match") : name);

export class Viewer {
  // parts: title is the game's; field is the element of the state, and focus the one in it that has the keys; top and over
  // are further elements of the top bar and over the field; side is the panel beside it; keys are the shortcuts; charts are those
  // over the timeline, as charts.js has them, or undefined.
  constructor(root, parts) {
    this.root = root;
    this.parts = parts;
    this.timeline = new Timeline((tick) => this.go(tick), parts.charts);
    this.players = el("ul", { class: "scores" });
    this.title = el("strong", { class: "title" });
    this.play = el("button", { class: "main", onclick: () => this.toggle() });
    this.speed = el("select", { "aria-label": t("Speed"), onchange: () => this.parts.focus.focus() },
      ...speeds.map((s) => el("option", { value: String(s), selected: s === 1 }, `${s}×`)));
    this.now = el("output", { class: "now" });
    this.sum = el("output", { class: "sum" });
    this.timeline.charts.choice.addEventListener("change", () => this.parts.focus.focus());
    this.differences = new Differences({ find: (back) => this.find(back), go: (tick) => this.go(tick) });
    this.parts.side.append(this.differences.element);
    this.stage = this.#stage();
    this.entry = this.#entry();
    root.append(this.stage, this.entry);
    addEventListener("dragover", (e) => this.#over(e));
    addEventListener("dragleave", (e) => e.relatedTarget || document.body.classList.remove("dropping"));
    addEventListener("drop", (e) => this.#drop(e));
    globalThis.viewer = this; // for debugging and tests
  }

  // #stage returns the elements of an open replay.
  #stage() {
    const button = (label, name, f) => el("button", { "aria-label": name, title: name, onclick: f }, label);
    return el("div", { class: "stage", hidden: true },
      this.parts.field,
      el("header", { class: "top" },
        this.players, this.title, ...this.parts.top,
        el("nav", { class: "menu" }, el("a", { class: "button", href: "#/" }, t("Lobby"))),
      ),
      el("footer", { class: "transport" },
        this.timeline.element,
        el("div", { class: "controls" },
          button("|◀", t("Jump to the start"), () => this.go(this.about.first)),
          button("◀", t("Back one tick"), () => this.step(-1)),
          this.play,
          button("▶", t("Forward one tick"), () => this.step(1)),
          button("‹!", t("Previous mismatch"), () => this.mismatch(true)),
          button("!›", t("Next mismatch"), () => this.mismatch(false)),
          this.speed, this.timeline.charts.choice, this.now,
          (this.copy = el("button", { class: "copy", onclick: () => this.#copy() }, t("Copy link"))),
          el("button", { class: "with", onclick: () => this.second.click() }, t("Compare with…")),
          (this.second = el("input", { type: "file", accept: ".ssr", hidden: true, "aria-label": t("Compare with…"), onchange: () => this.#compare(this.second.files[0]) })),
          el("small", { class: "keys" }, ...this.parts.keys.map((word, i) => el(i % 2 ? "span" : "kbd", {}, word))),
          this.sum,
        ),
      ),
      ...this.parts.over,
      this.parts.side,
    );
  }

  // #entry returns the elements while no replay is open.
  #entry() {
    this.said = el("p", { class: "said", role: "status" });
    this.file = el("input", { type: "file", accept: ".ssr,.zip", multiple: true, id: "file", onchange: () => this.#pick(this.file.files) });
    return el("section", { class: "entry", hidden: true },
      el("h1", {}, t("Watch a replay")),
      this.said,
      el("label", { class: "drop", for: "file" },
        ...fill(t("{choose} or drop it here: also the bundle of a desync, or two replays to compare"), { choose: el("strong", {}, t("Choose a replay file")) }), this.file),
      el("p", {}, el("a", { href: "#/" }, t("Back to the lobby"))),
    );
  }

  // show opens the replay of a name, at the tick of the query if it has one, or asks for a file, which is then shown as the query
  // says. A query with "play" plays it at once.
  show(name, query) {
    this.query = query ?? new URLSearchParams();
    this.from = Number(this.query.get("t") ?? this.query.get("tick") ?? 0) || 0;
    this.names = null; // of replays that the server has
    this.root.hidden = false;
    this.showing = true;
    this.here = location.hash;
    if (this.held) {
      const held = this.held;
      this.held = null;
      this.#read(held);
    } else if (name) {
      this.#fetch([name, this.query.get("with")].filter(Boolean));
    } else {
      this.#ask("");
    }
  }

  hide() {
    this.showing = false;
    this.root.hidden = true;
    this.#close();
    this.loading?.abort();
    this.loading = null;
  }

  // #say closes the replay and shows a message.
  #say(message, bad = false) {
    this.#close();
    this.asking = false;
    this.stage.hidden = true;
    this.entry.hidden = false;
    this.said.textContent = message;
    this.said.classList.toggle("problem", bad);
    this.said.setAttribute("role", bad ? "alert" : "status");
    document.title = `${t("Watch")} · ${this.parts.title}`;
  }

  // #ask shows a message and waits for a file.
  #ask(message, bad) {
    this.#say(message, bad);
    this.asking = true;
  }

  async #fetch(names) {
    const name = names.map(called).join(", ");
    this.#say(t("Loading {name} …", { name }));
    this.loading = new AbortController();
    const { signal } = this.loading, token = recall("token");
    try {
      const files = [];
      for (const one of names) {
        if (one === solo) {
          files.push(soloReplay());
          continue;
        }
        const answer = await fetch(`replays/${encodeURIComponent(one)}`, { signal, headers: token ? { Authorization: `Bearer ${token}` } : {} });
        if (!answer.ok && one.endsWith(".zip")) throw new Error(t("this server shows no bundle of that name to you; if you have the file, drop it here"));
        if (answer.status === 404) throw new Error(t("the server has no replay of that name; a replay is available when its match is over"));
        if (!answer.ok) throw new Error(t("the server answers {status}", { status: answer.status }));
        files.push(new Uint8Array(await answer.arrayBuffer()));
      }
      if (signal.aborted) return;
      this.names = names;
      await this.#open(names.map(called), files);
      if (!signal.aborted && this.query.has("play")) this.toggle();
    } catch (error) {
      if (!signal.aborted) this.#ask(t("{name} cannot be loaded: {reason}.", { name, reason: error.message }), true);
    }
  }

  #over(e) {
    if (!e.dataTransfer?.types.includes("Files")) return;
    e.preventDefault();
    document.body.classList.add("dropping");
  }

  #drop(e) {
    const { files } = e.dataTransfer ?? {};
    document.body.classList.remove("dropping");
    if (!files?.length) return;
    e.preventDefault();
    this.#pick(files);
  }

  // #pick opens one file that was chosen or dropped on the page, or compares two.
  #pick(files) {
    const held = [...files].slice(0, 2);
    if (!held.length) return;
    if (this.showing && (this.asking || location.hash === "#/replay/")) {
      this.#read(held);
      return;
    }
    this.held = held;
    location.hash = "#/replay/";
  }

  async #read(files) {
    this.file.value = "";
    const large = files.find((file) => file.size > maxFile), names = files.map((file) => file.name), name = names.join(", ");
    if (large) {
      this.#ask(t("{name} has {size} MB; the limit is {limit} MiB.", { name: large.name, size: Math.round(large.size / 1e6), limit: maxFile >> 20 }), true);
      return;
    }
    this.#say(t("Reading {name} …", { name }));
    try {
      await this.#open(names, await Promise.all(files.map(async (file) => new Uint8Array(await file.arrayBuffer()))));
    } catch (error) {
      this.#ask(t("{name} cannot be read: {reason}.", { name, reason: error.message }), true);
    }
  }

  // #compare compares the open replay with a file.
  async #compare(file) {
    this.second.value = "";
    if (!file || !this.about) return;
    if (!this.opening || file.size > maxFile) return;
    const { names, files } = this.opening;
    const other = new Uint8Array(await file.arrayBuffer());
    this.from = 0;
    this.names = null; // a link does not have the file
    this.#close();
    this.#open([names[0], file.name], [files[0], other]);
  }

  // #open opens a replay or the bundle of a desync, or compares two replays.
  async #open(names, files) {
    let [name] = names;
    const opened = (this.last = {}), problem = samestep.watchNeeds ? await learnReplay(files[0]) : "";
    if (this.last !== opened) return; // the user has left, or opens another one
    let about = problem ? { error: problem } : JSON.parse(samestep.watchOpen(files[0]));
    if (!about.error && files.length > 1) {
      const problem = samestep.watchCompare(files[1]);
      if (problem) about = { error: problem };
      name = names.join(" | ");
    }
    if (about.error) {
      this.#ask(t("{name} cannot be watched: {reason}.", { name, reason: told(about.error) }), true);
      return;
    }
    for (const player of about.players) player.name = playerName(about.players, player.player);
    this.about = about;
    this.opening = { names, files: files.slice(0, 1) };
    this.finding = false;
    this.addressAt = 0;
    this.comparing = !!JSON.parse(samestep.watchState()).compared;
    this.stage.classList.toggle("compare", this.comparing);
    this.copy.hidden = !this.names || this.names.includes(solo); // nobody else could open it
    this.differences.open(files.length > 1 ? names : [t("match"), t("player")]);
    this.entry.hidden = true;
    this.stage.hidden = false;
    document.title = `${name} · ${this.parts.title}`;
    text(this.title, name);
    this.title.title = t("match {match}, recorded on {platform}", { match: about.match, platform: about.platform });
    this.timeline.open(about);
    this.position = about.first; // in ticks, with a fraction
    this.playing = false;
    this.seeking = false;
    this.panelsAt = this.before = 0;
    this.opened(about);
    this.aim?.(this.query);
    if (this.from > 0) this.go(this.from);
    else if (this.comparing) this.find(false);
    this.look();
    this.#showPlaying();
    this.parts.focus.focus();
    cancelAnimationFrame(this.next);
    this.next = requestAnimationFrame((now) => this.#frame(now));
  }

  #close() {
    this.last = null;
    cancelAnimationFrame(this.next);
    this.playing = false;
    this.timeline.close();
    this.about = null;
    samestep.watchClose();
    this.closed();
  }

  // go jumps to a tick.
  go(tick) {
    if (!this.about) return;
    this.finding = false;
    this.position = Math.min(this.about.last, Math.max(this.about.first, Math.round(tick)));
    this.seeking = true;
    this.soughtAt = performance.now();
  }

  // step moves by a number of ticks and pauses.
  step(ticks) {
    if (this.playing) this.toggle();
    this.go(Math.ceil(this.position) + ticks);
  }

  // find looks for the next difference of two replays, or the previous one, and goes there.
  find(back) {
    if (!this.comparing) return;
    if (this.playing) this.toggle();
    samestep.watchFind(back);
    this.finding = true;
  }

  // mismatch jumps to the next tick whose checksum differed, or the previous one.
  mismatch(back) {
    if (!this.about) return;
    const ticks = this.timeline.faults(), now = Math.ceil(this.position);
    const to = back ? ticks.findLast((tick) => tick < now) : ticks.find((tick) => tick > now);
    if (to !== undefined) this.go(to);
  }

  // address returns the part of the address that leads here.
  address() {
    const values = { ...(this.names[1] && { with: this.names[1] }), t: Math.ceil(this.position), ...this.view?.() };
    return `#/replay/${encodeURIComponent(this.names[0])}?${new URLSearchParams(values)}`;
  }

  // #keep lets the address lead here.
  #keep() {
    history.replaceState(null, "", this.address());
    this.here = location.hash;
  }

  async #copy() {
    this.#keep();
    try {
      await navigator.clipboard.writeText(location.href);
      text(this.copy, t("Copied"));
    } catch {
      text(this.copy, t("It is in the address bar"));
    }
    setTimeout(() => text(this.copy, t("Copy link")), 2000);
  }

  toggle() {
    if (!this.about) return;
    this.playing = !this.playing;
    if (this.playing && this.position >= this.about.last) this.go(this.about.first);
    this.#showPlaying();
  }

  // faster sets the next higher or lower speed.
  faster(by) {
    const i = speeds.indexOf(Number(this.speed.value)) + by;
    if (speeds[i]) this.speed.value = String(speeds[i]);
  }

  #showPlaying() {
    text(this.play, this.playing ? t("Pause") : t("Play"));
  }

  #frame(now) {
    if (!this.about) return;
    this.next = requestAnimationFrame((then) => this.#frame(then));
    const seconds = Math.min(100, now - this.before) / 1000;
    this.before = now;
    this.moved(seconds);
    this.#move(seconds);
    const look = now - this.panelsAt >= panelMS;
    const ahead = Math.ceil(this.position) - this.position;
    const fraction = this.tick === Math.ceil(this.position) ? Math.round((1 - ahead) * one) : one;
    this.drawn(fraction, look);
    if (!look) return;
    this.panelsAt = now;
    this.look();
  }

  // #move advances the position, and simulates towards it.
  #move(seconds) {
    const { about } = this;
    if (this.finding) {
      const found = samestep.watchWork(busyMS);
      this.tick = samestep.watchTick();
      if (!found) return;
      this.finding = false;
      this.position = this.tick;
      this.panelsAt = 0;
    }
    if (this.playing && !this.seeking) {
      this.position = Math.min(about.last, this.position + seconds * 1e6 / about.tick_micros * Number(this.speed.value));
    }
    samestep.watchGo(Math.ceil(this.position));
    const there = samestep.watchWork(this.seeking ? busyMS : playMS);
    this.tick = samestep.watchTick();
    if (there && this.seeking) {
      this.seeking = false;
      this.tookMS = performance.now() - this.soughtAt;
      this.panelsAt = 0;
    }
    if (!there && !this.seeking) this.position = Math.min(this.position, this.tick + 1); // as fast as this machine simulates
    if (there && this.tick < Math.ceil(this.position)) this.position = this.tick; // the simulation cannot continue
    if (this.playing && this.tick >= about.last) this.toggle();
  }

  // look updates the panels.
  look() {
    const { about } = this;
    const state = (this.state = JSON.parse(samestep.watchState()));
    const { tick, left, state_hash: hash, agreed, differing } = state, time = clock(tick, about.tick_micros), end = clock(about.last, about.tick_micros);
    const place = t("{time} / {end} · tick {tick}", { time, end, tick }), way = left === 1 ? t("1 tick to go") : t("{left} ticks to go", { left });
    text(this.now, this.seeking && left > 0 ? `${place} · ${way}` : place);
    const recorded = hash ? t("{hash} was reported", { hash }) : t("no checksum was reported"); // of another engine
    const differ = differing === 1 ? t("1 checksum differs") : t("{differing} checksums differ", { differing });
    const agree = agreed === 1 ? t("1 checksum agrees") : t("{agreed} checksums agree", { agreed });
    const compared = differing ? differ : `${hash} · ${agree}`;
    const who = state.differ?.groups.map((g) => g.players.map((player) => playerName(about.players, player)).join(", ")).join(" | ");
    const apart = who && t("the states of tick {tick} differ: {who}", { tick: state.differ.tick, who });
    text(this.sum, about.recorded ? apart ?? recorded : compared);
    this.sum.classList.toggle("bad", differing > 0 || !!apart);
    this.timeline.at(Math.round(this.seeking ? this.position : state.tick), state.desyncs);
    this.differences.update(state.compared, state.tick);
    this.looked(state, about);
    if (this.names && !this.seeking && !this.finding && performance.now() - this.addressAt > addressMS) {
      this.addressAt = performance.now();
      if (location.hash === this.here) this.#keep(); // or else the user has just gone elsewhere
    }
  }

  // skip jumps to the next difference or mismatch, or the previous one.
  skip(back) {
    if (this.comparing) this.find(back);
    else this.mismatch(back);
  }

  // key handles a key of the transport, and reports whether it is one.
  key(code) {
    const does = {
      Space: () => this.toggle(), Comma: () => this.step(-1), Period: () => this.step(1), BracketLeft: () => this.faster(-1),
      BracketRight: () => this.faster(1), Home: () => this.go(this.about.first), KeyN: () => this.skip(false), KeyP: () => this.skip(true), End: () => this.go(this.about.last),
    };
    if (!this.about || !Object.hasOwn(does, code)) return false;
    does[code]();
    return true;
  }
}
