// What the screens of all replays share: opening a file, the timeline, playing and seeking. A page's own viewer extends
// Viewer. It shows the state in its field, and has these methods:
//
//	opened(about)              a replay is open
//	closed()                   none is
//	drawn(fraction, look)      a frame is due, at a fraction of the way to the present tick in 1/65536; look is true a few times a second
//	looked(state, about)       update the panels
//	moved(seconds)             time has passed

import { el, text, clock } from "./dom.js";
import { Timeline } from "./timeline.js";

const speeds = [0.25, 0.5, 1, 2, 4, 8, 16, 32, 64];
const one = 65536; // fractions of a tick are in 1/65536
const maxFile = 256 << 20; // bytes
const busyMS = 30, playMS = 10; // time to simulate between two frames, while seeking and playing
const panelMS = 150; // between two updates of the panels

export class Viewer {
  // parts: title is the game's; field is the element of the state, and focus the one in it that has the keys; top and over
  // are further elements of the top bar and over the field; side is the panel beside it; keys are the shortcuts.
  constructor(root, parts) {
    this.root = root;
    this.parts = parts;
    this.timeline = new Timeline((tick) => this.go(tick));
    this.players = el("ul", { class: "scores" });
    this.title = el("strong", { class: "title" });
    this.play = el("button", { class: "main", onclick: () => this.toggle() });
    this.speed = el("select", { "aria-label": "Speed", onchange: () => this.parts.focus.focus() },
      ...speeds.map((s) => el("option", { value: String(s), selected: s === 1 }, `${s}×`)));
    this.now = el("output", { class: "now" });
    this.sum = el("output", { class: "sum" });
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
        el("nav", { class: "menu" }, el("a", { class: "button", href: "#/" }, "Lobby")),
      ),
      el("footer", { class: "transport" },
        this.timeline.element,
        el("div", { class: "controls" },
          button("|◀", "Jump to the start", () => this.go(this.about.first)),
          button("◀", "Back one tick", () => this.step(-1)),
          this.play,
          button("▶", "Forward one tick", () => this.step(1)),
          this.speed, this.now,
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
    this.file = el("input", { type: "file", accept: ".ssr", id: "file", onchange: () => this.#pick(this.file.files[0]) });
    return el("section", { class: "entry", hidden: true },
      el("h1", {}, "Watch a replay"),
      this.said,
      el("label", { class: "drop", for: "file" }, el("strong", {}, "Choose a replay file"), " or drop it here", this.file),
      el("p", {}, el("a", { href: "#/" }, "Back to the lobby")),
    );
  }

  // show opens the replay of a name, at the tick of the query if it has one, or asks for a file.
  show(name, query) {
    this.from = Number(query?.get("tick") ?? 0) || 0;
    this.root.hidden = false;
    this.showing = true;
    if (this.held) {
      const held = this.held;
      this.held = null;
      this.#read(held);
    } else if (name) {
      this.#fetch(name);
    } else {
      this.#say("");
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
    this.stage.hidden = true;
    this.entry.hidden = false;
    this.said.textContent = message;
    this.said.classList.toggle("problem", bad);
    this.said.setAttribute("role", bad ? "alert" : "status");
    document.title = `Watch · ${this.parts.title}`;
  }

  async #fetch(name) {
    this.#say(`Loading ${name} …`);
    this.loading = new AbortController();
    const { signal } = this.loading;
    try {
      const answer = await fetch(`replays/${encodeURIComponent(name)}`, { signal });
      if (answer.status === 404) throw new Error("the server has no replay of that name; a replay is available when its match is over");
      if (!answer.ok) throw new Error(`the server answers ${answer.status}`);
      const bytes = new Uint8Array(await answer.arrayBuffer());
      if (!signal.aborted) this.#open(name, bytes);
    } catch (error) {
      if (!signal.aborted) this.#say(`${name} cannot be loaded: ${error.message}.`, true);
    }
  }

  #over(e) {
    if (!e.dataTransfer?.types.includes("Files")) return;
    e.preventDefault();
    document.body.classList.add("dropping");
  }

  #drop(e) {
    const file = e.dataTransfer?.files[0];
    document.body.classList.remove("dropping");
    if (!file) return;
    e.preventDefault();
    this.#pick(file);
  }

  // #pick opens a file that was chosen or dropped on the page.
  #pick(file) {
    if (!file) return;
    if (this.showing && location.hash === "#/replay/") {
      this.#read(file);
      return;
    }
    this.held = file;
    location.hash = "#/replay/";
  }

  async #read(file) {
    this.file.value = "";
    if (file.size > maxFile) {
      this.#say(`${file.name} has ${Math.round(file.size / 1e6)} MB; the limit is ${maxFile >> 20} MiB.`, true);
      return;
    }
    this.#say(`Reading ${file.name} …`);
    try {
      this.#open(file.name, new Uint8Array(await file.arrayBuffer()));
    } catch (error) {
      this.#say(`${file.name} cannot be read: ${error.message}.`, true);
    }
  }

  #open(name, bytes) {
    const about = JSON.parse(samestep.watchOpen(bytes));
    if (about.error) {
      this.#say(`${name} cannot be watched: ${about.error}.`, true);
      return;
    }
    this.about = about;
    this.entry.hidden = true;
    this.stage.hidden = false;
    document.title = `${name} · ${this.parts.title}`;
    text(this.title, name);
    this.title.title = `match ${about.match}, recorded on ${about.platform}`;
    this.timeline.open(about);
    this.position = about.first; // in ticks, with a fraction
    this.playing = false;
    this.seeking = false;
    this.panelsAt = this.before = 0;
    this.opened(about);
    if (this.from > 0) this.go(this.from);
    this.look();
    this.#showPlaying();
    this.parts.focus.focus();
    cancelAnimationFrame(this.next);
    this.next = requestAnimationFrame((now) => this.#frame(now));
  }

  #close() {
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
    this.position = Math.min(this.about.last, Math.max(this.about.first, Math.round(tick)));
    this.seeking = true;
    this.soughtAt = performance.now();
  }

  // step moves by a number of ticks and pauses.
  step(ticks) {
    if (this.playing) this.toggle();
    this.go(Math.ceil(this.position) + ticks);
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
    text(this.play, this.playing ? "Pause" : "Play");
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
    if (this.playing && !this.seeking) {
      this.position = Math.min(about.last, this.position + seconds * about.tick_rate * Number(this.speed.value));
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
    text(this.now, `${clock(state.tick, about.tick_rate)} / ${clock(about.last, about.tick_rate)} · tick ${state.tick}${this.seeking && state.left > 0 ? ` · ${state.left} ticks to go` : ""}`);
    const recorded = state.root ? `${state.root} was reported` : "no checksum was reported"; // of another engine
    const compared = state.differing ? `${state.differing} checksums differ` : `${state.root} · ${state.agreed} checksums agree`;
    text(this.sum, about.recorded ? recorded : compared);
    this.sum.classList.toggle("bad", state.differing > 0);
    this.timeline.at(Math.round(this.seeking ? this.position : state.tick), state.desyncs);
    this.looked(state, about);
  }

  // key handles a key of the transport, and reports whether it is one.
  key(code) {
    const does = {
      Space: () => this.toggle(), Comma: () => this.step(-1), Period: () => this.step(1), BracketLeft: () => this.faster(-1),
      BracketRight: () => this.faster(1), Home: () => this.go(this.about.first), End: () => this.go(this.about.last),
    };
    if (!this.about || !Object.hasOwn(does, code)) return false;
    does[code]();
    return true;
  }
}
