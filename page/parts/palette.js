// The colours of the players.

// players are the colours of the seats. They also differ in lightness.
export const players = [
  { name: "Blue", fill: "#3d8bfd", dark: "#1c4a94", light: "#a8cbff" },
  { name: "Red", fill: "#f0483e", dark: "#8c1f19", light: "#ffb3ad" },
  { name: "Gold", fill: "#f5b921", dark: "#8a6508", light: "#ffe7a3" },
  { name: "Green", fill: "#3fbf5a", dark: "#1b6b2d", light: "#b5f0c1" },
  { name: "Violet", fill: "#a566f2", dark: "#57289a", light: "#dcc3ff" },
  { name: "Cyan", fill: "#27c4c9", dark: "#0c6c70", light: "#a9f2f4" },
  { name: "Orange", fill: "#ff8a34", dark: "#994508", light: "#ffd0ac" },
  { name: "Pink", fill: "#ff6fb1", dark: "#97295d", light: "#ffc6e0" },
  { name: "Lime", fill: "#a6d92b", dark: "#587a0c", light: "#e0f7a4" },
  { name: "Navy", fill: "#5668c9", dark: "#27336f", light: "#bcc5f4" },
  { name: "Brown", fill: "#a9714b", dark: "#5a3820", light: "#dfc0a8" },
  { name: "White", fill: "#e6e9ee", dark: "#7b8594", light: "#ffffff" },
  { name: "Teal", fill: "#1f9d84", dark: "#0a5546", light: "#9fe6d7" },
  { name: "Rose", fill: "#d1495b", dark: "#741f2c", light: "#f3b0b9" },
  { name: "Olive", fill: "#8f8f2f", dark: "#4c4c13", light: "#d8d89a" },
  { name: "Gray", fill: "#8793a3", dark: "#444d58", light: "#ccd4de" },
];

// of returns the colours of a player.
export const of = (player) => players[player % players.length];
