// The charts over the timeline of a replay: how the match goes for each player. The page of a game says what they show:
//
//	read(after)   the course of the match as { until, ticks, players: [{ player, KEY: [value of each tick], … }] }, or null if
//	              no more of it is known than up to tick after. Its text is JSON.
//	kinds         the charts: { key, name, lines: [{ key: KEY, name }] }; each line has a scale of its own

import { el, recall, remember } from "./dom.js";
import { t } from "./text.js";
import { of } from "./palette.js";

const off = "off";
const looks = 200; // at the course of a match, as often as that while it is simulated
const dashes = [[], [5, 4], [1, 3]]; // by line

export class Charts {
  // source is what the game shows, or undefined for none. changed() is called when there is another picture.
  constructor(source, changed) {
    this.source = source;
    this.changed = changed;
    const kinds = source?.kinds ?? [], chosen = recall("chart");
    this.choice = el("select", { class: "chart", "aria-label": t("Chart"), title: t("Chart"), hidden: !source, onchange: () => this.#choose() },
      ...kinds.map(({ key, name }) => el("option", { value: key, selected: key === chosen }, name)),
      el("option", { value: off, selected: chosen === off }, t("no chart")));
    this.values = el("div", { class: "values", "aria-hidden": "true", hidden: true }); // the slider says them, too
  }

  #choose() {
    remember("chart", this.choice.value);
    this.changed();
  }

  open(about) {
    this.about = about;
    this.course = null;
    this.opening = true;
    this.shown = "";
    this.values.hidden = true;
  }

  get #kind() {
    return this.source?.kinds.find(({ key }) => key === this.choice.value);
  }

  // at shows the values of a tick. It looks for more of the match, but not before the first picture of a replay is drawn.
  at(tick) {
    if (!this.source) return;
    if (this.opening) this.opening = false;
    else if (this.#kind) this.#read(tick);
    this.values.hidden = !this.#kind || !this.course;
    if (this.values.hidden) return;
    const { first, last } = this.about, rows = this.#rows(tick), key = JSON.stringify([rows, this.choice.value]);
    this.values.classList.toggle("right", (tick - first) * 2 < last - first); // beside the cursor
    if (this.shown === key) return;
    this.shown = key;
    this.values.replaceChildren(...rows.map(({ line, values }) => el("div", {}, el("small", {}, line.name), ...values.map(({ player, value }) => {
      const one = el("span", {}, el("i", { class: "dot" }), value);
      one.style.setProperty("--colour", of(player).fill);
      return one;
    }))));
  }

  #read(tick) {
    const { first, last } = this.about, until = this.course?.until ?? 0;
    if (this.course && (until >= last || (tick < last && tick < until + (last - first) / looks))) return;
    const json = this.source.read(until);
    if (!json) return;
    this.course = JSON.parse(json);
    this.changed();
  }

  // #rows returns the values of each line at a tick.
  #rows(tick) {
    const { ticks, players } = this.course, i = ticks.findLastIndex((at) => at <= tick);
    return this.#kind.lines.map((line) => ({ line, values: players.map((p) => ({ player: p.player, value: p[line.key][i] ?? 0 })) }));
  }

  // says returns the values of a tick as text, or "".
  says(tick) {
    if (!this.#kind || !this.course) return "";
    const names = this.about.players;
    return this.#rows(tick).map(({ line, values }) => ` · ${line.name}: ${values.map(({ player, value }) => `${names[player]?.name ?? player} ${value}`).join(", ")}`).join("");
  }

  // draw draws the chart below a top edge, and returns whether there is one. x returns the position of a tick, ratio is the number of
  // pixels of the canvas in one of the page, and back the colour behind the lines.
  draw(c, x, top, ratio, back) {
    const kind = this.#kind;
    if (!kind || !this.course?.ticks.length) return false;
    const { ticks, players } = this.course, low = c.canvas.height - 2 * ratio, high = low - top;
    c.save();
    c.lineJoin = "round";
    kind.lines.forEach(({ key }, n) => {
      const most = players.reduce((most, p) => p[key].reduce((a, b) => Math.max(a, b), most), 1);
      for (const p of players) {
        c.beginPath();
        p[key].forEach((value, i) => c.lineTo(x(ticks[i]), low - (value / most) * high));
        c.setLineDash([]);
        c.lineWidth = 4 * ratio;
        c.strokeStyle = back;
        c.globalAlpha = 0.7;
        c.stroke();
        c.globalAlpha = 1;
        c.setLineDash((dashes[n] ?? []).map((length) => length * ratio));
        c.lineWidth = 2 * ratio;
        c.strokeStyle = of(p.player).fill;
        c.stroke();
      }
    });
    c.restore();
    return true;
  }
}
