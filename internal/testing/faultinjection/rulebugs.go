package faultinjection

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"

	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/lockstep"
)

// A bug is the game of a subject with a mistake in its rules.
type bug struct {
	Name string
	Game *lockstep.Game
}

// A draft is a bug that a drill may try. Drafts of one name are the same.
type draft struct {
	name   string
	change Change
}

// figures adds a row for each figure. A tool that guesses has too few right answers.
func (d *drill) figures() {
	r := d.result
	if f := &r.RuleBugs; f.Faults > 0 {
		r.row(&fault{"all rule bugs", fmt.Sprint(f.Faults)}, "explain", clue{What: f.ruleText()}, clue{What: "every tick, four of five fields, no false cause"},
			f.Tick == f.Faults && 5*f.Field >= 4*f.Faults && f.False == 0 && f.Exact == f.Asked)
	}
	if f := &r.CommandFaults; f.Faults > 0 {
		r.row(&fault{"all faults of commands", fmt.Sprint(f.Faults)}, "explain", clue{What: f.commandText()}, clue{What: "nine of ten causes"}, 10*f.Cause >= 9*f.Faults)
	}
}

// ruleBug plays a match in which one player has other rules, and explains the bundle.
func (d *drill) ruleBug(b bug) error {
	m, seat, err := d.playBug(b)
	if err != nil {
		return err
	}
	first, err := m.diverged()
	if err != nil {
		return err
	}
	f := &fault{"rule bug", fmt.Sprintf("%s, in the rules of player %d", b.Name, seat)}
	e, err := m.explained(d.tools, m.evidence())
	if err != nil {
		return err
	}
	figure := &d.result.RuleBugs
	figure.Faults++
	want := clue{What: "desync", Tick: first, Who: player(seat), Field: strings.Join(m.nodes(first), " or ")}
	got := explanation(e)
	since := e.First.From <= first && first <= e.First.To
	falsely := e.Cause != nil && !strings.Contains(strings.Join(e.Lines(), "\n"), "\ncause      consistent with: ")
	count(&figure.Tick, since)
	count(&figure.False, falsely || !since)
	if named := m.firstField(e, first); named {
		figure.Field++
	} else {
		got.What += ", another field first"
	}
	d.result.row(f, "explain", got, want, got.Who == want.Who && since && !falsely)
	return d.again(f, m, &b, want)
}

// firstField reports whether the field that an explanation lists first is one of those that differed first.
func (m *match) firstField(e *desync.Explanation, first lockstep.Tick) bool {
	if len(e.Places.List) == 0 {
		return false
	}
	place := &e.Places.List[0]
	path := place.First.Path
	if strings.HasSuffix(path, "]") && !strings.Contains(path, "].") { // an element that one side lacks
		return m.differs(path, first)
	}
	node := partOf(nodeOf(path))
	return slices.ContainsFunc(m.nodes(first), func(n string) bool { return partOf(n) == node })
}

// partOf returns the field of an element that contains a field of the schema: "Units[].Pos" for "Units[].Pos.X".
func partOf(node string) string {
	list, field, ok := strings.Cut(node, "[].")
	field, _, _ = strings.Cut(field, ".")
	if !ok {
		return node
	}
	return list + "[]." + field
}

// anyBug draws until the rule bug has a consequence in the match, not before the first checks.
func (d *drill) anyBug(name string, plant func(*match, *rand.Rand) (*draft, error)) error {
	vain := map[string]bool{} // drafts without a consequence
	for range 200 {
		b, err := plant(d.base, d.dice)
		if err != nil {
			return err
		}
		if b == nil || vain[b.name] {
			continue
		}
		game := d.subject.Faulty(&b.change)
		if !d.base.noticed(game) {
			vain[b.name] = true
			continue
		}
		if err := d.ruleBug(bug{name + ": " + b.name, game}); !errors.Is(err, errNoPlace) {
			return err
		}
	}
	return fmt.Errorf("%w: none of 200 changes the match", errNoPlace)
}

// noticed reports whether other rules give another state at a check, and no error before.
func (m *match) noticed(g *lockstep.Game) bool {
	checkEvery := m.subject.checks()
	for from := lockstep.Tick(0); from+checkEvery <= m.subject.ticks; from += checkEvery {
		states, err := m.rerun(g, from, from+checkEvery)
		if err != nil {
			return false
		}
		if !bytes.Equal(states[from+checkEvery], m.states[from+checkEvery]) {
			return true
		}
	}
	return false
}

// playBug plays the match until the bug has been noticed.
func (d *drill) playBug(b bug) (*match, lockstep.Player, error) {
	seat := d.seat()
	m, err := d.subject.play(d.seed, cast{referee: d.subject.Game, copied: b.Game, seat: seat, brief: true})
	if err == nil {
		_, err = m.check()
	}
	if err == nil {
		return m, seat, nil
	}
	return nil, 0, fmt.Errorf("%w: %w", errNoPlace, err)
}

// nodes returns the fields of the schema that differ at a tick, and the lists whose elements differ.
func (m *match) nodes(t lockstep.Tick) (all []string) {
	x, y := list(m.game.StateSchema(), m.states[t]), list(m.game.StateSchema(), m.copied[t])
	for _, f := range x.order {
		text, ok := y.text[f.path]
		if node := f.node.Path(); (!ok || text != x.text[f.path]) && !slices.Contains(all, node) {
			all = append(all, node)
		}
	}
	return all
}

// keys matches the index or the ID of an element in a path.
var keys = regexp.MustCompile(`\[[^\]]*\]`)

// nodeOf returns the field of the schema that a path names.
func nodeOf(path string) string {
	return keys.ReplaceAllString(path, "[]")
}

// diverged returns the first tick of the last divergence before the check that noticed it. The states may have differed and
// been equal again before.
func (m *match) diverged() (lockstep.Tick, error) {
	check, err := m.check()
	for check > 0 && !bytes.Equal(m.states[check-1], m.copied[check-1]) {
		check--
	}
	return check, err
}
