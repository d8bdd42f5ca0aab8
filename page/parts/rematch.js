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

// rematch joins the match after one, which another player may have created, or creates it. request is a body as the program has
// it. It returns the address in the page.
export async function rematch(name, request, bots) {
  for (let to = next(name); ; to = next(to)) {
    const play = `#/play/${encodeURIComponent(to)}`, match = await listed(to);
    if (match && !match.ended && match.players.length < match.settings.players) return play;
    if (match) continue;
    const answer = await fetch("matches", {
      method: "POST", headers: { Authorization: `Bearer ${recall("token") || guest()}` },
      body: JSON.stringify({ ...request, name: to, bots, seed: crypto.getRandomValues(new Uint32Array(1))[0] || 1 }),
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
