// The way into the page: loads the program, and shows what the address asks for:
// the lobby, a match, or a recorded one.

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

// route shows what the address says: #/play/NAME?token=TOKEN and the like.
function route() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const [place, ...rest] = path.split("/");
  shown?.hide();
  shown = Object.hasOwn(screens, place) ? screens[place] : screens.lobby;
  shown.show(decoded(rest.join("/")), new URLSearchParams(query));
}

// decoded returns a name of the address, as it is if that is not well-formed.
function decoded(name) {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

// stop says that the program has ended, which it does not do unless it has a fault
// or no memory: nothing on the page would answer any more.
function stop() {
  removeEventListener("hashchange", route);
  try {
    shown?.hide();
  } catch {
    // it tells the program, which is not there
  }
  loading.hidden = false;
  loading.setAttribute("role", "alert");
  loading.replaceChildren(el("strong", {}, "The game has stopped. "), "Its program has failed, or this machine has no memory left for it. ",
    el("button", { onclick: () => location.reload() }, "Load the page again"));
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
