// The tree of the state, with a search. Only the rows on the screen have elements, so any state is fine.

import { el, text, bytes } from "./dom.js";
import { t } from "./text.js";

const high = 22; // pixels of a row, as in the style sheet
const searchMS = 250; // after the last key, and between two searches at least

export class Tree {
  constructor() {
    this.query = el("input", { type: "search", placeholder: t("search: units health = 12"), "aria-label": t("Search the state"), spellcheck: "false", oninput: () => this.#queried() });
    this.facts = el("small", { class: "soft", role: "status" });
    this.space = el("div", { class: "space" });
    this.box = el("div", {
      class: "tree", role: "tree", tabindex: "0", "aria-label": t("State"), onscroll: () => this.#rows(), onkeydown: (e) => this.#key(e), onclick: (e) => this.#click(e),
    }, this.space);
    this.hits = el("ol", { class: "hits", hidden: true, "aria-label": t("Search results") });
    this.element = el("section", { class: "state" },
      el("div", { class: "find" }, this.query, el("button", { onclick: () => this.#closeAll(), title: t("close all rows") }, t("Close all"))),
      this.facts, this.box, this.hits);
    this.pool = [];
    this.seen = [];
  }

  reset() {
    this.at = -1; // number of the selected row
    this.path = "";
    this.query.value = "";
    this.box.hidden = false;
    this.hits.hidden = true;
    this.box.scrollTop = 0;
    this.seen = [];
    this.space.replaceChildren();
    this.pool = [];
    text(this.facts, "");
  }

  // update shows the state of a tick.
  update(tick, size) {
    this.tick = tick;
    this.size = size;
    if (this.query.value.trim()) {
      if (performance.now() - (this.searchedAt ?? 0) > Math.max(4 * searchMS, 8 * this.searchTook)) this.#search();
      return;
    }
    this.#rows();
  }

  // leaf returns the path of the selected field, or that of the first leaf on the screen.
  leaf() {
    return (this.seen.find((r) => r.path === this.path && r.leaf) ?? this.seen.find((r) => r.leaf))?.path;
  }

  // show opens the rows around a path, and scrolls to it.
  show(path) {
    const row = samestep.reveal(path);
    if (row < 0) return;
    this.query.value = "";
    this.#results(false);
    this.path = this.#row(row)?.path ?? path; // with the index of an element that the path names by its ID
    this.at = row;
    this.#rows();
    this.box.scrollTop = Math.max(0, row * high - this.box.clientHeight / 3);
    this.#rows();
  }

  #rows() {
    if (this.tick === undefined || this.box.hidden) return;
    const from = Math.max(0, Math.floor(this.box.scrollTop / high) - 4), number = Math.ceil(this.box.clientHeight / high) + 8;
    const { rows, total } = JSON.parse(samestep.rows(from, number));
    this.total = total;
    this.seen = rows;
    this.space.style.height = `${total * high}px`;
    const { tick } = this;
    text(this.facts, this.missing ? t("tick {tick}", { tick }) : `${t("tick {tick}", { tick })} · ${bytes(this.size)} · ${total === 1 ? t("1 row") : t("{rows} rows", { rows: total })}`);
    while (this.pool.length < rows.length) {
      const row = { name: el("span", { class: "name" }), value: el("span", { class: "value" }) };
      row.element = el("div", { class: "row", role: "treeitem", id: `row-${++made}` }, row.name, row.value);
      this.pool.push(row);
    }
    let active = "";
    rows.forEach((row, i) => {
      const shown = this.pool[i], e = shown.element;
      e.style.transform = `translateY(${(from + i) * high}px)`;
      e.style.setProperty("--depth", row.depth);
      text(shown.name, row.name);
      text(shown.value, row.value);
      e.classList.toggle("leaf", row.leaf);
      e.classList.toggle("open", row.open);
      e.classList.toggle("changed", row.changed);
      if (row.path === this.path) this.at = from + i;
      const selected = from + i === this.at;
      if (selected) active = e.id;
      e.setAttribute("aria-selected", String(selected));
      e.setAttribute("aria-level", String(row.depth + 1));
      if (row.leaf) e.removeAttribute("aria-expanded");
      else e.setAttribute("aria-expanded", String(row.open));
      e.dataset.row = from + i;
      e.title = row.path;
      if (!e.isConnected) this.space.append(e);
    });
    for (const { element } of this.pool.slice(rows.length)) element.remove();
    if (active) this.box.setAttribute("aria-activedescendant", active);
    else this.box.removeAttribute("aria-activedescendant");
  }

  // #row returns a row by its number.
  #row(number) {
    return JSON.parse(samestep.rows(number, 1)).rows[0];
  }

  #select(number) {
    this.at = Math.max(0, Math.min(this.total - 1, number));
    this.path = this.#row(this.at)?.path ?? "";
    const top = this.at * high;
    if (top < this.box.scrollTop) this.box.scrollTop = top;
    if (top + high > this.box.scrollTop + this.box.clientHeight) this.box.scrollTop = top + high - this.box.clientHeight;
    this.#rows();
  }

  #set(row, open) {
    if (row.leaf) return;
    if (!samestep.open(row.path, open)) text(this.facts, t("Too many rows are open: close some of them."));
    else this.#rows();
  }

  #click(e) {
    const number = Number(e.target.closest(".row")?.dataset.row ?? -1);
    if (number < 0) return;
    const row = this.#row(number);
    if (!row) return;
    this.path = row.path;
    this.at = number;
    this.#set(row, !row.open);
    this.#rows();
  }

  #key(e) {
    const row = this.at >= 0 ? this.#row(this.at) : undefined, page = Math.floor(this.box.clientHeight / high);
    const to = { ArrowDown: this.at + 1, ArrowUp: this.at - 1, PageDown: this.at + page, PageUp: this.at - page, Home: 0, End: this.total - 1 }[e.key];
    if (to !== undefined) this.#select(to);
    else if (!row) return;
    else if (e.key === "Enter" || e.key === " ") this.#set(row, !row.open);
    else if (e.key === "ArrowRight" && !row.open) this.#set(row, true);
    else if (e.key === "ArrowRight") this.#select(this.at + 1);
    else if (e.key === "ArrowLeft" && row.open) this.#set(row, false);
    else if (e.key === "ArrowLeft") this.#parent(row);
    else return;
    e.preventDefault();
  }

  // #parent selects the row around a row.
  #parent(row) {
    for (let at = this.at - 1; at >= 0 && at > this.at - 2000; at--) {
      if (this.#row(at).depth < row.depth) {
        this.#select(at);
        return;
      }
    }
  }

  #closeAll() {
    samestep.closeAll();
    this.box.scrollTop = 0;
    this.#rows();
  }

  #queried() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.#search(), searchMS);
  }

  // #results shows the results of a search in place of the tree, or not.
  #results(yes) {
    this.hits.hidden = !yes;
    this.box.hidden = yes;
  }

  #search() {
    const query = this.query.value.trim(), began = performance.now();
    this.#results(!!query);
    if (!query) {
      this.#rows();
      return;
    }
    const found = JSON.parse(samestep.search(query));
    this.searchedAt = performance.now();
    this.searchTook = this.searchedAt - began;
    const values = { hits: found.hits.length, fields: found.searched, tick: this.tick };
    text(this.facts, found.more ? t("{hits} or more found in {fields} fields of tick {tick}", values) : t("{hits} found in {fields} fields of tick {tick}", values));
    const key = JSON.stringify(found.hits);
    if (key === this.hitsKey) return;
    this.hitsKey = key;
    this.hits.replaceChildren(...found.hits.map((h) => el("li", {}, el("button", { onclick: () => this.show(h.path) }, el("span", { class: "name" }, h.path), el("span", { class: "value" }, h.value)))));
  }
}

let made = 0; // rows, for their ids
