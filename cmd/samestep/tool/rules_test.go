//go:build !js

package tool

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
)

// The stock program hosts, plays, verifies and debugs a game that it has never seen, by a module of its rules.
func TestRulesOfForeignGame(t *testing.T) {
	t.Parallel()
	testenv.Long(t)
	f := newForeign(t)
	f.run(console.ExitOK, "golden --add --dir golden --players 4 --ticks 2000")
	match := "golden/hold-1.ssr"

	stock := *f
	stock.program = os.Args[0]
	s := &stock
	s.run(console.ExitOK, "rules build ./rules -o one.wasm", "wrote one.wasm: hold build 1")
	s.run(console.ExitOK, "rules build ./rules -o again.wasm")
	if a, b := f.file("one.wasm"), f.file("again.wasm"); !bytes.Equal(a, b) {
		t.Error("the same sources give other bytes")
	}
	s.run(console.ExitOK, "rules inspect one.wasm", "of hold build 1", "commands   walk", "Diggers, Gold")
	s.run(console.ExitOK, "rules check --dir golden one.wasm", "hold build 1", "1 match verified")
	f.replace("Build:    \"1\"", "Build:    \"2\"")
	f.replace("d.Tired = 20", "d.Tired = 21")
	s.run(console.ExitOK, "rules build ./rules -o two.wasm", "hold build 2")
	f.replace("Build:    \"2\"", "Build:    \"3\"")
	f.replace("At, To fixed.Vec2", "At, To fixed.Vec2\n\tHP uint8")
	sees, blind := "lockstep.View(see, refuse),", "lockstep.View(see, refuse), ViewOf: func(*World, lockstep.Player) (v lockstep.Viewer) { v.As = lockstep.AsTeam; return v },"
	f.replace(sees, blind)
	lasts, ends := "if len(w.Gold) == 0 {", "if len(w.Gold) == 0 || turn.Tick == 24 {"
	f.replace(lasts, ends)
	s.run(console.ExitOK, "rules build ./rules -o three.wasm", "hold build 3")
	s.run(console.ExitOK, "rules check three.wasm", "but        the match proves too little: answers: no two different worlds looked the same to a player", "reached    1 match, 24 ticks; accepted: ", "the same states in 24 ticks")
	f.replace(blind, sees)
	f.replace(ends, lasts)

	f.replace("func step(", "var calls int\n\nfunc step(")
	f.replace("	for p := range w.Diggers {\n		w.dig(", "	if calls++; calls%50 == 0 {\n		w.Diggers[0].Found++\n	}\n	for p := range w.Diggers {\n		w.dig(")
	s.run(console.ExitOK, "rules build ./rules -o wrong.wasm", "hold build 3")
	s.run(console.ExitDesync, "rules check wrong.wasm", "data outside of the state decides", "Diggers[0].Found")

	s.run(console.ExitIdentity, "replay verify "+match, `use a program with game "hold"`)
	s.run(console.ExitOK, "replay verify --rules one.wasm "+match, "true: every checksum")
	s.run(console.ExitOK, "replay dump --rules one.wasm --commands "+match, "walks to")
	s.run(console.ExitOK, "replay seek --rules one.wasm "+match+" --tick 100", "agrees with the file")
	s.run(console.ExitOK, "rules add --dir store one.wasm two.wasm", "added hold build 1 as ", "added hold build 2 as ")
	s.run(console.ExitOK, "replay verify --rules store "+match, "true: every checksum")
	s.run(console.ExitOK, "fuzz --rules one.wasm --matches 1")
	s.run(console.ExitOK, "simulate --rules one.wasm --seeds 1 --minutes 1", "violations 0")
	s.run(console.ExitUsage, "drill --rules one.wasm", "game hold is a module of rules")
	s.run(console.ExitUsage, "bench log --rules one.wasm", "game hold is a module of rules")

	// Two builds against each other.
	s.run(console.ExitDesync, "replay verify --rules two.wasm "+match, "DESYNC, first at tick")
	s.run(console.ExitDesync, "replay verify --rules two.wasm golden", "1 desync")
	s.run(console.ExitDesync, "replay bisect --rules one.wasm --other two.wasm "+match, ".Tired 20 → 21", "the rules of A and of B differ")
	s.run(console.ExitOK, "replay bisect --rules one.wasm --other again.wasm "+match, "no checksum differs")
	s.run(console.ExitIdentity, "replay bisect --rules one.wasm --other three.wasm "+match, "three.wasm", "state schema", "HP")
	f.run(console.ExitOK, "golden --add --dir golden/more --players 2 --ticks 5 --weight walk=0 --allow-thin short")
	s.run(console.ExitDesync, "replay bisect --rules one.wasm --other two.wasm golden", "they differ from tick ", ".Tired 20 → 21", "hold-1.ssr: both builds compute the same")
	s.run(console.ExitUsage, "replay bisect --other two.wasm --player 1 "+match, "--other cannot be used")
	s.functions(match)

	t.Run("attached", func(t *testing.T) { s.attached(t, match) })
	t.Run("live", func(t *testing.T) {
		live := stock
		live.rules = [2][]string{{"--rules", "one.wasm"}, {"--rules", "two.wasm", "--rules", "store"}}
		live.rules[0][1], live.rules[1][1], live.rules[1][3] = f.in("one.wasm"), f.in("two.wasm"), f.in("store")
		live.live(t)
	})
}

// functions compares the calls in modules of the game.
func (f *foreign) functions(match string) {
	f.t.Helper()
	f.run(console.ExitOK, "desync line --rules one.wasm "+match, "this version computes the same again")
	f.run(console.ExitOK, "desync line --rules one.wasm --other again.wasm "+match, "both versions compute the same")
	f.run(console.ExitDesync, "desync line --rules one.wasm --other two.wasm "+match, ".Tired: 20 | 21")
	f.run(console.ExitDesync, "desync line --rules one.wasm --other two.wasm golden", "2 groups", "nothing differs", ".Tired: 20 | 21")
	f.run(console.ExitIdentity, "desync line --rules one.wasm --other three.wasm "+match, "three.wasm", "state schema", "HP")
	f.run(console.ExitUsage, "desync line --other two.wasm --source . "+match, "cannot be used with --source")
}

// in returns the path of a file in the folder of the game.
func (f *foreign) in(name string) string { return filepath.Join(f.dir, name) }

// file returns the content of a file in the folder of the game.
func (f *foreign) file(name string) []byte {
	f.t.Helper()
	b, err := os.ReadFile(f.in(name))
	if err != nil {
		f.t.Fatal(err)
	}
	return b
}

// replace changes the rules of the game.
func (f *foreign) replace(old, now string) {
	f.t.Helper()
	b := f.file("rules/rules.go")
	if !bytes.Contains(b, []byte(old)) {
		f.t.Fatalf("rules.go has no %q", old)
	}
	if err := os.WriteFile(f.in("rules/rules.go"), bytes.Replace(b, []byte(old), []byte(now), 1), 0o666); err != nil {
		f.t.Fatal(err)
	}
}

// attached verifies replays by the rules in them, or by those that they name.
func (f *foreign) attached(t *testing.T, match string) {
	f.t = t
	f.run(console.ExitOK, "replay attach --with-rules one.wasm "+match+" with.ssr")
	f.run(console.ExitOK, "replay verify with.ssr", "true: every checksum")
	f.run(console.ExitOK, "replay attach --with-rules one.wasm --reference "+match+" named.ssr")
	f.run(console.ExitIdentity, "replay verify named.ssr", "rules add FILE")
	f.run(console.ExitOK, "replay verify --rules store named.ssr", "true: every checksum")

	// Rules of another build in the file are of no use, and it says so.
	f.run(console.ExitOK, "replay attach --with-rules two.wasm "+match+" wrong.ssr")
	f.run(console.ExitIdentity, "replay verify wrong.ssr", "wrong.ssr: its rules: ", "build")
	if err := os.WriteFile(f.in("text.wasm"), []byte("no module"), 0o666); err != nil {
		t.Fatal(err)
	}
	f.run(console.ExitOK, "replay attach --with-rules text.wasm "+match+" text.ssr")
	f.run(console.ExitCorrupt, "replay verify text.ssr", "not a rules module")
	f.run(console.ExitCorrupt, "replay verify --rules text.wasm "+match, "text.wasm: module: not a rules module")
}

// Matches of a game in C that the program was not built with: their files have the rules.
func TestRulesInReplay(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../../examples/pebbles/testdata/golden/*.ssr")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		f := &foreign{t: t, dir: ".", program: os.Args[0]}
		f.run(console.ExitOK, "replay verify "+file, "600 ticks", "true: every checksum")
		f.run(console.ExitOK, "replay dump --commands "+file, "takes 3 from pile ")
		f.run(console.ExitOK, "replay seek "+file+" --tick 300", "agrees with the file")
		f.run(console.ExitOK, "replay step --tick 300 "+file, "Piles[")
	}
}
