// The texts of the pages in the user's language.

import { recall, remember } from "./dom.js";
import { german } from "./german.js";
import { sentences, worded } from "./sentences.js";

// languages are the names of the languages by their codes.
export const languages = { en: "English", de: "Deutsch" };

const tables = { en: {}, de: { ...german, ...sentences } };

const usual = () => navigator.languages.map((code) => code.slice(0, 2)).find((code) => Object.hasOwn(tables, code)) ?? "en";

// language returns the code of the user's language: the chosen one, or else the first of the browser's that the page knows.
export const language = () => (Object.hasOwn(tables, recall("language")) ? recall("language") : usual());

// choose chooses a language, from the next visit on.
export const choose = (code) => remember("language", code);

const table = tables[language()];
document.documentElement.lang = language();

// t returns a text in the user's language. The text is written in English where it is used, and is the key of the tables:
// t("Waiting for {who}", { who }). A text that a table lacks stays English.
export function t(english, values = {}) {
  return (Object.hasOwn(table, english) ? table[english] : english).replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
}

// fill returns the parts of a text of t in which some values are elements: fill(t("Waiting for {who}"), { who: el("b", {}, name) }).
export function fill(said, values) {
  return said.split(/\{(\w+)\}/).map((part, i) => (i % 2 ? values[part] : part));
}

// playerName returns the name of a player among the seats of a live.Status or the players of a replay; without one, the number of its
// seat, as everywhere else.
export function playerName(players, seat) {
  if (seat === 255) return t("the server");
  return players?.find((p) => (p.seat ?? p.player) === seat)?.name || t("player {number}", { number: seat });
}

// patterns are the sentences with values, the longest first.
const patterns = Object.keys(sentences).map((english) => {
  const parts = english.split(/\{(\w+)\}/), values = parts.filter((_, i) => i % 2);
  const source = parts.map((part, i) => (i % 2 ? valueOf(part) : part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"))).join("");
  return { english, values, length: english.length - values.join("{}").length, pattern: new RegExp(`^${source}$`, "s") };
}).filter(({ values }) => values.length).sort((a, b) => b.length - a.length);

// valueOf returns the pattern of a value.
function valueOf(name) {
  return name === "player" ? "[Pp]layer (\\d+)" : worded.includes(name) ? "(.+?)" : "([-\\d.,]+?)";
}

// told returns a sentence that Go has made, in this program or a server, in the user's language. It need not say which one it is: the
// page finds it in sentences.js, and the values in it. A player by number becomes the name that name(seat) returns. What
// follows a colon or is in a list is a sentence of its own, such as a reason.
export function told(sentence, name = (seat) => playerName([], seat)) {
  if (Object.hasOwn(table, sentence)) return table[sentence];
  for (const { english, values, pattern } of patterns) {
    const [whole, ...found] = pattern.exec(sentence) ?? [];
    const shown = (value, said) => (value === "player" ? name(Number(said)) : worded.includes(value) ? told(said, name) : said);
    if (whole) return t(english, Object.fromEntries(values.map((value, i) => [value, shown(value, found[i])])));
  }
  const mark = [": ", " | ", ", "].find((m) => sentence.includes(m));
  return mark ? sentence.split(mark).map((part) => told(part, name)).join(mark) : sentence;
}
