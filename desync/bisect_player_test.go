package desync_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/desync/bisect"
	"github.com/seed-49bee653/samestep/replay"
)

// Of a bundle, the states that the player sent are compared, so that many changed fields are found, too.
func TestBisectPlayerOfBundle(t *testing.T) {
	x := newTable(t, func(w *world, t *turn, step step) bool {
		step(w, t)
		w.Units[5].Health--
		w.Units[9].Health -= 3
		w.Units[7], w.Units[8] = w.Units[8], w.Units[7]
		return true
	}, false)
	x.play(t, 400)
	if err := x.writer.Flush(); err != nil {
		t.Fatal(err)
	}
	whole := x.log.Bytes()
	for _, c := range []struct {
		name   string
		file   []byte
		fields int
	}{
		{"bundle.zip", x.bundle(t), 3}, // or more, which follow from them
		{"bundle with a false state.zip", packed(t, unpacked(t, x.bundle(t)), func(m *replay.Manifest) { m.Exhibits[1].Player = m.Exhibits[0].Player }), 0},
		{"open.ssr", whole, 0},
	} {
		path := filepath.Join(t.TempDir(), c.name)
		if err := os.WriteFile(path, c.file, 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := replay.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		found, err := bisect.Player(f, victim, replay.Games{trueGame()}, bisect.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if found.Tick != 160 || found.Agreed != 140 || found.Cause != bisect.OriginB || found.Fields.Total < c.fields || c.fields == 0 && found.Fields.Total > 0 || found.Reconstructed {
			t.Errorf("%s: got %+v", c.name, found)
		}
		if c.fields > 0 && found.Fields.List[0].String() != "the order of Units differs from index 7 (Units[7].ID 9 → 10)" {
			t.Errorf("%s: got %v", c.name, found.Fields.List)
		}
	}
}

// A field is reconstructed from the checksum in a bundle, in a replay that is still written, and in one that is cut.
func TestBisectPlayerReconstructs(t *testing.T) {
	x := newTable(t, func(w *world, t *turn, step step) bool { step(w, t); w.Units[5].Health ^= 8; return true }, false)
	x.play(t, 400)
	if err := x.writer.Flush(); err != nil {
		t.Fatal(err)
	}
	whole := x.log.Bytes()
	for name, file := range map[string][]byte{"bundle.zip": x.bundle(t), "open.ssr": whole, "torn.ssr": append(whole[:len(whole):len(whole)], 1, 2, 3)} {
		found := bisectVictim(t, name, file)
		if found.Tick != 160 || found.Fields.Total != 1 || found.Fields.List[0].First.Path != "Units[ID=6].Health" || found.Reconstructed != (name != "bundle.zip") {
			t.Errorf("%s: got %+v", name, found)
		}
	}
}

// A player who reported nothing does not count as one who agreed.
func TestBisectWithoutReports(t *testing.T) {
	x := newTable(t, func(w *world, t *turn, step step) bool { step(w, t); return true }, false)
	x.play(t, 10) // no check so early
	path := filepath.Join(t.TempDir(), "short.ssr")
	if err := x.writer.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, x.log.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := replay.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if found, err := bisect.Player(f, victim, replay.Games{trueGame()}, bisect.Options{}); !errors.Is(err, bisect.ErrNoReports) || found.Same {
		t.Errorf("got %+v and %v, want ErrNoReports", found, err)
	}
	if _, err := bisect.File(f, nil, replay.Games{trueGame()}, bisect.Options{}); !errors.Is(err, bisect.ErrNoReports) {
		t.Errorf("got %v, want ErrNoReports", err)
	}
}

// With what the player's machine has computed again, the tick and the fields are those of an explanation.
func TestBisectPlayerAgain(t *testing.T) {
	x := newTable(t, func(w *world, t *turn, step step) bool {
		step(w, t)
		w.Units[5].Health--
		w.Units[9].Health -= 3
		return true
	}, false)
	x.play(t, 400)
	files := unpacked(t, x.bundle(t))
	b := packed(t, files, func(m *replay.Manifest) {
		a := &replay.BundleResimulation{From: m.Agreed, To: m.Tick, First: faultTick, Section: "Units"}
		var run []string
		for tick := a.From + 1; tick <= a.To; tick++ {
			sum, known := x.copies[victim].Sum(tick)
			if !known {
				t.Fatalf("no checksum of tick %d", tick)
			}
			run = append(run, checksum.FormatHash(sum.Hash))
		}
		a.Runs = [][]string{run, run}
		m.Resimulation = a
		files["states/first.state"] = slices.Clone(x.copies[victim].State(faultTick))
		m.Exhibits = append(m.Exhibits[:1:1], replay.BundleExhibit{Tick: faultTick, Player: "states/first.state"}, m.Exhibits[1])
	})
	e, err := desync.Explain(open(t, b), withGame(t))
	if err != nil {
		t.Fatal(err)
	}
	found := bisectVictim(t, "b.zip", b)
	if e.First != (desync.Span{From: faultTick, To: faultTick}) || found.Tick != faultTick || !found.Exact || found.Cause != bisect.OriginB {
		t.Errorf("got %v and %d, exact %v, want tick %d of both", e.First, found.Tick, found.Exact, faultTick)
	}
	if got, want := fmt.Sprint(found.All), fmt.Sprint(e.Fields); got != want || found.Reconstructed {
		t.Errorf("got the fields %s, want %s", got, want)
	}
}

// bisectVictim bisects a file of a name for the player whose copy was changed.
func bisectVictim(t *testing.T, name string, file []byte) *bisect.Bisection {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := replay.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	found, err := bisect.Player(f, victim, replay.Games{trueGame()}, bisect.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
