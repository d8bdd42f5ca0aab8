//go:build !js && !wasip1

package web_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/internal/testing/browser"
	"github.com/seed-49bee653/samestep/lockstep"
)

// TestFeedFigures prints the processor time of the page's thread while it plays a match of 1,000 units, as it simulates the match and as
// it sees it by views: SAMESTEP_BROWSER_FIGURES=1 go test ./examples/skirmish/web -run FeedFigures -v
func TestFeedFigures(t *testing.T) {
	if os.Getenv(FiguresVariable) == "" {
		t.Skipf("measures for minutes; set %s=1", FiguresVariable)
	}
	s := newStage(t, setup{players: 4, units: 1000})
	for p := range lockstep.Player(3) {
		s.bot(p + 1)
	}
	const times, each = 2, 8 * time.Second
	var sums [2][2]float64 // by page; with and without drawing
	addresses := [2]string{"", "&feed=1"}
	for n := range 2 * times {
		for _, i := range [2]int{n % 2, 1 - n%2} { // each is the first as often as the other: the match goes on meanwhile
			b := browser.Open(t, s.URL+"/#/play/arena?token=token-of-player-0"+addresses[i])
			b.Do(chromedp.EmulateViewport(1280, 800))
			b.Until(live)
			for k := range 2 {
				if k == 1 {
					browser.Value[bool](b, `(() => { // without the picture, but all that it needs, ten times a second
						cancelAnimationFrame(page.next);
						const bytes = new Uint8Array(1 << 20);
						setInterval(() => samestep.frame(bytes, 1280, 800, 0, 0, -1, -1, false), 100);
						return true;
					})()`)
				}
				time.Sleep(time.Second)
				from, at := b.Busy(), time.Now()
				time.Sleep(each)
				sums[i][k] += (b.Busy() - from) / time.Since(at).Seconds()
			}
			b.Do(chromedp.Navigate("about:blank"))
		}
	}
	t.Logf("%d units at the end", browser.World(s.Stage, func(w *skirmish.World) int { return len(w.Units) }))
	for k, what := range []string{"with the picture", "without it"} {
		full, thin := 100*sums[0][k]/(2*times), 100*sums[1][k]/(2*times)
		t.Logf("%-20s simulating %5.1f %% of a processor, by views %5.1f %%: %s", what, full, thin, fmt.Sprintf("1/%.1f, want 1/4", full/thin))
	}
}
