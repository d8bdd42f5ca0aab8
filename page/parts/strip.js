// The strip of facts about the connection.

import { el, text, bytes, playerName } from "./dom.js";

const facts = [
  ["tick", "tick", "ticks simulated by this browser"],
  ["delay", "input delay", "ticks until a command takes effect"],
  ["trip", "ping", "round trip to the server"],
  ["buffer", "buffer", "ticks received ahead, to smooth out lag"],
  ["sums", "checksums", "comparisons of this browser's state with the match"],
  ["players", "players", ""],
  ["rate", "in · out", "traffic in bytes per second"],
  ["frame", "frame", "time to draw a frame, 95th percentile"],
];

export class Strip {
  constructor() {
    this.element = el("div", { class: "strip", role: "status", "aria-label": "Connection" });
    this.facts = {};
    for (const [name, label, title] of facts) {
      this.facts[name] = el("b", {}, "–");
      this.element.append(el("span", { class: name, title }, `${label} `, this.facts[name]));
    }
  }

  // update shows a status; frameMS is the time to draw a frame.
  update({ net, link, mismatch, seats = [] }, frameMS) {
    const f = this.facts;
    text(f.tick, net.tick);
    text(f.delay, `${net.input_delay}${net.predicted ? ` (${net.predicted - net.tick} ahead)` : ""}`);
    text(f.trip, net.round_trip_us ? `${(net.round_trip_us / 1000).toFixed(1)} ms` : "–");
    text(f.buffer, `${net.backlog} · ${(net.delay_us / 1000).toFixed(0)} ms`);
    const others = mismatch?.groups.flatMap((g) => g.players).filter((seat) => seat !== net.seat).map((seat) => playerName(seats, seat));
    text(f.sums, `${net.agreed} equal${net.differing ? `, ${net.differing} differ` : ""}${others?.length ? `, ${others.join(", ")} differed at ${mismatch.tick}` : ""}`);
    f.sums.parentNode.classList.toggle("differ", net.differing > 0 || others?.length > 0);
    const who = (some) => some.map((s) => `${playerName(seats, s.seat)}${s.presence === "here" ? "" : ` ${s.presence}`}`);
    const gone = seats.filter((s) => s.presence === "away" || s.presence === "taken over");
    text(f.players, [seats.length, ...who(gone.slice(0, 3)), ...(gone.length > 3 ? ["…"] : [])].join(", "));
    f.players.parentNode.title = `who has the seats: ${who(seats).join(", ")}`;
    text(f.rate, `${bytes(net.in)}/s · ${bytes(net.out)}/s`);
    text(f.frame, `${frameMS.toFixed(1)} ms`);
    this.element.dataset.link = link.state === "live" && link.held ? "held" : link.state;
  }
}
