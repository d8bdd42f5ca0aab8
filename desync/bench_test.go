package desync_test

import (
	"testing"

	"github.com/seed-49bee653/samestep/desync"
)

// BenchmarkExplain explains a bundle whose cause is found, and one for which every search fails:
//
//	go test ./desync -run '^$' -bench Explain
func BenchmarkExplain(b *testing.B) {
	for _, row := range []struct {
		name  string
		fault fault
	}{
		{"altered", func(w *world, t *turn, step step) bool { step(w, t); w.Units[5].Health--; return true }},
		{"in vain", func(w *world, t *turn, step step) bool { step(w, t); w.Units[t.Tick%5].Health--; return false }},
	} {
		b.Run(row.name, func(b *testing.B) {
			x := newTable(b, row.fault, false)
			x.play(b, 400)
			archive := x.bundle(b)
			for b.Loop() {
				e, err := explain(archive, desync.Options{Game: findGame})
				if err != nil || (e.Cause != nil) != (row.name == "altered") {
					b.Fatal(err)
				}
				b.ReportMetric(float64(e.Trials), "ticks/op")
			}
		})
	}
}
