// The panel of checksums: do all machines compute the same match, and if not, which fields differ? It can corrupt the
// state of this browser, to show how a desync is found and repaired.

import { el, text, playerName } from "./dom.js";
import { Hashes } from "./hashes.js";

export class Checks {
  // corrupt() changes a field of this browser's state, which says describes.
  constructor(corrupt, says) {
    this.agreement = el("p", { class: "agreement" });
    this.hashes = new Hashes();
    this.groups = el("div", { class: "report groups", hidden: true });
    this.report = el("div", { class: "report", "aria-live": "polite" });
    this.element = el("aside", { class: "side checks", hidden: true, "aria-label": "Checksums" },
      el("header", {}, el("h2", {}, "Checksums"), el("button", { onclick: () => this.toggle(), "aria-label": "close" }, "×")),
      this.agreement,
      this.hashes.element,
      this.report,
      this.groups,
      el("p", { class: "try" },
        el("button", { id: "corrupt", onclick: corrupt }, "Corrupt my state"),
        el("button", { id: "cut", onclick: () => samestep.cut() }, "Disconnect me")),
      el("small", {}, `For demonstration: the first changes ${says} in this browser only, the second drops the connection. The other players notice nothing.`),
    );
  }

  toggle(shown = this.element.hidden) {
    this.element.hidden = !shown;
  }

  reset() {
    this.key = "";
    this.hashes.reset();
    this.report.replaceChildren();
    this.groups.hidden = true;
  }

  update({ net, match, desync, mismatch, seats, checks }) {
    this.hashes.update({ net, seats, checks });
    const every = match ? `, one every ${match.check_every} ticks` : "";
    text(this.agreement, `${net.agreed} checksums agree with the match${every}, ${net.differing || "none"} ${net.differing === 1 ? "differs" : "differ"}.`);
    if ((this.groups.hidden = !mismatch) === false) this.#groups(mismatch, seats);
    const key = JSON.stringify(desync);
    if (this.key === key) return;
    this.key = key;
    if (desync?.tick) this.toggle(true);
    this.report.replaceChildren(...(desync ? describe(desync) : []));
  }

  // #groups shows who computed which state, as everybody in the match hears it.
  #groups({ tick, groups }, seats) {
    const key = JSON.stringify([tick, groups, seats]);
    if (this.told === key) return;
    this.told = key;
    const rows = groups.map((g) => el("tr", {},
      el("td", {}, g.agreed ? "the match" : g.players.map((seat) => playerName(seats, seat)).join(", ")),
      el("td", { class: g.agreed ? "theirs" : "ours" }, el("code", {}, g.hash))));
    this.groups.replaceChildren(`At tick ${tick} not all players had the same state:`,
      el("table", {}, el("thead", {}, el("tr", {}, el("th", {}, "who"), el("th", {}, "checksum"))), el("tbody", {}, ...rows)));
  }
}

// What it means that this browser has computed the ticks again, by the outcome.
const meanings = {
  "right this time": "so the memory of this browser was altered, or the rules read something that is not in the state.",
  "wrong in the same way": "so the rules, the build or the platform of this browser differ from the server's.",
  "another result each time": "so the rules are not deterministic.",
};

// describe returns the steps of a desync: planted, found, compared, computed again, repaired.
function describe(d) {
  const steps = [];
  const step = (state, ...content) => steps.push(el("li", { class: state }, ...content));
  if (d.planted) step("bad", `At tick ${d.at} `, el("code", {}, d.planted), " was changed in this browser.");
  if (d.tick) {
    step("bad", `Found at tick ${d.tick}: the checksums differ`, d.section ? " in section " : "", d.section ? el("code", {}, d.section) : "", d.agreed ? `; they last agreed at tick ${d.agreed}.` : ".");
  } else {
    step("wait", "The next check finds it.");
  }
  if (d.fields?.length) {
    const rows = d.fields.map((f) => el("tr", {}, el("td", {}, el("code", {}, f.path)), el("td", { class: "ours" }, f.ours), el("td", { class: "theirs" }, f.theirs)));
    step("", `Compared at tick ${d.seen}: ${d.total} ${d.total === 1 ? "field differs" : "fields differ"}.`,
      el("table", {}, el("thead", {}, el("tr", {}, el("th", {}, "field"), el("th", {}, "here"), el("th", {}, "match"))), el("tbody", {}, ...rows)));
  }
  if (d.again) step(d.again === "right this time" ? "good" : "bad", `Computed again from tick ${d.from} on: ${d.again}, ${meanings[d.again] ?? ""}`);
  if (d.healed) step("good", `Repaired: the server sent the right state, and the checksums of tick ${d.healed} agree again.`);
  else if (d.tick) step("wait", "Waiting for the right state…");
  return [el("ol", {}, ...steps)];
}
