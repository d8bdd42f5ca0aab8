// The places of the last events. A key jumps from one to the one before.

const kept = 8;
const againMS = 3000; // a second press within that time goes to the event before
const alarms = ["attacked", "lost", "ping", "built"];

export class LastEvents {
  reset() {
    this.places = []; // in fractions of the map's sides, the last event first
    this.next = this.pressedAt = 0;
  }

  // take takes the events of a live.Status.
  take({ events, match }) {
    for (const { sort, x, y, own } of (match && events) ?? []) {
      if (x < 0 || !alarms.includes(sort) || !own && sort !== "ping") continue;
      const place = { x: x / match.size, y: y / match.size };
      this.places = [place, ...this.places.filter((p) => Math.hypot(p.x - place.x, p.y - place.y) > 0.1)].slice(0, kept);
    }
  }

  // jump looks at the last event, or at the player's base if there was none.
  jump() {
    const now = performance.now(), again = now - this.pressedAt < againMS;
    this.pressedAt = now;
    this.next = again ? (this.next + 1) % Math.max(1, this.places.length) : 0;
    const place = this.places[this.next];
    if (place) samestep.lookAt(Math.round(place.x * 65535), Math.round(place.y * 65535));
    else samestep.key("Home", false, false);
  }
}
