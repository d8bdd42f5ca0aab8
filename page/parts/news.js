// News and chat.

import { el } from "./dom.js";
import { t, told } from "./text.js";
import { of } from "./palette.js";

const newsMS = 9000;
const maxNews = 8;

export class News {
  // rest() is called after the chat line has closed; it moves the focus. hidden are sorts of lines that are not shown.
  constructor(rest, hidden = []) {
    this.rest = rest;
    this.hidden = hidden;
    this.names = new Map();
    this.ends = new WeakMap(); // the timers of the lines
    this.list = el("ol", { class: "news", "aria-live": "polite", "aria-label": t("News") });
    this.line = el("input", { type: "text", maxlength: "300", placeholder: t("press Enter to send"), "aria-label": t("Chat") });
    this.chat = el("form", {
      class: "chat", hidden: true,
      onsubmit: (e) => {
        e.preventDefault();
        if (this.line.value.trim()) samestep.say(this.line.value.trim());
        this.#written();
      },
      onkeydown: (e) => e.key === "Escape" && this.#written(),
    }, this.line);
    this.element = el("div", { class: "left" }, this.list, this.chat);
  }

  // begin resets the news for a match.
  begin() {
    this.list.replaceChildren();
    this.names.clear();
  }

  // write opens the chat line.
  write() {
    this.chat.hidden = false;
    this.line.focus();
  }

  #written() {
    this.line.value = "";
    this.chat.hidden = true;
    this.rest();
  }

  // player returns the name of a player.
  player(number) {
    return this.names.get(number) ?? of(number).name;
  }

  // tell shows a line of a status.
  tell({ sort, player, text: said }) {
    if (sort === "name") {
      this.names.set(player, said);
      return;
    }
    if (this.hidden.includes(sort)) return;
    const key = JSON.stringify([sort, player, said]), last = this.list.lastChild;
    if (last?.dataset.key === key) {
      this.#again(last);
      return;
    }
    const item = el("li", { class: sort, "data-key": key });
    if (player >= 0 && player < 255) {
      const name = el("b", {}, `${this.player(player)} `);
      name.style.setProperty("--colour", of(player).fill);
      item.append(name);
    } else if (sort === "chat") {
      item.append(el("b", {}, `${t("spectator")} `));
    }
    item.append(sort === "chat" ? said : told(said, (seat) => this.player(seat)));
    this.list.append(item);
    while (this.list.children.length > maxNews) this.list.firstChild.remove();
    this.#keep(item);
  }

  // #again counts a line that is told again, and keeps it for longer.
  #again(item) {
    const count = Number(item.dataset.count ?? 1) + 1;
    item.dataset.count = count;
    if (count === 2) item.append(" ", el("small", {}));
    item.lastChild.textContent = `×${count}`;
    this.#keep(item);
  }

  // #keep removes a line after a while.
  #keep(item) {
    clearTimeout(this.ends.get(item));
    this.ends.set(item, setTimeout(() => item.remove(), newsMS));
  }
}
