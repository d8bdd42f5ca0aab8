// The panel of the team: alliances, the vote to surrender, and whether spectators see what the player sees.

import { el, text } from "./dom.js";
import { of } from "./palette.js";
import { t } from "./text.js";

const sureMS = 5000;

export class Affairs {
  // press(action) is called for each button, and name(player) returns the name of a player.
  constructor(press, name) {
    Object.assign(this, { press, name });
    this.others = el("ul", { class: "others" });
    this.votes = el("p", { class: "votes", "aria-live": "polite" });
    this.own = el("p", { class: "own" });
    this.about = el("small", {}, t("Allies share their sight and do not fight. A team surrenders when more than half of its players vote for it."));
    this.element = el("aside", { class: "side affairs", hidden: true, "aria-label": t("Team") },
      el("header", {}, el("h2", {}, t("Team")), el("button", { onclick: () => (this.element.hidden = true), "aria-label": t("close") }, "×")),
      this.others, this.votes, this.own, this.about);
  }

  // reset forgets a match. In a match without a server (alone) nobody votes with the user, is an ally or looks on.
  reset(alone = false) {
    this.alone = alone;
    this.key = "";
    this.sure = 0;
    this.element.hidden = true;
    this.votes.hidden = this.about.hidden = alone;
  }

  // update shows the affairs of a panel.
  update(affairs) {
    const asks = performance.now() < this.sure;
    const key = JSON.stringify([affairs, asks, affairs.others.map((o) => this.name(o.player))]);
    if (this.key === key) return;
    this.key = key;
    this.others.replaceChildren(...affairs.others.map((o) => this.#other(o)));
    text(this.votes, affairs.needed === 1 ? t("{votes} of 1 vote to surrender.", { votes: affairs.votes }) : t("{votes} of {needed} votes to surrender.", { votes: affairs.votes, needed: affairs.needed }));
    this.own.replaceChildren(...(affairs.buttons ?? []).filter((b) => !this.alone || b.action === "surrender").map((b) => this.#button(b, affairs.final && b.action === "surrender", asks)));
  }

  #other({ player, stand, offer, buttons }) {
    const name = el("b", { class: "owner" }, this.name(player));
    name.style.setProperty("--colour", of(player).fill);
    return el("li", { class: stand }, name, ` ${t(stand)}${offer ? `, ${t(`offer ${offer}`)}` : ""} `, ...(buttons ?? []).map((b) => this.#button(b)));
  }

  // #button makes a button. A final vote must be pressed twice.
  #button(b, final, asks) {
    const press = () => {
      if (final && performance.now() >= this.sure) {
        this.sure = performance.now() + sureMS;
        return;
      }
      this.sure = 0;
      this.press(b.action);
    };
    const [label, hint] = this.alone ? [t("Surrender"), t("end the match, which you lose")] : [t(b.label), t(b.hint)];
    return el("button", { class: b.on ? "on" : "", title: hint, "data-action": b.action, onclick: press }, final && asks ? t("Really surrender?") : label);
  }
}
