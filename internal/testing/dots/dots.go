// Package dots is a game for tests of replays: dots that walk. It plays matches and
// changes the records of their replays.
package dots

import (
	"bytes"
	"testing"

	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

// A State is the state of the game.
type State struct {
	Rand fixed.Rand
	Dots []Dot
}

// A Dot moves by Step in each tick.
type Dot struct{ Pos, Step fixed.Vec2 }

// A Walk sets the Step of a dot.
type Walk struct {
	Dot  uint8
	X, Y int8
}

// A Config sets the number of dots.
type Config struct{ Count uint16 }

// Rules returns the rules: in each tick, one random dot stops.
func Rules() lockstep.Rules[State, Config] {
	return lockstep.Rules[State, Config]{
		Name: "dots", Build: "1",
		Commands: []lockstep.CommandType{lockstep.Type[Walk](1, "walk")},
		New: func(w *State, s *lockstep.Settings, c *Config) error {
			w.Rand = fixed.NewRand(s.Seed)
			w.Dots = make([]Dot, c.Count)
			return nil
		},
		Step: func(w *State, _ *Config, t *lockstep.Turn) {
			for i := range t.Commands {
				if m, ok := t.Commands[i].Value.(*Walk); ok {
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

// New returns the game and the header of a match of four dots.
func New(tb testing.TB, settings lockstep.Settings) (*lockstep.Game, *lockstep.Header) {
	tb.Helper()
	g, err := lockstep.NewGame(Rules())
	if err != nil {
		tb.Fatal(err)
	}
	h, err := g.NewHeader(lockstep.MatchID{7}, settings, &Config{Count: 4})
	if err != nil {
		tb.Fatal(err)
	}
	h.Platform, h.Sources = "test", ""
	return g, h
}

// Record plays a match of two seats with a command every 7 ticks, a check every 10 and a
// keyframe every 50. It returns the game, the replay, and the state hash at the end.
func Record(tb testing.TB, ticks int, o replay.WriterOptions) (*lockstep.Game, []byte, uint64) {
	tb.Helper()
	s := lockstep.DefaultSettings(2)
	s.Seed, s.CheckEvery, s.KeyframeEvery = 1, 10, 50
	g, h := New(tb, s)
	var file bytes.Buffer
	w := replay.NewWriter(&file, o)
	c, err := coordinator.New(g, h, w, coordinator.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	payloads := g.NewPayloads()
	for p := range lockstep.Player(2) {
		if _, err := c.Join(p); err != nil {
			tb.Fatal(err)
		}
		if err := c.Note(p, record.TopicName, []string{"ada", "bob"}[p]); err != nil {
			tb.Fatal(err)
		}
	}
	var seq [2]lockstep.Sequence
	for t := range ticks {
		if t%7 == 0 {
			p := t / 7 % 2
			seq[p]++
			kind, b, err := payloads.Encode(&Walk{uint8(t), int8(t % 100), -1})
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
	Finish(tb, c, w, "done")
	return g, file.Bytes(), c.Referee().Simulation().Hash()
}

// Finish ends a match and closes its replay.
func Finish(tb testing.TB, c *coordinator.Coordinator, w *replay.Writer, reason string) {
	tb.Helper()
	if err := c.End(reason); err != nil {
		tb.Fatal(err)
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
}

// Open returns a Reader of a replay.
func Open(tb testing.TB, file []byte) *replay.Reader {
	tb.Helper()
	r, err := replay.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

// Copy returns a replay with the records that visit emits for each record of a replay.
func Copy(tb testing.TB, file []byte, visit func(r *record.Record, emit func(*record.Record) error) error) []byte {
	tb.Helper()
	var out bytes.Buffer
	var enc record.Encoder
	w := replay.NewWriter(&out, replay.WriterOptions{})
	emit := func(r *record.Record) error { return w.Append(enc.Record(r)) }
	err := replay.Play(Open(tb, file), nil, func(r *record.Record) error { return visit(r, emit) })
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		tb.Fatal(err)
	}
	return out.Bytes()
}

// Rewrite returns a replay with changed records.
func Rewrite(tb testing.TB, file []byte, change func(*record.Record)) []byte {
	tb.Helper()
	return Copy(tb, file, func(r *record.Record, emit func(*record.Record) error) error {
		change(r)
		return emit(r)
	})
}
