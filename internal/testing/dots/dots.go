// Package dots is a game for tests of replays: dots that walk. It plays matches and
// changes the records of their replays.
package dots

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/state"
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

// Short returns the replay of a match of dots, with one command.
func Short() (*lockstep.Game, []byte) {
	game := lockstep.MustGame(Rules())
	settings := lockstep.DefaultSettings(2)
	settings.Seed = 1
	header, err := game.NewHeader(lockstep.MatchID{1}, settings, &Config{Count: 3})
	if err != nil {
		panic(err)
	}
	var file bytes.Buffer
	w := replay.NewWriter(&file, replay.WriterOptions{})
	match, err := coordinator.New(game, header, w, coordinator.Options{})
	if err != nil {
		panic(err)
	}
	match.Join(0)
	kind, payload, _ := game.NewPayloads().Encode(&Walk{Dot: 1, X: 2, Y: 3})
	for t := range 100 {
		if t == 50 {
			match.Submit(0, 1, kind, payload)
		}
		match.Tick()
	}
	match.End("time is up")
	if err := w.Close(); err != nil {
		panic(err)
	}
	return game, file.Bytes()
}

// Other returns the replay of a recorder of the match of [Short] who has a dot in another place from tick 33 on.
func Other(file []byte) []byte {
	rules := Rules()
	step := rules.Step
	rules.Step = func(w *State, config *Config, t *lockstep.Turn) {
		if step(w, config, t); t.Tick == 33 {
			w.Dots[2].Pos.X += 1 << 32
		}
	}
	f := lockstep.MustGame(rules).NewFollower(lockstep.FollowerOptions{})
	var other bytes.Buffer
	var enc record.Encoder
	w := replay.NewWriter(&other, replay.WriterOptions{})
	r, err := replay.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		panic(err)
	}
	err = replay.Play(r, nil, func(rec *record.Record) error {
		if err := f.Apply(rec); err != nil && !errors.As(err, new(*lockstep.DesyncError)) {
			return err
		}
		if rec.Kind == record.KindChecksum {
			rec.Hash = f.Simulation().Hash()
		}
		return w.Append(enc.Record(rec))
	})
	if err = errors.Join(err, w.Close()); err != nil {
		panic(err)
	}
	return other.Bytes()
}

// Codec is that of the state.
var Codec = state.MustCompile[State]()

// Hurt returns a game of dots whose state is changed after a tick.
func Hurt(tb testing.TB, at lockstep.Tick, change func(snapshot []byte)) *lockstep.Game {
	tb.Helper()
	return Changed(tb, Rules(), Codec, at, change)
}

// Changed returns a game of rules whose state is changed after a tick.
func Changed[S, C any](tb testing.TB, rules lockstep.Rules[S, C], codec *state.Codec[S], at lockstep.Tick, change func(snapshot []byte)) *lockstep.Game {
	tb.Helper()
	step := rules.Step
	rules.Step = func(w *S, config *C, t *lockstep.Turn) {
		step(w, config, t)
		if t.Tick == at {
			snapshot := codec.Append(nil, w)
			change(snapshot)
			if err := codec.Decode(snapshot, w); err != nil {
				tb.Error(err)
			}
		}
	}
	g, err := lockstep.NewGame(rules)
	if err != nil {
		tb.Fatal(err)
	}
	return g
}

// Retell returns the replay that a recorder whose simulation is game g would write: the same commands with other
// checksums and keyframes.
func Retell(tb testing.TB, file []byte, g *lockstep.Game) []byte {
	tb.Helper()
	f := g.NewFollower(lockstep.FollowerOptions{History: lockstep.HistoryOptions{Length: 256}})
	return Rewrite(tb, file, func(r *record.Record) {
		if err := f.Apply(r); err != nil && !errors.As(err, new(*lockstep.DesyncError)) {
			tb.Fatal(err)
		}
		switch r.Kind {
		case record.KindChecksum:
			sum, ok := f.Sum(r.Tick)
			if !ok {
				tb.Fatalf("no checksum of tick %d", r.Tick)
			}
			r.Hash = sum.Hash
		case record.KindKeyframe:
			r.Keyframe.Hash, r.Keyframe.State = f.Simulation().Hash(), f.Simulation().AppendState(nil)
		}
	})
}

// Xor returns a change of a leaf of the state of
func Xor(tb testing.TB, path string, bit int) func([]byte) {
	return func(snapshot []byte) {
		v, err := Codec.Schema().Lookup(snapshot, path)
		if err != nil {
			tb.Fatal(err)
		}
		v.Bytes[bit/8] ^= 1 << (bit % 8)
	}
}

// Insert returns a replay with more records after its own.
func Insert(tb testing.TB, file []byte, after func(*record.Record) []record.Record) []byte {
	tb.Helper()
	return Copy(tb, file, func(r *record.Record, emit func(*record.Record) error) error {
		if err := emit(r); err != nil {
			return err
		}
		for _, more := range after(r) {
			if err := emit(&more); err != nil {
				return err
			}
		}
		return nil
	})
}

// Play plays a match of dots in which players command now and then.
func Play(tb testing.TB, ticks int, s lockstep.Settings) (*lockstep.Game, []byte) {
	tb.Helper()
	g, h := New(tb, s)
	var file bytes.Buffer
	w := replay.NewWriter(&file, replay.WriterOptions{})
	c, err := coordinator.New(g, h, w, coordinator.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	payloads := g.NewPayloads()
	if _, err := c.Join(0); err != nil {
		tb.Fatal(err)
	}
	for t := range ticks {
		if t%7 == 0 {
			kind, b, err := payloads.Encode(&Walk{Dot: uint8(t), X: int8(t % 100), Y: 3})
			if err != nil {
				tb.Fatal(err)
			}
			c.Submit(0, lockstep.Sequence(t/7+1), kind, b)
		}
		if _, err := c.Tick(); err != nil {
			tb.Fatal(err)
		}
	}
	Finish(tb, c, w, "done")
	return g, file.Bytes()
}

// OpenFile opens bytes as a file.
func OpenFile(t *testing.T, content []byte) *replay.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := replay.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// JSONOf returns a result as JSON.
func JSONOf(t *testing.T, v any) map[string]any {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	m := make(map[string]any)
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	return m
}
