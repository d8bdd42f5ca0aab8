//go:build !js && !wasip1

package web_test

import (
	"os"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/seed-49bee653/samestep/internal/testing/browser"
)

// TestFirstVisit prints how soon a visitor sees the lobby and the battle behind its title, without a cache:
// SAMESTEP_BROWSER_FIGURES=1 go test ./examples/skirmish/web -run FirstVisit -v
func TestFirstVisit(t *testing.T) {
	if os.Getenv(FiguresVariable) == "" {
		t.Skipf("measures for seconds; set %s=1", FiguresVariable)
	}
	s := newStage(t, setup{})
	for _, row := range []struct {
		what, want string
		megabits   float64 // a second; 0 without a limit
	}{{"loopback", "<= 2 s", 0}, {"9 Mbit/s, 40 ms", "<= 6 s", 9}} {
		b := browser.Open(t, "about:blank")
		if row.megabits > 0 {
			b.Slow(row.megabits, 40)
		}
		b.Before(`const look = () => {
			if (!globalThis.lobbyAt && document.querySelector("#now")?.checkVisibility()) globalThis.lobbyAt = performance.now();
			if (globalThis.backdrop?.renderer.drawn > 1) globalThis.movesAt = performance.now();
			else setTimeout(look, 5);
		};
		look();`)
		b.Do(chromedp.Navigate(s.URL))
		b.Until(`globalThis.movesAt`)
		t.Logf("%-16s the lobby after %.2f s, a moving picture after %.2f s   want %s", row.what,
			browser.Value[float64](b, "lobbyAt")/1000, browser.Value[float64](b, "movesAt")/1000, row.want)
	}
}
