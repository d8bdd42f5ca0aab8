package replay_test

import (
	"bytes"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/replay"
)

// BenchmarkVerifyParallel measures the speedup of verifying a battle on all processors instead of one:
//
//	go test ./replay -run xxx -bench VerifyParallel -count 5
func BenchmarkVerifyParallel(b *testing.B) {
	g := lockstep.MustGame(skirmish.Rules())
	config := skirmish.Defaults(4, 1000)
	s := lockstep.DefaultSettings(4)
	s.KeyframeEvery = 300
	h, err := g.NewHeader(lockstep.MatchID{4}, s, &config)
	if err != nil {
		b.Fatal(err)
	}
	var file bytes.Buffer
	w := replay.NewWriter(&file, replay.WriterOptions{})
	c, err := coordinator.New(g, h, w, coordinator.Options{})
	if err != nil {
		b.Fatal(err)
	}
	for p := range lockstep.Player(4) {
		if _, err := c.Join(p); err != nil {
			b.Fatal(err)
		}
	}
	for range 6000 {
		if _, err := c.Tick(); err != nil {
			b.Fatal(err)
		}
	}
	if err := c.End("over"); err != nil {
		b.Fatal(err)
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	verify := func(workers int) time.Duration {
		from := time.Now()
		if _, err := replay.Verify(open(b, file.Bytes()), g, replay.VerifyOptions{Workers: workers}); err != nil {
			b.Fatal(err)
		}
		return time.Since(from)
	}
	var ratios []float64
	for b.Loop() {
		ratios = append(ratios, float64(verify(1))/float64(verify(runtime.NumCPU())))
	}
	slices.Sort(ratios)
	b.ReportMetric(0, "ns/op") // of both together
	b.ReportMetric(ratios[len(ratios)/2], "x/one-worker")
	b.ReportMetric(float64(runtime.NumCPU()), "workers")
}
