package faultinjection

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
)

// harborBugs are the mistakes of harborRules, each with the commands that it treats otherwise: a cause that names one of them is
// no false one, and neither is one that names a field that differed first.
var harborBugs = []struct{ name, commands string }{
	{"commands after the second are skipped", "sail stow repair borrow hire"},
	{"ships move from the last to the first", ""},
	{"a cache is not rebuilt in every eighth tick", ""},
	{"a house sails the ships of others", "sail stow repair"},
	{"a ship that waits sails on at once", "sail"},
	{"a negative load is taken", "stow"},
	{"a hull is repaired above its limit", "repair"},
	{"a debt is due too soon", "borrow"},
	{"a new ship has half a tank", "hire"},
	{"a draw more in a calm", ""},
	{"a storm hits by index", ""},
	{"damage is one of five values", ""},
	{"ships do not wait less in the east", ""},
	{"a trip is counted in every tick", ""},
	{"a speed is rounded down", ""},
	{"the wind blows along one axis", ""},
	{"a ship sails past its port", ""},
	{"a speed is a byte", ""},
	{"a heavy ship burns as much as a light one", ""},
	{"the last in the queue is served first", ""},
	{"a price follows the stock of before", ""},
	{"a price follows the stock of another good", ""},
	{"a good too many is sold", ""},
	{"a payment is cut to a byte", ""},
	{"the other house is paid too", ""},
	{"a tank is not filled to the end", ""},
	{"a deal ends a tick too soon", ""},
	{"interest is rounded up", ""},
	{"the debt after a paid one is skipped", ""},
	{"the last ship takes the place of a sunk one", ""},
}

// harbors is the game with checks every so many ticks.
func harbors(every lockstep.Tick) *Subject {
	return &Subject{
		Game: lockstep.MustGame(harborRules("")), Config: &harborConfig{Ports: 5, Ships: 4, Tank: 120, Wage: 15, Interest: 13, Crane: 9},
		Players: 3, Faulty: Faulty(harborRules("")), Bot: harborBot, ticks: 800, every: every,
	}
}

// falseCause returns why a cause that an explanation names is one that the mistake does not have, or "".
func (m *match) falseCause(e *desync.Explanation, first lockstep.Tick, commands string) string {
	c := e.Cause
	switch {
	case c == nil, strings.Contains(c.Text, "nothing else differs") && e.Fields.Total == 1: // it says no more than what is seen
		return ""
	case c.When.From > first || c.When.To < first:
		return fmt.Sprintf("at ticks %d to %d, not %d: %s", c.When.From, c.When.To, first, c.Text)
	case c.Command != nil:
		if commands == "" || !slices.ContainsFunc(strings.Fields(commands), func(kind string) bool { return strings.Contains(c.Text, ": "+kind+" {") }) {
			return c.Text
		}
	case c.Path != "" && c.Kind != desync.OtherConfig:
		node := partOf(nodeOf(c.Path))
		if !strings.Contains(c.Path, "=") && !slices.ContainsFunc(m.nodes(first), func(n string) bool { return strings.HasPrefix(partOf(n), node) }) {
			return c.Text
		}
	default:
		return c.Text
	}
	return ""
}

// Of mistakes in rules, the field that is named first is one that differed first, and no false cause is named: with checks every 1,
// 20 and 100 ticks, whether the machine that was wrong has computed the ticks again or not. Without that, what follows in many
// ticks hides what was first.
func TestHarborBugs(t *testing.T) {
	bugs := harborBugs
	if testenv.Small(t) {
		bugs = nil
		for i := 0; i < len(harborBugs); i += 5 {
			bugs = append(bugs, harborBugs[i])
		}
	}
	for _, row := range []struct {
		every        lockstep.Tick
		alone, again int // of the 30 at least, without and with the answer of the machine
	}{{1, 28, 28}, {20, 28, 28}, {100, 21, 28}} {
		t.Run(fmt.Sprint("every ", row.every), func(t *testing.T) {
			if row.every == 100 {
				testenv.Long(t)
			}
			d := &drill{subject: harbors(row.every), seed: 1, dice: rand.New(rand.NewPCG(1, 5)), tools: realTools(), result: &Result{}}
			var fields, falsely, asked [2]int
			for _, b := range bugs {
				game := lockstep.MustGame(harborRules(b.name))
				m, _, err := d.playBug(bug{b.name, game})
				if err != nil {
					t.Fatalf("%s: %v", b.name, err)
				}
				first, err := m.diverged()
				if err != nil {
					t.Fatal(err)
				}
				answered, err := m.computeAgain(game)
				if err != nil {
					t.Fatal(err)
				}
				for i, evidence := range []*host.Evidence{m.evidence(), answered} {
					if evidence == nil {
						continue // the mistake is outside of the state: the machine gets another result
					}
					asked[i]++
					e, err := m.explained(d.tools, evidence)
					if err != nil {
						t.Fatal(err)
					}
					how := []string{"without the answer", "with it"}[i]
					if m.firstField(e, first) {
						fields[i]++
					} else {
						t.Logf("%s, %s: %v first, want %v of tick %d", b.name, how, e.Places.Lines(2), m.nodes(first), first)
					}
					if why := m.falseCause(e, first, b.commands); why != "" {
						falsely[i]++
						t.Errorf("%s, %s: false cause: %v; want %v of tick %d", b.name, how, why, m.nodes(first), first)
					}
				}
			}
			t.Logf("figures: checks every %d: field first %d of %d without the answer, %d of %d with it; false causes %d and %d",
				row.every, fields[0], asked[0], fields[1], asked[1], falsely[0], falsely[1])
			if n := len(harborBugs); fields[0]*n < row.alone*asked[0] && len(bugs) == n || fields[1]*n < row.again*asked[1] || asked[0] < len(bugs) || asked[1] < len(bugs)-1 {
				t.Errorf("want the field first in %d of %d without the answer, and in %d with it, of nearly all", row.alone, n, row.again)
			}
		})
	}
}

// A false cause is seen: one of another field, another tick, the configuration, or a command that the mistake has nothing to do
// with.
func TestHarborControl(t *testing.T) {
	d := &drill{subject: harbors(20), seed: 1, dice: rand.New(rand.NewPCG(1, 5)), tools: realTools(), result: &Result{}}
	m, _, err := d.playBug(bug{"", lockstep.MustGame(harborRules("a tank is not filled to the end"))})
	if err != nil {
		t.Fatal(err)
	}
	first, err := m.diverged()
	if err != nil {
		t.Fatal(err)
	}
	at := desync.Span{From: first, To: first}
	for _, row := range []struct {
		name  string
		cause *desync.Cause
		right bool
	}{
		{"none", nil, true},
		{"its field", &desync.Cause{Kind: desync.AlteredField, Path: "Ships[0].Fuel", When: at}, true},
		{"another field", &desync.Cause{Kind: desync.AlteredField, Path: "Houses[0].Gold", When: at, Text: "x"}, false},
		{"another tick", &desync.Cause{Kind: desync.AlteredField, Path: "Ships[0].Fuel", When: desync.Span{From: first + 1, To: first + 1}, Text: "x"}, false},
		{"a configuration", &desync.Cause{Kind: desync.OtherConfig, Path: "Tank", When: at, Text: "x"}, false},
		{"a command", &desync.Cause{Kind: desync.LostCommand, Command: &desync.Command{}, When: at, Text: "tick 3, player 0: sail {}"}, false},
		{"a tick", &desync.Cause{Kind: desync.LostTick, When: at, Text: "x"}, false},
	} {
		if why := m.falseCause(&desync.Explanation{Cause: row.cause}, first, "repair"); (why == "") != row.right {
			t.Errorf("%s: got %q", row.name, why)
		}
	}
}
