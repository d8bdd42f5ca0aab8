// The icons of the panels, as lines on a square of 24.

const paths = {
  crystals: "M12 2l6 7-6 13-6-13zM6 9h12M12 2l-2 7 2 13 2-13z",
  units: "M12 4a4 4 0 110 8 4 4 0 010-8zM4 21c1-5 4-7 8-7s7 2 8 7z",
  army: "M5 3l12 12M19 3L7 15M4 14l6 6M20 14l-6 6M8 16l-4 4M16 16l4 4",
  workers: "M5 21L15 8M8 5c4-2 9 0 11 5M19 10l-3-3",
  idle: "M12 3a9 9 0 110 18 9 9 0 010-18zM12 7v5l3 3",
  move: "M4 12h14M13 6l6 6-6 6",
  attack: "M4 20L18 6M15 3l6 0 0 6-3-3M4 14l6 6M3 21l3-3",
  patrol: "M4 9h13l-3-4M20 15H7l3 4",
  stop: "M8 3h8l5 5v8l-5 5H8l-5-5V8zM9 9h6v6H9z",
  hold: "M12 3l8 3v6c0 5-4 8-8 9-4-1-8-4-8-9V6zM12 8v8",
  gather: "M4 20L13 9M6 6c5-3 11 0 13 6M15 15l3-3 3 3-3 6z",
  menu: "M4 20L14 10M11 5l3-2 7 7-3 2-2-2-2 2-3-3 2-2z",
  back: "M20 12H6M12 6l-6 6 6 6",
  rally: "M6 22V3l12 4-12 5",
  cancel: "M6 6l12 12M18 6L6 18",
  base: "M3 21V10l4-3 5-4 5 4 4 3v11zM9 21v-6h6v6M3 10h18",
  barracks: "M3 21V9l9-5 9 5v12zM8 13l8 8M16 13l-8 8",
  tower: "M8 21l1-12h6l1 12zM7 9V4h3v2h4V4h3v5zM11 13h2",
  worker: "M12 3a3.5 3.5 0 110 7 3.5 3.5 0 010-7zM6 21c0-6 2-9 6-9s6 3 6 9zM16 14l5-5",
  soldier: "M12 3a3.5 3.5 0 110 7 3.5 3.5 0 010-7zM6 21c0-6 2-9 6-9s6 3 6 9zM3 14l4-1v5l-4-1zM20 6v13",
  archer: "M12 3a3.5 3.5 0 110 7 3.5 3.5 0 010-7zM6 21c0-6 2-9 6-9s6 3 6 9zM18 8c4 3 4 9 0 12M18 8v12",
  chat: "M4 4h16v12H10l-5 4v-4H4z",
  team: "M8 5a3 3 0 110 6 3 3 0 010-6zM16 5a3 3 0 110 6 3 3 0 010-6zM2 20c0-5 2-7 6-7 2 0 3 0 4 2 1-2 2-2 4-2 4 0 6 2 6 7z",
  checks: "M4 12l5 6L20 5",
  shortcuts: "M2 6h20v12H2zM6 10h1M10 10h1M14 10h1M18 10h1M7 14h10",
  sound: "M4 9v6h4l6 5V4L8 9zM17 9c2 2 2 4 0 6M19 6c4 4 4 8 0 12",
  mute: "M4 9v6h4l6 5V4L8 9zM17 9l5 6M22 9l-5 6",
  leave: "M14 4H5v16h9M10 12h11M17 8l4 4-4 4",
  result: "M4 21V10h4v11zM10 21V4h4v17zM16 21v-8h4v8z",
};

const space = "http://www.w3.org/2000/svg";

// icon returns an icon, or undefined if there is none of that name.
export function icon(name) {
  if (!Object.hasOwn(paths, name)) return undefined;
  const svg = document.createElementNS(space, "svg"), path = document.createElementNS(space, "path");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("class", `icon ${name}`);
  svg.setAttribute("aria-hidden", "true");
  path.setAttribute("d", paths[name]);
  svg.append(path);
  return svg;
}
