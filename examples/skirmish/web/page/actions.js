// The actions of a player, and their usual keys.

import { Keymap } from "./keymap.js";

const units = ["units"], menu = ["menu of buildings"], makers = ["buildings"], both = ["units", "buildings"];

// keymap has the keys of the user. The program knows the usual ones.
export const keymap = new Keymap("skirmish", [
  { id: "move", label: "move; rally point of a building", key: "KeyM", where: both },
  { id: "attack", label: "attack", key: "KeyA", where: units },
  { id: "patrol", label: "patrol", key: "KeyP", where: units },
  { id: "stop", label: "stop; empty the queue of a building", key: "KeyS", where: both },
  { id: "hold", label: "hold the position", key: "KeyH", where: units },
  { id: "gather", label: "gather", key: "KeyG", where: units },
  { id: "build", label: "build", key: "KeyB", where: units },
  { id: "base", label: "build a base", key: "KeyB", where: menu },
  { id: "barracks", label: "build a barracks", key: "KeyR", where: menu },
  { id: "tower", label: "build a tower", key: "KeyT", where: menu },
  { id: "worker", label: "train a worker", key: "KeyQ", where: makers },
  { id: "soldier", label: "train a soldier", key: "KeyW", where: makers },
  { id: "archer", label: "train an archer", key: "KeyE", where: makers },
  { id: "ping", label: "show a place to allies", key: "KeyV" },
  { id: "army", label: "select the army", key: "KeyF" },
  { id: "idle", label: "the next idle worker", key: "KeyI" },
  { id: "kind", label: "the next kind of the selected units", key: "Tab" },
  { id: "home", label: "jump to your base", key: "Backspace" },
  { id: "event", label: "jump to the last event", key: "Space" },
  { id: "select", label: "left-click in the middle of the screen", key: "KeyC" },
  { id: "order", label: "right-click in the middle of the screen", key: "Enter" },
  { id: "nearer", label: "zoom in", key: "Equal" },
  { id: "farther", label: "zoom out", key: "Minus" },
  { id: "chat", label: "chat", key: "Slash" },
]);

// shown returns the present key of a button of the panel.
export function shown({ action, key }) {
  const where = /^(build:|back)/.test(action) ? menu[0] : action.startsWith("train:") ? makers[0] : units[0];
  return key.length === 1 ? keymap.shown(`Key${key}`, where) : key;
}
