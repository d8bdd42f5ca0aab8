// The keys of a page's actions. The user may change them.

import { remember, recall } from "./dom.js";

const fixed = /^(Digit[1-9]|Arrow.*|Escape|Shift.*|Control.*|Alt.*|Meta.*|F\d+|Unidentified|)$/;

const names = {
  Space: "Space", Backspace: "Backspace", Enter: "Enter", Escape: "Esc", Tab: "Tab", Period: ".", Comma: ",", Slash: "/",
  Equal: "+", Minus: "−", Semicolon: ";", Quote: "'", Backquote: "`", Backslash: "\\", BracketLeft: "[", BracketRight: "]",
};

let layout; // of the user's keyboard, where the browser tells it
navigator.keyboard?.getLayoutMap?.().then((map) => (layout = map), () => {});

// nameOf returns how people call a key, by its code as in KeyboardEvent.code.
export function nameOf(code) {
  if (/^(Key|Digit)/.test(code)) return (layout?.get(code) ?? code.replace(/^(Key|Digit)/, "")).toUpperCase();
  return names[code] ?? code;
}

// A Keymap has the present key of each action. An action has an id, a label, its usual key, and in which of the game's situations
// it is possible; without any it is always. The rest of the page knows the usual keys only.
export class Keymap {
  constructor(name, actions) {
    this.name = name;
    this.actions = actions;
    try {
      this.chosen = JSON.parse(recall(`keys ${name}`) || "{}") ?? {};
    } catch {
      this.chosen = {};
    }
  }

  // keyOf returns the present key of an action.
  keyOf({ id, key }) {
    const chosen = Object.hasOwn(this.chosen, id) ? this.chosen[id] : key;
    return typeof chosen === "string" ? chosen : key;
  }

  // usual returns the usual keys for which a pressed key stands.
  usual(code) {
    const meant = this.actions.filter((a) => this.keyOf(a) === code).map((a) => a.key);
    if (meant.length) return [...new Set(meant)];
    return this.actions.some((a) => a.key === code) ? [] : [code]; // its action has another key
  }

  // shown returns the name of the present key of the action with a usual key, in a situation if several share it.
  shown(key, where) {
    const all = this.actions.filter((a) => a.key === key), action = all.find((a) => a.where?.includes(where)) ?? all[0];
    return nameOf(action ? this.keyOf(action) : key);
  }

  // taken returns the action that already has a key and is possible in a situation of another action; true for a key that
  // nobody may have, and undefined for a free one.
  taken(action, code) {
    if (fixed.test(code)) return true;
    return this.actions.find((a) => a !== action && this.keyOf(a) === code && together(a, action));
  }

  // choose gives an action a key, which must be free.
  choose(action, code) {
    this.chosen[action.id] = code;
    this.#changed();
  }

  // reset gives all actions their usual keys.
  reset() {
    this.chosen = {};
    this.#changed();
  }

  #changed() {
    remember(`keys ${this.name}`, JSON.stringify(this.chosen));
    dispatchEvent(new Event("keymap"));
  }
}

const together = (a, b) => !a.where || !b.where || a.where.some((place) => b.where.includes(place));
