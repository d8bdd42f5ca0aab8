// The entry of the page: the lobby, a match, or a replay.

import { start } from "./pages.js";
import { Lobby } from "./lobby.js";
import { Game } from "./game.js";
import { Viewer } from "./viewer.js";

start(() => {
  const game = new Game(document.getElementById("game"));
  return {
    lobby: new Lobby(document.getElementById("lobby"), "Skirmish", "Every browser simulates the whole match, and all of them agree on every bit."),
    play: game,
    replay: new Viewer(document.getElementById("viewer")),
    watch: { show: (name, query) => game.show(name, query, true), hide: () => game.hide() },
  };
});
