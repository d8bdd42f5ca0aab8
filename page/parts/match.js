// What every page needs to join a match of its server.

import { remember, recall } from "./dom.js";

// socketOf returns the address of a match's WebSocket.
export function socketOf(name) {
  const url = new URL(`matches/${encodeURIComponent(name)}/play`, location.href);
  url.protocol = location.protocol === "https:" ? "wss:" : "ws:";
  return url.href;
}

// listed returns the server's view of a match, or undefined if there is none of that name. It reads the list page by page,
// because requesting a missing match would log an error in the browser's console.
export async function listed(name) {
  for (let after = ""; ; ) {
    const answer = await fetch(`matches?after=${encodeURIComponent(after)}`);
    const page = await answer.json();
    const match = page.find((m) => m.name === name);
    if (match || !page.length || page.at(-1).name > name) return match;
    after = page.at(-1).name;
  }
}

// seated remembers the user's seat in a match, and that it is none after the user has given it up.
export function seated(name, { match, net }, gone = false) {
  const key = `seat of ${name}`, value = !gone && match && net.seat >= 0 ? `${match.id} ${net.seat}` : "";
  if ((value || gone) && recall(key) !== value) remember(key, value);
}

// seatOf returns the user's seat in a match among those that somebody has, or null.
export function seatOf(name, id, players) {
  const [match, seat] = recall(`seat of ${name}`).split(" ");
  return match === id && players.some((p) => p.seat === Number(seat)) ? Number(seat) : null;
}

const askMS = 1500; // from one look at the server's replays to the next

// A Recording is the replay of a match, which the server lists soon after the end.
export class Recording {
  // begin is told the name of the match, or "" if no server has it.
  begin(match) {
    Object.assign(this, { match, file: "", askAt: 0 });
  }

  // of returns the name of the replay as the server lists it, or "" before, for a status of the match.
  of({ link, match }) {
    const now = performance.now();
    if (this.match && !this.file && link.state === "ended" && match && now >= this.askAt) {
      this.askAt = now + askMS;
      this.#ask(`${this.match}-${match.id.slice(0, 8)}.ssr`);
    }
    return this.file;
  }

  async #ask(file) {
    const visit = this.match;
    try {
      const answer = await fetch("replays"), found = answer.ok && (await answer.json()).some((r) => r.name === file);
      if (found && this.match === visit) this.file = file;
    } catch {
      // it asks again
    }
  }
}
