// The state of the connection: one word for players, and the numbers for developers.

import { el, text, bytes, remember, recall } from "./dom.js";
import { playerName, t } from "./text.js";

const facts = [
  ["tick", t("tick"), t("ticks simulated by this browser")],
  ["delay", t("input delay"), t("ticks until a command takes effect")],
  ["trip", t("ping"), t("round trip to the server")],
  ["buffer", t("buffer"), t("ticks received ahead, to smooth out lag")],
  ["stalls", t("stalls"), t("times that the picture stood still for over 100 ms while the match ran")],
  ["corrections", t("corrections"), t("times that the connection made a prediction wrong")],
  ["late", t("late"), t("ticks that came after they were due")],
  ["loss", t("lost in · out"), t("datagrams that are lost, and records that came twice")],
  ["sums", t("checksums"), t("comparisons of this browser's state with the match")],
  ["players", t("players"), ""],
  ["rate", t("in · out"), t("traffic in bytes per second")],
  ["ids", t("match · session"), t("name both when you report a problem: the logs of the servers have them")],
  ["frame", t("frame"), t("time to draw a frame, 95th percentile")],
];

const switchKey = "F3";
const behindMS = 1500; // the picture may be so far behind the match, and a tick, of which only the end is a state
const laggyUS = 300_000; // a longer round trip can be felt
const jerkyMS = 60; // for a frame: fewer than 17 frames a second

export class Strip {
  constructor() {
    this.word = el("button", { class: "word", onclick: () => this.switch() });
    this.element = el("div", { class: "strip", role: "status", "aria-label": t("Connection"), hidden: recall("numbers") !== "yes" });
    this.facts = {};
    for (const [name, label, title] of facts) {
      this.facts[name] = el("b", {}, "–");
      this.element.append(el("span", { class: name, title }, `${label} `, this.facts[name]));
    }
    addEventListener("keydown", (e) => {
      if (e.code !== switchKey || !this.word.checkVisibility()) return; // another screen is shown
      e.preventDefault();
      this.switch();
    });
    this.#say("", "warn");
  }

  // switch shows or hides the numbers.
  switch() {
    this.element.hidden = !this.element.hidden;
    remember("numbers", this.element.hidden ? "" : "yes");
    this.word.setAttribute("aria-expanded", String(!this.element.hidden));
  }

  #say(word, level) {
    text(this.word, word);
    this.word.dataset.level = level;
    this.word.title = t("Connection: {word}. Show the numbers ({key})", { word, key: switchKey });
    this.word.setAttribute("aria-expanded", String(!this.element.hidden));
  }

  // update shows a status; frameMS is the time to draw a frame.
  update(state, frameMS) {
    this.#say(...wordOf(state, frameMS));
    const { net, link, mismatch, seats = [] } = state, f = this.facts;
    text(f.tick, net.tick);
    text(f.delay, `${net.input_delay}${net.predicted ? ` (${t("{ticks} ahead", { ticks: net.predicted - net.tick })})` : ""}`);
    text(f.trip, net.round_trip_us ? `${(net.round_trip_us / 1000).toFixed(1)} ms` : "–");
    text(f.buffer, `${net.backlog} · ${(net.delay_us / 1000).toFixed(0)} ms`);
    const often = (count) => (net.watched_ms ? t("{count}, {rate} a minute", { count, rate: (count * 60_000 / net.watched_ms).toFixed(1) }) : "–");
    text(f.stalls, often(net.stalls));
    text(f.corrections, often(net.corrections));
    text(f.late, net.late_frames);
    const percent = (ppm) => `${(ppm / 10_000).toFixed(1)} %`;
    text(f.loss, net.datagrams ? `${percent(net.loss_in_ppm)} · ${percent(net.loss_out_ppm)}, ${t("{count} again", { count: net.repeats })}` : "–");
    const others = mismatch?.groups.flatMap((g) => g.players).filter((seat) => seat !== net.seat).map((seat) => playerName(seats, seat));
    const sums = [t("{number} equal", { number: net.agreed })];
    if (net.differing) sums.push(net.differing === 1 ? t("1 differs") : t("{number} differ", { number: net.differing }));
    if (others?.length) sums.push(t("{who} differed at {tick}", { who: others.join(", "), tick: mismatch.tick }));
    text(f.sums, state.views ? t("none: you see by views") : sums.join(", "));
    f.sums.parentNode.classList.toggle("differ", net.differing > 0 || others?.length > 0);
    const who = (some) => some.map((s) => `${playerName(seats, s.seat)}${s.presence === "here" ? "" : ` ${t(s.presence)}`}`);
    const gone = seats.filter((s) => s.presence === "away" || s.presence === "taken over");
    text(f.players, [seats.length, ...who(gone.slice(0, 3)), ...(gone.length > 3 ? ["…"] : [])].join(", "));
    f.players.parentNode.title = t("who has the seats: {who}", { who: who(seats).join(", ") });
    text(f.rate, `${bytes(net.in)}/s · ${bytes(net.out)}/s`);
    text(f.ids, net.session && state.match ? `${state.match.id.slice(0, 8)} · ${net.session}` : "–");
    text(f.frame, `${frameMS.toFixed(1)} ms`);
    this.element.dataset.link = link.state === "live" && link.held ? "held" : link.state;
  }
}

// wordOf returns how the match runs here in a word or a few, and whether that is good, a warning or bad.
export function wordOf({ net, link, match, seats = [] }, frameMS) {
  const words = { connecting: [t("connecting"), "warn"], joining: [t("joining"), "warn"], syncing: [t("joining"), "warn"], lost: [t("reconnecting"), "bad"], ended: [t("over"), "good"], failed: [t("disconnected"), "bad"] };
  if (link.state !== "live") return words[link.state] ?? [link.state, "warn"];
  if (link.held) {
    const who = (link.held_for ?? []).map((seat) => (seat === net.seat ? t("you") : playerName(seats, seat))).join(", ");
    if (link.hold === "paused") return [t("paused"), "warn"];
    if (link.hold === "slower") return [t("slower"), "warn"];
    if (link.hold === "stalled") return [t("no answer"), "bad"];
    return [who ? t("waiting for {who}", { who }) : t("waiting"), "warn"];
  }
  if (net.behind_ms > behindMS + (match?.tick_micros ?? 0) / 1000) return [t("catching up {seconds} s", { seconds: Math.round(net.behind_ms / 1000) }), "warn"];
  if (net.round_trip_us > laggyUS) return [t("laggy"), "warn"];
  if (frameMS > jerkyMS) return [t("jerky"), "warn"];
  return [t("smooth"), "good"];
}
