package watch_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
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
		games []*lockstep.Game
		want  *watch.Need
	}{
		{"with a module", with, []*lockstep.Game{game}, &watch.Need{Game: "pebbles", Build: "1", Module: true}},
		{"without", without, nil, &watch.Need{Game: "skirmish", Build: game.Build()}},
		{"of a game that is there", without, []*lockstep.Game{game}, nil},
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

// A page asks what it needs before it opens a replay.
func ExampleNeed() {
	file, err := os.ReadFile("../../testdata/replays/duel.ssr")
	if err != nil {
		fmt.Println(err)
		return
	}
	need := watch.NeedOf(file)
	fmt.Println(need.Game, need.Module)
	fmt.Println(watch.NeedOf(file, game))
	// Output:
	// skirmish false
	// <nil>
}
