package watch_test

import (
	"bytes"
	"errors"
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

// marbles is a recording of examples/marbles with the checksums of a machine that rounds otherwise. It has the states of
// ticks 0, 150 and 151.
const marbles = "testdata/marbles.ssr"

// A recording of another engine has its commands and checksums at any tick, and the states that were recorded.
func ExampleOpenRecording() {
	file, err := os.ReadFile(marbles)
	if err != nil {
		fmt.Println(err)
		return
	}
	v, err := watch.OpenRecording(file)
	if err != nil {
		fmt.Println(err)
		return
	}
	var is watch.Recorded = *v.About().Recorded
	first := v.Timeline(10).Mismatches[0]
	fmt.Println(is.States, "states,", v.Timeline(10).Keyframes, "tick", first.Tick, "of player", first.Player)
	for _, t := range []lockstep.Tick{151, 77} {
		v.Seek(t)
		v.Work(1)
		_, now, schema, err := v.Recorded()
		if err != nil {
			fmt.Println(err)
			continue
		}
		x, err := schema.Lookup(now, "Marbles[1].VX")
		fmt.Println("tick", v.Tick(), x, err)
		var apart *watch.Differing = v.Differing()
		var who watch.Reporters = apart.Groups[1]
		fmt.Println("at tick", apart.Tick, "players", who.Players, "have", who.Checksum)
	}
	fmt.Println(v.Hash(), v.Commands(61, 2)[0].Text)
	// Output:
	// 3 states, [0 150] tick 151 of player 0
	// tick 151 0.037034214 <nil>
	// at tick 151 players [1] have 14d8163d7395fc77
	// no recorded state at tick 77; the nearest are those of ticks 0 and 150; to record it, run the game again with SAMESTEP_DUMP=77
	// e9cebca910539cb8 player 0: kind 1 {"Data":[12,2,91,64,102,102,155,62]}
}

// Each kind of file has its own function, and a recording that is cut is shown up to the cut.
func TestRecordings(t *testing.T) {
	file, err := os.ReadFile(marbles)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := watch.Open(file, game); !errors.Is(err, watch.ErrForeign) {
		t.Errorf("a recording as a replay of a game: got %v", err)
	}
	if _, err := watch.OpenRecording(golden(t, "duel")); !errors.Is(err, watch.ErrSimulated) {
		t.Errorf("a replay of a game as a recording: got %v", err)
	}
	v, err := watch.OpenRecording(file)
	if err != nil {
		t.Fatal(err)
	}
	v.Seek(151)
	if !v.Work(0) || v.Tick() != 151 || v.Hash() != "" || v.Left() != 0 {
		t.Errorf("at a tick on whose checksum the players disagree: got tick %d and checksum %q", v.Tick(), v.Hash())
	}
	var who []watch.Reporters
	apart := v.Differing()
	if apart != nil {
		who = apart.Groups
	}
	if len(who) != 2 || apart.Tick != 151 || !slices.Equal(who[0].Players, []lockstep.Player{0}) || !slices.Equal(who[1].Players, []lockstep.Player{1}) || who[0].Checksum == who[1].Checksum {
		t.Errorf("who differs: got %+v", apart)
	}
	if v.Seek(150); !v.Work(0) || v.Differing() != nil {
		t.Errorf("before they differ: got %+v", v.Differing())
	}
	v.Seek(151)
	v.Work(0)
	if before, _, _, err := v.Recorded(); err != nil || before == nil {
		t.Errorf("the state of the tick before: got %d bytes, %v", len(before), err)
	}
	v.Seek(160)
	v.Work(0)
	var missing *replay.NoStateError
	if _, _, _, err := v.Recorded(); !errors.As(err, &missing) || !slices.Equal(missing.Nearest, []lockstep.Tick{151}) {
		t.Errorf("a tick after the last state: got %v", err)
	}
	for n := range len(file) - 100 { // what follows is the index
		if v, err := watch.OpenRecording(file[:n]); err == nil && v.About().Damage == "" {
			t.Fatalf("%d bytes of %d: got no damage", n, len(file))
		}
	}
}

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
