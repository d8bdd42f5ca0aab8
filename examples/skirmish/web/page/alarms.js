// Alarms: what happens out of view is shown at the screen's edge and on the minimap, and heard.

import { el } from "./dom.js";
import { t } from "./text.js";
import { keymap } from "./actions.js";

const cooldownMS = 9000; // between two alarms of one place
const near = 18; // cells; attacks so near to each other are one
const shownMS = 5000; // of a mark on the minimap

export class Alarms {
  // tell(text, urgent) shows news, and play(name) makes a sound.
  constructor({ tell, play }) {
    Object.assign(this, { tell, play });
    this.edges = el("div", { class: "edges", "aria-hidden": "true" }, ...["west", "east", "north", "south"].map((side) => el("i", { class: side })));
    this.reset();
  }

  // reset forgets everything, for another match.
  reset() {
    this.places = []; // of the latest alarms, in cells, oldest first
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
        if (e.building && (e.own || !away)) this.play("ruin");
        else if (!away) this.play("fall");
        if (e.own && e.building) this.tell(t("You have lost a building: {kind}", { kind: t(e.kind) }), "problem");
        break;
      case "made":
        if (e.own) this.play("made");
        break;
      case "built":
        if (!e.own) break;
        this.play("built");
        this.tell(t("Complete: {kind}", { kind: t(e.kind) }), "game");
        break;
      case "ping":
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
    this.places = this.places.filter((p) => now - p.since < cooldownMS);
    if (this.places.some((p) => Math.hypot(p.x - e.x, p.y - e.y) < near)) return;
    this.places.push({ x: e.x, y: e.y, since: now });
    this.play("alarm");
    if (away) this.#flash(away);
    const what = e.building ? (e.kind === "base" ? t("Your base is attacked") : t("Your buildings are attacked")) : t("Your units are attacked");
    this.tell(away ? t("{what}: {key} goes there", { what, key: keymap.shown("Space") }) : what, "problem");
  }

  // #flash lights the screen's edges in a direction.
  #flash({ dx, dy }) {
    const sides = { west: dx < 0, east: dx > 0, north: dy < 0, south: dy > 0 };
    for (const edge of this.edges.children) {
      if (!sides[edge.className.split(" ")[0]]) continue;
      edge.classList.remove("on");
      edge.offsetWidth; // the animation begins again
      edge.classList.add("on");
    }
  }

  // draw marks the latest alarms on a canvas that shows the whole map of a size in cells.
  draw(canvas, size) {
    const now = performance.now(), c = canvas.getContext("2d"), k = canvas.width / size;
    c.lineWidth = Math.max(2, canvas.width / 100);
    for (const p of this.places) {
      const age = (now - p.since) / shownMS;
      if (age >= 1) continue;
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
