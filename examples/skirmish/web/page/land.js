// The colours of the map.

export const land = {
  grass: "#48603a", grassLight: "#536d42", grassDark: "#3e5433",
  rock: "#6c7078", rockLight: "#8f949c", rockDark: "#43464d", rockShade: "rgba(10,14,18,.38)",
  unknown: [13, 17, 23], explored: 0.5, border: "#37445a",
};

export const signs = {
  crystal: "#6fe3ff", crystalDark: "#1b87b8", selected: "#e9ffe9",
  well: "#51d16a", worn: "#f0b429", dying: "#ef5350", back: "rgba(8,12,16,.75)",
  teleport: "#b388ff", shrine: "#7ce0a2", hoard: "#ffd24a", spawn: "#c9d4de",
};
