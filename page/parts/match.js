// What every page needs to join a match of its server.

// socketOf returns the address of a match's WebSocket.
export function socketOf(name) {
  const url = new URL(`matches/${encodeURIComponent(name)}/play`, location.href);
  url.protocol = location.protocol === "https:" ? "wss:" : "ws:";
  return url.href;
}

// listed returns the server's view of a match, or undefined if there is none of that name. It reads the list page by page,
// because requesting a missing match would log an error in the browser's console.
export async function listed(name) {
  for (let after = ""; ; ) {
    const answer = await fetch(`matches?after=${encodeURIComponent(after)}`);
    const page = await answer.json();
    const match = page.find((m) => m.name === name);
    if (match || !page.length || page.at(-1).name > name) return match;
    after = page.at(-1).name;
  }
}
