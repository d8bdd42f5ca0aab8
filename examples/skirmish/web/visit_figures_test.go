//go:build !js && !wasip1

package web_test

import (
	"os"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/seed-49bee653/samestep/internal/testing/browser"
)

// TestFirstVisit prints how soon a visitor without a cache sees the lobby and the battle behind its title, and when the program runs:
// SAMESTEP_BROWSER_FIGURES=1 go test ./examples/skirmish/web -run FirstVisit -v
func TestFirstVisit(t *testing.T) {
	if os.Getenv(FiguresVariable) == "" {
		t.Skipf("measures for seconds; set %s=1", FiguresVariable)
	}
	s := newStage(t, setup{})
	for _, row := range []struct {
		what, want string
		megabits   float64 // a second; 0 without a limit
	}{{"loopback", "<= 2 s", 0}, {"9 Mbit/s, 40 ms", "<= 3 s", 9}} {
		b := browser.Open(t, "about:blank")
		if row.megabits > 0 {
			b.Slow(row.megabits, 40)
		}
		b.Before(`const look = () => {
			if (!globalThis.lobbyAt && document.querySelector("#now")?.checkVisibility()) globalThis.lobbyAt = performance.now();
			if (!globalThis.movesAt && globalThis.backdrop?.renderer.drawn > 1) globalThis.movesAt = performance.now();
			if (globalThis.samestep) globalThis.runsAt = performance.now();
			if (!globalThis.movesAt || !globalThis.runsAt) setTimeout(look, 5);
		};
		look();`)
		b.Do(chromedp.Navigate(s.URL))
		b.Until(`globalThis.movesAt && globalThis.runsAt`)
		seconds := func(at string) float64 { return browser.Value[float64](b, at) / 1000 }
		t.Logf("%-16s the lobby after %.2f s, a moving picture after %.2f s (want %s), the program after %.2f s", row.what,
			seconds("lobbyAt"), seconds("movesAt"), row.want, seconds("runsAt"))
	}
}
