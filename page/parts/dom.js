// Small helpers for elements.

// el makes an element: el("button", { class: "x", onclick: f }, "text", child).
export function el(name, attributes = {}, ...children) {
  const e = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    if (key.startsWith("on")) e.addEventListener(key.slice(2), value);
    else if (key in e && key !== "list" && key !== "form" && typeof value !== "string") e[key] = value;
    else e.setAttribute(key === "class" ? "class" : key, value === true ? "" : value);
  }
  e.append(...children.filter((c) => c !== undefined && c !== null && c !== false));
  return e;
}

// text sets the text of an element if it differs.
export function text(e, value) {
  if (e.textContent !== String(value)) e.textContent = value;
}

// bytes formats a number of bytes.
export function bytes(n) {
  if (n < 1000) return `${n} B`;
  if (n < 1e6) return `${(n / 1000).toFixed(1)} kB`;
  return `${(n / 1e6).toFixed(1)} MB`;
}

// clock formats a number of ticks, each of micros microseconds, as minutes and seconds.
export function clock(ticks, micros) {
  const s = Math.floor(ticks * (micros || 50_000) / 1e6);
  return `${Math.floor(s / 60)}:${String(s % 60).padStart(2, "0")}`;
}

// remember stores a value in the browser; recall returns it, or "".
export function remember(key, value) {
  try {
    localStorage.setItem(`samestep ${key}`, value);
  } catch {
    // this browser stores nothing
  }
}

export function recall(key) {
  try {
    return localStorage.getItem(`samestep ${key}`) ?? "";
  } catch {
    return "";
  }
}

// bar returns a bar of a part from 0 to 1, with a label.
export function bar(part, label, kind) {
  const inner = el("i", {});
  inner.style.width = `${Math.round(100 * Math.min(1, Math.max(0, part)))}%`;
  if (kind === "health") inner.dataset.level = part > 0.6 ? "well" : part > 0.3 ? "worn" : "dying";
  return el("span", { class: `bar ${kind}` }, inner, label && el("small", {}, label));
}
