// The panel of checksums: do all machines compute the same match, and if not, which fields differ? It can corrupt the
// state of this browser, to show how a desync is found and repaired.

import { el, text } from "./dom.js";

export class Checks {
  // corrupt() changes a field of this browser's state, which says describes.
  constructor(corrupt, says) {
    this.agreement = el("p", { class: "agreement" });
    this.report = el("div", { class: "report", "aria-live": "polite" });
    this.element = el("aside", { class: "side checks", hidden: true, "aria-label": "Checksums" },
      el("header", {}, el("h2", {}, "Checksums"), el("button", { onclick: () => this.toggle(), "aria-label": "close" }, "×")),
      this.agreement,
      this.report,
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
    this.report.replaceChildren();
  }

  update({ net, match, desync }) {
    const every = match ? `, one every ${match.check_every} ticks` : "";
    text(this.agreement, `${net.agreed} checksums agree with the match${every}, ${net.differing || "none"} ${net.differing === 1 ? "differs" : "differ"}.`);
    const key = JSON.stringify(desync);
    if (this.key === key) return;
    this.key = key;
    if (desync?.tick) this.toggle(true);
    this.report.replaceChildren(...(desync ? describe(desync) : []));
  }
}

// describe returns the steps of a desync: planted, found, compared, repaired.
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
  if (d.healed) step("good", `Repaired: the server sent the right state, and the checksums of tick ${d.healed} agree again.`);
  else if (d.tick) step("wait", "Waiting for the right state…");
  return [el("ol", {}, ...steps)];
}
