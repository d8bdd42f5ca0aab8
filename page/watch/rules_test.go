package watch_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/page/watch"
	"github.com/seed-49bee653/samestep/replay"
)

// What a file needs to be watched is known before it is opened, and a damaged file needs nothing: Open says what is wrong.
func TestNeedOf(t *testing.T) {
	read := func(pattern string) []byte {
		t.Helper()
		paths, err := filepath.Glob(pattern)
		if err != nil || len(paths) == 0 {
			t.Fatal(pattern, paths, err)
		}
		b, err := os.ReadFile(paths[0])
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	with, without := read("../../examples/pebbles/testdata/golden/*.ssr"), read("../../testdata/replays/duel.ssr")
	foreign := read(marbles)
	flipped := bytes.Clone(with)
	module, err := watch.ModuleOf(with)
	if err != nil || !bytes.HasPrefix(module, []byte("\x00asm")) {
		t.Fatalf("got a module of %d bytes, %v", len(module), err)
	}
	sum := replay.SumRules(module)
	flipped[bytes.Index(with, sum[:])+100]++ // in the module
	for _, row := range []struct {
		name  string
		file  []byte
		games []watch.Known
		want  *watch.Need
	}{
		{"with a module", with, []watch.Known{{Game: game}}, &watch.Need{Game: "pebbles", Build: "1", Sum: sum.String(), Module: true}},
		{"without", without, nil, &watch.Need{Game: "skirmish", Build: game.Build()}},
		{"of a game that is there", without, []watch.Known{{Game: game}}, nil},
		{"of another engine", foreign, nil, nil},
		{"empty", nil, nil, nil},
		{"cut in the header", with[:100], nil, nil},
		{"text", []byte("no replay"), nil, nil},
		{"no bundle", []byte("PK\x03\x04"), nil, nil},
		{"with a damaged module", flipped, nil, &watch.Need{Game: "pebbles", Build: "1"}},
	} {
		if got := watch.NeedOf(row.file, row.games...); !reflect.DeepEqual(got, row.want) {
			t.Errorf("%s: got %+v, want %+v", row.name, got, row.want)
		}
	}
	if b, err := watch.ModuleOf(without); b != nil || err != nil {
		t.Errorf("got a module of %d bytes, %v, in a file without", len(b), err)
	}
	if b, err := watch.ModuleOf(flipped); err == nil {
		t.Errorf("got a module of %d bytes in a damaged file", len(b))
	}
}

// A replay is watched with the module that it names, and with no other; one that names none is never watched with the module of another
// replay.
func TestFitting(t *testing.T) {
	with, err := os.ReadFile("../../examples/pebbles/testdata/golden/pebbles-1.ssr")
	if err != nil {
		t.Fatal(err)
	}
	module, err := watch.ModuleOf(with)
	if err != nil {
		t.Fatal(err)
	}
	r, err := replay.NewReader(bytes.NewReader(with), int64(len(with)))
	if err != nil {
		t.Fatal(err)
	}
	var without bytes.Buffer
	if err := replay.Attach(&without, r, nil); err != nil {
		t.Fatal(err)
	}
	games := make([]*lockstep.Game, 5)
	for i := range games {
		games[i] = new(lockstep.Game)
	}
	sum, other := replay.SumRules(module), replay.Hash{1}
	all := []watch.Known{{Game: games[0]}, {Game: games[1], Sum: sum}, {Game: games[2], Sum: other}, {Game: games[3], Sum: sum, InFile: true}, {Game: games[4], Sum: other, InFile: true}}
	if got := watch.Fitting(with, all[0], all[2], all[4]); !slices.Equal(got, games[:1]) {
		t.Errorf("without its module: got %d games, want that of the program", len(got))
	}
	for _, row := range []struct {
		name string
		file []byte
		want []*lockstep.Game
	}{
		{"names its module", with, []*lockstep.Game{games[1], games[3]}},
		{"names none", without.Bytes(), games[:3]},
		{"no replay", nil, games[:3]},
	} {
		if got := watch.Fitting(row.file, all...); !slices.Equal(got, row.want) {
			t.Errorf("%s: got %d games, want %d", row.name, len(got), len(row.want))
		}
	}
}

// A page asks what it needs before it opens a replay.
func ExampleNeed() {
	file, err := os.ReadFile("../../testdata/replays/duel.ssr")
	if err != nil {
		fmt.Println(err)
		return
	}
	need := watch.NeedOf(file)
	fmt.Println(need.Game, need.Module)
	fmt.Println(watch.NeedOf(file, watch.Known{Game: game}))
	// Output:
	// skirmish false
	// <nil>
}
