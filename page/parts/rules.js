// The rules of games that the page's program is built without. The site's list of games names their modules, and each is fetched
// when a match, a replay or the lobby needs it.

import { t } from "./text.js";

const meta = document.querySelector('meta[name="games"]')?.content;
const place = meta && meta !== "games.json" ? new URL(meta, location.href) : null; // the site has put the address here
const fetched = new Map(); // by file: a promise of "" or why the program lacks its rules
const learned = new Set(); // files whose rules the program has

let list;

// siteGames returns a promise of the site's list of games, or null if the site has none.
export function siteGames() {
  if (!place) return null;
  list ??= fetch(place).then((answer) => answer.json());
  list.catch(() => (list = null)); // so that the next call asks again
  return list;
}

// lacking returns the module that the program must learn before it can play a game of the list, of a build or else the usual one.
export function lacking(game, build = game?.build) {
  const module = game?.rules?.find((m) => m.build === build);
  return module && !learned.has(module.file) ? module : undefined;
}

// learn resolves when the program has the rules of a game of a build, as far as the site has them, to "" or why the program lacks them.
// If a file or a match names the sum of their module, no other is taken.
export async function learn(game, build, sum) {
  try {
    const known = (await siteGames())?.find((g) => g.name === game);
    const module = sum ? known?.rules?.find((m) => m.file === `rules/${sum}.wasm` && !learned.has(m.file)) : lacking(known, build);
    if (!module) return "";
    const { file } = module;
    if (!fetched.has(file)) fetched.set(file, take(file).finally(() => fetched.delete(file)));
    await fetched.get(file);
    return "";
  } catch (error) {
    return t("The rules of the game have not arrived: {reason}", { reason: error.message });
  }
}

async function take(file) {
  const answer = await fetch(new URL(file, place));
  if (!answer.ok) throw new Error(t("the server answers {status}", { status: answer.status }));
  const problem = await samestep.learn(file, new Uint8Array(await answer.arrayBuffer()));
  if (problem) throw new Error(problem);
  learned.add(file);
}

// learnReplay is learn for a replay or a bundle. The module in the file is taken if the site has none.
export async function learnReplay(file) {
  let problem = "";
  const needs = JSON.parse(samestep.watchNeeds(file));
  if (needs) problem = await learn(needs.game, needs.build, needs.sum);
  if (needs?.module && JSON.parse(samestep.watchNeeds(file))) problem = await samestep.watchLearn(file);
  if (!problem && needs?.sum && !needs.module && JSON.parse(samestep.watchNeeds(file))) problem = t("Neither the file nor this site has its rules, the module with SHA-256 {sum}", { sum: needs.sum });
  return problem;
}
