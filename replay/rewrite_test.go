package replay_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	testgame "github.com/seed-49bee653/samestep/internal/testing/dots"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

// A match that goes on is saved: the copy has an end, and every checksum in it is true. A file that is torn within a block
// is not saved.
func TestSave(t *testing.T) {
	s := lockstep.DefaultSettings(2)
	s.CheckEvery, s.KeyframeEvery = 10, 20
	g, h := newDots(t, s)
	var file bytes.Buffer
	w := replay.NewWriter(&file, replay.WriterOptions{FlushTicks: 7})
	c, err := coordinator.New(g, h, w, coordinator.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for range 43 {
		if _, err := c.Tick(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	going := bytes.Clone(file.Bytes())
	for _, o := range []replay.WriterOptions{{}, {SegmentTicks: 20}} {
		var saved bytes.Buffer
		tick, err := replay.Save(replay.NewWriter(&saved, o), open(t, going))
		if err != nil || tick != 43 {
			t.Fatalf("tick %d, %v", tick, err)
		}
		v, err := replay.Verify(open(t, saved.Bytes()), g, replay.VerifyOptions{})
		if err != nil || v.Ticks != 43 || v.Reason != "saved after tick 43" || v.Checked < 7 {
			t.Errorf("%+v, %v", v, err)
		}
		again, err := replay.Save(replay.NewWriter(&bytes.Buffer{}, o), open(t, saved.Bytes()))
		if err != nil || again != 43 {
			t.Errorf("a match that is over: tick %d, %v", again, err)
		}
	}
	for cut := 1; cut < 13; cut++ { // the last block has 13 bytes
		if _, err := replay.Save(replay.NewWriter(&bytes.Buffer{}, replay.WriterOptions{}), open(t, going[:len(going)-cut])); replay.ClassOf(err) != replay.ClassTorn {
			t.Errorf("%d bytes less: got %v", cut, err)
		}
	}
}

// continued plays a match on from an origin, and returns its replay.
func continued(t *testing.T, o *replay.Origin, id byte, ticks int) []byte {
	t.Helper()
	h := *o.Header
	h.Match = lockstep.MatchID{id}
	m, err := o.Recovery.Begin(0, &h, host.Origin{Lineage: o.Lineage}, host.Options{Random: func(b []byte) { b[0]++ }})
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	w := replay.NewWriter(&file, replay.WriterOptions{})
	for range ticks {
		r := m.Ready()
		_ = r.AppendTo(w) // its error is that of Close
		m.Advance(r.Next)
	}
	if err := m.Admin().End(0, "enough"); err != nil {
		t.Fatal(err)
	}
	_ = m.Ready().AppendTo(w)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// Matches begin in any state of a match: at a keyframe, between two, at the beginning and at the end. They verify, and
// their states are those of the parent there.
func TestReadOrigin(t *testing.T) {
	g, file, _ := recordMatch(t, 175, replay.WriterOptions{SegmentTicks: 60})
	for _, tick := range []lockstep.Tick{0, 1, 49, 50, 51, 100, 163, 175, replay.WholeMatch} {
		o, err := replay.ReadOrigin(open(t, file), g, "dots", tick, replay.SimulateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		want := min(tick, 175)
		child := continued(t, o, 2, 30)
		info, err := replay.ReadInfo(open(t, child))
		if err != nil || info.Keyframes[0].Tick != want || *info.Lineage != o.Lineage || info.Lineage.Tick != want {
			t.Errorf("tick %d: %+v, %v", tick, info, err)
		}
		v, err := replay.Verify(open(t, child), g, replay.VerifyOptions{})
		if err != nil || !v.Ended || v.Ticks < 29 {
			t.Errorf("tick %d: %+v, %v", tick, v, err)
		}
		there, err := replay.StateAt(open(t, file), g, want, replay.SimulateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		first, err := replay.StateAt(open(t, child), nil, want, replay.SimulateOptions{})
		if err != nil || !bytes.Equal(there.State, first.State) {
			t.Errorf("tick %d: another state, %v", tick, err)
		}
		var text strings.Builder
		if err := info.WriteText(&text); err != nil || !strings.Contains(text.String(), fmt.Sprintf("in the state after tick %d of \"dots\"", want)) {
			t.Errorf("tick %d: %s %v", tick, &text, err)
		}
	}
}

// A replay that cannot be an origin is refused with the reason.
func TestReadOriginRefuses(t *testing.T) {
	g, file, _ := recordMatch(t, 175, replay.WriterOptions{})
	rules := dotsRules()
	rules.Build = "2"
	other := lockstep.MustGame(rules)
	_, wrong := wrongAt(t, file, 160)
	for _, row := range []struct {
		name string
		file []byte
		game *lockstep.Game
		tick lockstep.Tick
		want string
	}{
		{"a later tick", file, g, 176, "tick 176: the replay has ticks 0 to 175"},
		{"another build", file, other, 100, "build"},
		{"a wrong checksum", wrong, g, 163, "desync at tick 160"},
		{"torn within the first state", file[:300], g, 100, "unexpected EOF"},
		{"too many ticks", file, g, 49, "49"},
	} {
		o := replay.SimulateOptions{}
		if row.name == "too many ticks" {
			o.MaxTicks = 10
		}
		if _, err := replay.ReadOrigin(open(t, row.file), row.game, "dots", row.tick, o); err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: got %v, want %q", row.name, err, row.want)
		}
	}
	if _, err := replay.ReadOrigin(open(t, wrong), g, "dots", 155, replay.SimulateOptions{}); err != nil {
		t.Errorf("before a wrong checksum: %v", err)
	}
	if o, err := replay.ReadOrigin(open(t, file[:len(file)-40]), g, "dots", replay.WholeMatch, replay.SimulateOptions{}); err != nil || o.Lineage.Tick < 150 {
		t.Errorf("of a torn file: %+v, %v", o, err)
	}
}

// wrongAt returns a replay whose checksum of a tick is wrong.
func wrongAt(t *testing.T, file []byte, tick lockstep.Tick) (lockstep.Tick, []byte) {
	return tick, copyRecords(t, file, func(r *record.Record, emit func(*record.Record) error) error {
		if r.Kind == record.KindChecksum && r.Tick == tick {
			r.Hash++
		}
		return emit(r)
	})
}

// A lineage is followed over generations, to replays of any length and form.
func ExampleAncestor() {
	var t testing.T
	game, file, _ := recordMatch(&t, 175, replay.WriterOptions{})
	dir, err := os.MkdirTemp("", "lineage")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	for i, tick := range []lockstep.Tick{100, 120} {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.ssr", i)), file, 0o600); err != nil {
			panic(err)
		}
		var o *replay.Origin
		o, err := replay.ReadOrigin(testgame.Open(&t, file), game, fmt.Sprintf("match-%d", i), tick, replay.SimulateOptions{})
		if err != nil {
			panic(err)
		}
		file = continued(&t, o, byte(2+i), 40)
	}
	var all []replay.Ancestor
	all, err = replay.FollowLineage(testgame.Open(&t, file), replay.Games{game}.OfFile, []string{dir}, replay.SimulateOptions{})
	for _, a := range all {
		fmt.Println(a.Name, "tick", a.Tick, "in", filepath.Base(a.Path), a.Reason == "")
	}
	fmt.Println(err)
	// Output:
	// match-1 tick 120 in 1.ssr true
	// match-0 tick 100 in 0.ssr true
	// <nil>
}

// A parent that cannot be followed is named with the reason, and a false lineage is an error.
func TestFollowLineage(t *testing.T) {
	g, file, _ := recordMatch(t, 175, replay.WriterOptions{})
	o, err := replay.ReadOrigin(open(t, file), g, "dots", 120, replay.SimulateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	child := continued(t, o, 2, 40)
	dir := t.TempDir()
	follow := func(child, parent []byte, games replay.Games) ([]replay.Ancestor, error) {
		t.Helper()
		path := filepath.Join(dir, "parent.ssr")
		os.Remove(path)
		if parent != nil {
			if err := os.WriteFile(path, parent, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		all, err := replay.FollowLineage(open(t, child), games.OfFile, []string{dir}, replay.SimulateOptions{})
		return all, err
	}
	cut := func(tick lockstep.Tick) []byte {
		var out bytes.Buffer
		if err := replay.Cut(replay.NewWriter(&out, replay.WriterOptions{SegmentTicks: 20}), open(t, file), tick); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	games := replay.Games{g}
	_, elsewhere := wrongAt(t, file, 100) // other content
	moved := copyRecords(t, child, func(r *record.Record, emit func(*record.Record) error) error {
		if r.Event == record.EventLineage {
			r.Text = strings.Replace(r.Text, `"tick":120`, `"tick":119`, 1)
		}
		return emit(r)
	})
	for _, row := range []struct {
		name          string
		child, parent []byte
		games         replay.Games
		want          string // Ancestor.Reason
	}{
		{"the whole match", child, file, games, ""},
		{"a match that was cut there", child, cut(120), games, ""},
		{"a longer part", child, cut(151), games, ""},
		{"a shorter part", child, cut(110), games, "ends at tick 110"},
		{"no parent", child, nil, games, "not found"},
		{"another file", child, child, games, "not found"},
		{"other content", child, elsewhere, games, "has the content"},
		{"another tick", moved, file, games, "the first state is of tick 120"},
		{"no game", child, file, nil, "dots"},
	} {
		all, err := follow(row.child, row.parent, row.games)
		if err != nil || len(all) != 1 || !strings.Contains(all[0].Reason, row.want) || (row.want == "") != (all[0].Path != "") {
			t.Errorf("%s: got %+v, %v, want %q", row.name, all, err, row.want)
		}
	}
	for cut := range child { // wherever it is torn
		r, err := replay.NewReader(bytes.NewReader(child[:cut]), int64(cut))
		if err != nil {
			continue
		}
		if _, err := replay.FollowLineage(r, games.OfFile, nil, replay.SimulateOptions{}); err != nil && replay.ClassOf(err) != replay.ClassTorn {
			t.Fatalf("%d bytes: %v", cut, err)
		}
	}
	if all, err := follow(file, file, games); err != nil || all != nil {
		t.Errorf("a match without a parent: got %+v, %v", all, err)
	}
	forged := copyRecords(t, child, func(r *record.Record, emit func(*record.Record) error) error {
		if r.Kind == record.KindKeyframe && r.Tick == 120 {
			r.Keyframe.Hash++
		}
		return emit(r)
	})
	all, err := follow(forged, file, games)
	if differs := (*lockstep.DesyncError)(nil); !errors.As(err, &differs) || differs.Tick != 120 || replay.ClassOf(err) != replay.ClassDesync || len(all) != 1 {
		t.Errorf("another state: got %+v, %v", all, err)
	}
}

// Wherever a file is cut, the match continues in a new file that has all remaining ticks and verifies to its new end.
func TestContinue(t *testing.T) {
	s := lockstep.DefaultSettings(2)
	s.CheckEvery, s.KeyframeEvery = 10, 20
	g, h := newDots(t, s)
	f := &faultyFile{}
	if _, err := playOn(t, g, h, replay.NewWriter(f, replay.WriterOptions{FlushTicks: 3}), 50); err != nil {
		t.Fatal(err)
	}
	went := 0
	for size := 24; size < len(f.data); size += 17 {
		r, err := replay.NewReader(bytes.NewReader(f.data[:size]), int64(size))
		if err != nil {
			continue
		}
		next := &faultyFile{}
		w := replay.NewWriter(next, replay.WriterOptions{FlushTicks: 1})
		recovery := host.NewRecovery(g)
		found, err := replay.Continue(w, r, recovery)
		if err != nil {
			continue // the first state is not there
		}
		if found.Damage == nil || found.Ticks != recovery.Tick() {
			t.Fatalf("%d bytes: %+v, the match is at tick %d", size, found, recovery.Tick())
		}
		host, err := recovery.Host(0, host.Options{Random: func(b []byte) {}})
		if err != nil {
			t.Fatal(err)
		}
		for range 11 {
			r := host.Ready()
			_ = r.AppendTo(w) // its error is that of Close
			host.Advance(r.Next)
		}
		if err := host.Admin().End(0, "done"); err != nil {
			t.Fatal(err)
		}
		_ = host.Ready().AppendTo(w)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if v := verifyBytes(t, g, next.data); v.Ticks != found.Ticks+10 || !v.Ended || v.Differed > 0 {
			t.Fatalf("%d bytes: %+v, want %d ticks", size, v, found.Ticks+10)
		}
		went++
	}
	if went == 0 {
		t.Error("no match went on")
	}
}
