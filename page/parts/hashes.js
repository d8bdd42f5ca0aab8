// The checksums of the latest checks by player, so that two browsers side by side show the same ones. The log names only players
// that differ: another one has agreed, or has not reported yet.

import { el } from "./dom.js";
import { playerName, t } from "./text.js";
import { of } from "./palette.js";

const shown = 3; // checks
const digits = 8; // of a checksum
const late = 2; // checks after which a report has come

export class Hashes {
  constructor() {
    this.table = el("table");
    this.element = el("div", { class: "hashes", role: "region", tabindex: "0", "aria-label": t("Checksums of each player"), hidden: true }, this.table);
  }

  reset() {
    this.key = "";
    this.element.hidden = true;
  }

  update({ net, seats = [], checks = [] }) {
    const list = checks.slice(-shown), key = JSON.stringify([list, net.seat, seats.map((s) => [s.seat, s.name])]);
    if (this.key === key) return;
    this.key = key;
    if ((this.element.hidden = !list.length)) return;
    const own = (check) => ({ hash: check.ours, bad: check.ours !== "" && check.match !== "" && check.ours !== check.match });
    const rows = [this.#row(t("the match"), list.map((check) => ({ hash: check.match })), false)];
    if (net.seat < 0) rows.push(this.#row(t("this browser"), list.map(own), differs(list.map(own))));
    for (const { seat } of seats) {
      const cells = list.map((check) => {
        const said = check.differing.find((d) => d.player === seat);
        return said ? { hash: said.hash, bad: true } : seat === net.seat ? own(check) : { agreed: check.match !== "" };
      });
      const name = playerName(seats, seat), bad = seat === net.seat ? differs(cells) : cells.slice(-late).some((c) => c.bad);
      const row = this.#row(seat === net.seat ? t("{name}, here", { name }) : name, cells, bad);
      row.dataset.seat = seat;
      const dot = el("i", { class: "dot", "aria-hidden": "true" });
      dot.style.setProperty("--colour", of(seat).fill);
      row.firstChild.prepend(dot);
      rows.push(row);
    }
    this.table.replaceChildren(
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, t("tick")), ...list.map((check) => el("th", { scope: "col" }, check.tick)))), el("tbody", {}, ...rows));
  }

  #row(name, cells, bad) {
    return el("tr", { class: bad ? "differs" : "" }, el("th", { scope: "row" }, name, bad && el("b", {}, t("differs"))), ...cells.map((c) => el("td", { class: c.bad ? "ours" : "" },
      c.hash ? el("code", { title: c.hash }, c.hash.slice(0, digits)) : c.agreed ? el("span", { title: t("no difference reported"), "aria-label": t("no difference reported") }, "=") : "–")));
  }
}

// differs reports whether the last compared checksum of a row differs.
const differs = (cells) => cells.findLast((c) => c.hash)?.bad ?? false;
