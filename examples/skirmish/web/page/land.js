// The colours of the map.

export const land = { // red, green and blue
  grass: [70, 98, 54], meadow: [92, 116, 62], dry: [122, 120, 72], sand: [138, 120, 84], path: [112, 98, 68],
  rock: [112, 114, 120], rockLight: [176, 178, 182], rockDark: [52, 54, 62],
  unknown: [13, 17, 23], explored: 0.52, border: "#37445a",
};

export const signs = {
  crystal: "#6fe3ff", crystalLight: "#d8f8ff", crystalDark: "#2aa4d8", crystalEdge: "#0f5f86", selected: "#e9ffe9",
  well: "#51d16a", worn: "#f0b429", dying: "#ef5350", back: "#080c10",
  teleport: "#b388ff", shrine: "#7ce0a2", hoard: "#ffd24a", spawn: "#c9d4de",
  sides: ["#c9ffd3", "#ffe08a", "#ff7a6e"], // the user's own units, those of allies, and of enemies
};
