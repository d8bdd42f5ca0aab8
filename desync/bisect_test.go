package desync_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/internal/testing/dots"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/state"
)

var dotsCodec = state.MustCompile[dots.State]()

// hurt returns a game of dots whose state is changed after a tick.
func hurt(tb testing.TB, at lockstep.Tick, change func(snapshot []byte)) *lockstep.Game {
	tb.Helper()
	return changed(tb, dots.Rules(), dotsCodec, at, change)
}

func changed[S, C any](tb testing.TB, rules lockstep.Rules[S, C], codec *state.Codec[S], at lockstep.Tick, change func(snapshot []byte)) *lockstep.Game {
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

// retell returns the replay that a recorder whose simulation is game g would write: the same commands with other
// checksums and keyframes.
func retell(tb testing.TB, file []byte, g *lockstep.Game) []byte {
	tb.Helper()
	f := g.NewFollower(lockstep.FollowerOptions{History: lockstep.HistoryOptions{Length: 256}})
	return rewrite(tb, file, func(r *record.Record) {
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

// xor returns a change of a leaf of the state of dots.
func xor(tb testing.TB, path string, bit int) func([]byte) {
	return func(snapshot []byte) {
		v, err := dotsCodec.Schema().Lookup(snapshot, path)
		if err != nil {
			tb.Fatal(err)
		}
		v.Bytes[bit/8] ^= 1 << (bit % 8)
	}
}

// Bisection finds a field that the recorder had wrong from a tick on, whether the replay has the keyframe of that tick,
// checksums of every tick, or less.
func TestBisectState(t *testing.T) {
	g, file, _ := recordMatch(t, 400, replay.WriterOptions{}) // a check every 10 ticks, a keyframe every 50
	for _, test := range []struct {
		name   string
		tick   lockstep.Tick
		change func([]byte)
		want   string
	}{
		{"at a keyframe", 100, xor(t, "Dots[2].Pos.X", 33), "b: ticks 90 to 100, exact false, section Dots, tick 100: Dots[2].Pos.X"},
		{"at a check, one bit", 110, xor(t, "Dots[1].Pos.Y", 62), "b: ticks 100 to 110, exact false, section Dots, reconstructed tick 110: Dots[1].Pos.Y"},
		{"before a check, a field that stays", 114, xor(t, "Dots[1].Pos.Y", 62), "b: ticks 110 to 120, exact false, section Dots, reconstructed tick 120: Dots[1].Pos.Y"},
		{"at a check, a value", 110, func(b []byte) {
			v, err := dotsCodec.Schema().Lookup(b, "Dots[3].Pos.X")
			if err != nil {
				t.Fatal(err)
			}
			v.Bytes[4] += 7
			v.Bytes[5] ^= 0x55
		}, "b: ticks 100 to 110, exact false, section Dots, reconstructed tick 110: Dots[3].Pos.X"},
		{"the randomness", 110, xor(t, "Rand.Lo", 0), "b: ticks 100 to 110, exact false, section Rand, reconstructed tick 110: Rand.Lo"},
		{"many fields", 110, func(b []byte) { xor(t, "Dots[0].Pos.X", 1)(b); xor(t, "Dots[2].Pos.X", 1)(b); xor(t, "Rand.Hi", 1)(b) },
			"b: ticks 100 to 110, exact false, section , tick 150: Dots[0].Pos.X"},
	} {
		t.Run(test.name, func(t *testing.T) {
			other := retell(t, file, hurt(t, test.tick, test.change))
			found, err := desync.Bisect(openReplay(t, file), openReplay(t, other), g, desync.BisectOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if got := bisectionText(found); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
			turned, err := desync.Bisect(openReplay(t, other), openReplay(t, file), g, desync.BisectOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if turned.Cause != desync.OriginA || turned.Tick != found.Tick || turned.Fields.Total != found.Fields.Total ||
				turned.Fields.List[0].First.A != found.Fields.List[0].First.B {
				t.Errorf("turned around: got %s and %v", bisectionText(turned), turned.Fields.List)
			}
			if found.Simulated > 160 {
				t.Errorf("%d ticks were simulated, want no more than from the keyframe before to the one after", found.Simulated)
			}
		})
	}
}

// bisectionText returns a bisection as one line.
func bisectionText(b *desync.Bisection) string {
	s := fmt.Sprintf("%s: ticks %d to %d, exact %v, section %s", b.Cause, b.Agreed, b.Tick, b.Exact, b.Section)
	if b.Reconstructed {
		s += ", reconstructed"
	} else {
		s += ","
	}
	if b.Fields.Total > 0 {
		s += fmt.Sprintf(" tick %d: %s", b.FieldsTick, b.Fields.List[0].First.Path)
	}
	return s
}

// With a checksum of each tick, one inverted bit is found in each of a hundred matches: its tick and its field.
// TestBisectLong tests a long match of a thousand units.
func TestBisectHundred(t *testing.T) {
	s := lockstep.DefaultSettings(2)
	s.Seed, s.CheckEvery, s.KeyframeEvery = 1, 1, 100
	g, file := recordDots(t, 400, s)
	r := rand.New(rand.NewPCG(5, 5))
	for range 100 {
		tick := lockstep.Tick(1 + r.IntN(400))
		var path string
		hit := func(snapshot []byte) {
			v := randomLeaf(t, r, dotsCodec.Schema(), snapshot)
			path = v.Path
			v.Bytes[r.IntN(len(v.Bytes))] ^= 1 << r.IntN(8)
		}
		other := retell(t, file, hurt(t, tick, hit))
		found, err := desync.Bisect(openReplay(t, file), openReplay(t, other), g, desync.BisectOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if found.Tick != tick || !found.Exact || found.Cause != desync.OriginB || found.Fields.Total != 1 || found.Fields.List[0].First.Path != path {
			t.Errorf("%s was changed after tick %d; got %s", path, tick, bisectionText(found))
		}
	}
}

// randomLeaf returns a number or a bool of a state.
func randomLeaf(tb testing.TB, r *rand.Rand, s *state.Schema, snapshot []byte) state.Value {
	tb.Helper()
	leaves, err := s.Leaves(snapshot)
	if err != nil {
		tb.Fatal(err)
	}
	var all []state.Value
	for v := range leaves {
		if v.Node.Kind() < state.String {
			all = append(all, v)
		}
	}
	return all[r.IntN(len(all))]
}

// States of different schemas cannot be compared. The error names the field, as the error of a game does, whether or
// not a checksum differs.
func TestBisectOtherSchema(t *testing.T) {
	g, file, _ := recordMatch(t, 60, replay.WriterOptions{})
	other := rewrite(t, file, func(r *record.Record) {
		if r.Kind == record.KindHeader {
			r.Header.StateSchema = bytes.Replace(r.Header.StateSchema, []byte("Pos"), []byte("Dot"), 1)
		}
	})
	parted := rewrite(t, other, func(r *record.Record) {
		if r.Kind == record.KindChecksum && r.Tick > 30 {
			r.Hash++
		}
	})
	for _, b := range [][]byte{other, parted} {
		for _, game := range []*lockstep.Game{g, nil} {
			found, err := desync.Bisect(openReplay(t, file), openReplay(t, b), game, desync.BisectOptions{})
			var identity *lockstep.IdentityError
			if !errors.As(err, &identity) || identity.Field != "state schema, field Dots[].Dot" || found != nil {
				t.Errorf("got %+v, error %v, want one about the field of the schema", found, err)
			}
		}
	}
}

// recordDots plays a match of dots in which players command now and then.
func recordDots(tb testing.TB, ticks int, s lockstep.Settings) (*lockstep.Game, []byte) {
	tb.Helper()
	g, h := newDots(tb, s)
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
			kind, b, err := payloads.Encode(&dots.Walk{Dot: uint8(t), X: int8(t % 100), Y: 3})
			if err != nil {
				tb.Fatal(err)
			}
			c.Submit(0, lockstep.Sequence(t/7+1), kind, b)
		}
		if _, err := c.Tick(); err != nil {
			tb.Fatal(err)
		}
	}
	finish(tb, c, w, "done")
	return g, file.Bytes()
}

// If a command differs, each side is simulated with its own commands. They diverge at one tick, which may be later than
// the command's.
func TestBisectCommands(t *testing.T) {
	g, file, _ := recordMatch(t, 400, replay.WriterOptions{})
	other, tick := edited(t, file, 200)
	found, err := desync.Bisect(openReplay(t, file), openReplay(t, retell(t, other, g)), g, desync.BisectOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if found.Cause != desync.OriginCommands || !found.Exact || found.Frame == nil || found.Frame.Tick != tick || found.Tick < tick || found.Tick > tick+1 {
		t.Errorf("a command of tick %d differs; got %s, frame %+v", tick, bisectionText(found), found.Frame)
	}
	if found.EditedA || found.EditedB {
		t.Errorf("got edited %v and %v, want neither", found.EditedA, found.EditedB)
	}
	if found.Fields.Total == 0 || found.FieldsTick != found.Tick || found.Agreed != found.Tick-1 {
		t.Errorf("got fields %v of tick %d, want those of tick %d", found.Fields, found.FieldsTick, found.Tick)
	}

	// The same frames with the checksums of a different state.
	found, err = desync.Bisect(openReplay(t, file), openReplay(t, other), g, desync.BisectOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if found.Cause != desync.OriginCommands || found.Frame.Tick != tick || found.EditedA || !found.EditedB {
		t.Errorf("with the checksums of the first: got %s", bisectionText(found))
	}
}

// edited returns a replay whose first command from a tick on is changed, and the tick of that command.
func edited(tb testing.TB, file []byte, from lockstep.Tick) ([]byte, lockstep.Tick) {
	var tick lockstep.Tick
	out := rewrite(tb, file, func(r *record.Record) {
		if r.Kind == record.KindFrame && r.Tick >= from && tick == 0 {
			tick = r.Tick
			c := &r.Frame.Commands[0]
			c.Payload = bytes.Clone(c.Payload)
			c.Payload[len(c.Payload)-1] ^= 1
		}
	})
	return out, tick
}

// Two games compute different states from the same commands.
func TestBisectGames(t *testing.T) {
	g, file, _ := recordMatch(t, 400, replay.WriterOptions{})
	two := hurt(t, 137, xor(t, "Dots[0].Pos.X", 3))
	found, err := desync.Bisect(openReplay(t, file), openReplay(t, retell(t, file, two)), g, desync.BisectOptions{Other: two})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := bisectionText(found), "games: ticks 136 to 137, exact true, section Dots, tick 137: Dots[0].Pos.X"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// Two builds make different states of the commands of one replay. The file has only the states of one of them.
func TestBisectGamesOfOneFile(t *testing.T) {
	g, file, _ := recordMatch(t, 400, replay.WriterOptions{})
	f := openFile(t, file)
	for _, c := range []struct {
		name  string
		other *lockstep.Game
		want  string
	}{
		{"the same", g, "no checksum differs"},
		{"from a tick on", hurt(t, 137, xor(t, "Dots[0].Pos.X", 3)), "the rules of A and of B differ: the commands are the same"},
	} {
		found, err := desync.BisectGames(f, g, c.other, desync.BisectOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var text bytes.Buffer
		if err := found.WriteText(&text); err != nil || !strings.Contains(text.String(), c.want) {
			t.Errorf("%s: got %v %s, want %q", c.name, err, &text, c.want)
		}
		if c.other != g && (found.Cause != desync.OriginGames || found.Tick != 137 || !found.Exact || found.Section != "Dots" || found.Fields.List[0].First.Path != "Dots[0].Pos.X") {
			t.Errorf("%s: got %s", c.name, bisectionText(found))
		}
	}
	if found, err := desync.BisectGames(f, chestGame(pay), g, desync.BisectOptions{}); err == nil || found == nil {
		t.Errorf("another game: got %v, %v, want its identity", found, err)
	}
}

// Both replays come from other builds than the local one.
func TestBisectNeither(t *testing.T) {
	_, file, _ := recordMatch(t, 400, replay.WriterOptions{})
	third := hurt(t, 60, xor(t, "Dots[0].Pos.X", 3))
	other := retell(t, file, hurt(t, 205, xor(t, "Dots[1].Pos.X", 3)))
	found, err := desync.Bisect(openReplay(t, retell(t, file, third)), openReplay(t, other), third, desync.BisectOptions{})
	if err != nil {
		t.Fatal(err)
	}
	// They diverge at tick 60, where only the first agrees with the local build.
	if found.Cause != desync.OriginB || found.Tick != 60 {
		t.Errorf("got %s, want tick 60", bisectionText(found))
	}
	g := hurt(t, 30, xor(t, "Dots[3].Pos.X", 3))
	found, err = desync.Bisect(openReplay(t, file), openReplay(t, other), g, desync.BisectOptions{})
	if err != nil {
		t.Fatal(err)
	}
	// The keyframe between them agrees with both, so it does not matter.
	if got, want := bisectionText(found), "b: ticks 200 to 210, exact false, section Dots, reconstructed tick 210: Dots[1].Pos.X"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	g = hurt(t, 203, xor(t, "Dots[3].Pos.X", 3))
	found, err = desync.Bisect(openReplay(t, file), openReplay(t, other), g, desync.BisectOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if found.Cause != desync.OriginBoth || found.Tick != 210 || found.Agreed != 200 {
		t.Errorf("got %s, want both at tick 210", bisectionText(found))
	}
	g = hurt(t, 104, xor(t, "Dots[3].Pos.X", 3))
	late := retell(t, file, hurt(t, 145, xor(t, "Dots[1].Pos.X", 3)))
	found, err = desync.Bisect(openReplay(t, file), openReplay(t, late), g, desync.BisectOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if found.Cause != desync.OriginUnknown || found.Tick != 150 || found.FieldsTick != 150 || found.Fields.Total != 1 {
		t.Errorf("got %s, want the result from the keyframes", bisectionText(found))
	}
}

// Without the game, bisection reports the facts of the records.
func TestBisectWithoutGame(t *testing.T) {
	_, file, _ := recordMatch(t, 400, replay.WriterOptions{})
	other := retell(t, file, hurt(t, 205, xor(t, "Dots[1].Pos.X", 3)))
	found, err := desync.Bisect(openReplay(t, file), openReplay(t, other), nil, desync.BisectOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := bisectionText(found), "unknown: ticks 200 to 210, exact false, section , tick 250: Dots[1].Pos.X"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Replays of one match are the same even if their keyframes differ.
func TestBisectSame(t *testing.T) {
	g, file, _ := recordMatch(t, 400, replay.WriterOptions{})
	var keyed bytes.Buffer
	if err := replay.Rekey(replay.NewWriter(&keyed, replay.WriterOptions{}), openReplay(t, file), g, 7, replay.SimulateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := desync.Bisect(openReplay(t, file), openReplay(t, keyed.Bytes()), g, desync.BisectOptions{}); !errors.Is(err, desync.ErrSame) {
		t.Errorf("got error %v, want %v", err, desync.ErrSame)
	}
	c, err := desync.Compare(openReplay(t, file), openReplay(t, keyed.Bytes()))
	if err != nil || !c.Same() || c.Compared < 40 || c.Differed > 0 {
		t.Errorf("got %+v, error %v, want the same", c, err)
	}

	// The keyframe holds another state than its checksum says.
	odd := rewrite(t, retell(t, file, hurt(t, 205, xor(t, "Dots[1].Pos.X", 3))), func(r *record.Record) {
		if r.Kind == record.KindKeyframe && r.Tick == 200 {
			xor(t, "Dots[0].Pos.X", 9)(r.Keyframe.State)
		}
	})
	if _, err := desync.Bisect(openReplay(t, odd), openReplay(t, file), g, desync.BisectOptions{}); !errors.Is(err, replay.ErrCorrupt) {
		t.Errorf("got error %v, want %v", err, replay.ErrCorrupt)
	}

	// They begin with different states.
	apart := rewrite(t, file, func(r *record.Record) {
		if r.Kind == record.KindKeyframe && r.Tick == 0 {
			xor(t, "Dots[0].Pos.X", 9)(r.Keyframe.State)
			var sum checksum.Sum
			if err := checksum.OfBytes(&sum, g.StateSchema(), r.Keyframe.State); err != nil {
				t.Fatal(err)
			}
			r.Keyframe.Hash = sum.Hash
		}
	})
	found, err := desync.Bisect(openReplay(t, file), openReplay(t, retell(t, apart, g)), g, desync.BisectOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := bisectionText(found), "beginning: ticks 0 to 0, exact true, section Dots, tick 0: Dots[0].Pos.X"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
