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
// remembered, or the last one, or that of the lobby, or a guest's.
export function tokenFor(match, given) {
  if (given) remember(`token of ${match}`, given);
  return given || recall("token") || recall(`token of ${match}`) || guest();
}
