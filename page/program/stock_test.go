package program

import (
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/page/watch"
	"github.com/seed-49bee653/samestep/replay"
)

// gameWith returns the minimal game of a build, of a module unless that is "".
func gameWith(build, module string) Game {
	rules := minimal.Rules()
	rules.Build = build
	g := Game{Game: lockstep.MustGame(rules)}
	if module != "" {
		g.Module = []byte(module)
	}
	return g
}

func sumOf(module string) string { return replay.SumRules([]byte(module)).String() }

// Where the sum of a module is known, a match has its game and no other, whatever else is of that game and build.
func TestStockBySum(t *testing.T) {
	own, one, two, filed, later := gameWith("1", ""), gameWith("1", "one"), gameWith("1", "two"), gameWith("1", "filed"), gameWith("2", "later")
	s := stockOf([]Game{own}).add(one, false).add(two, false).add(filed, true).add(later, false)
	for _, row := range []struct {
		name, build, sum string
		want             *lockstep.Game
		problem          string
	}{
		{"minimal", "1", sumOf("one"), one.Game, ""},
		{"minimal", "1", sumOf("two"), two.Game, ""},
		{"minimal", "1", sumOf("filed"), filed.Game, ""},
		{"minimal", "2", sumOf("later"), later.Game, ""},
		{"minimal", "", sumOf("two"), two.Game, ""},
		{"minimal", "1", sumOf("none"), nil, "This page does not have the module with SHA-256 " + sumOf("none") + "."},
		{"minimal", "1", strings.Repeat("0", 64), nil, "This page does not have the module with SHA-256 " + strings.Repeat("0", 64) + "."},
		{"minimal", "1", sumOf("later"), nil, "The module has the rules of minimal build 2, want minimal build 1."},
		{"other", "1", sumOf("one"), nil, "The module has the rules of minimal build 1, want other build 1."},
		{"minimal", "1", "", own.Game, ""},
		{"minimal", "2", "", later.Game, ""},
		{"minimal", "", "", own.Game, ""},
		{"minimal", "3", "", nil, `This page is not of the game "minimal".`},
		{"other", "1", "", nil, `This page is not of the game "other".`},
	} {
		g, problem := s.of(row.name, row.build, row.sum)
		if g == nil != (row.want == nil) || g != nil && g.Game != row.want || problem != row.problem {
			t.Errorf("%s %s %q: got %v, %q, want %v, %q", row.name, row.build, row.sum, g, problem, row.want, row.problem)
		}
	}
	if g, _ := stockOf(nil).add(filed, true).of("minimal", "1", ""); g != nil {
		t.Error("a match that names no module has that of a replay")
	}
}

// A module is in the stock once, one in a replay replaces that in another, and the stock is bounded.
func TestStockIsBounded(t *testing.T) {
	own := gameWith("1", "")
	s := stockOf([]Game{own})
	for range 2 {
		s = s.add(gameWith("1", "a"), true).add(gameWith("1", "b"), true)
	}
	if len(s) != 2 || s.has(sumOf("b")) || len(s.games()) != 1 || s.known()[1] != (watch.Known{Game: s[1].Game.Game, Sum: replay.SumRules([]byte("b")), InFile: true}) {
		t.Errorf("got %+v, want the game of the program, and that of the latest replay for replays only", s)
	}
	s = s.add(gameWith("1", "b"), false).add(gameWith("1", "b"), true) // from the server, and in a replay again
	if len(s) != 2 || !s.has(sumOf("b")) || len(s.games()) != 2 {
		t.Errorf("got %+v, want the game of the program, and that of the module from the server", s)
	}
	for i := range 2 * maxModules {
		before := s
		s = s.add(gameWith("1", strings.Repeat("x", i+1)), false)
		if before[0].Game.Game != own.Game || s[0].Game.Game != own.Game || !s[1].is(sumOf(strings.Repeat("x", i+1))) {
			t.Fatalf("%d modules: got %+v, want the game of the program, and then the latest", i, s)
		}
	}
	if len(s) != 1+maxModules {
		t.Errorf("got %d games, want %d", len(s), 1+maxModules)
	}
}
