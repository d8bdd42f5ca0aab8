// The banner that shows the state of the connection and why the match stands still, unless all is well.

import { el, bar } from "./dom.js";
import { playerName, t, told } from "./text.js";

// A browser that is online again tries to connect at once.
addEventListener("online", () => globalThis.samestep?.retry?.());

const secondsOf = (ms) => Math.ceil(ms / 1000);
const tryAgain = () => el("button", { onclick: () => samestep.retry() }, t("Try again now"));

export class Banner {
  constructor() {
    this.element = el("div", { class: "banner", role: "status", hidden: true });
  }

  // begin resets the banner for a match. A match without a server (alone) connects to nothing, so there is nothing to say.
  begin(name, watching, alone = false) {
    this.name = name;
    this.watching = watching;
    this.alone = alone;
    this.grace = 0;
    this.key = undefined;
    this.element.className = "banner";
    this.element.hidden = alone;
    this.element.replaceChildren(t("Connecting…"));
  }

  // keep tells for how long the server keeps the seat of a player who is lost, in milliseconds.
  keep(graceMS) {
    this.grace = this.watching ? 0 : graceMS || 0;
  }

  // #changed reports whether the banner's content is new.
  #changed(value) {
    const key = JSON.stringify(value);
    if (this.key === key) return false;
    this.key = key;
    return true;
  }

  // #show shows parts if they differ from the shown ones. A button must not be replaced while it is pressed.
  #show(key, parts) {
    this.element.hidden = false;
    if (this.#changed(key)) this.element.replaceChildren(...parts());
  }

  // update shows a status.
  update({ link, net, seats = [], match, replay }) {
    const live = link.state === "live";
    this.element.className = `banner ${live && link.held ? "lost" : link.state}`;
    if (live && link.held && !(this.alone && link.lobby)) { // nobody waits for oneself
      this.#hold(link, seats, net.seat, match);
      return;
    }
    if (live) {
      this.#live(link);
      return;
    }
    if (this.alone && !["ended", "failed"].includes(link.state)) {
      this.element.hidden = true;
    } else if (link.state === "lost") {
      this.#lost(link);
    } else if (link.state === "syncing") {
      const part = link.total ? (0.5 * link.bytes) / link.total : link.target ? 0.5 + (0.5 * link.tick) / link.target : 0;
      this.#show([link.state, link.text, part], () => [el("strong", {}, t("Joining"), " "), told(link.text), bar(part, "", "work")]);
    } else if (link.state === "ended") {
      this.#show([link.state, link.text, replay], () => [el("strong", {}, t("The match has ended")), el("p", {}, told(link.text)),
        el("p", {}, replay && el("a", { class: "button main", href: `#/replay/${encodeURIComponent(replay)}` }, t("Watch the replay")), " ", el("a", { class: "button main", href: "#/" }, t("Back to the lobby")))]);
    } else if (link.state === "failed") {
      if (this.#changed([link.state, link.text])) this.fail(link.text, true, link.gave_up);
    } else {
      this.#show([link.state, link.text], () => [told(link.text), "…"]);
    }
  }

  // #live hides the banner, but shows for a moment that the connection is back.
  #live({ losses }) {
    if (this.element.hidden) return;
    if (!losses || this.key?.startsWith('["held"')) {
      this.element.hidden = true;
      this.key = undefined;
    } else if (this.#changed("resumed")) {
      this.element.replaceChildren(t("Reconnected"));
      setTimeout(() => {
        if (this.key === '"resumed"') this.element.hidden = true;
      }, 1500);
    }
  }

  // #lost shows when the next attempt to connect is due, and for how long the seat is kept. The texts change every second,
  // and the button stays.
  #lost(link) {
    const next = secondsOf(link.retry_ms), left = secondsOf(this.grace - link.lost_ms);
    this.#show(["lost", link.losses], () => {
      this.next = el("span", {});
      this.kept = el("p", {});
      return [el("strong", {}, link.losses ? t("Disconnected") : t("Not connected")), ": ", this.next, this.kept, tryAgain()];
    });
    this.next.textContent = next ? t("{reason}; attempt {attempt} in {next} s", { reason: told(link.text), attempt: link.attempt, next }) : t("reconnecting… (attempt {attempt})", { attempt: link.attempt });
    this.kept.textContent = !this.grace ? "" : left > 0 ? t("Your seat is kept for {left} s.", { left }) : t("Your seat may be taken over by now. You can still come back.");
  }

  // #hold shows why the match stands still, for whom, for how long it has done so, and for how long at most. In the lobby it
  // shows who is ready and the configuration, too.
  #hold(link, seats, own, match) {
    const since = Math.floor(link.since_ms / 1000), of = link.until_ms ? Math.round((link.since_ms + link.until_ms) / 1000) : 0;
    const free = Math.max(0, (match?.players ?? 0) - seats.length);
    const [what, lasts] = this.#words(link, seats, own, free, since, of);
    this.#show(["held", link.hold, link.held, link.held_for, link.lobby && [seats, own, free, match?.configuration]], () => {
      this.lasts = el("span", {});
      const parts = [el("strong", {}, what), this.lasts];
      if (link.hold === "stalled") parts.push(el("p", {}, tryAgain()));
      if (link.lobby) parts.push(...this.#lobby(seats, own, free, match));
      return parts;
    });
    this.lasts.textContent = lasts;
  }

  // #words returns what the match waits for, and for how long.
  #words(link, seats, own, free, since, of) {
    const who = link.held_for.map((seat) => (seat === own ? t("you") : playerName(seats, seat))).join(", ");
    const one = link.held_for.length === 1 && link.held_for[0] !== own;
    const left = secondsOf(link.until_ms), lasts = of ? t(", {since} s of {of}", { since, of }) : t(", {since} s", { since });
    switch (link.hold) {
      case "players":
        return [free === 1 ? t("Waiting for a player: 1 seat is free") : free ? t("Waiting for players: {free} seats are free", { free }) : t("Waiting for players"), lasts];
      case "ready":
        return [one ? t("Waiting until {who} is ready", { who }) : t("Waiting until {who} are ready", { who }), lasts];
      case "begins":
        return [t("The match begins"), left ? t(" in {left} s", { left }) : ""];
      case "paused":
        return [who ? t("{who} paused the match", { who }) : t("The match is paused"), lasts];
      case "slow":
        return [t("Waiting for {who}", { who }), lasts];
      case "slower":
        return [t("The match is slower for {who}", { who }), lasts];
      case "return":
        return [one ? t("Waiting until {who} comes back", { who }) : t("Waiting until {who} come back", { who }), lasts];
      case "stalled":
        return [t("Nothing comes from the server"), left ? t(", {since} s; reconnecting in {left} s", { since, left }) : lasts];
    }
    return [t("The match is on hold: {reason}", { reason: told(link.held) }), lasts];
  }

  // #lobby returns who is in the lobby, and the configuration of the match.
  #lobby(seats, own, free, match) {
    const states = { here: (s) => (s.ready ? t("ready") : t("not ready")), away: () => t("away"), "taken over": () => t("taken over"), bot: () => t("bot") };
    const mine = seats.find((s) => s.seat === own), parts = [];
    parts.push(el("ul", { class: "waiting" }, ...seats.map((s) => el("li", {}, `${playerName(seats, s.seat)}: ${states[s.presence]?.(s) ?? s.presence}`)),
      free > 0 && el("li", { class: "soft" }, free === 1 ? t("1 free seat") : t("{free} free seats", { free }))));
    if (mine) parts.push(el("button", { class: mine.ready ? "" : "main", onclick: () => samestep.ready(!mine.ready) }, mine.ready ? t("Not ready") : t("I am ready")));
    if (match?.configuration) {
      const open = this.element.querySelector("details")?.open ?? false; // as the user has left it
      parts.push(el("details", { open }, el("summary", {}, t("Configuration")), el("pre", {}, match.configuration + (match.whole ? "" : "…"))));
    }
    return parts;
  }

  // fail shows why the match cannot be joined, and links to the lobby. If other is set, it also offers to spectate
  // instead of playing, or to play instead of spectating; if again is set, to try again.
  fail(reason, other = true, again = false) {
    const [place, does] = this.watching ? ["play", t("Join with your token")] : ["watch", t("Spectate")];
    this.element.className = "banner failed";
    this.element.hidden = false;
    this.element.replaceChildren(el("strong", {}, t("Not connected")), el("p", {}, told(reason)),
      el("p", {}, again && el("button", { class: "main", onclick: () => dispatchEvent(new HashChangeEvent("hashchange")) }, t("Try again now")), " ",
        el("a", { class: again ? "button" : "button main", href: "#/" }, t("Back to the lobby")), " ",
        other && el("a", { class: "button", href: `#/${place}/${encodeURIComponent(this.name)}` }, does)));
    this.element.querySelector("button, a").focus();
  }
}
