package bisect_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/desync/bisect"
	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/internal/testing/dots"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/state"
)

// The changes of replays.
var (
	newDots     = dots.New
	recordMatch = dots.Record
	finish      = dots.Finish
	openReplay  = dots.Open
	copyRecords = dots.Copy
	rewrite     = dots.Rewrite
	hurt        = dots.Hurt
	retell      = dots.Retell
	xor         = dots.Xor
	insert      = dots.Insert
	recordDots  = dots.Play
	openFile    = dots.OpenFile
	jsonOf      = dots.JSONOf
	dotsCodec   = dots.Codec
)

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
			found, err := bisect.Replays(openReplay(t, file), openReplay(t, other), g, bisect.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got := bisectionText(found); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
			turned, err := bisect.Replays(openReplay(t, other), openReplay(t, file), g, bisect.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if turned.Cause != bisect.OriginA || turned.Tick != found.Tick || turned.Fields.Total != found.Fields.Total ||
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
func bisectionText(b *bisect.Bisection) string {
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
		found, err := bisect.Replays(openReplay(t, file), openReplay(t, other), g, bisect.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if found.Tick != tick || !found.Exact || found.Cause != bisect.OriginB || found.Fields.Total != 1 || found.Fields.List[0].First.Path != path {
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
			found, err := bisect.Replays(openReplay(t, file), openReplay(t, b), game, bisect.Options{})
			var identity *lockstep.IdentityError
			if !errors.As(err, &identity) || identity.Field != "state schema, field Dots[].Dot" || found != nil {
				t.Errorf("got %+v, error %v, want one about the field of the schema", found, err)
			}
		}
	}
}

// If a command differs, each side is simulated with its own commands. They diverge at one tick, which may be later than
// the command's.
func TestBisectCommands(t *testing.T) {
	g, file, _ := recordMatch(t, 400, replay.WriterOptions{})
	other, tick := edited(t, file, 200)
	found, err := bisect.Replays(openReplay(t, file), openReplay(t, retell(t, other, g)), g, bisect.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if found.Cause != bisect.OriginCommands || !found.Exact || found.Frame == nil || found.Frame.Tick != tick || found.Tick < tick || found.Tick > tick+1 {
		t.Errorf("a command of tick %d differs; got %s, frame %+v", tick, bisectionText(found), found.Frame)
	}
	if found.EditedA || found.EditedB {
		t.Errorf("got edited %v and %v, want neither", found.EditedA, found.EditedB)
	}
	if found.Fields.Total == 0 || found.FieldsTick != found.Tick || found.Agreed != found.Tick-1 {
		t.Errorf("got fields %v of tick %d, want those of tick %d", found.Fields, found.FieldsTick, found.Tick)
	}

	// The same frames with the checksums of a different state.
	found, err = bisect.Replays(openReplay(t, file), openReplay(t, other), g, bisect.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if found.Cause != bisect.OriginCommands || found.Frame.Tick != tick || found.EditedA || !found.EditedB {
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
	found, err := bisect.Replays(openReplay(t, file), openReplay(t, retell(t, file, two)), g, bisect.Options{Other: two})
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
		found, err := bisect.Games(f, g, c.other, bisect.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var text bytes.Buffer
		if err := found.WriteText(&text); err != nil || !strings.Contains(text.String(), c.want) {
			t.Errorf("%s: got %v %s, want %q", c.name, err, &text, c.want)
		}
		if c.other != g && (found.Cause != bisect.OriginGames || found.Tick != 137 || !found.Exact || found.Section != "Dots" || found.Fields.List[0].First.Path != "Dots[0].Pos.X") {
			t.Errorf("%s: got %s", c.name, bisectionText(found))
		}
	}
	if found, err := bisect.Games(f, lockstep.MustGame(skirmish.Rules()), g, bisect.Options{}); err == nil || found == nil {
		t.Errorf("another game: got %v, %v, want its identity", found, err)
	}
}

// Both replays come from other builds than the local one.
func TestBisectNeither(t *testing.T) {
	_, file, _ := recordMatch(t, 400, replay.WriterOptions{})
	third := hurt(t, 60, xor(t, "Dots[0].Pos.X", 3))
	other := retell(t, file, hurt(t, 205, xor(t, "Dots[1].Pos.X", 3)))
	found, err := bisect.Replays(openReplay(t, retell(t, file, third)), openReplay(t, other), third, bisect.Options{})
	if err != nil {
		t.Fatal(err)
	}
	// They diverge at tick 60, where only the first agrees with the local build.
	if found.Cause != bisect.OriginB || found.Tick != 60 {
		t.Errorf("got %s, want tick 60", bisectionText(found))
	}
	g := hurt(t, 30, xor(t, "Dots[3].Pos.X", 3))
	found, err = bisect.Replays(openReplay(t, file), openReplay(t, other), g, bisect.Options{})
	if err != nil {
		t.Fatal(err)
	}
	// The keyframe between them agrees with both, so it does not matter.
	if got, want := bisectionText(found), "b: ticks 200 to 210, exact false, section Dots, reconstructed tick 210: Dots[1].Pos.X"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	g = hurt(t, 203, xor(t, "Dots[3].Pos.X", 3))
	found, err = bisect.Replays(openReplay(t, file), openReplay(t, other), g, bisect.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if found.Cause != bisect.OriginBoth || found.Tick != 210 || found.Agreed != 200 {
		t.Errorf("got %s, want both at tick 210", bisectionText(found))
	}
	g = hurt(t, 104, xor(t, "Dots[3].Pos.X", 3))
	late := retell(t, file, hurt(t, 145, xor(t, "Dots[1].Pos.X", 3)))
	found, err = bisect.Replays(openReplay(t, file), openReplay(t, late), g, bisect.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if found.Cause != bisect.OriginUnknown || found.Tick != 150 || found.FieldsTick != 150 || found.Fields.Total != 1 {
		t.Errorf("got %s, want the result from the keyframes", bisectionText(found))
	}
}

// Without the game, bisection reports the facts of the records.
func TestBisectWithoutGame(t *testing.T) {
	_, file, _ := recordMatch(t, 400, replay.WriterOptions{})
	other := retell(t, file, hurt(t, 205, xor(t, "Dots[1].Pos.X", 3)))
	found, err := bisect.Replays(openReplay(t, file), openReplay(t, other), nil, bisect.Options{})
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
	if _, err := bisect.Replays(openReplay(t, file), openReplay(t, keyed.Bytes()), g, bisect.Options{}); !errors.Is(err, bisect.ErrSame) {
		t.Errorf("got error %v, want %v", err, bisect.ErrSame)
	}
	c, err := bisect.Compare(openReplay(t, file), openReplay(t, keyed.Bytes()))
	if err != nil || !c.Same() || c.Compared < 40 || c.Differed > 0 {
		t.Errorf("got %+v, error %v, want the same", c, err)
	}

	// The keyframe holds another state than its checksum says.
	odd := rewrite(t, retell(t, file, hurt(t, 205, xor(t, "Dots[1].Pos.X", 3))), func(r *record.Record) {
		if r.Kind == record.KindKeyframe && r.Tick == 200 {
			xor(t, "Dots[0].Pos.X", 9)(r.Keyframe.State)
		}
	})
	if _, err := bisect.Replays(openReplay(t, odd), openReplay(t, file), g, bisect.Options{}); !errors.Is(err, replay.ErrCorrupt) {
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
	found, err := bisect.Replays(openReplay(t, file), openReplay(t, retell(t, apart, g)), g, bisect.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := bisectionText(found), "beginning: ticks 0 to 0, exact true, section Dots, tick 0: Dots[0].Pos.X"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// After any change of a replay's records, bisecting it against the original finds a tick or returns an error. Verifying
// it blames a party whenever a checksum differs.
func FuzzBisect(f *testing.F) {
	g, file, _ := recordMatch(f, 120, replay.WriterOptions{})
	f.Add([]byte{3, 0, 1})
	f.Add([]byte{9, 1, 200, 20, 0, 7})
	f.Add([]byte{14, 3, 9, 2, 2, 1})
	f.Add([]byte{1, 0, 48})       // the first keyframe
	f.Add([]byte("\x0190\x0580")) // a keyframe's state alone
	f.Add([]byte("\x0f81\x1c20")) // a command that changes no checksum
	f.Fuzz(func(t *testing.T, changes []byte) {
		other := tamper(t, file, changes)
		found, err := bisect.Replays(openReplay(t, file), openReplay(t, other), g, bisect.Options{MaxSearch: 1 << 20})
		if err == nil && (found.Known && found.Agreed >= found.Tick || found.Exact && found.Known && found.Agreed+1 != found.Tick) {
			t.Fatalf("got %+v", found)
		}
		facts, err := replay.Verify(openReplay(t, other), g, replay.VerifyOptions{KeepGoing: true, Workers: 1})
		v := desync.Attribute(openReplay(t, other), g, facts, replay.SimulateOptions{})
		if errors.As(err, new(*lockstep.DesyncError)) && len(v.Blames) == 0 {
			t.Fatalf("no party is blamed: %+v, error %v", v, err)
		}
	})
}

// tamper changes records. Three bytes select the record, the change and its operand.
func tamper(tb testing.TB, file []byte, changes []byte) []byte {
	tb.Helper()
	type change struct{ how, value byte }
	all := make(map[int]change)
	for ; len(changes) >= 3; changes = changes[3:] {
		all[int(changes[0])] = change{changes[1] % 5, changes[2]}
	}
	n := -1
	return copyRecords(tb, file, func(r *record.Record, emit func(*record.Record) error) error {
		n++
		c, ok := all[n]
		check := r.Kind == record.KindChecksum || r.Kind == record.KindMismatch
		switch {
		case !ok:
		case c.how == 0:
			r.Hash ^= uint64(c.value)
			r.Keyframe.Hash ^= uint64(c.value)
		case c.how == 1:
			for i := range r.Frame.Commands {
				p := bytes.Clone(r.Frame.Commands[i].Payload)
				p[int(c.value)%len(p)] ^= c.value
				r.Frame.Commands[i].Payload = p
			}
		case c.how == 2 && len(r.Keyframe.State) > 0:
			r.Keyframe.State[int(c.value)%len(r.Keyframe.State)] ^= c.value
		case c.how == 3 && check:
			r.Kind, r.Player = record.KindMismatch, lockstep.Player(c.value%2)
		case c.how == 4 && check:
			return nil
		}
		return emit(r)
	})
}

// reports returns the reports of a player with another game: every N ticks, with sections and states if wanted.
func reports(tb testing.TB, file []byte, g *lockstep.Game, every lockstep.Tick, sections, states bool) []bisect.Report {
	tb.Helper()
	var all []bisect.Report
	f := g.NewFollower(lockstep.FollowerOptions{History: lockstep.HistoryOptions{Length: 1, EveryTick: true}})
	err := replay.Play(openReplay(tb, file), nil, func(r *record.Record) error {
		if err := f.Apply(r); err != nil && !errors.As(err, new(*lockstep.DesyncError)) {
			return err
		}
		if r.Kind != record.KindFrame && r.Kind != record.KindEmpty || f.Tick()%every > 0 {
			return nil
		}
		sum, _ := f.Sum(f.Tick())
		report := bisect.Report{Tick: f.Tick(), Hash: sum.Hash}
		if sections {
			report.Sections = slices.Clone(sum.Sections)
		}
		if states {
			report.State = f.Simulation().AppendState(nil)
		}
		all = append(all, report)
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	return all
}

func TestBisectReports(t *testing.T) {
	s := lockstep.DefaultSettings(2)
	s.CheckEvery, s.KeyframeEvery = 10, 50
	g, file := recordDots(t, 400, s)
	hurt203 := hurt(t, 203, func(b []byte) { xor(t, "Dots[1].Pos.X", 3)(b); xor(t, "Dots[2].Pos.X", 3)(b) })
	for _, test := range []struct {
		name     string
		every    lockstep.Tick
		sections bool
		states   bool
		want     string
	}{
		{"roots of the same ticks", 10, false, false, "b: ticks 200 to 210, exact false, section ,"},
		{"sections", 10, true, false, "b: ticks 200 to 210, exact false, section Dots,"},
		{"states", 10, true, true, "b: ticks 200 to 210, exact false, section Dots, tick 210: Dots[1].Pos.X"},
		{"roots of other ticks", 7, false, false, "b: ticks 196 to 203, exact false, section ,"},
		{"a state of the tick itself", 7, false, true, "b: ticks 196 to 203, exact false, section Dots, tick 203: Dots[1].Pos.X"},
	} {
		t.Run(test.name, func(t *testing.T) {
			found, err := bisect.Reports(openReplay(t, file), reports(t, file, hurt203, test.every, test.sections, test.states), g, bisect.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got := bisectionText(found); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
	t.Run("all is well", func(t *testing.T) {
		for _, every := range []lockstep.Tick{7, 10} {
			_, err := bisect.Reports(openReplay(t, file), reports(t, file, g, every, false, false), g, bisect.Options{})
			if !errors.Is(err, bisect.ErrSame) {
				t.Errorf("every %d: got error %v, want %v", every, err, bisect.ErrSame)
			}
		}
	})
	t.Run("the recorder was wrong", func(t *testing.T) {
		other := retell(t, file, hurt203)
		found, err := bisect.Reports(openReplay(t, other), reports(t, file, g, 10, false, false), g, bisect.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if found.Cause != bisect.OriginA || found.Tick != 210 {
			t.Errorf("got %s, want that the replay is wrong", bisectionText(found))
		}
	})
}

// A player's reports are its own where they differ, and the agreed checksums otherwise.
func TestPlayerReports(t *testing.T) {
	g, file, _ := recordMatch(t, 400, replay.WriterOptions{})
	hurt203 := hurt(t, 203, xor(t, "Dots[1].Pos.X", 3))
	own := reports(t, file, hurt203, 1, false, false)
	file = mismatch(t, file, 1, own)
	for p, want := range map[lockstep.Player]bool{0: false, 1: true} {
		list, err := bisect.PlayerReports(openReplay(t, file), p)
		if err != nil || len(list) < 40 {
			t.Fatalf("player %d: %d reports, error %v, want 40", p, len(list), err)
		}
		found, err := bisect.Reports(openReplay(t, file), list, g, bisect.Options{})
		if !want {
			if !errors.Is(err, bisect.ErrSame) {
				t.Errorf("player %d: got error %v, want %v", p, err, bisect.ErrSame)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if got, want := bisectionText(found), "b: ticks 200 to 210, exact false, section Dots, reconstructed tick 210: Dots[1].Pos.X"; got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// In an imported match the keyframe holds no state of that match; only the checksums count.
func TestBisectReportsImported(t *testing.T) {
	_, file, _ := recordMatch(t, 100, replay.WriterOptions{})
	imported := insert(t, file, func(r *record.Record) []record.Record {
		if r.Kind != record.KindKeyframe || r.Tick > 0 {
			return nil
		}
		return []record.Record{{Kind: record.KindChecksum, Tick: 0, Hash: 77}}
	})
	list, err := bisect.PlayerReports(openReplay(t, imported), 1)
	if err != nil || list[0].Tick != 0 || list[0].Hash != 77 {
		t.Fatalf("got %+v, error %v, want a report of tick 0", list[0], err)
	}
	list[7].Hash++
	found, err := bisect.Reports(openReplay(t, imported), list, nil, bisect.Options{})
	if err != nil || found.Tick != 70 || found.Agreed != 60 || found.Cause != bisect.OriginUnknown {
		t.Errorf("got %+v, error %v, want tick 70", found, err)
	}
}

// mismatch returns a replay that logs a player's reports that differ from the agreed checksum, three checks late.
func mismatch(tb testing.TB, file []byte, p lockstep.Player, reports []bisect.Report) []byte {
	tb.Helper()
	own := make(map[lockstep.Tick]uint64)
	for _, r := range reports {
		own[r.Tick] = r.Hash
	}
	var late []record.Record
	return insert(tb, file, func(r *record.Record) []record.Record {
		if r.Kind != record.KindChecksum {
			return nil
		}
		if hash, ok := own[r.Tick]; ok && hash != r.Hash {
			late = append(late, record.Record{Kind: record.KindMismatch, Tick: r.Tick, Player: p, Hash: hash})
		}
		if len(late) < 3 {
			return nil
		}
		due := late[:1]
		late = late[1:]
		return due
	})
}

// A failed bisection says why, as text and as JSON.
func TestFilesRefuses(t *testing.T) {
	game, file := dots.Short()
	good, bad := openFile(t, file), openFile(t, []byte("text"))
	for name, files := range map[string][2]*replay.File{"the first": {bad, good}, "the second": {good, bad}} {
		b, err := bisect.Files(files[0], files[1], replay.Games{game}, bisect.Options{})
		var text strings.Builder
		if b.WriteText(&text); !errors.Is(err, replay.ErrFormat) || !strings.HasPrefix(strings.Join(strings.Fields(text.String()), " "), "verdict not compared: "+bad.Path()+": ") {
			t.Errorf("%s: got %v and the text\n%s", name, err, &text)
		}
		if m := jsonOf(t, b); m["class"] != "corrupt" || m["tick"] != nil {
			t.Errorf("%s: got %v", name, m)
		}
	}
	b, err := bisect.Files(good, good, nil, bisect.Options{})
	if m := jsonOf(t, b); err != nil || !b.Same || m["same"] != true || m["tick"] != nil || m["agreed"] != 100. {
		t.Errorf("equal files: got %v, %v", m, err)
	}
}

// Where nothing differs, a bisection says up to where, of how many ticks, and what else the replays have.
func TestBisectionSaysHowFar(t *testing.T) {
	game, whole := dots.Short()
	var short bytes.Buffer
	w := replay.NewWriter(&short, replay.WriterOptions{})
	if err := replay.Cut(w, openReplay(t, whole), 55); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		a, b []byte
		want string
	}{
		{"the same", whole, whole, "no checksum differs up to tick 100: 6 ticks compared"},
		{"a short one", whole, short.Bytes(), "up to tick 40: 3 ticks compared; A goes on to tick 100; B goes on to tick 55"},
	} {
		b, err := bisect.Files(openFile(t, c.a), openFile(t, c.b), replay.Games{game}, bisect.Options{})
		var text strings.Builder
		if b.WriteText(&text); err != nil || !strings.HasSuffix(strings.Join(strings.Fields(text.String()), " "), c.want) {
			t.Errorf("%s: got %v and the text\n%s\nwant %s", c.name, err, &text, c.want)
		}
	}
	if _, err := bisect.File(openFile(t, whole), []bisect.Report{{Tick: 33}}, nil, bisect.Options{}); !errors.Is(err, desync.ErrNothingCompared) {
		t.Errorf("reports of ticks without a checksum: got %v, want %v", err, desync.ErrNothingCompared)
	}
}

// Rules that compute a tick otherwise each time accuse nobody.
func TestBisectUnfixed(t *testing.T) {
	rules, runs := dots.Rules(), uint32(0)
	step := rules.Step
	rules.Step = func(w *dots.State, config *dots.Config, turn *lockstep.Turn) {
		step(w, config, turn)
		runs++
		w.Rand.Lo += uint64(runs * runs)
	}
	g := lockstep.MustGame(rules)
	_, file, _ := recordMatch(t, 100, replay.WriterOptions{})
	a, b := retell(t, file, g), retell(t, file, g)
	found, err := bisect.Replays(openReplay(t, a), openReplay(t, b), g, bisect.Options{})
	if err != nil || found.Cause != bisect.OriginUnfixed || found.Parting == nil || found.Fields.Total > 0 {
		t.Errorf("got %+v, %v", found, err)
	}
}
