// Forms that are made from a schema, for commands and configurations.

import { el } from "./dom.js";
import { t } from "./text.js";

const manyElements = 64; // of a list in a form

// partOf returns the part of a form for a field: it has an element, value() and set(value). pick(f) lets the user click a place
// of the map and passes it to f; without it nothing is picked.
export function partOf(f, pick) {
  switch (f.type) {
    case "bool": return bool();
    case "text": return line();
    case "number": return number(f);
    case "list": return list(f, pick);
    default: return struct(f, pick);
  }
}

function bool() {
  const element = el("input", { type: "checkbox" });
  return { element, value: () => element.checked, set: (v) => (element.checked = v) };
}

function line() {
  const element = el("input", { type: "text", maxlength: "4000" });
  return { element, value: () => element.value, set: (v) => (element.value = v) };
}

function number(f) {
  const element = el("input", { type: "text", inputmode: f.whole ? "numeric" : "decimal", value: "0", title: t("{least} to {most}", { least: f.min, most: f.max }), autocomplete: "off" });
  const range = el("small", { class: "soft" }, bound(f.min), " … ", bound(f.max));
  return { element: el("span", { class: "number" }, element, range), value: () => element.value.trim(), set: (v) => (element.value = String(v)) };
}

function struct(f, pick) {
  const parts = f.fields.map((inner) => [inner, partOf(inner, pick)]);
  const rows = parts.map(([inner, part]) => {
    const nested = inner.type === "struct" || inner.type === "list";
    return nested ? el("fieldset", {}, el("legend", {}, inner.name), part.element) : el("label", {}, el("span", {}, inner.name), part.element);
  });
  const place = f.place && pick;
  if (place) {
    rows.push(el("button", { type: "button", onclick: () => pick(({ x, y }) => {
      for (const [i, v] of [x, y].entries()) parts[i][1].set(f.fields[i].whole ? Math.round(v) : v.toFixed(3));
    }) }, t("◎ Pick on the map")));
  }
  return {
    element: el("div", { class: place ? "parts place" : "parts" }, ...rows),
    value: () => Object.fromEntries(parts.map(([inner, part]) => [inner.name, part.value()])),
    set: (v) => parts.forEach(([inner, part]) => part.set(v[inner.name])),
  };
}

function list(f, pick) {
  const parts = [], items = el("div", { class: "items" }), more = el("p", { class: "soft", hidden: true });
  let rest = Array.from({ length: Math.max(0, f.fixed - manyElements) }, () => zero(f.elem)); // beyond the form
  const add = () => {
    if (parts.length >= manyElements) return;
    const part = partOf(f.elem, pick), item = el("div", { class: "item" }, el("small", { class: "soft" }, String(parts.length)), part.element);
    parts.push(part);
    items.append(item);
  };
  const drop = () => {
    parts.pop();
    items.lastChild?.remove();
  };
  const set = (values) => {
    rest = values.slice(manyElements);
    const shown = Math.min(values.length, manyElements);
    while (parts.length < shown) add();
    while (parts.length > shown) drop();
    parts.forEach((part, i) => part.set(values[i]));
    more.hidden = !rest.length;
    more.textContent = t("{number} more, which keep their values", { number: rest.length });
  };
  for (let i = 0; i < Math.min(f.fixed, manyElements); i++) add();
  const element = el("div", {}, items, more, !f.fixed && el("button", { type: "button", onclick: add }, t("+ Add")), " ",
    !f.fixed && el("button", { type: "button", onclick: () => rest.length || drop() }, t("− Remove")));
  return { element, value: () => [...parts.map((p) => p.value()), ...rest], set };
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
