//go:build !js && !wasip1

package web_test

import (
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/seed-49bee653/samestep/internal/testing/browser"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
)

// A match that waits for slow players says for whom, and for how long, when nothing reaches the page of one. It goes on with that page.
func TestWaitForStalledPage(t *testing.T) {
	testenv.Night(t)
	pace := host.Rate{N: int(40 * lockstep.Second), Per: 60 * lockstep.Second, Burst: int(40 * lockstep.Second)}
	s := newStage(t, setup{host: host.Options{Wait: host.WaitPolicy{Bound: 30 * lockstep.Second}, Rates: host.Rates{Pace: pace}}})
	b, other := s.play(0), browser.Open(t, "about:blank")
	other.Before(silence)
	other.Do(chromedp.Navigate(s.URL + "/#/play/arena?token=token-of-player-1"))
	other.Until(live)
	b.Until(`page.state.seats.length === 2`)
	other.Agree(1)
	browser.Value[bool](other, `globalThis.silent = true`)
	b.Until(`/^Waiting for player-1, [1-9]\d* s of [1-3]\d$/.test(page.hud.banner.checkVisibility() && page.hud.banner.textContent)`)
	b.Until(`document.querySelector(".word").textContent === "waiting for player-1"`)
	b.Shot("waiting")
	browser.Value[bool](other, `speak()`)
	b.Until(`!page.state.link.held && !page.hud.banner.checkVisibility()`)
	b.Agree(1)
	other.Agree(1)
	for _, tab := range []*browser.Tab{b, other} {
		tab.NeverDiffered()
		tab.Until(`page.state.net.seat >= 0`)
	}
}

// A page whose server is away for more than 20 s comes back to its seat by itself, and so does one whose network is away. While the
// network is away, the button to try again does no harm.
func TestLongAbsence(t *testing.T) {
	testenv.Night(t)
	s := newStage(t, setup{host: host.Options{Grace: 300 * lockstep.Second}})
	b := browser.Open(t, s.URL+"/#/play/arena?token=token-of-player-0", "WebSocket connection to", "ERR_")
	b.Until(live)
	b.Agree(1)
	back := func(losses string) {
		b.Until(live + ` && page.state.net.seat === 0 && page.state.link.losses >= ` + losses)
		b.Agree(1)
		b.NeverDiffered()
	}
	s.Closed.Store(true)
	s.Cut()
	b.Until(`page.state.link.state === "lost" && page.state.link.lost_ms > 21000`)
	b.Shown(".banner", "Your seat is kept for")
	if wait := browser.Value[int](b, `page.state.link.retry_ms`); wait > 20000 {
		t.Errorf("the next attempt is in %d ms", wait)
	}
	s.Closed.Store(false)
	back("1")

	b.Offline(true)
	s.Cut()
	b.Shown(".banner", "Disconnected")
	b.Until(`page.state.link.attempt >= 4 && page.state.link.retry_ms > 3000`)
	browser.Value[bool](b, `(() => {
		const { link } = page.state, from = performance.now();
		globalThis.tried = { due: link.retry_ms };
		const look = setInterval(() => page.state.link.attempt !== link.attempt && (clearInterval(look), tried.after = performance.now() - from), 20);
		document.querySelector(".banner button").click(); // try again now
		return true;
	})()`)
	b.Until(`tried.after`)
	b.Shown(".banner", "Disconnected")
	if after, due := browser.Value[float64](b, `tried.after`), browser.Value[float64](b, `tried.due`); after >= due {
		t.Errorf("it tries again after %.0f ms, when the next attempt was due in %.0f ms", after, due)
	}
	b.Offline(false)
	back("2")
}

// The camera scrolls to the edge of the map above the bottom panel, whatever is selected.
func TestPanelAboveTheEdge(t *testing.T) {
	testenv.Night(t)
	s := newStage(t, setup{})
	b := s.play(0)
	const free = `(() => {
		const { frame } = page.renderer, edge = (frame.size - frame.y) * frame.cell + innerHeight / 2;
		const panel = document.querySelector(".bottom").getBoundingClientRect(), strip = page.hud.strip.element;
		return edge <= (strip.checkVisibility() ? Math.min(panel.top, strip.getBoundingClientRect().top) : panel.top);
	})()`
	for _, screen := range []struct{ width, height int64 }{{1280, 800}, {820, 1180}, {390, 844}, {844, 390}} {
		b.Do(chromedp.EmulateViewport(screen.width, screen.height))
		for _, keys := range []string{"\x1b", "1", "a"} {
			b.Keys(keys)
			for _, zoom := range []string{"4000", "300", "100"} {
				browser.Value[bool](b, `samestep.zoom(`+zoom+`, innerWidth / 2, innerHeight / 2), globalThis.seen = page.renderer.drawn, true`)
				b.Until(`page.renderer.drawn > seen + 2`)
				browser.Value[bool](b, `samestep.pan(0, 1e6), globalThis.seen = page.renderer.drawn, true`)
				b.Until(`page.renderer.drawn > seen + 2`)
				if !browser.Value[bool](b, free) {
					t.Errorf("%d × %d after key %q and zoom %s: the panel covers the edge of the map", screen.width, screen.height, keys, zoom)
				}
			}
		}
	}
	b.Shot("edge")
	b.Until(`(page.covered = { ...page.covered, below: 0 }) && !` + free) // control: where the camera does not know the panel
}
