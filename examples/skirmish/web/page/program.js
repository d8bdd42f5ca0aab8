// Loads skirmish.wasm. Afterwards globalThis.skirmish has its functions.

let loaded;

// load resolves when the program runs. It loads the program once, and calls ended if the program ends.
export function load(ended) {
  loaded ??= start(ended);
  return loaded;
}

async function start(ended) {
  const go = new Go();
  const { instance } = await WebAssembly.instantiateStreaming(fetch(new URL("skirmish.wasm", import.meta.url)), go.importObject);
  const ready = new Promise((resolve) => addEventListener("skirmish", resolve, { once: true }));
  go.run(instance).then(ended, ended);
  await ready;
}
