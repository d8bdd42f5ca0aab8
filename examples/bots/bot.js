// A bot for the game that samestep new writes: its digger walks to the nearest gold that its player sees. See docs/bots.md.
//
//     go run . gym --bot-command "node bot.js" --episodes 3
//     go run . join http://127.0.0.1:8766/matches/match-1 --bot-command "node bot.js"
const lines = require("readline").createInterface({ input: process.stdin });
const say = (answer) => console.log(JSON.stringify(answer));
const distance = (a, b) => Math.hypot(a.X - b.X, a.Y - b.Y); // numbers of 64 bits are text, which - reads as numbers
const cell = (x) => Math.min(Math.max(Math.round(Number(x)), 0), 255);

let hello = null;

// walk returns the commands of a seat that sees a view.
function walk(seat, view) {
  const own = view.Diggers.find((d) => d.Owner === seat);
  let goal = null;
  for (const gold of view.Gold) {
    if (!goal || distance(own.At, gold) < distance(own.At, goal)) goal = gold;
  }
  if (!goal) {
    if (distance(own.At, view.To) > 0) return []; // it is on its way
    goal = { X: (Number(own.At.X) + 97) % 256, Y: (Number(own.At.Y) + 61) % 256 }; // explore
  }
  const value = { X: cell(goal.X), Y: cell(goal.Y) };
  if (distance(value, view.To) === 0) return [];
  return [{ seat, name: "walk", value }];
}

lines.on("line", (line) => {
  const step = JSON.parse(line);
  if (step.type === "hello") hello = step;
  if (step.type === "hello" || step.terminated || step.truncated) {
    say({ reset: {} });
    return;
  }
  say({ commands: hello.seats.flatMap((seat) => walk(seat, step.observations[seat])) });
});
