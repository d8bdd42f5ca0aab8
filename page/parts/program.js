// Loads the page's program, which <meta name="program" content="NAME.wasm"> names. Afterwards globalThis.samestep has its
// functions.

// program is the state of the page's program. Its event "progress" says that it has changed.
export const program = Object.assign(new EventTarget(), { part: 0, running: false });

let loaded;

// load resolves when the program runs. It loads the program once, and calls ended if the program ends.
export function load(ended) {
  loaded ??= start(ended);
  return loaded;
}

async function start(ended) {
  const go = new Go();
  const { instance } = await WebAssembly.instantiateStreaming(await response(document.querySelector('meta[name="program"]').content), go.importObject);
  const ready = new Promise((resolve) => addEventListener("samestep", resolve, { once: true }));
  go.run(instance).then(ended, ended);
  await ready;
  progress({ part: 1, running: true });
}

function progress(state) {
  Object.assign(program, state);
  program.dispatchEvent(new Event("progress"));
}

// response returns the server's response. On the first visit it counts the bytes. On later ones it is the browser's own response,
// with which browsers keep the compiled program.
async function response(url) {
  if (await globalThis.caches?.match(url).catch(() => null)) return fetch(url);
  const answer = await fetch(url);
  const total = Number(answer.headers.get("X-Decoded-Length"));
  if (!answer.ok || !total) return answer;
  let bytes = 0;
  const counter = new TransformStream({
    transform(chunk, controller) {
      bytes += chunk.length;
      progress({ part: Math.min(1, bytes / total) });
      controller.enqueue(chunk);
    },
  });
  return new Response(answer.body.pipeThrough(counter), { headers: answer.headers });
}
