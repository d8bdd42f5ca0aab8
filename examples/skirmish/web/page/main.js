// The entry of the page: the lobby, a match, or a replay.

import { start } from "./pages.js";
import { t } from "./text.js";
import { Lobby } from "./lobby.js";
import { Game } from "./game.js";
import { Backdrop } from "./backdrop.js";
import { Viewer } from "./viewer.js";
import { soloAddress } from "./solo.js";

start(() => {
  const game = new Game(document.getElementById("game"));
  return {
    lobby: new Lobby(document.getElementById("lobby"), {
      title: "Skirmish", about: t("Build a base, raise an army, and take the map. Every browser simulates the whole match, and all of them agree on every bit."),
      now: (request) => (location.hash = soloAddress(request)), backdrop: new Backdrop(),
      documents: "https://github.com/seed-49bee653/samestep#readme",
    }),
    play: game,
    now: { show: (_, query) => game.solo(query), hide: () => game.hide() },
    replay: new Viewer(document.getElementById("viewer")),
    watch: { show: (name, query) => game.show(name, query, true), hide: () => game.hide() },
  };
});
