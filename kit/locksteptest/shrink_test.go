package locksteptest_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/kit/locksteptest"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

// greedyRules are rules in which a herd vanishes on machines that remember an earlier birth in another herd, with a
// name.
func greedyRules() lockstep.Rules[pasture, pastureConfig] {
	rules := pastureRules()
	rules.Step = func(w *pasture, config *pastureConfig, turn *lockstep.Turn) {
		stepPasture(w, config, turn)
		for i := range turn.Commands {
			if b, ok := turn.Commands[i].Value.(*breed); ok && b.Herd == 3 && b.Name != "" {
				if w.Cache++; w.Cache >= 2 {
					w.Herds[0].Size = 0
				}
			}
		}
	}
	return rules
}

func find(t *testing.T, rules lockstep.Rules[pasture, pastureConfig], o locksteptest.Options) *locksteptest.Failure {
	t.Helper()
	var f *locksteptest.Failure
	if _, err := locksteptest.Run(lockstep.MustGame(rules), o); !errors.As(err, &f) {
		t.Fatalf("the match does not fail: %v", err)
	}
	return f
}

func TestShrink(t *testing.T) {
	rules := greedyRules()
	rules.Describe = func(c *lockstep.Command) string { return fmt.Sprintf("player %d\nbreeds %T", c.Player, c.Value) }
	big := find(t, rules, options())
	small := big.Shrink(locksteptest.ShrinkOptions{})
	o := small.Options
	if small.Phase != big.Phase || small.Field != "Herds[0].Size" || o.Ticks > 4 || o.Players != 1 || len(o.Orders) != 2 || len(o.Skip) > 0 {
		t.Fatalf("%v became %v of %+v", big, small, o)
	}
	for _, order := range o.Orders {
		if b, ok := order.Value.(*breed); !ok || b.Herd != 3 || len(b.Name) != 1 || order.Kind != 2 {
			t.Errorf("got order %+v of %+v", order, order.Value)
		}
	}
	if c := o.Config.(*pastureConfig); c.Herds >= 6 || options().Config.(*pastureConfig).Herds != 6 {
		t.Errorf("got %+v", c)
	}
	again := find(t, rules, o)
	if again.Error() != small.Error() {
		t.Errorf("got %v, want %v", again, small)
	}
	var file bytes.Buffer
	if err := small.WriteReplay(&file); err != nil {
		t.Fatal(err)
	}
	r, err := replay.NewReader(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		t.Fatal(err)
	}
	info, err := replay.ReadInfo(r)
	if err != nil || info.Ticks != o.Ticks {
		t.Errorf("the replay: got %+v, %v", info, err)
	}
}

// A failure that cannot be reproduced, or whose time is up, stays unchanged.
func TestShrinkGivesUp(t *testing.T) {
	rules := pastureRules()
	steps := 0
	rules.Step = func(w *pasture, config *pastureConfig, turn *lockstep.Turn) {
		stepPasture(w, config, turn)
		if steps++; steps == 50 {
			w.Dice++
		}
	}
	f := find(t, rules, options())
	if got := f.Shrink(locksteptest.ShrinkOptions{}); got != f {
		t.Errorf("got %v, want it as it was", got)
	}
	f = find(t, greedyRules(), options())
	if got := f.Shrink(locksteptest.ShrinkOptions{Runs: 1}); len(got.Options.Orders) < 100 {
		t.Errorf("after one run %d orders are left", len(got.Options.Orders))
	}
}

func TestSearch(t *testing.T) {
	o := options()
	o.Seed = 103
	var progress int
	s := locksteptest.SearchOptions{Matches: 7, Progress: func(n int) { progress = n }}
	f, reached, err := locksteptest.Search(t.Context(), lockstep.MustGame(pastureRules()), o, s)
	if n := reached.Matches; f != nil || n != 7 || progress != 7 || err != nil || reached.Commands() == 0 {
		t.Errorf("got %v, %v, progress %d, %v", f, reached, progress, err)
	}
	for _, workers := range []int{1, 3} {
		s := locksteptest.SearchOptions{Matches: 40, Workers: workers}
		f, _, err := locksteptest.Search(t.Context(), lockstep.MustGame(greedyRules()), o, s)
		if f == nil || f.Options.Seed != 104 || err != nil {
			t.Errorf("%d workers: got %v of seed %+v, %v", workers, f, f.Options.Seed, err)
		}
	}
	bots := 0
	s.Bots = func(seed uint64) func(lockstep.Player, *lockstep.Simulation) []any {
		bots++
		return func(lockstep.Player, *lockstep.Simulation) []any { return []any{&breed{Herd: 3, Name: "x"}} }
	}
	if f, _, err = locksteptest.Search(t.Context(), lockstep.MustGame(pastureRules()), o, s); f != nil || bots != 8+3 || err != nil {
		t.Errorf("got %v and %d bots, %v", f, bots, err)
	}
	o.Skip = []string{"everything"}
	if _, _, err := locksteptest.Search(t.Context(), lockstep.MustGame(pastureRules()), o, s); err == nil {
		t.Error("options that fit no match were taken")
	}
}

// The matches of a search differ in more than the seed.
func TestSearchVaries(t *testing.T) {
	lengths := map[lockstep.Tick]bool{}
	rules := pastureRules()
	start := rules.New
	longest := lockstep.Tick(0)
	rules.New = func(w *pasture, s *lockstep.Settings, c *pastureConfig) error {
		lengths[longest], longest = true, 0
		return start(w, s, c)
	}
	rules.Step = func(w *pasture, config *pastureConfig, turn *lockstep.Turn) {
		longest = max(longest, turn.Tick)
		stepPasture(w, config, turn)
	}
	o := options()
	o.Skip = locksteptest.PhaseNames()
	if f, _, err := locksteptest.Search(t.Context(), lockstep.MustGame(rules), o, locksteptest.SearchOptions{Matches: 20}); f != nil || err != nil {
		t.Fatal(f, err)
	}
	want := map[lockstep.Tick]bool{0: true, 60: true, 30: true, 15: true, 7: true}
	if diff := cmp.Diff(want, lengths); diff != "" {
		t.Errorf("lengths (-want +got):\n%s", diff)
	}
}

func TestWriteTest(t *testing.T) {
	f := find(t, greedyRules(), options())
	f.Options.Orders = []locksteptest.Order{
		{Tick: 1, Player: 2, Kind: 1, Value: &drive{Herds: []uint16{7, 8}, X: -3}},
		{Tick: 2, Kind: 2, Value: &breed{Name: "o\"x"}},
	}
	f.Options.Skip = []string{"redo"}
	for _, row := range []struct{ pkg, game, want string }{
		{"locksteptest_test", "game()", `package locksteptest_test

import (
	"testing"

	"example.org/more"
	"github.com/seed-49bee653/samestep/kit/locksteptest"
)

// Found by playing random matches: ` + f.Error() + `
func TestFound5f095b4f(t *testing.T) {
	locksteptest.Check(t, game(), locksteptest.Options{
		Config:  &pastureConfig{Herds: 6},
		Players: 4, Ticks: 60, Every: 7, Span: 60, Redo: 8, Seed: 1,
		Skip: []string{"redo"},
		Orders: []locksteptest.Order{
			{Tick: 1, Player: 2, Kind: 1, Value: &drive{Herds: []uint16{7, 8}, X: -3}},
			{Tick: 2, Player: 0, Kind: 2, Value: &breed{Name: "o\"x"}},
		},
	})
}
`},
		{"other", "game()", ""}, // cannot name the types
		{"locksteptest_test", "game(", ""},
	} {
		var b strings.Builder
		err := f.WriteTest(&b, locksteptest.Source{
			Package: row.pkg, Path: "github.com/seed-49bee653/samestep/kit/locksteptest", Game: row.game, Imports: []string{"example.org/more"},
		})
		if b.String() != row.want || (err == nil) != (row.want != "") {
			t.Errorf("package %s: got %s, error %v", row.pkg, b.String(), err)
		}
	}
}

// A fuzz target writes a replay and a Go test.
func TestReport(t *testing.T) {
	f := find(t, greedyRules(), options())
	said := recorder{dir: t.TempDir()}
	func() {
		defer func() { recover() }()
		locksteptest.Report(&said, f, locksteptest.Source{
			Package: "locksteptest_test", Path: "github.com/seed-49bee653/samestep/kit/locksteptest", Game: "game()",
		})
	}()
	for _, name := range []string{"found_test.go", "found.ssr"} {
		path := filepath.Join(said.dir, name)
		if b, err := os.ReadFile(path); err != nil || len(b) < 300 || !strings.Contains(said.text, path) {
			t.Errorf("%s has %d bytes, %v: %s", path, len(b), err, said.text)
		}
	}
	if !strings.Contains(said.text, "a restored copy computes Herds[0].Size: got 5, want 0, from the derived field Cache: got 0, want 1\npackage locksteptest_test") {
		t.Errorf("got %s", said.text)
	}
}

type (
	terrain struct{ Walked uint32 }
	heights struct{ Cells []uint32 }
	walk    struct{ Steps uint8 }
)

// terrainGame is a game with a large configuration. Its rules differ between machines.
func terrainGame() *lockstep.Game {
	runs := uint32(0)
	return lockstep.MustGame(lockstep.Rules[terrain, heights]{
		Name: "terrain", Build: "1", Commands: []lockstep.CommandType{lockstep.Type[walk](1, "walk")},
		New: func(*terrain, *lockstep.Settings, *heights) error { runs++; return nil },
		Step: func(w *terrain, h *heights, turn *lockstep.Turn) {
			w.Walked += uint32(len(turn.Commands)) * (h.Cells[0] + runs)
		},
	})
}

// A written test reads a large configuration from the replay beside it.
func TestReplayConfig(t *testing.T) {
	config := &heights{Cells: slices.Repeat([]uint32{70, 1234567}, 300)}
	failure := (*locksteptest.Failure)(nil)
	if _, err := locksteptest.Run(terrainGame(), locksteptest.Options{Config: config}); !errors.As(err, &failure) {
		t.Fatalf("got %v, want a failure", err)
	}
	var text strings.Builder
	source := locksteptest.Source{
		Package: "locksteptest_test", Path: "github.com/seed-49bee653/samestep/kit/locksteptest", Game: "terrainGame()", Replay: "found.ssr",
	}
	if err := failure.WriteTest(&text, source); err != nil || !strings.Contains(text.String(), `ReplayConfig(t, terrainGame(), "found.ssr"),`) || strings.Contains(text.String(), "1234567") {
		t.Errorf("got %v and %s", err, text.String())
	}
	text.Reset()
	source.Replay = ""
	if err := failure.WriteTest(&text, source); err != nil || !strings.Contains(text.String(), "1234567") {
		t.Errorf("without a replay: got %v and %s", err, text.String())
	}
	name := filepath.Join(t.TempDir(), "found.ssr")
	file, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(failure.WriteReplay(file), file.Close()); err != nil {
		t.Fatal(err)
	}
	if got, ok := locksteptest.ReplayConfig(t, terrainGame(), name).(*heights); !ok || !slices.Equal(got.Cells, config.Cells) {
		t.Errorf("got %v, want the configuration of the match", got)
	}
	for want, g := range map[string]*lockstep.Game{"found.ssrx: open ": terrainGame(), `got a match of game "terrain", want "minimal"`: lockstep.MustGame(minimal.Rules())} {
		r := &recorder{}
		func() {
			defer func() { _ = recover() }()
			if strings.HasPrefix(want, "found.ssrx") {
				locksteptest.ReplayConfig(r, g, name+"x")
			}
			locksteptest.ReplayConfig(r, g, name)
		}()
		if !strings.Contains(r.text, want) {
			t.Errorf("got %q, want %q", r.text, want)
		}
	}
}

// A test that fuzz has written reads its configuration from the replay beside it.
func ExampleReplayConfig() {
	t := &recorder{} // a *testing.T
	defer func() {
		_ = recover()
		fmt.Println(strings.Contains(t.text, "locksteptest: testdata/found.ssr: "))
		// Output: true
	}()
	locksteptest.Check(t, terrainGame(), locksteptest.Options{
		Config: locksteptest.ReplayConfig(t, terrainGame(), "testdata/found.ssr"),
	})
}
