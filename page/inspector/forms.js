// The panel of commands: a form for each kind, made from its schema, so that a person can play any game.

import { el, text } from "./dom.js";

const manyElements = 64; // of a list in a form

export class Forms {
  // pick(f) lets the user click a place and passes it to f; send(kind, value) returns why the command is not sent, or "".
  constructor(pick, send) {
    this.pick = pick;
    this.send = send;
    this.kinds = el("select", { id: "kind", onchange: () => this.#open() });
    this.fields = el("div", { class: "entries" });
    this.said = el("p", { class: "said", role: "status" });
    this.form = el("form", { onsubmit: (e) => { e.preventDefault(); this.#submit(); } },
      el("label", { for: "kind" }, "Kind", this.kinds), this.fields, el("button", { class: "main", type: "submit" }, "Send"));
    this.none = el("p", { class: "soft" }, "You are spectating: only players send commands.");
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
      if (this.forms.length) this.#open();
    }
    if (this.seat === seat) return;
    this.seat = seat;
    this.form.hidden = seat < 0 || !this.forms.length;
    this.none.hidden = seat >= 0;
  }

  #open() {
    const i = Number(this.kinds.value);
    if (!this.made.has(i)) this.made.set(i, this.#struct(this.forms[i].root));
    this.chosen = i;
    const part = this.made.get(i);
    this.fields.replaceChildren(part.element);
    text(this.said, this.forms[i].root.fields.length ? "" : "This command has no fields.");
  }

  #submit() {
    const problem = this.send(this.forms[this.chosen].kind, this.made.get(this.chosen).value());
    text(this.said, problem || `${this.forms[this.chosen].name} was sent. If the game refuses it, the reason is in the news.`);
    this.said.classList.toggle("problem", !!problem);
  }

  // A part of a form has an element and value(); those of places have set(place) as well.
  #part(f) {
    switch (f.type) {
      case "bool": return this.#bool();
      case "text": return this.#text();
      case "number": return this.#number(f);
      case "list": return this.#list(f);
      default: return this.#struct(f);
    }
  }

  #bool() {
    const element = el("input", { type: "checkbox" });
    return { element, value: () => element.checked };
  }

  #text() {
    const element = el("input", { type: "text", maxlength: "4000" });
    return { element, value: () => element.value };
  }

  #number(f) {
    const element = el("input", { type: "text", inputmode: f.whole ? "numeric" : "decimal", value: "0", title: `${f.min} to ${f.max}`, autocomplete: "off" });
    const range = el("small", { class: "soft" }, bound(f.min), " … ", bound(f.max));
    return { element: el("span", { class: "number" }, element, range), value: () => element.value.trim(), set: (v) => (element.value = f.whole ? String(Math.round(v)) : v.toFixed(3)) };
  }

  #struct(f) {
    const parts = f.fields.map((inner) => [inner, this.#part(inner)]);
    const rows = parts.map(([inner, part]) => {
      const nested = inner.type === "struct" || inner.type === "list";
      return nested ? el("fieldset", {}, el("legend", {}, inner.name), part.element) : el("label", {}, el("span", {}, inner.name), part.element);
    });
    if (f.place) {
      rows.push(el("button", { type: "button", onclick: () => this.pick(({ x, y }) => {
        parts[0][1].set(x);
        parts[1][1].set(y);
      }) }, "◎ Pick on the map"));
    }
    return { element: el("div", { class: f.place ? "parts place" : "parts" }, ...rows), value: () => Object.fromEntries(parts.map(([inner, part]) => [inner.name, part.value()])) };
  }

  #list(f) {
    const parts = [], items = el("div", { class: "items" });
    const add = () => {
      if (parts.length >= manyElements) return;
      const part = this.#part(f.elem), item = el("div", { class: "item" }, el("small", { class: "soft" }, String(parts.length)), part.element);
      parts.push(part);
      items.append(item);
    };
    for (let i = 0; i < Math.min(f.fixed, manyElements); i++) add();
    const drop = () => {
      parts.pop();
      items.lastChild?.remove();
    };
    const element = f.fixed ? items : el("div", {}, items, el("button", { type: "button", onclick: add }, "+ Add"), " ", el("button", { type: "button", onclick: drop }, "− Remove"));
    const rest = Array.from({ length: Math.max(0, f.fixed - manyElements) }, () => zero(f.elem)); // beyond the form
    return { element, value: () => [...parts.map((p) => p.value()), ...rest] };
  }
}

// zero returns the value of an empty form.
function zero(f) {
  switch (f.type) {
    case "bool": return false;
    case "text": return "";
    case "number": return "0";
    case "list": return Array.from({ length: f.fixed }, () => zero(f.elem));
    default: return Object.fromEntries(f.fields.map((inner) => [inner.name, zero(inner)]));
  }
}

// bound shortens the limit of a number.
function bound(v) {
  const n = Number(v);
  return v.length <= 11 ? v : Math.abs(n) < 1e11 ? String(Math.round(n)) : n.toExponential(1);
}
