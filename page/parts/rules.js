// The rules of games that the page's program is built without. A match, a replay or the site's list of games names their modules by
// the SHA-256, and each is fetched when a match, a replay or the lobby needs it.

import { t, told } from "./text.js";

const meta = document.querySelector('meta[name="games"]')?.content;
const place = meta && meta !== "games.json" ? new URL(meta, location.href) : null; // the site has put the address here
const fetching = new Map(); // by sum: a promise of the end

let list;

// siteGames returns a promise of the site's list of games, or null if the site has none.
export function siteGames() {
  if (!place) return null;
  list ??= fetch(place).then((answer) => answer.json());
  list.catch(() => (list = null)); // so that the next call asks again
  return list;
}

// sumOf returns the sum of the module of a game of the list, of a build or else the usual one, or "" for rules of the program.
export const sumOf = (game, build = game?.build) => game?.rules?.find((m) => m.build === build)?.sum ?? "";

// knows returns whether the program has the module with a sum, which may be "".
export const knows = (sum) => !sum || samestep.knows(sum);

// learn resolves to "" or why the program lacks the rules of a game of a build. If a match or a replay names the sum of their module, it
// is that one and no other; without one it is that of the site's list, if there is one.
export async function learn(game, build, sum) {
  try {
    const games = await siteGames();
    sum ||= sumOf(games?.find((g) => g.name === game), build);
    if (knows(sum)) return "";
    const site = games?.some((g) => g.rules?.some((m) => m.sum === sum)) ? place : location.href; // or the server's
    if (!fetching.has(sum)) fetching.set(sum, take(sum, site).finally(() => fetching.delete(sum)));
    await fetching.get(sum);
    return "";
  } catch (error) {
    return t("The rules of the game have not arrived: {reason}", { reason: error.message });
  }
}

async function take(sum, site) {
  const answer = await fetch(new URL(`rules/${sum}.wasm`, site));
  if (answer.status === 404) throw new Error(t("this site does not have the module with SHA-256 {sum}", { sum }));
  if (!answer.ok) throw new Error(t("the server answers {status}", { status: answer.status }));
  const problem = await samestep.learn(sum, new Uint8Array(await answer.arrayBuffer()));
  if (problem) throw new Error(told(problem));
}

// learnReplay is learn for a replay or a bundle, which may have the module.
export async function learnReplay(file) {
  const needs = JSON.parse(samestep.watchNeeds(file));
  if (!needs) return "";
  return needs.module ? samestep.watchLearn(file) : learn(needs.game, needs.build, needs.sum);
}
