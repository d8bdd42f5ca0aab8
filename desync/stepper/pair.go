package stepper

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/seed-49bee653/samestep/desync/bisect"
	"github.com/seed-49bee653/samestep/internal/words"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/state"
)

// A Pair is one tick on two sides.
type Pair struct {
	Sides  [2]string         `json:"sides"` // their names, for people
	A      *Step             `json:"a"`
	B      *Step             `json:"b"`
	Before *Changes          `json:"before"`             // from A to B, before the tick; nil if that state of B is not known
	Frame  *bisect.FrameText `json:"commands,omitempty"` // the commands that only one side has
	Phase  *string           `json:"phase,omitempty"`    // in which the states began to differ; nil if they do not, or did before
	After  *Changes          `json:"after"`              // from A to B, after the tick; nil if the rules of one panicked
	Same   bool              `json:"same"`               // nothing differs
}

// PairSteps compares a tick of two sides. The error is a [*lockstep.IdentityError] if their states have different schemas.
func PairSteps(a, b *Step, names [2]string, o Options) (*Pair, error) {
	p := &Pair{Sides: names, A: a, B: b}
	if x, y := a.schema.AppendDescription(nil), b.schema.AppendDescription(nil); !bytes.Equal(x, y) {
		return nil, &lockstep.IdentityError{Field: "state schema", Got: "that of " + names[1], Want: "that of " + names[0]}
	}
	between := func(x, y []byte) (*Changes, error) {
		if x == nil || y == nil {
			return nil, nil
		}
		c, err := changesBetween(a.schema, x, y, &o)
		if errors.Is(err, state.ErrPath) {
			err = nil // one of the other states has it
		}
		return &c, err
	}
	var err error
	if p.Before, err = between(a.before, b.before); err != nil {
		return nil, err
	}
	if p.After, err = between(a.after, b.after); err != nil {
		return nil, err
	}
	if b.frame != nil {
		p.Frame = bisect.DescribeFrame(&bisect.FrameDifference{Tick: a.Tick, A: a.frame.Commands, B: b.frame.Commands}, a.words, b.words, o.Commands)
		if len(p.Frame.A)+len(p.Frame.B)+p.Frame.MoreA+p.Frame.MoreB == 0 {
			p.Frame = nil
		}
	}
	equal := bytes.Equal(a.before, b.before)
	p.Same = equal && p.Frame == nil && a.Panic == b.Panic && bytes.Equal(a.after, b.after)
	if equal && !p.Same {
		p.Phase = sharedPhase(a.Phases, b.Phases)
	}
	return p, nil
}

// sharedPhase returns the last phase that two sides began with the same state, or nil.
func sharedPhase(a, b []Phase) (name *string) {
	for i := range min(len(a), len(b)) {
		if a[i].Name != b[i].Name || a[i].Checksum != b[i].Checksum {
			break
		}
		name = &a[i].Name
	}
	return name
}

// OfPlayer returns the tick on the machine of the player of a bundle, of which only states are known. s is the same tick by
// the bundle's replay. It returns nil if the bundle has no state of the player after the tick.
func (s *Step) OfPlayer(b *replay.Bundle, o Options) (*Step, error) {
	x := &Step{
		Tick: s.Tick, Commands: []Command{}, Phases: []Phase{}, Events: []string{}, Draws: []Draws{}, Did: noChanges(),
		schema: s.schema, limit: o.Lines, fieldwise: s.fieldwise,
	}
	for _, e := range b.Manifest.Exhibits {
		at := &x.after
		switch {
		case e.Player == "":
			continue
		case e.Tick+1 == s.Tick:
			at = &x.before
		case e.Tick != s.Tick:
			continue
		}
		var err error
		if *at, err = b.State(e.Player); err != nil {
			return nil, err
		}
	}
	if x.after == nil {
		return nil, nil
	}
	if r := b.Manifest.Resimulation; x.before == nil && (s.Tick-1 <= b.Manifest.Agreed || r != nil && r.First == s.Tick) {
		x.before = s.before
	}
	if x.before == nil {
		return x, nil
	}
	var err error
	if x.Did, err = changesBetween(s.schema, x.before, x.after, &o); err != nil {
		err = fmt.Errorf("desync: a state of the player: %w", err)
	}
	return x, err
}

// WriteText writes both sides for people: what differs, then A, then B unless nothing does.
func (p *Pair) WriteText(w io.Writer) error {
	var page words.Page
	page.Line("sides", "A: %s", p.Sides[0])
	page.Line("", "B: %s", p.Sides[1])
	p.add(&page, "before", p.Before)
	if p.Frame != nil {
		page.Line("commands", "differ in this tick")
		for _, line := range p.Frame.Lines()[1:] {
			page.Line("", "  %s", line)
		}
	}
	if p.Phase != nil {
		page.Line("phase", "%s: the states begin to differ in it", (&Phase{Name: *p.Phase}).name())
	}
	p.add(&page, "after", p.After)
	page.Line("", "")
	page.Line("side A", "%s", p.Sides[0])
	p.A.add(&page)
	page.Line("", "")
	page.Line("side B", "%s", p.Sides[1])
	if p.Same {
		page.Line("", "the same")
	} else {
		p.B.add(&page)
	}
	return page.Write(w)
}

// add adds the differences of the states before or after the tick.
func (p *Pair) add(page *words.Page, when string, c *Changes) {
	if c == nil {
		page.Line(when, "the tick: unknown")
		return
	}
	switch n := c.Places.Total; {
	case n == 0:
		page.Line(when, "the tick: nothing differs")
	default:
		page.Line(when, "the tick: %s in %s, A → B", words.Plural(n, "field", "differs", "differ"), words.Count(len(c.Places.List), "place"))
	}
	p.A.addChanges(page, c)
}
