//go:build !js && !wasip1

package web_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/internal/testing/browser"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
)

// armyWith counts player 0's soldiers and archers with a task.
func armyWith(w *skirmish.World, task skirmish.Task) (n int) {
	for i := range w.Units {
		if u := &w.Units[i]; u.Owner == 0 && (u.Kind == skirmish.Soldier || u.Kind == skirmish.Archer) && u.Task == task {
			n++
		}
	}
	return n
}

// onMinimap presses a button at a place of the minimap, in fractions of its sides.
func onMinimap(b *browser.Tab, x, y float64, button ...chromedp.MouseOption) {
	b.T.Helper()
	at := browser.Value[[]float64](b, fmt.Sprintf(`(r => [r.x + %g * r.width, r.y + %g * r.height])(page.small.getBoundingClientRect())`, x, y))
	b.Do(chromedp.MouseClickXY(at[0], at[1], button...))
}

// Keys do not depend on the focus: a click on the minimap or on a button of the page leaves them alone. The minimap takes
// orders, and an order for more units than a command can list is for all of them.
func TestKeysAndMinimap(t *testing.T) {
	s := newStage(t, setup{units: 1400})
	b := s.play(0)
	onMinimap(b, 0.3, 0.3)
	b.Keys("f")
	b.Until(`page.state.panel.chosen?.reduce((n, k) => n + k.number, 0) > 500`)
	onMinimap(b, 0.9, 0.5, chromedp.ButtonRight)
	s.until("the whole army goes", func(w *skirmish.World) bool {
		return armyWith(w, skirmish.Moving) > 500 && armyWith(w, skirmish.Idle) == 0
	})
	if n := browser.Value[int](b, `document.querySelectorAll(".news .problem").length`); n != 0 {
		t.Errorf("the page tells %d problems", n)
	}

	b.Click(`.menu button[title^="checksums"]`)
	b.Keys("h")
	s.until("the whole army holds", func(w *skirmish.World) bool { return armyWith(w, skirmish.Holding) > 500 })
	b.Keys(" ") // jumps to an event; the button was not reached by Tab
	b.Shown(".side.checks", "agree")
	b.Keys("a")
	b.Until(`samestep.mode() === "attack"`)
	onMinimap(b, 0.9, 0.6)
	s.until("the whole army attacks", func(w *skirmish.World) bool { return armyWith(w, skirmish.AttackMoving) > 500 })

	// the view stays on the map, wherever the minimap is pressed and the pointer rests
	onMinimap(b, 0.01, 0.99)
	before := browser.Value[float64](b, `page.renderer.frame.x`)
	b.Until(fmt.Sprintf(`page.renderer.drawn > %d`, browser.Value[int](b, `page.renderer.drawn`)+10))
	if after := browser.Value[float64](b, `page.renderer.frame.x`); after != before {
		t.Errorf("the map has scrolled from %v to %v under a pointer on the minimap", before, after)
	}

	// groups, and a text field that keeps its keys
	b.Keys("7", chromedp.ModifierCtrl)
	b.Until(`page.state.panel.groups[6] > 500`)
	b.Click(`.menu button[title^="chat"]`)
	b.Keys("as\x1b")
	if mode := browser.Value[string](b, `samestep.mode()`); mode != "" {
		t.Errorf("a letter of the chat has begun %q", mode)
	}
	b.Agree(1)
	b.NeverDiffered()
}

// The user chooses another key, which stays after a reload; a key that is taken is refused. The pointer shows what a click does.
func TestKeysAreChosen(t *testing.T) {
	testenv.Night(t)
	s := newStage(t, setup{})
	b := s.play(0)
	b.Click(`.menu button[title^="shortcuts"]`)
	b.Click(`.help .change`)
	attack := `.keydialog li:nth-child(2) button`
	b.Click(attack)
	b.Keys("m")
	b.Shown(".keydialog .said", "already the key")
	b.Keys("x")
	b.Shown(attack, "X")
	b.Shot("keys")
	b.Click(`.keydialog .main`)
	b.Click(`.help header button`)
	b.Keys("f")
	b.Until(`[...document.querySelectorAll(".buttons button")].some((e) => e.textContent === "XAttack")`)
	if hint := browser.Value[string](b, `(page.hud.hints.done = new Set(["gather", "worker", "build", "soldiers"]), page.hud.hints.update({ ...page.state.panel, account: { ...page.state.panel.account, army: 10 } }, []), page.hud.hints.words.textContent)`); !strings.Contains(hint, "press X, ") {
		t.Errorf("a hint names another key: %q", hint)
	}
	b.Keys("a")
	if mode := browser.Value[string](b, `samestep.mode()`); mode != "" {
		t.Errorf("the old key begins %q", mode)
	}
	b.Keys("x")
	b.Until(`samestep.mode() === "attack"`)
	b.Keys("\x1b")
	base := units(b, 0, int(skirmish.Base))
	if len(base) == 0 {
		t.Fatal("the base is not on the screen, or covered")
	}
	b.Do(chromedp.MouseEvent(chromedp.MouseMoved, base[0].X, base[0].Y, chromedp.ButtonNone))
	b.Until(`page.moving.dataset.aim === "select" && getComputedStyle(page.moving).cursor.includes("cursor-select")`)
	b.Do(chromedp.MouseEvent(chromedp.MouseMoved, base[0].X, base[0].Y+100, chromedp.ButtonNone))
	b.Until(`page.moving.dataset.aim === "move"`)
	b.Do(chromedp.Reload())
	b.Until(live)
	b.Keys("f")
	b.Until(`page.state.panel.chosen?.length > 0`)
	b.Keys("x")
	b.Until(`samestep.mode() === "attack"`)
	b.NeverDiffered()
}

// On a touch screen, a tap selects and a long press gives an order; the words are those of fingers, and buttons are large enough.
func TestTouch(t *testing.T) {
	testenv.Night(t)
	s := newStage(t, setup{})
	b := s.play(0)
	b.Do(chromedp.EmulateViewport(1024, 768, chromedp.EmulateTouch))
	b.Do(chromedp.Reload())
	b.Until(live)
	if says := browser.Value[string](b, `document.querySelector(".help dt").textContent + ", " + document.querySelector(".chosen .hint").textContent`); !strings.HasPrefix(says, "tap, Tap ") {
		t.Errorf("the page says %q", says)
	}
	base := units(b, 0, int(skirmish.Base))
	if len(base) == 0 {
		t.Fatal("the base is not on the screen")
	}
	chosen, deadline := false, time.Now().Add(browser.Patience)
	for !chosen && time.Now().Before(deadline) { // on a busy machine, the worker may go away, or the tap takes too long
		workers := units(b, 0, int(skirmish.Worker))
		if len(workers) == 0 {
			t.Fatal("no worker is on the screen")
		}
		b.Touch(workers[0].X, workers[0].Y, `true`)
		for range 40 {
			if chosen = browser.Value[bool](b, `page.state.panel.chosen?.length === 1`); chosen {
				break
			}
			time.Sleep(25 * time.Millisecond)
		}
	}
	if !chosen {
		t.Fatal("a tap does not select a worker")
	}
	b.Touch(base[0].X, base[0].Y, `performance.now() - (globalThis.pressedAt ??= performance.now()) > 600`)
	s.until("a worker goes", func(w *skirmish.World) bool {
		for i := range w.Units {
			if u := &w.Units[i]; u.Owner == 0 && u.Kind == skirmish.Worker && u.Task == skirmish.Moving {
				return true
			}
		}
		return false
	})
	small := browser.Value[string](b, `[...document.querySelectorAll(".hud button, .hud a.button")].filter((e) => e.checkVisibility() && e.offsetHeight < 44).map((e) => e.textContent).join()`)
	if small != "" {
		t.Errorf("too small for fingers: %s", small)
	}
	b.Shot("touch")
	b.NeverDiffered()
}

// Shift and a digit add to a control group, which without Shift is selected as a whole.
func TestGroupsGrow(t *testing.T) {
	s := newStage(t, setup{})
	b := s.play(0)
	base := units(b, 0, int(skirmish.Base))
	if len(base) == 0 {
		t.Fatal("the base is not on the screen")
	}
	b.Do(chromedp.MouseClickXY(base[0].X, base[0].Y))
	b.Until(fmt.Sprintf(`page.state.panel.one?.id === %d`, base[0].ID))
	b.Keys("1", chromedp.ModifierCtrl)
	b.Until(`page.state.panel.groups[0] === 1`)
	b.Keys("f")
	const chosen = `(page.state.panel.chosen ?? []).reduce((n, k) => n + k.number, 0)`
	b.Until(chosen + ` > 1`)
	army := browser.Value[int](b, chosen)
	b.Keys("1", chromedp.ModifierShift)
	b.Until(fmt.Sprintf(`page.state.panel.groups[0] === %d`, army+1))
	b.Keys("\x1b")
	b.Until(chosen + ` === 0`)
	b.Keys("1")
	b.Until(fmt.Sprintf(chosen+` === %d`, army+1))
}
