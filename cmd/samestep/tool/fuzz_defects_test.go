//go:build !js

package tool

import (
	"encoding/json"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/scaffold/rules"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/serving"
	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/kit/locksteptest"
	"github.com/seed-49bee653/samestep/lockstep"
)

// The game of docs/studio.md: diggers look for gold, and pay with it for traps. Its rules can have a defect.
type (
	trapWorld struct {
		Diggers []trapDigger
		Gold    []fixed.Vec2
		Traps   []trap
		Last    []uint8 // the letters of the last trap

		trapped map[rules.Walk]int `state:"derived"` // index in Traps
		Streak  uint8              `state:"derived"`
	}
	trapDigger struct {
		At, To fixed.Vec2
		Found  uint32
		Tired  uint8
	}
	trap struct {
		At    rules.Walk
		Owner lockstep.Player
	}
	layTrap struct{ Letters []uint8 }
)

// laid is what the defect "a global variable" keeps.
var laid int

// trapRules returns the rules with a defect, or with none.
func trapRules(defect string) lockstep.Rules[trapWorld, rules.Config] {
	cell := func(at fixed.Vec2) rules.Walk {
		return rules.Walk{X: uint8(at.X.Floor().Int()), Y: uint8(at.Y.Floor().Int())}
	}
	place := func(c *rules.Walk) fixed.Vec2 {
		return fixed.Vec2{X: fixed.FromInt(int64(c.X)), Y: fixed.FromInt(int64(c.Y))}
	}
	lay := func(w *trapWorld, p lockstep.Player, c *layTrap) {
		d := &w.Diggers[p]
		if d.Found == 0 {
			return
		}
		d.Found--
		if w.Last = slices.Clone(c.Letters); defect == "a kept command" {
			w.Last = c.Letters
		}
		at := cell(d.At)
		if i, ok := w.trapped[at]; ok {
			w.Traps[i].Owner = p
			return
		}
		w.Traps = append(w.Traps, trap{at, p})
		if defect != "every fourth trap" || len(w.Traps)%4 > 0 {
			w.trapped[at] = len(w.Traps) - 1
		}
		laid++
	}
	dig := func(w *trapWorld, p int, config *rules.Config) {
		d := &w.Diggers[p]
		if d.Tired > 0 {
			d.Tired--
			return
		}
		d.At = d.At.MoveToward(d.To, config.Speed)
		if i, ok := w.trapped[cell(d.At)]; ok && w.Traps[i].Owner != lockstep.Player(p) {
			d.Tired = 100
		}
		i := slices.IndexFunc(w.Gold, func(gold fixed.Vec2) bool { return d.At.InRange(gold, fixed.One) })
		if i < 0 {
			return
		}
		d.Found++
		d.Tired = 20
		w.Gold = slices.Delete(w.Gold, i, i+1)
		switch w.Streak++; {
		case defect == "a forgotten field" && w.Streak%8 == 0:
			d.Tired++
		case defect == "a global variable":
			d.Tired += uint8(laid % 2)
		case defect == "the number of processors" && len(w.Gold) < 4:
			d.Tired += uint8(runtime.GOMAXPROCS(0))
		case defect == "a late map order" && len(w.Gold) < 3:
			for at := range w.trapped {
				d.To = place(&at)
				break
			}
		}
	}
	return lockstep.Rules[trapWorld, rules.Config]{
		Name: "traps", Build: "1",
		Commands: []lockstep.CommandType{lockstep.Type[rules.Walk](1, "walk"), lockstep.Type[layTrap](2, "lay")},
		Result:   lockstep.Result[rules.Score](),
		New: func(w *trapWorld, s *lockstep.Settings, config *rules.Config) error {
			chance, size := fixed.NewRand(s.Seed), fixed.FromInt(256)
			for range s.Players {
				at := fixed.Vec2{X: chance.Range(0, size), Y: chance.Range(0, size)}
				w.Diggers = append(w.Diggers, trapDigger{At: at, To: at})
			}
			for range config.Gold {
				w.Gold = append(w.Gold, fixed.Vec2{X: chance.Range(0, size), Y: chance.Range(0, size)})
			}
			return nil
		},
		Derive: func(w *trapWorld, _ *rules.Config) {
			if w.trapped == nil || defect != "Derive keeps what was there" {
				w.trapped = map[rules.Walk]int{}
			}
			for i, t := range w.Traps {
				w.trapped[t.At] = i
			}
			w.Streak = 0
		},
		Step: func(w *trapWorld, config *rules.Config, turn *lockstep.Turn) {
			for _, c := range turn.Commands {
				switch v := c.Value.(type) {
				case *rules.Walk:
					w.Diggers[c.Player].To = place(v)
				case *layTrap:
					lay(w, c.Player, v)
				}
			}
			for p := range w.Diggers {
				dig(w, p, config)
			}
			if len(w.Gold) == 0 {
				turn.End(&rules.Score{})
			}
		},
	}
}

// newTrapBot returns a bot that walks to the nearest gold, and lays a trap for every third one.
func newTrapBot(p lockstep.Player, _ uint64) lockstep.Bot {
	return func(s *lockstep.Simulation) []any {
		w := lockstep.World[trapWorld](s)
		d := &w.Diggers[p]
		if d.Found > 2 {
			return []any{&layTrap{Letters: []uint8{uint8(p), 7}}}
		}
		if len(w.Gold) == 0 {
			return nil
		}
		next := slices.MinFunc(w.Gold, d.At.CompareDistance)
		order := &rules.Walk{X: uint8(min(next.X.Round().Int(), 255)), Y: uint8(min(next.Y.Round().Int(), 255))}
		if d.To.X == fixed.FromInt(int64(order.X)) && d.To.Y == fixed.FromInt(int64(order.Y)) {
			return nil
		}
		return []any{order}
	}
}

// defects are those of trapRules.
var defects = []string{
	"every fourth trap", "a global variable", "a kept command", "a forgotten field", "a late map order", "the number of processors", "Derive keeps what was there",
}

// With its defaults, fuzz finds each defect in the game of docs/studio.md within a minute. In small, the same search runs without
// what fuzz does with a failure.
func TestFuzzFindsDefects(t *testing.T) {
	t.Setenv("SAMESTEP_LINE", "off")
	small := testenv.Small(t)
	for i, defect := range defects {
		if small && i > 1 {
			break
		}
		if !small {
			story := fuzzTraps(t, defect, console.ExitDesync, "--time", "60s", "--dir", t.TempDir())
			if story.Found != nil {
				t.Logf("%s: %.1f s, %v: %s", defect, story.Seconds, story.Reached, story.Found.Shrunk)
			}
			continue
		}
		g, usual := New(trapRules(defect), Bot(newTrapBot)).game, rules.Usual(2)
		found, reached, err := locksteptest.Search(t.Context(), g.Game, locksteptest.Options{Config: &usual, Players: 2}, locksteptest.SearchOptions{Matches: 60, Bots: g.Bots()})
		if found == nil {
			t.Errorf("%s: got %v, %v, want a failure", defect, reached, err)
		}
	}
}

// In rules without a defect it finds nothing, and says what the matches of the game's bots reached.
func TestFuzzSaysWhatWasReached(t *testing.T) {
	t.Parallel()
	story := fuzzTraps(t, "", console.ExitOK, "--matches", "6")
	r := story.Reached
	if r.Matches != 6 || r.Longest < 300 || r.Commands() < 100 || len(r.Accepted) != 2 || r.Accepted[1].N == 0 || r.Fields != 16 || !slices.Equal(r.Still, []string{"Diggers"}) {
		t.Errorf("got %+v", r)
	}
	short := fuzzTraps(t, "every fourth trap", console.ExitOK, "--matches", "20", "--ticks", "100") // why the length matters
	if short.Reached.Longest > 100 {
		t.Errorf("got %v", short.Reached)
	}
}

// fuzzed is what fuzz says with --json.
type fuzzed struct {
	Seconds float64
	Reached *locksteptest.Reached
	Found   *struct{ Shrunk string }
}

// fuzzTraps runs fuzz on the rules with a defect.
func fuzzTraps(t *testing.T, defect string, want int, args ...string) (story fuzzed) {
	t.Helper()
	list, err := listOf([]Game{New(trapRules(defect), Bot(newTrapBot), Config(rules.Usual))})
	if err != nil {
		t.Fatal(err)
	}
	var stdout, stderr strings.Builder
	code := runGames(list, t.Context(), append([]string{"traps", "fuzz", "--json"}, args...), &stdout, &stderr, serving.Extension{})
	if err := json.Unmarshal([]byte(stdout.String()), &story); err != nil || code != want {
		t.Errorf("%s: got code %d, %s%s, error %v, want code %d", defect, code, stdout.String(), stderr.String(), err, want)
	}
	return story
}
