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
  const screen = screens[place] ?? screens.lobby;
  shown?.hide();
  shown = screen;
  screen.show(decodeURIComponent(rest.join("/")), new URLSearchParams(query));
}

async function start() {
  try {
    await load();
  } catch (error) {
    loading.replaceChildren(el("strong", {}, "The game could not be loaded. "), error.message);
    return;
  }
  loading.hidden = true;
  addEventListener("hashchange", route);
  route();
}

start();
