//go:build !js && !wasip1

package web_test

import (
	"fmt"
	"testing"

	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/internal/testing/browser"
	"github.com/seed-49bee653/samestep/lockstep/host"
)

// A server that sends views only: the page sees its team's units and no others, gives orders, comes back after a lost connection, and
// says where the other panels would be that there is no state.
func TestPlayByViews(t *testing.T) {
	s := newStage(t, setup{host: host.Options{Views: host.ViewPolicy{Only: true}}})
	b := s.play(0)
	if got := browser.Value[string](b, `page.state.views`); got != "team:0" {
		t.Errorf("the page sees as %q", got)
	}
	b.Shown(".news", "You are sent what you may see, and nothing else")
	own := browser.World(s.Stage, func(w *skirmish.World) (n int) {
		for i := range w.Units {
			if w.Units[i].Team == 0 {
				n++
			}
		}
		return n
	})
	if hidden := browser.Value[bool](b, `page.hud.sums.checkVisibility()`); hidden {
		t.Error("there is a panel of checksums")
	}
	if n := browser.Value[int](b, `page.state.match.units`); n != own {
		t.Errorf("the page knows %d units, and its team has %d", n, own)
	}
	workers := selectUnits(b, 0, int(skirmish.Worker))
	moved := func(from []spot) {
		t.Helper()
		x, y := from[0].X+120, from[0].Y+60
		rightClick(b, x, y)
		s.until("the order has come", func(w *skirmish.World) bool {
			for i := range w.Units {
				if u := &w.Units[i]; u.ID == from[0].ID {
					return u.Task == skirmish.Moving || u.Goal != u.Home
				}
			}
			return false
		})
		b.Until(fmt.Sprintf(`(() => { const { frame } = page.renderer; for (let i = frame.units.start; i < frame.units.end; i += 6) if (frame.words[i + 2] === %d)
			return Math.hypot((frame.words[i] / 1024 - frame.x) * frame.cell + innerWidth / 2 - %f, (frame.words[i + 1] / 1024 - frame.y) * frame.cell + innerHeight / 2 - %f) > 10; })()`, from[0].ID, from[0].X, from[0].Y))
	}
	moved(workers)
	browser.Value[bool](b, `samestep.cut(), true`)
	b.Until(`page.state.link.state !== "live"`)
	b.Until(live)
	b.Until(`page.state.link.losses === 1`)
	tick := browser.Value[int](b, `page.state.net.tick`)
	b.Until(fmt.Sprintf(`page.state.net.tick > %d`, tick+20))
	if n := browser.Value[int](b, `page.state.match.units`); n != own {
		t.Errorf("the page knows %d units, and its team has %d", n, own)
	}
	b.Shot("views")
}

// The address asks for views of any match. A spectator of players who share their sight sees everything, and another browser simulates the same match.
func TestWatchByViews(t *testing.T) {
	s := newStage(t, setup{host: host.Options{AnonymousSpectators: true}})
	s.bot(0)
	s.bot(1)
	b := browser.Open(t, s.URL+"/#/watch/arena?feed=1")
	b.Until(live)
	if got := browser.Value[string](b, `page.state.views`); got != "spectator" {
		t.Errorf("the page sees as %q", got)
	}
	var units int
	s.until("the match goes on", func(w *skirmish.World) bool { units = len(w.Units); return w.Match.Tick > 40 })
	b.Until(`page.state.net.tick > 40`)
	if n := browser.Value[int](b, `page.state.match.units`); n < units/2 {
		t.Errorf("the page knows %d of %d units", n, units)
	}
	full := browser.Open(t, s.URL+"/#/watch/arena")
	full.Until(live)
	if got := browser.Value[string](full, `page.state.views`); got != "" {
		t.Errorf("without feed=1 the page sees as %q", got)
	}
	if got := browser.Value[bool](full, `page.hud.sums.checkVisibility()`); !got {
		t.Error("there is no panel of checksums")
	}
}

// The token of a coach is for views: the page asks for them when the server says so.
func TestCoachByViews(t *testing.T) {
	s := newStage(t, setup{})
	b := browser.Open(t, s.URL+"/#/watch/arena?token=token-of-coach-1", "WebSocket")
	b.Until(live + ` && page.state.views === "player:1" && page.renderer.frame.team === 1`)
	b.Shown(".news", "You are sent what you may see, and nothing else")
	if n := browser.Value[int](b, `page.state.match.units`); n < 40 || n > 60 {
		t.Errorf("the page knows %d of 100 units", n)
	}
}

// The address of a replay has whose sight is shown.
func TestSightInAddress(t *testing.T) {
	s := newStage(t, setup{})
	s.recorded("duel.ssr")
	b := browser.Open(t, s.URL+"/#/replay/duel.ssr?t=300&sight=1")
	b.At(300)
	b.Until(`viewer.sight.value === "1" && viewer.renderer.frame?.team === 1`)
	browser.Value[bool](b, `viewer.sight.value = "255", viewer.sight.dispatchEvent(new Event("change")), viewer.go(310), true`)
	b.At(310)
	b.Until(`viewer.renderer.frame.team === 255 && !new URLSearchParams(location.hash.replace(/.*[?]/, "")).has("sight")`)
}
