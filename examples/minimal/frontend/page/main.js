// Plays the match of the address, such as /#duel?TOKEN: draws the dots, and sends the own one to the cell that is clicked.

import { load } from "./program.js";

const cell = 10; // pixels
const map = document.getElementById("map"), picture = map.getContext("2d"), news = document.getElementById("news");
const [name, token = ""] = location.hash.slice(1).split("?");

await load(() => (news.textContent = "The game has stopped."));
samestep.join(`${location.origin.replace("http", "ws")}/matches/${name}/play`, token);
map.onclick = (e) => samestep.go(Math.floor(e.offsetX / cell), Math.floor(e.offsetY / cell));

requestAnimationFrame(function draw() {
  const dots = samestep.dots();
  picture.clearRect(0, 0, map.width, map.height);
  for (let i = 0; i < dots.length; i += 2) picture.fillRect(dots[i] * cell - 4, dots[i + 1] * cell - 4, 8, 8); // y points down, as on every canvas
  requestAnimationFrame(draw);
});

setInterval(() => {
  for (const line of samestep.news()) news.textContent = line;
}, 250);
