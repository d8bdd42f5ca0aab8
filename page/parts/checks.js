// The panel of checksums: do all machines compute the same match, and if not, which fields differ? It can corrupt the
// state of this browser, to show how a desync is found and repaired.

import { el, text } from "./dom.js";
import { fill, playerName, t } from "./text.js";
import { Hashes } from "./hashes.js";

export class Checks {
  // corrupt() changes a field of this browser's state, which the text what describes.
  constructor(corrupt, what) {
    this.agreement = el("p", { class: "agreement" });
    this.hashes = new Hashes();
    this.groups = el("div", { class: "report groups", hidden: true });
    this.report = el("div", { class: "report", "aria-live": "polite" });
    this.element = el("aside", { class: "side checks", hidden: true, "aria-label": t("Checksums") },
      el("header", {}, el("h2", {}, t("Checksums")), el("button", { onclick: () => this.toggle(), "aria-label": t("close") }, "×")),
      this.agreement,
      this.hashes.element,
      this.report,
      this.groups,
      el("p", { class: "try" },
        el("button", { id: "corrupt", onclick: corrupt }, t("Corrupt my state")),
        el("button", { id: "cut", onclick: () => samestep.cut() }, t("Disconnect me"))),
      el("small", {}, t("For demonstration: the first changes {what} in this browser only, the second drops the connection. The other players notice nothing.", { what })),
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
    const { agreed, differing: number } = net, every = match?.check_every;
    const differing = number === 1 ? t("1 differs") : number ? t("{number} differ", { number }) : t("none differ");
    const agree = agreed === 1 ? t("1 checksum agrees with the match") : t("{agreed} checksums agree with the match", { agreed });
    const often = every && (every === 1 ? t("one every tick") : t("one every {every} ticks", { every }));
    text(this.agreement, `${[agree, often, differing].filter(Boolean).join(", ")}.`);
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
      el("td", {}, g.agreed ? t("the match") : g.players.map((seat) => playerName(seats, seat)).join(", ")),
      el("td", { class: g.agreed ? "theirs" : "ours" }, el("code", {}, g.hash))));
    this.groups.replaceChildren(t("At tick {tick} not all players had the same state:", { tick }),
      el("table", {}, el("thead", {}, el("tr", {}, el("th", {}, t("who")), el("th", {}, t("checksum")))), el("tbody", {}, ...rows)));
  }
}

// again returns what it means that this browser has computed the ticks from a tick on again, by the outcome.
function again(outcome, tick) {
  switch (outcome) {
    case "right this time":
      return t("Computed again from tick {tick} on: right this time, so the memory of this browser was altered, or the rules read something that is not in the state.", { tick });
    case "wrong in the same way":
      return t("Computed again from tick {tick} on: wrong in the same way, so the rules, the build or the platform of this browser differ from the server's.", { tick });
    case "another result each time":
      return t("Computed again from tick {tick} on: another result each time, so the rules are not deterministic.", { tick });
  }
  return t("Computed again from tick {tick} on: {outcome}", { tick, outcome });
}

// found returns the tick whose checksums differ, with the section and the last tick at which they agreed, if they are known.
function found({ tick, section, agreed }) {
  const values = { tick, agreed, section: section && el("code", {}, section) };
  if (section && agreed) return fill(t("Found at tick {tick}: the checksums differ in section {section}; they last agreed at tick {agreed}."), values);
  if (section) return fill(t("Found at tick {tick}: the checksums differ in section {section}."), values);
  return [agreed ? t("Found at tick {tick}: the checksums differ; they last agreed at tick {agreed}.", { tick, agreed }) : t("Found at tick {tick}: the checksums differ.", { tick })];
}

// describe returns the steps of a desync: planted, found, compared, computed again, repaired.
function describe(d) {
  const steps = [];
  const step = (state, ...content) => steps.push(el("li", { class: state }, ...content));
  if (d.planted) step("bad", ...fill(t("At tick {tick} {field} was changed in this browser."), { tick: d.at, field: el("code", {}, d.planted) }));
  if (d.tick) {
    step("bad", ...found(d));
  } else {
    step("wait", t("The next check finds it."));
  }
  if (d.fields?.length) {
    const rows = d.fields.map((f) => el("tr", {}, el("td", {}, el("code", {}, f.path)), el("td", { class: "ours" }, f.ours), el("td", { class: "theirs" }, f.theirs)));
    step("", d.total === 1 ? t("Compared at tick {tick}: 1 field differs.", { tick: d.seen }) : t("Compared at tick {tick}: {total} fields differ.", { tick: d.seen, total: d.total }),
      el("table", {}, el("thead", {}, el("tr", {}, el("th", {}, t("field")), el("th", {}, t("here")), el("th", {}, t("match")))), el("tbody", {}, ...rows)));
  }
  if (d.again) step(d.again === "right this time" ? "good" : "bad", again(d.again, d.from));
  if (d.healed) step("good", t("Repaired: the server sent the right state, and the checksums of tick {tick} agree again.", { tick: d.healed }));
  else if (d.tick) step("wait", t("Waiting for the right state…"));
  return [el("ol", {}, ...steps)];
}
