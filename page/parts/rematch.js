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

// rematch joins the match after one, which another player may have created, or creates it: like the one of an ID, with the same map,
// configuration, speed and bots. It returns the address in the page.
export async function rematch(name, like) {
  for (let to = next(name); ; to = next(to)) {
    const play = `#/play/${encodeURIComponent(to)}`, match = await listed(to);
    if (match && !match.ended && match.players.length < match.settings.players) return play;
    if (match) continue;
    const answer = await fetch("matches", {
      method: "POST", headers: { Authorization: `Bearer ${recall("token") || guest()}` },
      body: JSON.stringify({ name: to, like }),
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
