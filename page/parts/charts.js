// The charts over the timeline of a replay: how the match goes for each player. The page of a game says what they show:
//
//	read(after)   the course of the match as { until, ticks, players: [{ player, KEY: [value of each tick], … }] }, or null if
//	              no more of it is known than up to tick after. Its text is JSON.
//	kinds         the charts: { key, name, lines: [{ key: KEY, name }] }; each line has a scale of its own

// Below them is a chart of its own for every game: the time that the rules take for a tick, in phases, as far as this browser has
// simulated the match.

import { el, recall, remember } from "./dom.js";
import { t } from "./text.js";
import { of } from "./palette.js";

const off = "off", time = "time";
const looks = 200; // at the course of a match, as often as that while it is simulated
const dashes = [[], [5, 4], [1, 3]]; // by line

// hue returns the colour of phase k of n.
const hue = (k, n) => `hsl(${Math.round((k * 360) / n)} 45% 55%)`;

export class Charts {
  // source is what the game shows, or undefined for none. changed() is called when there is another picture.
  constructor(source, changed) {
    this.source = source;
    this.changed = changed;
    const kinds = [...(source?.kinds ?? []), { key: time, name: t("Time of a tick") }], chosen = recall("chart");
    this.choice = el("select", { class: "chart", "aria-label": t("Chart"), title: t("Chart"), onchange: () => this.#choose() },
      ...kinds.map(({ key, name }) => el("option", { value: key, selected: key === chosen }, name)),
      el("option", { value: off, selected: chosen === off || (!source && chosen !== time) }, t("no chart")));
    this.values = el("div", { class: "values", "aria-hidden": "true", hidden: true }); // the slider says them, too
  }

  #choose() {
    remember("chart", this.choice.value);
    this.changed();
  }

  open(about) {
    this.about = about;
    this.course = this.costs = null;
    this.opening = true;
    this.shown = "";
    this.values.hidden = true;
  }

  get #kind() {
    return this.source?.kinds.find(({ key }) => key === this.choice.value);
  }

  // at shows the values of a tick. It looks for more of the match, but not before the first picture of a replay is drawn.
  at(tick) {
    if (this.#timed) {
      this.#showTimes(tick);
      return;
    }
    this.values.title = "";
    if (!this.source) {
      this.values.hidden = true;
      return;
    }
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

  get #timed() {
    return this.choice.value === time;
  }

  // #showTimes shows the times of a tick, and looks for more of them.
  #showTimes(tick) {
    const json = samestep.watchCosts?.(this.costs?.ticks ?? 0);
    if (json) {
      this.costs = JSON.parse(json);
      this.changed();
    }
    this.values.hidden = !this.costs;
    if (!this.costs) return;
    const rows = this.#times(tick), key = JSON.stringify(rows);
    if (this.shown === key) return;
    this.shown = key;
    this.values.title = t("measured in this browser, on average of the ticks beside each other");
    const { first, last } = this.about;
    this.values.classList.toggle("right", (tick - first) * 2 < last - first);
    this.values.replaceChildren(el("div", {}, el("small", {}, t("Time of a tick")), ...rows.map(({ name, us }, k) => {
      const one = el("span", {}, el("i", { class: "dot" }), `${name} ${us}`);
      one.style.setProperty("--colour", hue(k, rows.length));
      return one;
    })));
  }

  // #times returns the phases with their microseconds at a tick: those of its column.
  #times(tick) {
    const { counts, phases } = this.costs, { first, last } = this.about;
    const i = Math.min(counts.length - 1, Math.floor(((tick - first) * counts.length) / Math.max(1, last - first)));
    return phases.map(({ name, us }) => ({ name: phases.length > 1 ? name || t("before the first phase") : t("all phases"), us: counts[i] ? `${Math.round(us[i] / counts[i])} µs` : "–" }));
  }

  // #drawTimes draws the phases on each other.
  #drawTimes(c, x, top, ratio) {
    const { counts, phases } = this.costs, { first, last } = this.about, low = c.canvas.height - 2 * ratio, high = low - top;
    const of = (i) => phases.reduce((sum, { us }) => sum + us[i], 0) / counts[i];
    const most = counts.reduce((most, n, i) => (n ? Math.max(most, of(i)) : most), 1);
    const at = (i) => x(first + (i * (last - first)) / counts.length);
    counts.forEach((n, i) => {
      if (!n) return;
      let y = low;
      phases.forEach(({ us }, k) => {
        const h = (us[i] / n / most) * high;
        c.fillStyle = hue(k, phases.length);
        c.fillRect(at(i), (y -= h), Math.max(ratio, at(i + 1) - at(i)), h);
      });
    });
    return true;
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
    if (this.#timed) return this.costs ? ` · ${t("Time of a tick")}: ${this.#times(tick).map(({ name, us }) => `${name} ${us}`).join(", ")}` : "";
    if (!this.#kind || !this.course) return "";
    const names = this.about.players;
    return this.#rows(tick).map(({ line, values }) => ` · ${line.name}: ${values.map(({ player, value }) => `${names[player]?.name ?? player} ${value}`).join(", ")}`).join("");
  }

  // draw draws the chart below a top edge, and returns whether there is one. x returns the position of a tick, ratio is the number of
  // pixels of the canvas in one of the page, and back the colour behind the lines.
  draw(c, x, top, ratio, back) {
    if (this.#timed) return !!this.costs && this.#drawTimes(c, x, top, ratio);
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
