// Another match of the same players.

import { recall } from "./dom.js";
import { t } from "./text.js";
import { guest } from "./token.js";
import { listed } from "./match.js";

// next returns the name of the match after one: duel, duel.2, duel.3.
export function next(name) {
  const [, base, number] = name.match(/^(.*?)(?:\.(\d+))?$/);
  const end = `.${number ? Number(number) + 1 : 2}`;
  return base.slice(0, 64 - end.length) + end;
}

// short returns a request without a configuration that is usual there, or with the scenario or the number of units that has it: a
// server for guests takes no configuration. The number of units is one of the numbers in the configuration, or is not found.
function short(request) {
  const { config, ...rest } = request, { scenarios = [], sized } = JSON.parse(samestep.games()).find((g) => g.name === request.game) ?? {};
  const units = sized ? [...new Set(Object.values(config))].filter((n) => Number.isInteger(n) && n > 0 && n <= 65535) : [];
  for (const choice of [{}, ...scenarios.map((s) => ({ scenario: s.name })), ...units.map((n) => ({ units: n }))]) {
    const usual = JSON.parse(samestep.configuration(request.game, request.players, choice.units ?? 0, choice.scenario ?? ""));
    if (!usual.error && JSON.stringify(usual.value) === JSON.stringify(config)) return { ...rest, ...choice };
  }
  return request;
}

// rematch joins the match after one, which another player may have created, or creates it: with the same map, configuration,
// speed and bots. request is a body as the program has it, and bots are their number and, unless it is the usual one, their kind. It
// returns the address in the page.
export async function rematch(name, request, { bots, bot }) {
  for (let to = next(name); ; to = next(to)) {
    const play = `#/play/${encodeURIComponent(to)}`, match = await listed(to);
    if (match && !match.ended && match.players.length < match.settings.players) return play;
    if (match) continue;
    const answer = await fetch("matches", {
      method: "POST", headers: { Authorization: `Bearer ${recall("token") || guest()}` },
      body: JSON.stringify({ ...short(request), name: to, bots, ...(bots && bot && { bot }) }),
    });
    if (answer.ok) {
      const { tokens = [] } = await answer.json();
      return tokens.length ? `${play}?token=${encodeURIComponent(tokens[0].token)}` : play;
    }
    if (answer.status === 409 && (await listed(to))) return play; // another player was quicker
    if (answer.status === 403) throw new Error(t("On this server only an admin can create a match."));
    throw new Error(await answer.json().then((a) => a.error.message, () => t("the server answers {status}", { status: answer.status })));
  }
}
