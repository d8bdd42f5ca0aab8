//go:build !js && !wasip1

package web_test

import (
	"fmt"
	"strings"
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
	browser.Value[bool](b, `globalThis.hint = page.hud.hints.update.bind(page.hud.hints), page.hud.hints.update = () => {}, true`)
	for _, row := range []struct {
		event string
		army  int
		words string
	}{
		{`sort: "order", kind: "gather"`, 4, "Crystals buy more workers"},
		{`sort: "order", kind: "train"`, 4, "Soldiers need a barracks"},
		{`sort: "order", kind: "build"`, 4, ""}, // until there is one
		{`sort: "built", kind: "barracks", own: false`, 4, ""},
		{`sort: "built", kind: "barracks", own: true`, 4, "Click your barracks and press Soldier"},
		{`sort: "made"`, 10, "Attack: select your army (F), press A"},
		{`sort: "lost"`, 9, ""},
		{`sort: "order", kind: "attack"`, 10, ""},
	} {
		got := browser.Value[string](b, fmt.Sprintf(`happen({ x: -1, y: -1, %[1]s }), hint({ ...page.state.panel, account: { ...page.state.panel.account, army: %[2]d } }, [{ %[1]s }]), page.hud.hints.element.hidden ? "" : page.hud.hints.words.textContent`, row.event, row.army))
		if !strings.HasPrefix(got, row.words) || row.words == "" && got != "" {
			t.Errorf("after {%s} and with an army of %d: got the hint %q, want %q", row.event, row.army, got, row.words)
		}
	}
	b.Until(`!document.querySelector(".tip").checkVisibility() && localStorage.getItem("samestep hints").includes("gather worker build soldiers attack")`)
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
