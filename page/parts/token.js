// Tokens identify the user to a server.

import { remember, recall } from "./dom.js";

// guest returns a guest's token: a name, and a secret that this browser draws once. An open server recognizes the seat
// by it.
export function guest() {
  let secret = recall("secret");
  if (!secret) {
    secret = Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, "0")).join("");
    remember("secret", secret);
  }
  return `guest:${encodeURIComponent(recall("name") || "guest")}:${secret}`;
}

// tokenFor returns the token to play a match with: the one in the address, which is remembered, or else that of the
// lobby, the remembered one, or a guest's.
export function tokenFor(match, given) {
  if (given) remember(`token of ${match}`, given);
  return given || recall("token") || recall(`token of ${match}`) || guest();
}

// tokenToWatch returns the token to watch a match with: the one in the address, which is remembered, or else the
// remembered one, or none. The lobby's token would take a seat.
export function tokenToWatch(match, given) {
  if (given) remember(`token to watch ${match}`, given);
  return given || recall(`token to watch ${match}`);
}

// forget removes a token that the match's server does not know, and returns "" in its place. A second call must not remove
// what the user has entered since.
export function forget(match, token) {
  for (const key of [`token of ${match}`, `token to watch ${match}`]) if (token && recall(key) === token) remember(key, "");
  return "";
}
