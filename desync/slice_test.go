package desync_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

// A garden has lists in lists, and no positions.
type (
	garden struct {
		Hives []hive
		Meals uint32
	}
	hive struct {
		ID   uint32
		Bees []bee
	}
	bee struct {
		Name  string
		Meals []int16
	}
	feed struct{ Amount int16 }
)

// gardenGame is a game in which feed gives each bee a meal. From a tick on, a hive has one bee more.
func gardenGame(more lockstep.Tick) *lockstep.Game {
	return lockstep.MustGame(lockstep.Rules[garden, struct{}]{
		Name: "garden", Build: "1", Commands: []lockstep.CommandType{lockstep.Type[feed](1, "feed")},
		New: func(w *garden, _ *lockstep.Settings, _ *struct{}) error {
			for id := range uint32(3) {
				w.Hives = append(w.Hives, hive{ID: 7 + id, Bees: []bee{{Name: `b]="`}, {Name: "c"}}})
			}
			return nil
		},
		Step: func(w *garden, _ *struct{}, t *lockstep.Turn) {
			for i := range t.Commands {
				m, ok := t.Commands[i].Value.(*feed)
				for h := range w.Hives {
					for b := range w.Hives[h].Bees {
						if ok {
							w.Hives[h].Bees[b].Meals = append(w.Hives[h].Bees[b].Meals, m.Amount)
							w.Meals++
						}
					}
				}
			}
			if t.Tick == more {
				w.Hives[1].Bees = append(w.Hives[1].Bees, bee{Name: "new"})
			}
		},
	})
}

// gardenBundle plays ten ticks in which player 1 has one bee more from tick 6 on. It returns the bundle, and the states
// of both sides at the end.
func gardenBundle(t *testing.T) (bundle *replay.Bundle, right, wrong []byte) {
	t.Helper()
	game, settings := gardenGame(0), lockstep.DefaultSettings(2)
	settings.CheckEvery, settings.Seed = 10, 1
	header, err := game.NewHeader(lockstep.MatchID{1}, settings, &struct{}{})
	if err != nil {
		t.Fatal(err)
	}
	kept := lockstep.FollowerOptions{History: lockstep.HistoryOptions{States: true}}
	other := gardenGame(6).NewFollower(kept)
	var log, archive bytes.Buffer
	file := replay.NewWriter(&log, replay.WriterOptions{})
	match, err := coordinator.New(game, header, record.Tee(file, stubborn{other}), coordinator.Options{Referee: kept})
	if err != nil {
		t.Fatal(err)
	}
	match.Join(0)
	match.Join(1)
	for n := range lockstep.Sequence(10) {
		kind, payload, err := game.NewPayloads().Encode(&feed{Amount: -int16(n)})
		if err != nil {
			t.Fatal(err)
		}
		if n == 2 || n == 4 || n == 7 {
			match.Submit(0, n, kind, payload)
		}
		if _, err := match.Tick(); err != nil {
			t.Fatal(err)
		}
	}
	sum, _ := other.Sum(10)
	if err := match.Report(1, 10, sum); err != nil {
		t.Fatal(err)
	}
	right, wrong = match.Referee().State(10), other.State(10)
	evidence := &host.Evidence{Report: *match.Desyncs()[0], Exhibits: []host.Exhibit{{Tick: 10, Referee: right, Player: wrong}}}
	if err := file.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := replay.WriteBundle(&archive, header, evidence, &log); err != nil {
		t.Fatal(err)
	}
	if bundle, err = replay.OpenBundle(bytes.NewReader(archive.Bytes()), int64(archive.Len())); err != nil {
		t.Fatal(err)
	}
	return bundle, right, wrong
}

// Of a list whose length differs, the last change of its length is searched, and not that of a field in it.
func TestChangeOfLength(t *testing.T) {
	bundle, _, _ := gardenBundle(t)
	e, err := desync.Explain(bundle, desync.Options{Game: replay.Games{gardenGame(0)}.Of})
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(e.Lines(), "\n")
	if !strings.Contains(text, "Hives[ID=8].Bees 2 elements → 3 elements") || !strings.Contains(text, "Hives[ID=8].Bees is 2 elements, not changed since tick 0") {
		t.Errorf("got\n%s", text)
	}
}

// Every path that an explanation or a comparison prints is one that Lookup takes, and so the verbs.
func TestPrintedPaths(t *testing.T) {
	bundle, right, wrong := gardenBundle(t)
	game := gardenGame(0)
	e, err := desync.Explain(bundle, desync.Options{Game: replay.Games{game}.Of})
	if err != nil {
		t.Fatal(err)
	}
	paths := []string{e.Section}
	for _, p := range e.Places.List {
		paths = append(paths, p.Path, p.Element, p.First.Path)
	}
	for _, d := range e.Fields.List {
		paths = append(paths, d.Path)
	}
	for _, c := range e.Changes {
		paths = append(paths, c.Field)
	}
	for _, c := range e.Commands {
		paths = append(append(paths, c.Changes...), c.Names...)
	}
	schema := game.StateSchema()
	leaves, err := schema.Leaves(wrong)
	if err != nil {
		t.Fatal(err)
	}
	for v := range leaves {
		paths = append(paths, v.Path)
	}
	if len(paths) < 20 {
		t.Errorf("got %d paths", len(paths))
	}
	for _, path := range paths {
		if _, err := schema.Lookup(wrong, path); err != nil {
			if _, err := schema.Lookup(right, path); err != nil { // an element that only one side has
				t.Error(err)
			}
		}
	}
}
