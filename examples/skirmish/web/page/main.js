// The entry of the page: loads the program and shows the screen in the address: the lobby, a match, or a replay.

import { load } from "./program.js";
import { Lobby } from "./lobby.js";
import { Game } from "./game.js";
import { Viewer } from "./viewer.js";
import { el } from "./dom.js";

const loading = document.getElementById("loading");
const game = new Game(document.getElementById("game"));
const screens = {
  lobby: new Lobby(document.getElementById("lobby")),
  play: game,
  replay: new Viewer(document.getElementById("viewer")),
  watch: { show: (name, query) => game.show(name, query, true), hide: () => game.hide() },
};
let shown = null;

// route shows the screen of the address, such as #/play/NAME?token=TOKEN.
function route() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const [place, ...rest] = path.split("/");
  shown?.hide();
  shown = Object.hasOwn(screens, place) ? screens[place] : screens.lobby;
  shown.show(decoded(rest.join("/")), new URLSearchParams(query));
}

// decoded returns a name from the address, unchanged if it is malformed.
function decoded(name) {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

// stop reports that the program has ended: it crashed, or ran out of memory.
function stop() {
  removeEventListener("hashchange", route);
  try {
    shown?.hide();
  } catch {
    // it calls the program, which has ended
  }
  loading.hidden = false;
  loading.setAttribute("role", "alert");
  loading.replaceChildren(el("strong", {}, "The game has stopped. "), "It crashed, or ran out of memory. ",
    el("button", { onclick: () => location.reload() }, "Reload the page"));
}

async function start() {
  try {
    await load(stop);
  } catch (error) {
    loading.replaceChildren(el("strong", {}, "The game could not be loaded. "), error.message);
    return;
  }
  loading.hidden = true;
  addEventListener("hashchange", route);
  route();
}

start();
