//go:build !js && !wasip1

package web_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/lockstep"
)

// live is true when the page plays or watches a match, and has drawn it.
const live = `page.state && page.state.link.state === "live" && page.state.panel && page.renderer.drawn > 0`

// play opens the match as a player.
func (s *stage) play(seat int) *tab {
	s.t.Helper()
	b := newTab(s.t, fmt.Sprintf("%s/#/play/arena?token=token-of-player-%d", s.url, seat))
	b.until(live)
	return b
}

// agree waits until n more checksums of the page agree with the match.
func (b *tab) agree(more int) {
	b.t.Helper()
	before := value[int](b, "page.state.net.agreed")
	b.until(fmt.Sprintf("page.state.net.agreed >= %d", before+more))
}

// neverDiffered fails the test if a checksum of the page differed from the match.
func (b *tab) neverDiffered() {
	b.t.Helper()
	if n := value[int](b, "page.state.net.differing"); n != 0 {
		b.t.Errorf("%d checksums differ", n)
	}
}

// A spot is a unit and its place on the screen.
type spot struct {
	ID   skirmish.UnitID
	X, Y float64
}

// units returns the player's units of a kind that no panel covers.
func (b *tab) units(owner, kind int) []spot {
	b.t.Helper()
	return value[[]spot](b, fmt.Sprintf(`(() => {
		const { frame } = page.renderer, units = [];
		for (let i = frame.units.start; i < frame.units.end; i += 6) {
			const look = frame.words[i + 3];
			if ((look & 255) !== %d || ((look >> 8) & 255) !== %d) continue;
			const X = (frame.words[i] / 1024 - frame.x) * frame.cell + innerWidth / 2, Y = (frame.words[i + 1] / 1024 - frame.y) * frame.cell + innerHeight / 2;
			if (document.elementFromPoint(X, Y) === page.moving) units.push({ ID: frame.words[i + 2], X, Y });
		}
		return units;
	})()`, kind, owner))
}

// rightClick clicks with the right button.
func (b *tab) rightClick(x, y float64) {
	b.t.Helper()
	b.do(chromedp.MouseClickXY(x, y, chromedp.ButtonRight))
}

// selectUnits drags a box around units until they are selected.
func (b *tab) selectUnits(owner, kind int) []spot {
	b.t.Helper()
	b.until(fmt.Sprintf(`(() => { const { frame } = page.renderer; for (let i = frame.units.start; i < frame.units.end; i += 6) if ((frame.words[i + 3] & 0xffff) === %d) return true; })()`, kind|owner<<8))
	units := b.units(owner, kind)
	if len(units) == 0 {
		b.shot("nobody")
		b.t.Fatal("no unit is where it can be clicked")
	}
	left, top, right, bottom := units[0].X, units[0].Y, units[0].X, units[0].Y
	for _, u := range units {
		left, top, right, bottom = min(left, u.X), min(top, u.Y), max(right, u.X), max(bottom, u.Y)
	}
	b.do(
		chromedp.MouseEvent(chromedp.MousePressed, left-12, top-12, chromedp.ButtonLeft, chromedp.ClickCount(1)),
		chromedp.MouseEvent(chromedp.MouseMoved, (left+right)/2, (top+bottom)/2, chromedp.ButtonLeft),
		chromedp.MouseEvent(chromedp.MouseMoved, right+12, bottom+12, chromedp.ButtonLeft),
		chromedp.MouseEvent(chromedp.MouseReleased, right+12, bottom+12, chromedp.ButtonLeft, chromedp.ClickCount(1)),
	)
	b.until(`page.state.panel.chosen?.length > 0`)
	return units
}

// A user loads the page, joins, selects units with the mouse, gives an order and sees the units move. Page and server
// agree at every check.
func TestPlayByMouse(t *testing.T) {
	s := newStage(t, setup{})
	s.bot(1)
	b := s.play(0)
	units := b.selectUnits(0, int(skirmish.Worker))
	b.shot("selected")
	b.rightClick(640, 300)
	s.until("a worker goes where it was told", func(w *skirmish.World) bool {
		moving := 0
		for i := range w.Units {
			if u := &w.Units[i]; u.Owner == 0 && u.Kind == skirmish.Worker && u.Task == skirmish.Moving {
				moving++
			}
		}
		return moving > 0
	})
	b.until(fmt.Sprintf(`(() => { // some of them is elsewhere on the screen
		const { frame } = page.renderer, was = new Map(%s);
		for (let i = frame.units.start; i < frame.units.end; i += 6) {
			const [x, y] = was.get(frame.words[i + 2]) ?? [];
			const X = (frame.words[i] / 1024 - frame.x) * frame.cell + innerWidth / 2, Y = (frame.words[i + 1] / 1024 - frame.y) * frame.cell + innerHeight / 2;
			if (x !== undefined && Math.hypot(X - x, Y - y) > frame.cell) return true;
		}
	})()`, entries(units)))
	b.agree(2)
	b.neverDiffered()
	b.shot("moved")
	b.dark(true)
	b.shot("dark")
}

// entries returns the places of units as a JavaScript value.
func entries(units []spot) string {
	text := "["
	for _, u := range units {
		text += fmt.Sprintf("[%d,[%g,%g]],", u.ID, u.X, u.Y)
	}
	return text + "]"
}

// A second page joins late. Both agree with the match.
func TestLateJoin(t *testing.T) {
	s := newStage(t, setup{})
	s.bot(1)
	first := s.play(0)
	s.until("three seconds of the match", func(w *skirmish.World) bool { return w.Match.Tick > 60 })
	second := newTab(t, s.url+"/#/")
	second.shown("#lobby .cards", "arena")
	second.click(`#lobby .cards button:not(.main)`)
	second.until(live)
	second.agree(2)
	first.agree(2)
	second.neverDiffered()
	first.neverDiffered()
	if seat := value[int](second, "page.state.net.seat"); seat != -1 {
		t.Errorf("who watches has seat %d", seat)
	}
	second.shot("watching")
}

// The connection fails for a while. The page shows it, reconnects, and plays on.
func TestCutAndResume(t *testing.T) {
	s := newStage(t, setup{})
	b := newTab(t, s.url+"/#/play/arena?token=token-of-player-0", "WebSocket connection to")
	b.until(live)
	b.agree(1)
	s.closed.Store(true)
	s.cut()
	b.shown(".banner", "Disconnected")
	b.shown(".banner", "attempt")
	b.until(`page.state.link.attempt >= 2`)
	b.shot("lost")
	s.closed.Store(false)
	b.until(live + ` && page.state.link.losses > 0`)
	b.agree(2)
	b.neverDiffered()
	if seat := value[int](b, "page.state.net.seat"); seat != 0 {
		t.Errorf("after the cut: got seat %d, want 0", seat)
	}
}

// A planted desync is found, explained and repaired. Other players notice nothing.
func TestCorruptAndHeal(t *testing.T) {
	s := newStage(t, setup{})
	b, other := s.play(0), s.play(1)
	b.agree(1)
	b.click(`.menu button[title^="checksums"]`)
	b.click(`#corrupt`)
	b.shown(".report", "Found at tick")
	b.shown(".report", "Units")
	b.shown(".report", "Health")
	b.shown(".report", "Repaired")
	b.agree(2)
	b.shot("healed")
	other.agree(2)
	other.neverDiffered()
	if value[int](b, "page.state.net.differing") == 0 {
		t.Error("the page did not count its desync")
	}
}

// A user who cannot join sees the reason, and can watch.
func TestBadTickets(t *testing.T) {
	s := newStage(t, setup{players: 1})
	<-s.bot(0).Ready()
	for _, row := range []struct{ name, token, says string }{
		{"wrong token", "token-that-nobody-has", "token"},
		{"full match", "token-of-a-guest", "seat"},
	} {
		t.Run(row.name, func(t *testing.T) {
			b := newTab(t, s.url+"/#/play/arena?token="+row.token)
			b.shown(".banner.failed", row.says)
			b.shot("refused")
			b.click(`.banner a[href^="#/watch"]`)
			b.until(live)
			b.agree(1)
			b.neverDiffered()
		})
	}
	t.Run("no such match", func(t *testing.T) {
		b := newTab(t, s.url+"/#/watch/nowhere")
		b.shown(".banner.failed", "no such match")
		b.shot("nowhere")
		b.click(`.banner a[href="#/"]`)
		b.shown("#lobby .cards", "arena")
	})
}

// A page with another build is refused, with the difference.
func TestOtherBuild(t *testing.T) {
	s := newStage(t, setup{rules: func(r *lockstep.Rules[skirmish.World, skirmish.Config]) { r.Build = "2-of-tomorrow" }})
	b := newTab(t, s.url+"/#/play/arena?token=token-of-player-0")
	b.shown(".banner.failed", "build")
	b.shot("refused")
	b.click(`.banner a[href="#/"]`)
	b.shown("#lobby .cards", "arena")
}

// A user joins from the lobby and gives an order without a mouse.
func TestPlayByKeyboard(t *testing.T) {
	s := newStage(t, setup{})
	b := newTab(t, s.url)
	b.shown("#lobby .cards", "arena")
	b.tabTo(`e => e.id === "token"`)
	b.keys("token-of-player-0")
	b.tabTo(`e => e.textContent === "Play"`)
	b.keys("\r")
	b.until(live + ` && document.activeElement === page.moving`)
	b.keys("1") // the first group of the army
	b.until(`page.state.panel.chosen?.length > 0`)
	b.keys("\r") // go to the middle of the screen
	s.until("the group goes", func(w *skirmish.World) bool {
		moving := 0
		for i := range w.Units {
			if u := &w.Units[i]; u.Owner == 0 && u.Group == 1 && u.Task != skirmish.Idle {
				moving++
			}
		}
		return moving > 3
	})
	b.agree(1)
	b.neverDiffered()
	b.shot("ordered")
	b.tabTo(`e => e.textContent === "Leave"`)
	b.keys("\r")
	b.shown(".question", "Leave the match?")
	b.keys("\r")
	b.shown("#lobby .cards", "arena")
}

// tabTo presses the tab key until an element has the focus.
func (b *tab) tabTo(is string) {
	b.t.Helper()
	for range 40 {
		if value[bool](b, "("+is+")(document.activeElement)") {
			return
		}
		b.keys(kb.Tab)
	}
	b.shot("unreachable")
	b.t.Fatalf("not reached within 40 tabs: %s", is)
}

// An admin creates a match in the lobby; a player sees that this is not allowed.
func TestBeginMatch(t *testing.T) {
	s := newStage(t, setup{})
	b := newTab(t, s.url, "403")
	b.click("#lobby summary")
	b.do(chromedp.SetValue(chromedp.CSS(`[name="name"]`), "second"))
	b.do(chromedp.SendKeys(chromedp.CSS(`[name="token"]`), "token-of-player-0"))
	b.click(`#lobby form [type="submit"]`)
	b.shown(`#lobby [role="alert"]`, "only an admin can create a match")
	b.do(chromedp.SetValue(chromedp.CSS(`[name="token"]`), "token-of-the-admin"))
	b.click(`#lobby form [type="submit"]`)
	b.shown("#lobby .cards", "second")
	b.shot("lobby")
	b.dark(true)
	b.do(chromedp.EmulateViewport(820, 1180, chromedp.EmulateTouch))
	b.shot("tablet")
}
