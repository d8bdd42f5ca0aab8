// The service worker: it keeps one version of the page, with all its files but modules of rules that were not used, and gives it
// to the browser when the server cannot be reached. It never mixes versions: the page comes from the server if that answers
// soon, and then its files have the paths of its version. What it keeps is only removed when no page of that version is open.

const version = "site:version", files = "site:files"; // the site fills them in
const name = `samestep ${version}`;
const root = new URL("./", location.href).pathname;
const patienceMS = 4000;

addEventListener("install", (event) => event.waitUntil(fill()));
addEventListener("activate", (event) => event.waitUntil(sweep()));

async function fill() {
  const cache = await caches.open(name), page = await fetch(root, { cache: "no-cache" });
  if (!page.ok || !(await page.clone().text()).includes(version)) throw new Error("the server has another version by now");
  await cache.addAll(files.filter((file) => !optional(file)));
  await cache.put(root, page);
}

async function sweep() {
  for (const other of await caches.keys()) if (other.startsWith("samestep ") && other !== name) await caches.delete(other);
}

addEventListener("fetch", (event) => {
  const { request } = event, { origin, pathname } = new URL(request.url);
  if (request.method !== "GET" || origin !== location.origin) return;
  if (request.mode === "navigate" && pathname === root) event.respondWith(page(request));
  else if (files.includes(pathname)) event.respondWith(kept(request));
});

// optional reports whether a file is only kept once it is used: a module of rules.
const optional = (path) => /\/page\/[0-9a-f]+\/rules\//.test(path);

async function kept(request) {
  const old = await caches.match(request, { cacheName: name, ignoreVary: true });
  if (old) return old;
  const answer = await fetch(request);
  if (answer.ok && optional(request.url)) await caches.open(name).then((cache) => cache.put(request, answer.clone())).catch(() => {}); // there is no room
  return answer;
}

// page returns the server's page, or the kept one if the server does not answer soon.
async function page(request) {
  try {
    const answer = await fetch(request, { signal: AbortSignal.timeout(patienceMS) });
    if (answer.status < 500) return answer;
  } catch {
    // the kept one
  }
  return (await caches.match(root, { cacheName: name, ignoreVary: true })) ?? fetch(request);
}
