package logbench

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/kit/locksteptest"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/flight"
)

// go test ./internal/testing/logbench -bench . -benchtime 5s -count 5
func BenchmarkFigures(b *testing.B) {
	for i := range Figures {
		f := &Figures[i]
		b.Run(f.Name, func(b *testing.B) {
			r, err := f.Start()
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if err := r.Round(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(0, "ns/op") // of both sides together
			b.ReportMetric(r.Ratio(), "x")
		})
	}
}

// A small game, whose players give random commands.
func coins() *Subject {
	g, config := lockstep.MustGame(minimal.Rules()), &minimal.Config{Size: 32, Coins: 200}
	return &Subject{Game: g, Config: config, Players: 2, Bot: locksteptest.RandomBot(g, 4, nil), Loop: NewLoop(minimal.Rules())}
}

// The bare loop of any game computes the same match as the engine.
func TestLoop(t *testing.T) {
	s := coins()
	var last []byte
	s.seen = func(sim *lockstep.Simulation) { last = sim.AppendState(last[:0]) }
	b, err := newBattle(s, 20)
	if err != nil {
		t.Fatal(err)
	}
	l := b.Loop()
	if err := b.bare(l); err != nil {
		t.Fatal(err)
	}
	commands := 0
	for part := range b.parts() {
		b.step(l, part)
	}
	for i := range b.turns {
		commands += len(b.turns[i].Commands)
	}
	if got := l.Append(nil); !bytes.Equal(got, last) || commands < 100 {
		t.Errorf("the loop's state differs from the engine's after %d commands", commands)
	}
	if n, measured, err := TicksPerSecond(s, 0); err != nil || n <= 0 || !strings.HasPrefix(measured, "600 ticks, ") {
		t.Errorf("got %v ticks a second of %s, %v", n, measured, err)
	}
	played, err := Play(s, 400)
	if err != nil || played.Ticks != 400 || played.BytesPerTick() < 1 {
		t.Errorf("got %+v, %v", played, err)
	}
}

// In the battles most units are alive and fight, whatever their number.
func TestBattle(t *testing.T) {
	sizes := []uint16{1000, 10_000}
	if testenv.Small(t) {
		sizes = sizes[:1]
	}
	for _, units := range sizes {
		war, all, targets := War(units), 0, 0 // newBattle fails if fewer units are alive
		war.seen = func(s *lockstep.Simulation) {
			w := lockstep.World[skirmish.World](s)
			all += len(w.Units)
			for i := range w.Units {
				if w.Units[i].Target != 0 {
					targets++
				}
			}
		}
		b, err := newBattle(war, 20)
		if err != nil {
			t.Fatal(err)
		}
		fighting := float64(targets) / float64(all)
		t.Logf("%s, %.0f %% of them fight", b.measured(), 100*fighting)
		if fighting < 0.4 {
			t.Errorf("%d units: %.2f of them fight", units, fighting)
		}
	}
}

// Both sides of each figure run all parts without an error.
func TestFigures(t *testing.T) {
	if testing.Short() {
		t.Skip("short")
	}
	for _, f := range slices.Concat(Figures, FiguresOf(coins())) {
		if testenv.Small(t) && strings.HasSuffix(f.Name, " 10,000 units") { // the same figures of coins are below
			continue
		}
		r, err := f.Measure(time.Millisecond)
		if err != nil {
			t.Fatalf("%s: %v", f.Name, err)
		}
		t.Logf("%-30s %.2f times %s", f.Name, r.Ratio(), f.Beside)
		if !(r.Ratio() > 0) { // its value means nothing after a millisecond
			t.Errorf("%s: got %.2f, want more than nothing", f.Name, r.Ratio())
		}
	}
}

// A replay has at most 6 bytes per tick, with bots that give as many commands as people.
// The benchmark plays half an hour.
func TestBytesPerTick(t *testing.T) {
	if testing.Short() {
		t.Skip("short")
	}
	const minutes = 2
	played, err := Play(Skirmish(400), minutes*60*20)
	if err != nil {
		t.Fatal(err)
	}
	orders := float64(played.Commands-4) / minutes / 4
	t.Logf("%.2f bytes per tick, %.1f commands per player and minute", played.BytesPerTick(), orders)
	if played.BytesPerTick() > 6.5 { // the header counts more than in half an hour
		t.Errorf("got %.2f bytes per tick, want at most 6.5", played.BytesPerTick())
	}
	if orders < 15 {
		t.Errorf("got %.1f commands per player and minute, too few for a match", orders)
	}
}

func BenchmarkHalfHour(b *testing.B) {
	for b.Loop() {
		played, err := Play(Skirmish(400), 30*60*20)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(played.BytesPerTick(), "bytes/tick")
		b.ReportMetric(float64(played.Commands)/30/4, "commands/player/minute")
	}
}

func BenchmarkTicksPerSecond(b *testing.B) {
	for b.Loop() {
		n, _, err := TicksPerSecond(War(1000), time.Second)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(n, "ticks/s")
	}
}

// A long match is played, saved, and found again; a torn file is played again.
func TestLong(t *testing.T) {
	dir := t.TempDir()
	l, err := OpenLong(1, dir)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, l.name(1))
	if err := os.WriteFile(path, l.open[:len(l.open)/2], 0o644); err != nil {
		t.Fatal(err)
	}
	again, err := OpenLong(1, dir)
	if err != nil || !bytes.Equal(again.open, l.open) {
		t.Fatalf("another match, %v", err)
	}
	if kept, err := os.ReadFile(path); err != nil || !bytes.Equal(kept, l.open) {
		t.Errorf("kept %d bytes of %d, %v", len(kept), len(l.open), err)
	}
	p, err := l.Pace(0)
	if err != nil || p.Speedup() <= 0 || p.Overhead() <= 0 || l.TimesRealTime(p.Wall[1]) <= 0 {
		t.Errorf("got %+v, %v", p, err)
	}
	outside, err := l.OutsideStep()
	if err != nil || outside <= 0 || outside >= 1 {
		t.Errorf("outside Step: got %v, %v", outside, err)
	}
	if took, err := l.WorstSeek(); err != nil || took <= 0 {
		t.Errorf("seek: got %v, %v", took, err)
	}
	if took, _, err := l.WriteTick(); err != nil || took < 0 {
		t.Errorf("write: got %v, %v", took, err)
	}
}

// Matches that the rules end are played one after the other until they have the ticks, but not for ever. A long match with
// fewer ticks or units than were asked for is refused.
func TestLess(t *testing.T) {
	step := skirmish.Rules().Step
	for _, row := range []struct{ end, matches lockstep.Tick }{{300, 4}, {1, 0}} {
		s := battleOf(endless(func(w *skirmish.World, config *skirmish.Config, t *lockstep.Turn) {
			if step(w, config, t); t.Tick == row.end {
				t.End(&skirmish.Result{})
			}
		}), 40)
		played, err := Play(s, 1200)
		if err == nil && (played.Ticks != 1200 || played.Matches != int(row.matches) || played.Length != time.Minute) || (err == nil) != (row.matches > 0) {
			t.Errorf("the rules end a match at tick %d: got %+v, %v", row.end, played, err)
		}
	}
	s := War(100)
	s.Units *= 2
	if _, err := newBattle(s, 1); err == nil || !strings.Contains(err.Error(), "want 200 units") {
		t.Errorf("a battle with too few units: got %v", err)
	}
	l, err := OpenLong(1, "")
	if err != nil {
		t.Fatal(err)
	}
	if l.ticks++; l.verify() == nil {
		t.Error("a match that is too short by a tick was not refused")
	}
}

// The flight record of a match has its latest ticks, and the ring keeps its bound.
func TestFly(t *testing.T) {
	f, err := Fly(coins(), 400)
	if err != nil || f.Ticks != 400 || f.Latest >= f.Bytes || f.Latest < 320 || f.Memory > flight.MaxBytes || f.Memory < f.Bytes {
		t.Errorf("got %+v, %v", f, err)
	}
}
