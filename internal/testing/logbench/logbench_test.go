package logbench

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"
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

// In the battles most units are alive and fight, whatever their number.
func TestBattle(t *testing.T) {
	for _, units := range []uint16{1000, 10_000} {
		b, err := newBattle(units, 20)
		if err != nil {
			t.Fatal(err)
		}
		alive := float64(b.units) / battleTicks / float64(units)
		fighting := float64(b.targets) / float64(b.units)
		t.Logf("%d units: %.0f %% alive, %.0f %% of them fight", units, 100*alive, 100*fighting)
		if alive < 0.6 || fighting < 0.4 {
			t.Errorf("%d units: %.2f alive, %.2f of them fight", units, alive, fighting)
		}
	}
}

// Both sides of each figure run all parts without an error.
func TestFigures(t *testing.T) {
	if testing.Short() {
		t.Skip("short")
	}
	for i := range Figures {
		f := &Figures[i]
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
	const minutes = 5
	info, err := Play(minutes * 60 * 20)
	if err != nil {
		t.Fatal(err)
	}
	orders := float64(info.Commands-players) / minutes / players
	t.Logf("%.2f bytes per tick, %.1f commands per player and minute", BytesPerTick(info), orders)
	if BytesPerTick(info) > 6.5 { // the header counts more than in half an hour
		t.Errorf("got %.2f bytes per tick, want at most 6.5", BytesPerTick(info))
	}
	if orders < 15 {
		t.Errorf("got %.1f commands per player and minute, too few for a match", orders)
	}
}

func BenchmarkHalfHour(b *testing.B) {
	for b.Loop() {
		info, err := Play(30 * 60 * 20)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(BytesPerTick(info), "bytes/tick")
		b.ReportMetric(float64(info.Commands)/30/players, "commands/player/minute")
	}
}

func BenchmarkTicksPerSecond(b *testing.B) {
	for b.Loop() {
		n, err := TicksPerSecond(time.Second)
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
	path := filepath.Join(dir, l.name())
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
