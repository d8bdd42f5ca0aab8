// The banner that shows the state of the connection, unless all is well.

import { el, bar, playerName } from "./dom.js";

export class Banner {
  constructor() {
    this.element = el("div", { class: "banner", role: "status", hidden: true });
  }

  // begin resets the banner for a match.
  begin(name, watching) {
    this.name = name;
    this.watching = watching;
    this.key = undefined;
    this.element.className = "banner";
    this.element.hidden = false;
    this.element.replaceChildren("connecting…");
  }

  // #changed reports whether the banner's content is new.
  #changed(value) {
    const key = JSON.stringify(value);
    if (this.key === key) return false;
    this.key = key;
    return true;
  }

  // update shows a status.
  update({ link, net, seats = [], match }) {
    const live = link.state === "live";
    this.element.className = `banner ${live && link.held ? "lost" : link.state}`;
    if (live && link.held) {
      this.element.hidden = false;
      const left = link.until_ms ? Math.ceil(link.until_ms / 1000) : 0;
      if (this.#changed({ held: link.held, for: link.held_for, left, lobby: link.lobby, seats, match })) this.#hold(link, left, seats, net.seat, match);
      return;
    }
    if (live) {
      if (this.key?.startsWith('{"held"')) {
        this.element.hidden = true;
        this.#changed("resumed");
      }
      if (!this.element.hidden && this.#changed("resumed") && link.losses) {
        this.element.replaceChildren("Reconnected");
        setTimeout(() => (this.element.hidden = true), 1500);
      } else if (!link.losses) {
        this.element.hidden = true;
      }
      return;
    }
    this.element.hidden = false;
    if (!this.#changed([link, net.stage])) return;
    const parts = [];
    if (link.state === "lost") {
      const wait = link.retry_ms > 0 ? `, reconnecting in ${(link.retry_ms / 1000).toFixed(1)} s (attempt ${link.attempt})` : `, reconnecting… (attempt ${link.attempt})`;
      parts.push(el("strong", {}, "Disconnected"), link.attempt ? wait : "");
    } else if (link.state === "syncing") {
      const part = link.total ? (0.5 * link.bytes) / link.total : link.target ? 0.5 + (0.5 * link.tick) / link.target : 0;
      parts.push(el("strong", {}, "Joining "), link.text, bar(part, "", "work"));
    } else if (link.state === "ended") {
      parts.push(el("strong", {}, "The match has ended"), el("p", {}, link.text), el("p", {}, el("a", { class: "button main", href: "#/" }, "Back to the lobby")));
    } else if (link.state === "failed") {
      this.fail(link.text);
      return;
    } else {
      parts.push(link.text, "…");
    }
    this.element.replaceChildren(...parts);
  }

  // #hold shows why the match stands still, for whom, and for how long at most. In the lobby it shows who is ready and the
  // configuration, too.
  #hold(link, left, seats, own, match) {
    const who = (link.held_for ?? []).map((seat) => playerName(seats, seat)).join(", ");
    const time = left ? ` (${left} s${link.held === "the match begins" ? "" : " at most"})` : "";
    const parts = [el("strong", {}, link.lobby ? "Waiting to begin" : "The match is on hold"), `: ${link.held}${who ? `: ${who}` : ""}${time}`];
    if (link.lobby) {
      parts.push(el("ul", { class: "waiting" }, ...seats.map((s) => el("li", {}, `${playerName(seats, s.seat)}: ${s.presence === "here" ? (s.ready ? "ready" : "not ready") : s.presence}`))));
      const mine = seats.find((s) => s.seat === own);
      if (mine) parts.push(el("button", { class: mine.ready ? "" : "main", onclick: () => samestep.ready(!mine.ready) }, mine.ready ? "Not ready" : "I am ready"));
      if (match?.configuration) {
        const open = this.element.querySelector("details")?.open ?? false; // as the user has left it
        parts.push(el("details", { open }, el("summary", {}, "Configuration"), el("pre", {}, match.configuration + (match.whole ? "" : "…"))));
      }
    }
    this.element.replaceChildren(...parts);
  }

  // fail shows why the match cannot be joined, and links to the lobby. If other is set, it also offers to spectate
  // instead of playing, or to play instead of spectating.
  fail(reason, other = true) {
    const [place, does] = this.watching ? ["play", "Join with your token"] : ["watch", "Spectate"];
    this.element.className = "banner failed";
    this.element.hidden = false;
    this.element.replaceChildren(el("strong", {}, "Not connected"), el("p", {}, reason),
      el("p", {}, el("a", { class: "button main", href: "#/" }, "Back to the lobby"), " ",
        other && el("a", { class: "button", href: `#/${place}/${encodeURIComponent(this.name)}` }, does)));
    this.element.querySelector("a").focus();
  }
}
