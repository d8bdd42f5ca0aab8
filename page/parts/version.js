// Which version of the page this is, and whether the server has another one.

const checkMS = 60_000;

// version is the hash of the site, which is part of the address of each of its files, or "".
export const version = /\/page\/([0-9a-f]+)\//.exec(import.meta.url)?.[1] ?? "";

let asked = performance.now(), other = false;

// newer reports whether the server has another version. It asks at most once a minute.
export async function newer() {
  const now = performance.now();
  if (!version || other || now - asked < checkMS) return other;
  asked = now;
  const tag = await fetch("./", { method: "HEAD", cache: "no-cache" }).then((answer) => answer.headers.get("ETag"), () => null);
  return (other = !!tag && !tag.includes(version));
}

// keep lets the browser keep the page, so that it also starts without a network.
export function keep() {
  if (version) navigator.serviceWorker?.register("serviceworker.js").catch(() => {}); // then it needs the network
}
