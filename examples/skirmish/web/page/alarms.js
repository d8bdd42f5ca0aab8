// Alarms: what happens out of view is shown at the screen's edge and on the minimap, and the user can go there.

import { el } from "./dom.js";
import { t } from "./text.js";

const cooldownMS = 9000; // between two alarms of one place
const near = 18; // cells; attacks so near to each other are one
const shownMS = 5000; // of a mark on the minimap
const keptMS = 60_000; // of a place to go to
const againMS = 4000; // so soon after a jump, the next one goes to the place before that

export class Alarms {
  // tell(text, urgent) shows news, and play(name) makes a sound.
  constructor({ tell, play }) {
    Object.assign(this, { tell, play });
    this.edges = el("div", { class: "edges", "aria-hidden": "true" }, ...["left", "right", "up", "down"].map((side) => el("i", { class: side })));
    this.reset();
  }

  // reset forgets everything, for another match.
  reset() {
    this.places = []; // where something has happened, oldest first
    this.jumped = 0; // how many places the user has gone back, at this time:
    this.jumpedAt = -Infinity;
    for (const edge of this.edges.children) edge.classList.remove("on");
  }

  // take processes the events of a status, with the frame and the size of the picture.
  take(events, frame, width, height) {
    for (const e of events) this.#one(e, offset(e, frame, width, height));
  }

  #one(e, away) {
    switch (e.sort) {
      case "attacked":
        if (e.own && (away || e.building)) this.#attack(e, away);
        if (!away) this.play("hit");
        break;
      case "lost":
        if (e.own) this.#keep(e);
        if (e.building && (e.own || !away)) this.play("ruin");
        else if (!away) this.play("fall");
        if (e.own && e.building) this.tell(t("You have lost a building: {kind}", { kind: t(e.kind) }), "problem");
        break;
      case "made":
        if (!e.own) break;
        this.#keep(e);
        this.play("made");
        break;
      case "built":
        if (!e.own) break;
        this.#keep(e);
        this.play("built");
        this.tell(t("Complete: {kind}", { kind: t(e.kind) }), "game");
        break;
      case "ping":
        this.#keep(e);
        this.play("ping");
        if (away) this.#flash(away);
        break;
      case "order":
        this.play({ attack: "attack", build: "build", train: "build" }[e.kind] ?? "order");
    }
  }

  // #attack gives the alarm, unless it has been given for that place a short time ago.
  #attack(e, away) {
    const now = performance.now();
    const same = this.places.find((p) => p.alarm && now - p.since < cooldownMS && Math.hypot(p.x - e.x, p.y - e.y) < near);
    if (same) return;
    this.#keep(e, true);
    this.play("alarm");
    if (away) this.#flash(away);
    const what = e.building ? (e.kind === "base" ? t("Your base is attacked") : t("Your buildings are attacked")) : t("Your units are attacked");
    this.tell(away ? t("{what}: Space goes there", { what }) : what, "problem");
  }

  // #keep adds a place to go to. Those nearby are one.
  #keep({ x, y, sort }, alarm = false) {
    const now = performance.now();
    this.places = this.places.filter((p) => now - p.since < keptMS && !(p.sort === sort && Math.hypot(p.x - x, p.y - y) < near)).slice(-15);
    this.places.push({ x, y, sort, alarm, since: now });
  }

  // #flash lights the screen's edges in a direction.
  #flash({ dx, dy }) {
    const sides = { left: dx < 0, right: dx > 0, up: dy < 0, down: dy > 0 };
    for (const edge of this.edges.children) {
      if (!sides[edge.className.split(" ")[0]]) continue;
      edge.classList.remove("on");
      edge.offsetWidth; // the animation begins again
      edge.classList.add("on");
    }
  }

  // next returns the place of the last event, then of those before it, or null without one. Places are in cells.
  next() {
    const now = performance.now();
    this.places = this.places.filter((p) => now - p.since < keptMS);
    this.jumped = now - this.jumpedAt < againMS ? this.jumped + 1 : 0;
    this.jumpedAt = now;
    const n = this.places.length;
    return n ? this.places[n - 1 - (this.jumped % n)] : null;
  }

  // draw marks the latest alarms on a canvas that shows the whole map of a size in cells.
  draw(canvas, size) {
    const now = performance.now(), c = canvas.getContext("2d"), k = canvas.width / size;
    c.lineWidth = Math.max(2, canvas.width / 100);
    for (const p of this.places) {
      const age = (now - p.since) / shownMS;
      if (!p.alarm || age >= 1) continue;
      c.globalAlpha = 1 - age / 2;
      c.strokeStyle = "#ff5a4d";
      c.beginPath();
      c.arc(p.x * k, p.y * k, canvas.width * (0.03 + 0.07 * ((age * 5) % 1)), 0, 7);
      c.stroke();
    }
    c.globalAlpha = 1;
  }
}

// offset returns the direction of an event that is out of view, as { dx, dy } of -1, 0 and 1, or null if it is in view or has no
// place.
export function offset({ x, y }, frame, width, height) {
  if (x < 0 || !frame.cell) return null;
  const side = (d, half) => (d < -half ? -1 : d > half ? 1 : 0);
  const dx = side(x - frame.x, width / frame.cell / 2), dy = side(y - frame.y, height / frame.cell / 2);
  return dx || dy ? { dx, dy } : null;
}
