package program

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/local"
)

type world struct {
	Tick, Count uint32
	cache       uint32 `state:"derived"`
}

type config struct{}

// rules has a cache that goes stale in tick 5.
func rules(stale bool) func() lockstep.Rules[world, config] {
	return func() lockstep.Rules[world, config] {
		return lockstep.Rules[world, config]{
			Name: "clock", Build: "1",
			New:    func(*world, *lockstep.Settings, *config) error { return nil },
			Derive: func(w *world, _ *config) { w.cache = w.Count },
			Step: func(w *world, _ *config, t *lockstep.Turn) {
				w.Tick = uint32(t.Tick)
				w.Count += 1 + w.cache%3
				if !stale || w.Tick != 5 {
					w.cache = w.Count
				}
			},
		}
	}
}

// logOf returns the log of a match of 10 ticks.
type logOf struct{ bytes.Buffer }

func (l *logOf) Append(record []byte) error { l.Write(record); return nil }

func played(t *testing.T) string {
	t.Helper()
	var log logOf
	m, err := local.New(lockstep.MustGame(rules(false)()), &config{}, local.Options{Log: &log, Bots: []lockstep.Bot{func(*lockstep.Simulation) []any { return nil }}})
	if err != nil {
		t.Fatal(err)
	}
	for now := lockstep.Time(0); m.Host().Now() < 10; now += 50_000_000 {
		if err := m.Advance(now); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(path, log.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestHashes(t *testing.T) {
	j := Job{Kind: Hashes, Log: played(t), Folder: t.TempDir(), Tick: 8}
	if r := j.do([]Maker{Of(rules(false))}); r.Error != "" || r.Last != 8 || r.Build != "1" {
		t.Fatalf("got %+v", r)
	}
	b, err := os.ReadFile(filepath.Join(j.Folder, HashFile))
	if err != nil || len(b) != 9*8 || binary.LittleEndian.Uint64(b) == binary.LittleEndian.Uint64(b[8:]) {
		t.Errorf("got %d bytes, %v, want 9 different hashes", len(b), err)
	}
}

func TestCold(t *testing.T) {
	for _, stale := range []bool{false, true} {
		j := Job{Kind: Cold, Log: played(t), Folder: t.TempDir()}
		want := uint32(0)
		if stale {
			want = 6
		}
		if r := j.do([]Maker{Of(rules(stale))}); r.Error != "" || r.Differs != want {
			t.Errorf("stale %v: got %+v, want tick %d", stale, r, want)
		}
	}
}

func TestTrace(t *testing.T) {
	j := Job{Kind: Trace, Log: played(t), Folder: t.TempDir(), Tick: 6, Runs: 3}
	r := j.do([]Maker{Of(rules(false))})
	if r.Error != "" || len(r.Runs) != 1 || r.Tried != 3 || r.Runs[0].Hash == 0 {
		t.Fatalf("got %+v, want one result of three runs", r)
	}
	j.Tick = 100
	if r := j.do([]Maker{Of(rules(false))}); !strings.Contains(r.Error, "the log ends") {
		t.Errorf("got %q", r.Error)
	}
}

// What New makes and Derive does not is in a simulation from the beginning of the match, and in no restored one. A New that refuses
// the match changes nothing.
func TestTableOfNew(t *testing.T) {
	for name, made := range map[string]error{"made": nil, "refused": errors.New("refused")} {
		maker := Of(func() lockstep.Rules[world, config] {
			r := rules(false)()
			r.New = func(w *world, _ *lockstep.Settings, _ *config) error { w.cache = 2; return made }
			r.Derive = func(*world, *config) {}
			r.Step = func(w *world, _ *config, t *lockstep.Turn) { w.Tick, w.Count = uint32(t.Tick), w.Count+w.cache }
			return r
		})
		want := uint32(1)
		if made != nil {
			want = 0
		}
		log := played(t)
		j := Job{Kind: Cold, Log: log, Folder: t.TempDir()}
		if r := j.do([]Maker{maker}); r.Error != "" || r.Differs != want {
			t.Errorf("%s: got %+v, want tick %d", name, r, want)
		}
		var hashes [2]uint64
		for i := range hashes {
			j := Job{Kind: Trace, Log: log, Folder: t.TempDir(), Tick: 6, Warm: i == 1}
			r := j.do([]Maker{maker})
			if r.Error != "" || len(r.Runs) != 1 {
				t.Fatalf("%s: got %+v", name, r)
			}
			hashes[i] = r.Runs[0].Hash
		}
		if (hashes[0] != hashes[1]) != (made == nil) {
			t.Errorf("%s: got the hashes %x of the tick, restored and from the beginning", name, hashes)
		}
	}
}

func TestAnotherGame(t *testing.T) {
	other := func() lockstep.Rules[world, config] {
		r := rules(false)()
		r.Name = "other"
		return r
	}
	j := Job{Kind: Trace, Log: played(t), Folder: t.TempDir(), Tick: 6}
	if r := j.do([]Maker{Of(other)}); r.Error != `the match is of game "clock", the sources have "other"` {
		t.Errorf("got %q", r.Error)
	}
}

func TestLineTime(t *testing.T) {
	for text, want := range map[string]time.Duration{"": time.Minute, "off": 0, "5m": 5 * time.Minute, "soon": time.Minute} {
		t.Setenv("SAMESTEP_LINE", text)
		if got := LineTime(); got != want {
			t.Errorf("%q: got %v, want %v", text, got, want)
		}
	}
}
