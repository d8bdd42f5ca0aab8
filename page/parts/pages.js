// Starts a page: shows the screen that the address names, and loads the program behind it.

import { load, program } from "./program.js";
import { el, bar } from "./dom.js";
import { t } from "./text.js";

// start shows the screens of a page by the first word of the address, such as #/play/NAME?token=TOKEN, and the lobby
// without one. A screen has show(name, query) and hide(). make() returns them. The lobby needs no program; the other screens
// are shown when it runs.
export async function start(make) {
  const loading = document.getElementById("loading"), screens = make();
  let shown = null;

  function route() {
    const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
    const [place, ...rest] = path.split("/");
    const screen = Object.hasOwn(screens, place) ? screens[place] : screens.lobby;
    shown?.hide();
    shown = null;
    loading.hidden = true;
    if (screen !== screens.lobby && !program.running) {
      wait();
      return;
    }
    shown = screen;
    shown.show(decoded(rest.join("/")), new URLSearchParams(query));
  }

  // wait shows how much of the program has arrived.
  function wait() {
    loading.hidden = false;
    const { part } = program;
    loading.replaceChildren(el("span", {}, part < 1 ? t("Loading the game: {percent} %", { percent: Math.floor(100 * part) }) : t("Starting the game…")),
      bar(part, "", "work"), el("a", { href: "#/" }, t("Back to the lobby")));
  }

  // stop reports that the program has ended: it crashed, or ran out of memory.
  function stop() {
    removeEventListener("hashchange", route);
    try {
      shown?.hide();
    } catch {
      // it calls the program, which has ended
    }
    say(el("strong", {}, t("The game has stopped."), " "), t("It crashed, or ran out of memory."), " ");
  }

  function say(...message) {
    loading.hidden = false;
    loading.setAttribute("role", "alert");
    loading.replaceChildren(...message, el("button", { onclick: () => location.reload() }, t("Reload the page")));
  }

  program.addEventListener("progress", () => !shown && !program.running && wait());
  addEventListener("hashchange", route);
  route();
  try {
    await load(stop);
  } catch (error) {
    removeEventListener("hashchange", route);
    shown?.hide();
    say(el("strong", {}, t("The game could not be loaded."), " "), error.message, " ");
    return;
  }
  if (!shown) route();
}

// decoded returns a name from the address, unchanged if it is malformed.
function decoded(name) {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
