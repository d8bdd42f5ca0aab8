package replay_test

import (
	"bytes"
	"testing"

	testgame "github.com/seed-49bee653/samestep/internal/testing/dots"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/replay"
)

// The game of this package's tests.
type (
	dots       = testgame.State
	dot        = testgame.Dot
	walk       = testgame.Walk
	dotsConfig = testgame.Config
)

var (
	dotsRules   = testgame.Rules
	newDots     = testgame.New
	recordMatch = testgame.Record
	finish      = testgame.Finish
	open        = testgame.Open
	copyRecords = testgame.Copy
	change      = testgame.Rewrite
)

// recordQuiet plays a match without player commands.
func recordQuiet(tb testing.TB, ticks int, s lockstep.Settings) int {
	tb.Helper()
	g, h := newDots(tb, s)
	var file bytes.Buffer
	w := replay.NewWriter(&file, replay.WriterOptions{FlushTicks: 1 << 30})
	c, err := coordinator.New(g, h, w, coordinator.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	for range ticks {
		if _, err := c.Tick(); err != nil {
			tb.Fatal(err)
		}
	}
	if err := c.End("done"); err != nil {
		tb.Fatal(err)
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return file.Len()
}
