// The entry of the inspector page: the lobby, a match, or a replay, of any game.

import { start } from "./pages.js";
import { t } from "./text.js";
import { Lobby } from "./lobby.js";
import { Live } from "./live.js";
import { Recorded } from "./recorded.js";

start(() => {
  const title = document.title, live = new Live(document.getElementById("game"), title);
  const lobby = new Lobby(document.getElementById("lobby"), { title, about: t("The game's own code runs in this page. Play or watch a match, and see every field of its state.") });
  lobby.games.then((games) => games.length === 1 && lobby.rename(games[0].name), () => {}); // the lobby tells the error
  return {
    lobby,
    play: live,
    replay: new Recorded(document.getElementById("viewer"), title),
    watch: { show: (name, query) => live.show(name, query, true), hide: () => live.hide() },
  };
});
