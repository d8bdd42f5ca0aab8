// Keys that work wherever the focus is on a screen.

let tabbed = true; // the user has moved the focus by Tab, not by a click
addEventListener("pointerdown", () => (tabbed = false), true);
addEventListener("keydown", (e) => (tabbed ||= e.key === "Tab"), true);

const presses = new Set(["Space", "Enter", "NumpadEnter"]);
const moves = /^(Arrow|Page|Home$|End$)/;

// listen calls handle(event) for each key that is pressed while an element is shown; handle returns whether the key has a
// function. The focus may be anywhere, but a key that the focused element needs for itself is its own: text fields and open
// dialogs take all, and a button that the user has reached by Tab is pressed by Space.
export function listen(element, handle) {
  document.addEventListener("keydown", (e) => {
    if (!e.defaultPrevented && !e.isComposing && element.checkVisibility() && !needs(e.target, e.code) && handle(e)) e.preventDefault();
  });
}

function needs(target, code) {
  if (document.querySelector("dialog:modal") || target.closest?.("[role='dialog'], [contenteditable]")) return true;
  switch (target.localName) {
    case "textarea": case "select":
      return true;
    case "input":
      return target.type === "range" ? moves.test(code) : !["button", "checkbox", "radio"].includes(target.type) || presses.has(code);
    case "a": case "button": case "summary":
      return tabbed && presses.has(code);
  }
  return moves.test(code) && target.localName !== "body" && target.localName !== "canvas" && target.scrollHeight > target.clientHeight;
}
