// Tokens say to a server who is there.

import { remember, recall } from "./dom.js";

// guest returns the token of a guest, by which a server that is open to everybody
// knows the seat again: a name, and a secret that this browser made up.
export function guest() {
  let secret = recall("secret");
  if (!secret) {
    secret = Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, "0")).join("");
    remember("secret", secret);
  }
  return `guest:${encodeURIComponent(recall("name") || "guest")}:${secret}`;
}

// tokenFor returns the token to play a match with: the one of the address, which is
// remembered, or that of the lobby, or the last one, or a guest's.
export function tokenFor(match, given) {
  if (given) remember(`token of ${match}`, given);
  return given || recall("token") || recall(`token of ${match}`) || guest();
}

// tokenToWatch returns the token to watch a match with: the one of the address, which
// is remembered, or the last one, or none. That of the lobby would take its seat.
export function tokenToWatch(match, given) {
  if (given) remember(`token to watch ${match}`, given);
  return given || recall(`token to watch ${match}`);
}

// forget forgets a token of a match, which its server does not know.
export function forget(match, token) {
  for (const key of [`token of ${match}`, `token to watch ${match}`]) if (token && recall(key) === token) remember(key, "");
}
