// The panel of commands: a form for each kind, made from its schema, so that a person can play any game.

import { el, text } from "./dom.js";
import { t } from "./text.js";
import { partOf } from "./fields.js";

export class Forms {
  // pick(f) lets the user click a place and passes it to f; send(kind, value) returns why the command is not sent, or "".
  constructor(pick, send) {
    this.pick = pick;
    this.send = send;
    this.kinds = el("select", { id: "kind", onchange: () => this.#open() });
    this.fields = el("div", { class: "entries" });
    this.said = el("p", { class: "said", role: "status" });
    this.form = el("form", { onsubmit: (e) => { e.preventDefault(); this.#submit(); } },
      el("label", { for: "kind" }, t("Kind"), this.kinds), this.fields, el("button", { class: "main", type: "submit" }, t("Send")));
    this.none = el("p", { class: "soft" }, t("You are spectating: only players send commands."));
    this.element = el("section", { class: "act" }, this.none, this.form, this.said);
    this.reset();
  }

  reset() {
    this.seat = undefined;
    this.forms = [];
    this.made = new Map();
    this.kinds.replaceChildren();
    this.fields.replaceChildren();
    this.form.hidden = this.none.hidden = true;
    text(this.said, "");
  }

  // update shows the forms to a player in a seat, or none to a spectator.
  update(seat) {
    if (!this.forms.length) {
      this.forms = JSON.parse(samestep.forms());
      this.kinds.replaceChildren(...this.forms.map((f, i) => el("option", { value: String(i) }, f.name)));
      if (this.forms.length) {
        this.seat = undefined; // the forms come after the seat if the match is slow to load
        this.#open();
      }
    }
    if (this.seat === seat) return;
    this.seat = seat;
    this.form.hidden = seat < 0 || !this.forms.length;
    this.none.hidden = seat >= 0;
  }

  #open() {
    const i = Number(this.kinds.value);
    if (!this.made.has(i)) this.made.set(i, partOf(this.forms[i].root, this.pick));
    this.chosen = i;
    const part = this.made.get(i);
    this.fields.replaceChildren(part.element);
    text(this.said, this.forms[i].root.fields.length ? "" : t("This command has no fields."));
  }

  #submit() {
    const problem = this.send(this.forms[this.chosen].kind, this.made.get(this.chosen).value());
    text(this.said, problem || t("{command} was sent. If the game refuses it, the reason is in the news.", { command: this.forms[this.chosen].name }));
    this.said.classList.toggle("problem", !!problem);
  }
}
