package line

import (
	"context"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/desync/probe/program"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/replay"
)

// BenchmarkRecordedTick compares how long a tick of skirmish takes while it is recorded, with its files, and in a program without
// probes: the shortest of each, because a long one is interrupted more. Both come from the beginning of the match.
func BenchmarkRecordedTick(b *testing.B) {
	const tick = 50
	if testing.Short() {
		b.Skip("short: builds a game with probes")
	}
	match := playedGame("skirmish")
	f, err := replay.Open(match.record(b, b.TempDir()))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	s := &search{file: f, folder: b.TempDir(), result: &Result{}}
	log, err := s.log("log", 0, tick)
	if err != nil {
		b.Fatal(err)
	}
	woven := &side{dir: filepath.Join("..", ".."), folder: b.TempDir()}
	testenv.Or(b, "the go command", woven.build(context.Background(), match.game.Name()))
	var bare, recorded []float64 // seconds
	var events int
	for b.Loop() {
		done, err := woven.run(context.Background(), "tick", program.Job{Kind: program.Trace, Log: log, Tick: tick, Warm: true})
		if err != nil {
			b.Fatal(err)
		}
		r := done.result.Runs[0]
		took, hash := bareTick(b, f, match, tick)
		if events = r.Events; hash != r.Hash || events < 1000 {
			b.Fatalf("got %+v, want the state %x", r, hash)
		}
		bare, recorded = append(bare, took.Seconds()), append(recorded, r.StepSeconds)
	}
	b.ReportMetric(0, "ns/op") // of programs
	b.ReportMetric(slices.Min(recorded)/slices.Min(bare), "x/bare-tick")
	b.ReportMetric(slices.Min(recorded)*1e9/float64(events), "ns/event")
	b.ReportMetric(float64(events), "events")
}

// bareTick computes a tick of a match, and returns how long that took, and the hash of the state after it.
func bareTick(b *testing.B, f *replay.File, match played, tick uint32) (time.Duration, uint64) {
	in, err := f.Reader()
	if err != nil {
		b.Fatal(err)
	}
	c, err := replay.NewCursor(in, match.game, 0)
	for err == nil && uint32(c.Tick()) < tick-1 {
		err = c.Step()
	}
	if err != nil {
		b.Fatal(err)
	}
	frame, err := c.Frame()
	if err != nil {
		b.Fatal(err)
	}
	from := time.Now()
	err = c.Simulation().Step(frame)
	took := time.Since(from)
	if err != nil {
		b.Fatal(err)
	}
	return took, c.Simulation().Hash()
}
