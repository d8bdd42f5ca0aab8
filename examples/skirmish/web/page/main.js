// The way into the page: loads the program, and shows what the address asks for.
import { load } from "./program.js";

const loading = document.getElementById("loading");

try {
  await load();
  loading.hidden = true;
} catch (error) {
  loading.textContent = `The game could not be loaded: ${error.message}`;
}
