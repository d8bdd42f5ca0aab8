package replay_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

// The state of each tick equals that of playing the match.
func TestStateAt(t *testing.T) {
	g, file, _ := recordMatch(t, 130, replay.WriterOptions{FlushTicks: 10})
	states := [][]byte{nil}
	f := g.NewFollower(lockstep.FollowerOptions{History: lockstep.HistoryOptions{Length: 200, EveryTick: true, States: true}})
	if err := replay.Play(open(t, file), f, nil); err != nil {
		t.Fatal(err)
	}
	for tick := lockstep.Tick(1); tick <= 130; tick++ {
		states = append(states, f.State(tick))
	}
	calls := 0
	o := replay.SimulateOptions{MaxTicks: 49, Progress: func(done, all lockstep.Tick) {
		if calls++; done > all {
			t.Errorf("%d of %d", done, all)
		}
	}}
	for tick := lockstep.Tick(1); tick <= 130; tick++ {
		m, err := replay.StateAt(open(t, file), g, tick, o)
		if err != nil {
			t.Fatal(err)
		}
		sum, _ := f.Sum(tick)
		if !bytes.Equal(m.State, states[tick]) || m.Hash != sum.Hash || m.Tick != tick || m.Keyframe != tick/50*50 || m.Header == nil {
			t.Errorf("tick %d: another state, from keyframe %d", tick, m.Keyframe)
		}
	}
	if calls == 0 {
		t.Error("no progress was reported")
	}

	if _, err := replay.StateAt(open(t, file), g, 99, replay.SimulateOptions{MaxTicks: 48}); !errors.Is(err, replay.ErrLimit) {
		t.Errorf("49 ticks where 48 are allowed: got error %v, want %v", err, replay.ErrLimit)
	}
	if _, err := replay.StateAt(open(t, file), nil, 99, replay.SimulateOptions{}); !errors.Is(err, replay.ErrNoGame) {
		t.Errorf("without the game: got error %v, want %v", err, replay.ErrNoGame)
	}
	if m, err := replay.StateAt(open(t, file), nil, 100, replay.SimulateOptions{}); err != nil || !bytes.Equal(m.State, states[100]) {
		t.Errorf("a keyframe without the game: got error %v", err)
	}
	for _, game := range []*lockstep.Game{g, nil} {
		_, err := replay.StateAt(open(t, file), game, 131, replay.SimulateOptions{})
		var missing *replay.TickError
		if !errors.As(err, &missing) || *missing != (replay.TickError{Tick: 131, First: 0, Last: 130}) {
			t.Errorf("after the end: got error %v, want a *TickError", err)
		}
		_, err = replay.StateAt(open(t, file[:len(file)-100]), game, 130, replay.SimulateOptions{})
		if !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("after the tear: got error %v, want %v", err, io.ErrUnexpectedEOF)
		}
	}
}

// A state is not shown if the simulation contradicts the file before its tick, at its tick, or at the next check. The
// error names the first contradiction.
func TestStateAtContradicted(t *testing.T) {
	g, file, _ := recordMatch(t, 130, replay.WriterOptions{FlushTicks: 10})
	rules := dotsRules()
	step := rules.Step
	rules.Step = func(w *dots, config *dotsConfig, turn *lockstep.Turn) {
		if step(w, config, turn); turn.Tick == 57 || turn.Tick == 107 {
			w.Dots[0].Pos.X++
		}
	}
	other := lockstep.MustGame(rules) // other rules under the same build
	moved := false
	late := copyRecords(t, file, func(r *record.Record, emit func(*record.Record) error) error {
		if r.Kind == record.KindChecksum && r.Tick == 60 {
			return nil
		}
		if err := emit(r); err != nil || moved || r.Kind != record.KindFrame || r.Tick <= 62 {
			return err
		}
		moved = true
		return emit(&record.Record{Kind: record.KindChecksum, Tick: 60, Hash: 1})
	})
	keyframe := change(t, file, func(r *record.Record) {
		r.Hash += b2i(r.Kind == record.KindChecksum && r.Tick == 100)
	})
	odd := change(t, file, func(r *record.Record) {
		if r.Kind == record.KindKeyframe && r.Tick == 50 {
			r.Keyframe.Hash++
		}
		r.Hash += b2i(r.Kind == record.KindChecksum && r.Tick == 50)
	})
	for _, c := range []struct {
		name string
		file []byte
		game *lockstep.Game
		tick lockstep.Tick
		want lockstep.Tick // at which the file is contradicted; 0 for nowhere
	}{
		{"an interval before", file, other, 49, 0},
		{"before", file, other, 56, 60},
		{"no check in between", file, other, 59, 60},
		{"at the check", file, other, 60, 60},
		{"long after it", file, other, 99, 60},
		{"at the keyframe after it", file, other, 100, 0},
		{"after that keyframe", file, other, 105, 110},
		{"another one", file, other, 130, 110},
		{"a late checksum of the tick itself", late, g, 60, 60},
		{"a late checksum of a tick before", late, g, 64, 60},
		{"before a late checksum", late, g, 52, 60},
		{"a keyframe and its checksum", keyframe, g, 100, 100},
		{"after a keyframe and its checksum", keyframe, g, 104, 100},
		{"before them", keyframe, g, 99, 100},
	} {
		m, err := replay.StateAt(open(t, c.file), c.game, c.tick, replay.SimulateOptions{})
		var desync *lockstep.DesyncError
		if errors.As(err, &desync) != (c.want > 0) || desync != nil && desync.Tick != c.want || (m == nil) != (err != nil) {
			t.Errorf("%s: tick %d: got %v, want a contradiction at tick %d", c.name, c.tick, err, c.want)
		}
		if err == nil && m.Agreed < c.tick {
			t.Errorf("%s: tick %d: agreed at tick %d", c.name, c.tick, m.Agreed)
		}
	}
	for _, tick := range []lockstep.Tick{50, 55} {
		for _, game := range []*lockstep.Game{g, nil} {
			if _, err := replay.StateAt(open(t, odd), game, tick, replay.SimulateOptions{}); tick == 50 && !errors.Is(err, replay.ErrCorrupt) || err == nil {
				t.Errorf("tick %d after a keyframe whose state is not the one of its checksum: got %v", tick, err)
			}
		}
	}
}

// A state that no check confirms is shown, and Agreed returns the last tick that the file confirms.
func TestStateAtUnconfirmed(t *testing.T) {
	g, file, _ := recordMatch(t, 134, replay.WriterOptions{FlushTicks: 1})
	rules := dotsRules()
	step := rules.Step
	rules.Step = func(w *dots, config *dotsConfig, turn *lockstep.Turn) {
		if step(w, config, turn); turn.Tick == 66 {
			panic("a defect")
		}
	}
	broken := lockstep.MustGame(rules)
	bare := copyRecords(t, file, func(r *record.Record, emit func(*record.Record) error) error {
		if r.Kind == record.KindChecksum && r.Tick >= 60 && r.Tick < 100 {
			return nil
		}
		return emit(r)
	})
	for _, c := range []struct {
		name         string
		file         []byte
		game         *lockstep.Game
		limit        lockstep.Tick
		tick, agreed lockstep.Tick
	}{
		{"in between", file, g, 0, 64, 70},
		{"at a check", file, g, 0, 60, 60},
		{"before a keyframe", file, g, 0, 99, 100},
		{"the last stretch", file, g, 0, 133, 130},
		{"the end", file, g, 0, 134, 130},
		{"before a cut", file[:len(file)-1], g, 0, 133, 130},
		{"before a panic", file, broken, 0, 65, 60},
		{"no checksum within an interval", bare, g, 0, 75, 50},
		{"a keyframe within an interval", bare, g, 0, 90, 100},
		{"no ticks left", file, g, 14, 64, 60},
		{"as many as are needed", file, g, 20, 64, 70},
	} {
		m, err := replay.StateAt(open(t, c.file), c.game, c.tick, replay.SimulateOptions{MaxTicks: c.limit})
		if err != nil || m.Tick != c.tick || m.Agreed != c.agreed {
			t.Errorf("%s: tick %d: got %+v, error %v, want agreement up to tick %d", c.name, c.tick, m, err, c.agreed)
		}
	}
}

// A Cursor that compares reports each contradiction once, goes on, and simulates the same as one that does not compare.
func TestCursorCompares(t *testing.T) {
	g, file, _ := recordMatch(t, 130, replay.WriterOptions{FlushTicks: 10})
	spoiled := change(t, file, func(r *record.Record) {
		r.Hash += b2i(r.Kind == record.KindChecksum && (r.Tick == 70 || r.Tick == 90))
	})
	silent, err := replay.NewCursor(open(t, spoiled), g, 55)
	if err != nil {
		t.Fatal(err)
	}
	c, err := replay.NewCursor(open(t, spoiled), g, 55)
	if err != nil {
		t.Fatal(err)
	}
	c.Compare()
	var wrong []lockstep.Tick
	for {
		at := c.Tick()
		frame, err := c.Frame()
		var desync *lockstep.DesyncError
		if errors.As(err, &desync) {
			wrong = append(wrong, desync.Tick)
			continue
		}
		if err == io.EOF {
			break
		}
		if err != nil || frame.Tick != at+1 || c.Tick() != at {
			t.Fatalf("after tick %d: got frame %v, error %v, at tick %d", at, frame, err, c.Tick())
		}
		if at == 80 && c.Agreed() != 80 || at == 90 && c.Agreed() != 80 {
			t.Errorf("at tick %d: got agreed %d", at, c.Agreed())
		}
		if err := errors.Join(c.Step(), silent.Step()); err != nil {
			t.Fatal(err)
		}
		if c.Simulation().Hash() != silent.Simulation().Hash() {
			t.Fatalf("tick %d: the states differ", c.Tick())
		}
	}
	if len(wrong) != 2 || wrong[0] != 70 || wrong[1] != 90 || c.Tick() != 130 || silent.Agreed() != 0 {
		t.Errorf("got contradictions at %v, and the end at tick %d", wrong, c.Tick())
	}
}
