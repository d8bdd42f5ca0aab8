// The panels around the map: resources, selection, buttons, connection, news and chat.

import { el, text, bytes, clock } from "./dom.js";
import { of } from "./palette.js";
import { Checks } from "./checks.js";
import { help } from "./help.js";

const newsMS = 9000;
const maxNews = 8;

export class Hud {
  constructor(minimap, { map }) {
    this.map = map;
    this.names = new Map();
    this.checks = new Checks();
    this.help = help();
    this.#top();
    this.#bottom(minimap);
    this.banner = el("div", { class: "banner", role: "status", hidden: true });
    this.#question();
    this.news = el("ol", { class: "news", "aria-live": "polite", "aria-label": "News" });
    this.line = el("input", { type: "text", maxlength: "300", placeholder: "press Enter to send", "aria-label": "Chat" });
    this.chat = el("form", {
      class: "chat", hidden: true,
      onsubmit: (e) => {
        e.preventDefault();
        if (this.line.value.trim()) skirmish.say(this.line.value.trim());
        this.#written();
      },
      onkeydown: (e) => e.key === "Escape" && this.#written(),
    }, this.line);
    this.element = el("div", { class: "hud" },
      this.top, this.banner, this.question, el("div", { class: "left" }, this.news, this.chat), this.checks.element, this.help, this.bottom, this.strip);
  }

  #top() {
    const fact = (name, label) => (this[name] = el("b", {}, "–"), el("span", { title: label }, el("i", { class: `sign ${name}` }), this[name], el("small", {}, label)));
    this.account = el("div", { class: "account" },
      fact("crystals", "crystals"), fact("units", "units"), fact("army", "army"), fact("workers", "workers"));
    this.idle = el("button", { hidden: true, title: "the next idle worker (I)", onclick: () => skirmish.key("KeyI", false, false) });
    this.title = el("div", { class: "title" });
    this.scores = el("div", { class: "scores", "aria-label": "Players" });
    this.top = el("div", { class: "top" },
      this.account, this.idle, this.title, this.scores,
      el("div", { class: "menu" },
        el("button", { onclick: () => this.write(), title: "chat (/)" }, "Chat"),
        el("button", { onclick: () => this.#open(this.checks.element), title: "checksums and desyncs" }, "Checks"),
        el("button", { onclick: () => this.#open(this.help), title: "shortcuts: mouse, touch and keyboard" }, "Shortcuts"),
        el("a", { class: "button", href: "#/", onclick: (e) => this.#leave(e) }, "Leave"),
      ));
  }

  #bottom(minimap) {
    this.selected = el("div", { class: "chosen", "aria-live": "polite" });
    this.groups = el("div", { class: "groups", "aria-label": "Control groups" });
    this.buttons = el("div", { class: "buttons", role: "toolbar", "aria-label": "Orders" });
    this.bottom = el("div", { class: "bottom" }, minimap, el("div", { class: "middle" }, this.groups, this.selected), this.buttons);
    this.strip = el("div", { class: "strip", role: "status", "aria-label": "Connection" });
    this.facts = {};
    for (const [name, label, title] of [
      ["tick", "tick", "ticks simulated by this browser"],
      ["delay", "input delay", "ticks until a command takes effect"],
      ["trip", "ping", "round trip to the server"],
      ["buffer", "buffer", "ticks received ahead, to smooth out lag"],
      ["sums", "checksums", "comparisons of this browser's state with the match"],
      ["rate", "in · out", "traffic in bytes per second"],
      ["frame", "frame", "time to draw a frame, 95th percentile"],
    ]) {
      this.facts[name] = el("b", {}, "–");
      this.strip.append(el("span", { class: name, title }, `${label} `, this.facts[name]));
    }
  }

  // #leave asks players before they leave.
  #leave(event) {
    const account = this.state?.panel?.account;
    if (!account || account.defeated || this.state.panel.winner || this.state.link.state !== "live") return;
    event.preventDefault();
    this.question.hidden = false;
    this.question.querySelector("a").focus();
  }

  #question() {
    const close = () => {
      this.question.hidden = true;
      this.map.focus();
    };
    this.question = el("div", { class: "banner question", role: "dialog", "aria-label": "Leave the match", hidden: true, onkeydown: (e) => e.key === "Escape" && close() },
      el("strong", {}, "Leave the match?"),
      el("p", {}, "Your units defend themselves, and you can rejoin for a while. If you give up, your seat is lost."),
      el("p", {},
        el("a", { class: "button main", href: "#/" }, "Leave"), " ",
        el("a", { class: "button", href: "#/", onclick: () => skirmish.leave(true) }, "Give up"), " ",
        el("button", { onclick: close }, "Stay")));
  }

  // #open toggles a side panel.
  #open(panel) {
    const shown = panel.hidden;
    this.checks.element.hidden = this.help.hidden = true;
    panel.hidden = !shown;
  }

  // covered returns the height in pixels of the bars over the map.
  covered() {
    return { above: this.top.offsetHeight, below: this.strip.offsetHeight + this.bottom.querySelector(".middle").offsetHeight };
  }

  // begin resets the panels for a match.
  begin(name, watching) {
    this.name = name;
    this.watching = watching;
    this.news.replaceChildren();
    this.question.hidden = true;
    this.state = null;
    this.names.clear();
    this.checks.reset();
    this.banner.className = "banner";
    this.banner.hidden = false;
    this.banner.replaceChildren("connecting…");
    this.account.hidden = this.idle.hidden = true;
    this.bottom.classList.remove("ready");
    this.title.textContent = name;
    document.body.dataset.mode = "";
    for (const part of [this.selected, this.groups, this.buttons, this.scores]) part.replaceChildren();
    this.keys = {};
  }

  // write opens the chat line.
  write() {
    this.chat.hidden = false;
    this.line.focus();
  }

  #written() {
    this.line.value = "";
    this.chat.hidden = true;
    this.map.focus();
  }

  // update shows a live.Status of the program.
  update(state, renderer) {
    this.state = state;
    for (const line of state.lines ?? []) this.#tell(line);
    this.#link(state);
    this.#strip(state, renderer);
    this.checks.update(state);
    const { panel, match } = state;
    this.bottom.classList.toggle("ready", !!panel);
    if (!panel) return;
    text(this.title, `${this.name} · ${clock(state.net.tick, match.tick_rate)}`);
    this.#account(panel.account);
    this.#scores(panel, state.net.seat);
    this.#selection(panel, state.net.seat);
    this.#groups(panel.groups, state.net.seat);
    this.#buttons(panel);
    document.body.dataset.mode = panel.mode.split(":")[0];
  }

  // #changed reports whether the value of a part is new.
  #changed(part, value) {
    const key = JSON.stringify(value);
    if (this.keys[part] === key) return false;
    this.keys[part] = key;
    return true;
  }

  #account(account) {
    this.account.hidden = !account;
    this.idle.hidden = !account?.idle;
    if (!account) return;
    text(this.crystals, account.crystals);
    text(this.units, `${account.units} / ${account.cap}`);
    text(this.army, account.army);
    text(this.workers, account.workers);
    text(this.idle, `${account.idle} idle`);
  }

  player(number) {
    return this.names.get(number) ?? of(number).name;
  }

  #scores(panel, seat) {
    if (!this.#changed("scores", [panel.players, [...this.names]])) return;
    this.scores.replaceChildren(...panel.players.map((p) => {
      const chip = el("span", { class: `score ${p.status}${p.player === seat ? " me" : ""}`, title: `${p.units} units, ${p.kills} kills, ${p.losses} losses, ${p.status}` },
        el("i", { class: "dot" }), this.player(p.player), el("b", {}, p.units));
      chip.style.setProperty("--colour", of(p.player).fill);
      return chip;
    }));
  }

  #selection(panel, seat) {
    if (!this.#changed("chosen", [panel.chosen, panel.one, panel.winner, panel.account?.defeated])) return;
    const parts = [];
    if (panel.winner) parts.push(el("p", { class: "victory" }, panel.account ? (panel.account.team === panel.winner - 1 ? "Victory" : "Defeat") : `Team ${panel.winner} has won`));
    else if (panel.account?.defeated) parts.push(el("p", { class: "victory" }, "Defeated"));
    const one = panel.one;
    if (one) {
      const name = el("strong", {}, one.kind), owner = el("span", { class: "owner" }, this.player(one.owner));
      owner.style.setProperty("--colour", of(one.owner).fill);
      parts.push(el("p", {}, name, " ", owner, el("small", {}, ` ${one.task || ""}${one.kills ? ` · ${one.kills} kills` : ""}`)));
      parts.push(this.#bar(one.health / one.full, `${one.health} / ${one.full}`, "health"));
      if (one.making) parts.push(this.#bar(one.work / 1000, `${one.making}${one.queue > 1 ? ` and ${one.queue - 1} more` : ""}`, "work"));
      else if (one.work) parts.push(this.#bar(one.work / 1000, "under construction", "work"));
    } else if (panel.chosen?.length) {
      parts.push(el("ul", {}, ...panel.chosen.map((k) => el("li", {}, el("b", {}, k.number), ` ${k.kind}${k.number > 1 && k.kind !== "barracks" ? "s" : ""}`, this.#bar(k.health / 1000, "", "health")))));
    } else if (!parts.length) {
      parts.push(el("p", { class: "hint" }, seat < 0 ? "You are spectating. Click a unit to see its details." : "Drag a box around units to select them, then right-click to move or attack."));
    }
    this.selected.replaceChildren(...parts);
  }

  #bar(part, label, kind) {
    const inner = el("i", {});
    inner.style.width = `${Math.round(100 * Math.min(1, Math.max(0, part)))}%`;
    if (kind === "health") inner.dataset.level = part > 0.6 ? "well" : part > 0.3 ? "worn" : "dying";
    return el("span", { class: `bar ${kind}` }, inner, label && el("small", {}, label));
  }

  #groups(groups, seat) {
    if (seat < 0 || !this.#changed("groups", groups)) return;
    this.groups.replaceChildren(...groups.flatMap((n, i) => n === 0 ? [] : [
      el("button", { title: `select group ${i + 1} (key ${i + 1}); Shift + ${i + 1} makes the selected units group ${i + 1}`, onclick: (e) => this.#press(() => skirmish.key(`Digit${i + 1}`, e.shiftKey, e.ctrlKey)) },
        el("kbd", {}, i + 1), n),
    ]));
  }

  #press(f) {
    f();
    this.map.focus();
  }

  #buttons(panel) {
    if (!this.#changed("buttons", panel.buttons)) return;
    this.buttons.replaceChildren(...(panel.buttons ?? []).map((b) =>
      el("button", {
        class: b.on ? "on" : "", "aria-disabled": b.able ? undefined : "true", title: `${b.label}: ${b.hint} (${b.key})`,
        onclick: () => this.#press(() => skirmish.button(b.action)),
      }, el("kbd", {}, b.key), el("span", {}, b.label), b.cost ? el("small", {}, el("i", { class: "sign crystals" }), b.cost) : "")));
  }

  #tell({ sort, player, text: said }) {
    if (sort === "name") {
      this.names.set(player, said);
      return;
    }
    if (sort === "built") return;
    const item = el("li", { class: sort });
    if (player >= 0 && player < 255) {
      const name = el("b", {}, `${this.player(player)} `);
      name.style.setProperty("--colour", of(player).fill);
      item.append(name);
    } else if (sort === "chat") {
      item.append(el("b", {}, "spectator "));
    }
    item.append(said);
    this.news.append(item);
    while (this.news.children.length > maxNews) this.news.firstChild.remove();
    setTimeout(() => item.remove(), newsMS);
  }

  // #link shows the state of the connection, unless all is well.
  #link({ link, net }) {
    const live = link.state === "live";
    this.banner.className = `banner ${live && link.held ? "lost" : link.state}`;
    if (live && link.held) {
      this.banner.hidden = false;
      if (this.#changed("banner", { held: link.held })) this.banner.replaceChildren(el("strong", {}, "The match is on hold"), `: ${link.held}`);
      return;
    }
    if (live) {
      if (this.keys.banner?.startsWith('{"held"')) {
        this.banner.hidden = true;
        this.#changed("banner", "resumed");
      }
      if (!this.banner.hidden && this.#changed("banner", "resumed") && link.losses) {
        this.banner.replaceChildren("Reconnected");
        setTimeout(() => (this.banner.hidden = true), 1500);
      } else if (!link.losses) {
        this.banner.hidden = true;
      }
      return;
    }
    this.banner.hidden = false;
    if (!this.#changed("banner", [link, net.stage])) return;
    const parts = [];
    if (link.state === "lost") {
      const wait = link.retry_ms > 0 ? `, reconnecting in ${(link.retry_ms / 1000).toFixed(1)} s (attempt ${link.attempt})` : `, reconnecting… (attempt ${link.attempt})`;
      parts.push(el("strong", {}, "Disconnected"), link.attempt ? wait : "");
    } else if (link.state === "syncing") {
      const part = link.total ? (0.5 * link.bytes) / link.total : link.target ? 0.5 + (0.5 * link.tick) / link.target : 0;
      parts.push(el("strong", {}, "Joining "), link.text, this.#bar(part, "", "work"));
    } else if (link.state === "ended") {
      parts.push(el("strong", {}, "The match has ended"), el("p", {}, link.text), el("p", {}, el("a", { class: "button main", href: "#/" }, "Back to the lobby")));
    } else if (link.state === "failed") {
      this.fail(link.text);
      return;
    } else {
      parts.push(link.text, "…");
    }
    this.banner.replaceChildren(...parts);
  }

  // fail shows why the match cannot be joined, and links to the lobby. If other is set, it also offers to spectate
  // instead of playing, or to play instead of spectating.
  fail(reason, other = true) {
    const [place, does] = this.watching ? ["play", "Join with your token"] : ["watch", "Spectate"];
    this.banner.className = "banner failed";
    this.banner.hidden = false;
    this.banner.replaceChildren(el("strong", {}, "Not connected"), el("p", {}, reason),
      el("p", {}, el("a", { class: "button main", href: "#/" }, "Back to the lobby"), " ",
        other && el("a", { class: "button", href: `#/${place}/${encodeURIComponent(this.name)}` }, does)));
    this.banner.querySelector("a").focus();
  }

  #strip({ net, link }, renderer) {
    const f = this.facts;
    text(f.tick, net.tick);
    text(f.delay, `${net.input_delay}${net.predicted ? ` (${net.predicted - net.tick} ahead)` : ""}`);
    text(f.trip, net.round_trip_us ? `${(net.round_trip_us / 1000).toFixed(1)} ms` : "–");
    text(f.buffer, `${net.backlog} · ${(net.delay_us / 1000).toFixed(0)} ms`);
    text(f.sums, net.differing ? `${net.agreed} equal, ${net.differing} differ` : `${net.agreed} equal`);
    f.sums.parentNode.classList.toggle("differ", net.differing > 0);
    text(f.rate, `${bytes(net.in)}/s · ${bytes(net.out)}/s`);
    text(f.frame, `${renderer.quantile(0.95).toFixed(1)} ms`);
    this.strip.dataset.link = link.state;
  }
}
