// The panel of two replays that are compared: the fields that differ at this tick, and the way to the next difference.

import { el, text } from "./dom.js";
import { t, told } from "./text.js";

export class Differences {
  // find(back) looks for the next difference, or the previous one; go(tick) jumps to a tick.
  constructor({ find, go }) {
    this.go = go;
    this.title = el("h2", {});
    this.said = el("p", { class: "soft", role: "status" });
    this.note = el("p", { class: "soft" });
    this.rows = el("tbody");
    this.heads = [el("th", { scope: "col" }), el("th", { scope: "col" })];
    const button = (label, name, back) => el("button", { title: name, "aria-label": name, onclick: () => find(back) }, label);
    this.element = el("section", { class: "differences", hidden: true, "aria-label": t("Differences") },
      el("header", {}, this.title,
        button("‹ P", t("Previous difference"), true), button("N ›", t("Next difference"), false)),
      this.said,
      el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": t("Differences") }, el("table", { class: "fields" }, el("thead", {}, el("tr", {}, el("th", { scope: "col" }, t("field")), ...this.heads)), this.rows)),
      this.note);
  }

  open(names) {
    this.key = "";
    this.heads.forEach((head, i) => text(head, names[i]));
  }

  // update shows a Comparison at a tick; undefined hides the panel.
  update(c, tick) {
    this.element.hidden = !c;
    if (!c) return;
    const key = JSON.stringify([c, tick]);
    if (key === this.key) return;
    this.key = key;
    text(this.title, c.total === 1 ? t("1 field differs") : c.total ? t("{n} fields differ", { n: c.total }) : t("No field differs"));
    text(this.said, c.searching ? t("Searching, tick {tick} …", { tick }) : c.none ? t("There is no further difference.") : "");
    this.note.replaceChildren(told(c.note));
    if (c.commands !== undefined) {
      this.note.append(" ", el("button", { onclick: () => this.go(c.commands) }, t("The commands differ from tick {tick} on", { tick: c.commands })));
    }
    this.rows.replaceChildren(...c.fields.map((f) => el("tr", {},
      el("th", { scope: "row" }, f.path), el("td", { class: "theirs" }, f.a), el("td", { class: "ours" }, f.b))));
  }
}
