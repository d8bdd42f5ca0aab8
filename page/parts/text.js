// The texts of the pages in the user's language.

import { recall, remember } from "./dom.js";
import { german } from "./german.js";

// languages are the names of the languages by their codes.
export const languages = { en: "English", de: "Deutsch" };

const tables = { en: {}, de: german };

const usual = () => navigator.languages.map((code) => code.slice(0, 2)).find((code) => Object.hasOwn(tables, code)) ?? "en";

// language returns the code of the user's language: the chosen one, or else the first of the browser's that the page knows.
export const language = () => (Object.hasOwn(tables, recall("language")) ? recall("language") : usual());

// choose chooses a language, from the next visit on.
export const choose = (code) => remember("language", code);

const table = tables[language()];
document.documentElement.lang = language();

// t returns a text in the user's language. The text is written in English where it is used, and is the key of the tables:
// t("Waiting for {name}, {left} s of {of}", { name, left, of }). A text that a table lacks stays English.
export function t(english, values = {}) {
  return (table[english] ?? english).replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
}

// fill returns the parts of a text of t in which some values are elements: fill(t("Found by {who}."), { who: el("b", {}, name) }).
export function fill(said, values) {
  return said.split(/\{(\w+)\}/).map((part, i) => (i % 2 ? values[part] : part));
}

// playerName returns the name of a player among the seats of a live.Status.
export function playerName(seats, seat) {
  return seats?.find((s) => s.seat === seat)?.name || t("player {seat}", { seat });
}
