// Starts a page: loads its program, and shows the screen that the address names.

import { load } from "./program.js";
import { el } from "./dom.js";

// start shows the screens of a page by the first word of the address, such as #/play/NAME?token=TOKEN, and the lobby
// without one. A screen has show(name, query) and hide(). make() returns them when the program runs.
export async function start(make) {
  const loading = document.getElementById("loading");
  let screens, shown = null;

  function route() {
    const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
    const [place, ...rest] = path.split("/");
    shown?.hide();
    shown = Object.hasOwn(screens, place) ? screens[place] : screens.lobby;
    shown.show(decoded(rest.join("/")), new URLSearchParams(query));
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

  try {
    await load(stop);
  } catch (error) {
    loading.replaceChildren(el("strong", {}, "The game could not be loaded. "), error.message);
    return;
  }
  loading.hidden = true;
  screens = make();
  addEventListener("hashchange", route);
  route();
}

// decoded returns a name from the address, unchanged if it is malformed.
function decoded(name) {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
