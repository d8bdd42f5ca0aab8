//go:build !js && !wasip1

package web_test

import (
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/browser"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/lockstep/player"
)

// In a match, hints vanish when they are done, attacks out of view give one alarm, a word says how the connection is, and a key
// shows the numbers. When the match is won, a screen shows charts and totals, and leads to a rematch.
func TestFromHintsToRematch(t *testing.T) {
	testenv.Long(t)
	s := newStage(t, setup{})
	b := s.play(0)
	other := s.Seat(game, 1, func(*player.Client) {})
	<-other.Ready()
	b.Until(live)

	browser.Value[bool](b, `globalThis.heard = [], page.hud.sounds.play = (name) => globalThis.heard.push(name),
		globalThis.happen = (...events) => page.hud.update({ ...page.state, lines: [], events: events.map((e) => ({ player: 0, own: true, building: false, kind: "soldier", ...e })) }, page.renderer), true`)
	b.Until(`document.querySelector(".tip").checkVisibility()`)
	b.Until(`document.querySelector(".tool[aria-label=Checks]").click() ?? !document.querySelector(".tip").checkVisibility()`)
	b.Until(`document.querySelector(".tool[aria-label=Checks]").click() ?? document.querySelector(".tip").checkVisibility()`)
	for _, order := range []string{"gather", "build", "attack"} {
		browser.Value[bool](b, `happen({ sort: "order", x: -1, y: -1, kind: "`+order+`" }), true`)
	}
	b.Until(`!document.querySelector(".tip").checkVisibility() && localStorage.getItem("samestep hints").includes("gather build attack")`)
	b.Until(`globalThis.heard.includes("order") && globalThis.heard.includes("build") && globalThis.heard.includes("attack")`)

	browser.Value[bool](b, `happen({ sort: "attacked", x: 1, y: 1 }), happen({ sort: "attacked", x: 2, y: 2 }), true`)
	b.Until(`document.querySelectorAll(".edges .on").length > 0`)
	b.Until(`document.querySelectorAll(".news .problem").length === 1`)
	b.Until(`globalThis.heard.filter((name) => name === "alarm").length === 1`)

	b.Until(`/smooth|jerky|laggy/.test(document.querySelector(".word").textContent) && !document.querySelector(".strip").checkVisibility()`)
	b.Until(`page.hud.strip.update({ ...page.state, link: { ...page.state.link, held: "x", hold: "slow", held_for: [1] } }, 10) ?? /^waiting for player-1$/.test(document.querySelector(".word").textContent)`)
	browser.Value[bool](b, `dispatchEvent(new KeyboardEvent("keydown", { code: "F3" })), true`)
	b.Until(`document.querySelector(".strip").checkVisibility()`)

	if err := other.Do(func(c *player.Client) { c.Leave("") }); err != nil {
		t.Fatal(err)
	}
	b.Until(`document.querySelector(".verdict").checkVisibility() && document.querySelector(".verdict h2").textContent === "Victory"`)
	b.Until(`document.querySelectorAll(".verdict polyline").length === 6 && document.querySelectorAll(".verdict tbody tr").length === 2`)
	b.Until(`globalThis.heard.includes("victory")`)
	b.Shot("verdict")
	browser.Value[bool](b, `localStorage.setItem("samestep token", "token-of-the-admin"), [...document.querySelectorAll(".verdict button")].find((button) => button.textContent === "Rematch").click(), true`)
	b.Until(`location.hash === "#/play/arena.2"`)
}
