//go:build unix

package line

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/desync/probe/program"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

// BenchmarkRecordedTick compares how much processor time a tick of skirmish takes while it is recorded, with its files, and in a
// program without probes. One program records the tick many times, another one once: the difference has no start in it, and, as
// time of the processor, no waiting.
func BenchmarkRecordedTick(b *testing.B) {
	const tick, times = 50, 50
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
	bare, hash := bareTick(b, f, match, tick)
	var recorded []float64 // seconds
	var events int
	trace := func(runs int) time.Duration {
		from := childrenTime(b)
		done, err := woven.run(context.Background(), "tick", program.Job{Kind: program.Trace, Log: log, Tick: tick, Runs: runs})
		took := childrenTime(b) - from
		if err != nil {
			b.Fatal(err)
		}
		r := done.result.Runs[0]
		if events = r.Events; done.result.Tried != runs || hash != r.Hash || events < 1000 {
			b.Fatalf("got %d runs of %+v, want the state %x", done.result.Tried, r, hash)
		}
		return took
	}
	for b.Loop() {
		recorded = append(recorded, (trace(1+times)-trace(1)).Seconds()/times)
	}
	b.ReportMetric(0, "ns/op") // of programs
	b.ReportMetric(slices.Min(recorded)*1e3, "ms/tick")
	b.ReportMetric(slices.Min(recorded)/bare.Seconds(), "x/bare-tick")
	b.ReportMetric(slices.Min(recorded)*1e9/float64(events), "ns/event")
	b.ReportMetric(float64(events), "events")
}

// childrenTime returns how long processors have worked for the programs that have ended.
func childrenTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_CHILDREN, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// bareTick computes a tick of a match many times, and returns how long the shortest took, and the hash of the state after it.
func bareTick(b *testing.B, f *replay.File, match played, tick uint32) (shortest time.Duration, hash uint64) {
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
	state := c.Simulation().AppendState(nil)
	for range 200 {
		if err := c.Simulation().Restore(lockstep.Tick(tick-1), state); err != nil {
			b.Fatal(err)
		}
		from := time.Now()
		err := c.Simulation().Step(frame)
		if took := time.Since(from); shortest == 0 || took < shortest {
			shortest = took
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	return shortest, c.Simulation().Hash()
}

// Some machines run no programs of 32 bits. An emulator then runs them, if one is installed.
func TestProgramsThatTheKernelRefuses(t *testing.T) {
	write := func(path, text string) {
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	s := &side{name: "B", folder: t.TempDir()}
	s.binary = filepath.Join(s.folder, "rules.exe")
	write(s.binary, "\x7fELF of no kernel")

	tools := t.TempDir()
	t.Setenv("PATH", tools)
	if _, err := s.run(context.Background(), "job", program.Job{}); err == nil || err.Error() != "line: side B: qemu-i386 is not installed\n" {
		t.Errorf("without an emulator: got error %v", err)
	}
	write(filepath.Join(tools, "qemu-i386"), "#!/bin/sh\necho '{\"Error\": \"run '${1##*/}'\"}' > "+filepath.Join(s.folder, "job", program.ResultFile)+"\n")
	if _, err := s.run(context.Background(), "job", program.Job{}); err == nil || err.Error() != "line: side B: run rules.exe" {
		t.Errorf("with an emulator: got error %v", err)
	}
}
