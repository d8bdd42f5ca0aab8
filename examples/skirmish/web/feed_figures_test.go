//go:build !js && !wasip1

package web_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

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
	const times, each = 3, 10 * time.Second
	var sums [2][2]float64 // by page; with and without drawing
	for range times {
		for i, address := range []string{"", "&feed=1"} {
			b := browser.Open(t, s.URL+"/#/play/arena?token=token-of-player-0"+address)
			b.Do(chromedp.EmulateViewport(1280, 800))
			b.Until(live)
			for k := range 2 {
				if k == 1 {
					browser.Value[bool](b, `cancelAnimationFrame(page.next), true`)
				}
				time.Sleep(time.Second)
				from, at := b.Busy(), time.Now()
				time.Sleep(each)
				sums[i][k] += (b.Busy() - from) / time.Since(at).Seconds()
			}
			b.Do(chromedp.Navigate("about:blank"))
		}
	}
	for k, what := range []string{"with the picture", "without it"} {
		full, thin := 100*sums[0][k]/times, 100*sums[1][k]/times
		t.Logf("%-20s simulating %5.1f %% of a processor, by views %5.1f %%: %s", what, full, thin, fmt.Sprintf("1/%.1f, want 1/4", full/thin))
	}
}
