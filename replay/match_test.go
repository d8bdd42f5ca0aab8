package replay_test

import (
	"bytes"
	"testing"

	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

// The game of this package's tests: dots that walk.
type (
	dots struct {
		Rand fixed.Rand
		Dots []dot
	}
	dot  struct{ Pos, Step fixed.Vec2 }
	walk struct {
		Dot  uint8
		X, Y int8
	}
	dotsConfig struct{ Count uint16 }
)

func dotsRules() lockstep.Rules[dots, dotsConfig] {
	return lockstep.Rules[dots, dotsConfig]{
		Name: "dots", Build: "1",
		Commands: []lockstep.CommandType{lockstep.Type[walk](1, "walk")},
		New: func(w *dots, s *lockstep.Settings, c *dotsConfig) error {
			w.Rand = fixed.NewRand(s.Seed)
			w.Dots = make([]dot, c.Count)
			return nil
		},
		Step: func(w *dots, t *lockstep.Turn) {
			for i := range t.Commands {
				if m, ok := t.Commands[i].Value.(*walk); ok {
					w.Dots[int(m.Dot)%len(w.Dots)].Step = fixed.Vec2{X: fixed.FromInt(int64(m.X)), Y: fixed.FromInt(int64(m.Y))}
				}
			}
			for i := range w.Dots {
				w.Dots[i].Pos = w.Dots[i].Pos.Add(w.Dots[i].Step)
			}
			w.Dots[w.Rand.N(uint32(len(w.Dots)))].Step = fixed.Vec2{}
		},
	}
}

func newDots(tb testing.TB, settings lockstep.Settings) (*lockstep.Game, *lockstep.Header) {
	tb.Helper()
	g, err := lockstep.NewGame(dotsRules())
	if err != nil {
		tb.Fatal(err)
	}
	h, err := g.NewHeader(lockstep.MatchID{7}, settings, &dotsConfig{Count: 4})
	if err != nil {
		tb.Fatal(err)
	}
	h.Platform = "test"
	return g, h
}

// record plays a match of two seats and so many ticks in which a player gives
// a command every few ticks, and returns its replay and the final checksum.
func record(tb testing.TB, ticks int, o replay.WriterOptions) (*lockstep.Game, []byte, uint64) {
	tb.Helper()
	s := lockstep.DefaultSettings(2)
	s.CheckEvery, s.KeyframeEvery = 10, 50
	g, h := newDots(tb, s)
	var file bytes.Buffer
	w := replay.NewWriter(&file, o)
	c, err := lockstep.NewCoordinator(g, h, w, lockstep.CoordinatorOptions{})
	if err != nil {
		tb.Fatal(err)
	}
	payloads := g.NewPayloads()
	for p := range lockstep.Player(2) {
		if _, err := c.Join(p); err != nil {
			tb.Fatal(err)
		}
		if err := c.Note(p, lockstep.TopicName, []string{"ada", "bob"}[p]); err != nil {
			tb.Fatal(err)
		}
	}
	var seq [2]lockstep.Sequence
	for t := range ticks {
		if t%7 == 0 {
			p := t / 7 % 2
			seq[p]++
			kind, b, err := payloads.Encode(&walk{uint8(t), int8(t % 100), -1})
			if err != nil {
				tb.Fatal(err)
			}
			if r := c.Submit(lockstep.Player(p), seq[p], kind, b); r.Err() != nil {
				tb.Fatal(r)
			}
		}
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
	return g, file.Bytes(), c.Referee().Simulation().Root()
}

func open(tb testing.TB, file []byte) *replay.Reader {
	tb.Helper()
	r, err := replay.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

// recordQuiet plays a match in which nobody commands.
func recordQuiet(tb testing.TB, ticks int, s lockstep.Settings) int {
	tb.Helper()
	g, h := newDots(tb, s)
	var file bytes.Buffer
	w := replay.NewWriter(&file, replay.WriterOptions{FlushTicks: 1 << 30})
	c, err := lockstep.NewCoordinator(g, h, w, lockstep.CoordinatorOptions{})
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
