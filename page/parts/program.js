// Loads the page's program, which <meta name="program" content="NAME.wasm"> names. Afterwards globalThis.samestep has its
// functions.

let loaded;

// load resolves when the program runs. It loads the program once, and calls ended if the program ends.
export function load(ended) {
  loaded ??= start(ended);
  return loaded;
}

async function start(ended) {
  const go = new Go();
  const { instance } = await WebAssembly.instantiateStreaming(fetch(document.querySelector('meta[name="program"]').content), go.importObject);
  const ready = new Promise((resolve) => addEventListener("samestep", resolve, { once: true }));
  go.run(instance).then(ended, ended);
  await ready;
}
