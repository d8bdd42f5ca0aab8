// Package stepper accounts for one tick of a match: what its commands, phases and draws of random numbers did to the state.
package stepper

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/desync/bisect"
	"github.com/seed-49bee653/samestep/desync/internal/diff"
	"github.com/seed-49bee653/samestep/internal/words"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/state"
)

// A Step is what one tick did to the state of a match. A [Stepper] makes it.
type Step struct {
	Tick     lockstep.Tick `json:"tick"`
	Keyframe lockstep.Tick `json:"keyframe"` // it was simulated from there
	Checksum string        `json:"checksum"` // of the state after it; "" after a panic

	// Agreed is the last tick up to this one whose checksum in the file is that of the simulation, and Desync the first one since
	// the keyframe whose checksum is another; 0 for none.
	Agreed lockstep.Tick `json:"agreed"`
	Desync lockstep.Tick `json:"desync,omitempty"`

	Commands []Command `json:"commands"`
	More     int       `json:"more_commands,omitempty"` // commands beyond the limit
	MoreDid  *Changes  `json:"more_changes,omitempty"`  // what those changed together

	Phases []Phase  `json:"phases"` // parts of the rules' Step, if it marks them
	Events []string `json:"events"` // that the rules emitted, as text
	Silent int      `json:"more_events,omitempty"`
	Draws  []Draws  `json:"draws"` // of random numbers
	Did    Changes  `json:"changes"`
	Panic  string   `json:"panic,omitempty"` // of the rules; then nothing is known of the state after it, nor of what the last phase changed
	Ended  bool     `json:"ended,omitempty"` // the rules ended the match

	// Stale says that a simulation that was restored from the state before the tick has another state after it: a derived field
	// was not rebuilt, or the rules have no fixed result.
	Stale bool `json:"stale,omitempty"`

	before, after []byte
	schema        *state.Schema
	words         *lockstep.Describer
	frame         *lockstep.Frame // nil for the tick of another machine
	limit         int             // of lines
	fieldwise     bool            // the text has a line for each field
}

// Before returns the canonical bytes of the state before the tick.
func (s *Step) Before() []byte { return s.before }

// After returns those of the state after the tick, or nil after a panic.
func (s *Step) After() []byte { return s.after }

// A Command is a command of a tick. Did compares the state after the tick, if only the commands up to this one ran, with
// that state if only those before it ran.
type Command struct {
	desync.Command
	Refused string  `json:"refused,omitempty"` // why the rules' Validate refuses it in the state before the tick
	Answer  *string `json:"answer,omitempty"`  // with which the rules' Step refused it when it ran, see [lockstep.Turn.Refuse]; nil if it did not
	Panic   string  `json:"panic,omitempty"`   // of the rules, when the commands up to this one run
	Did     Changes `json:"changes"`
}

// A Phase is a part of the rules' Step, from a mark to the next one (see [lockstep.Turn.Phase]). The part before the
// first mark has no name.
type Phase struct {
	Name     string  `json:"name"`
	Checksum string  `json:"checksum"` // of the state at its beginning
	Did      Changes `json:"changes"`
}

// Draws counts the draws of random numbers for one purpose that the game reported (see [lockstep.Turn.Drew]), or from one
// generator in the state.
type Draws struct {
	Purpose   string   `json:"purpose"` // or the path of the generator
	Count     uint64   `json:"count,string"`
	Generator bool     `json:"generator,omitempty"`
	Entities  []uint32 `json:"entities,omitempty"` // that used the reported ones, in order, up to the limit
}

// Changes are differences between an earlier state and a later one: A is the value before, B that after it.
type Changes struct {
	Fields state.Differences `json:"fields"` // up to the limit
	Places state.Places      `json:"places"`
}

// Options limit what a [Step] has.
type Options struct {
	Path     string        // only changes of fields at or below it, as [state.Schema.Lookup] takes it, with a line for each; "" means all
	Lines    int           // of the text: lines of fields of a part, and events
	Commands int           // that are accounted for one by one; each takes as long as the tick
	Fields   int           // listed in all Changes together
	MaxTicks lockstep.Tick // to simulate, see [replay.SimulateOptions]

	// Progress is called from time to time with the number of simulated ticks and of all ticks. Nil disables it.
	Progress func(done, all lockstep.Tick)
}

// noChanges returns no changes, with lists that are not null in JSON.
func noChanges() Changes {
	return Changes{Fields: state.Differences{List: []state.Difference{}}, Places: state.Places{List: []state.Place{}}}
}

// changesBetween compares two states. It takes the listed fields from the options' number.
func changesBetween(s *state.Schema, before, after []byte, o *Options) (c Changes, err error) {
	c = noChanges()
	if bytes.Equal(before, after) && o.Path == "" {
		return c, nil
	}
	a, err := diff.Align(s, before, after)
	if err != nil {
		return c, err
	}
	fields, places, err := a.Named(a.Differences(o.Path, o.Fields))
	if err != nil {
		return c, err
	}
	c.Fields.List = append(c.Fields.List, fields.List[:min(len(fields.List), o.Fields)]...)
	c.Places.List = append(c.Places.List, places.List...)
	c.Fields.Total, c.Places.Total = fields.Total, places.Total
	o.Fields -= len(c.Fields.List)
	return c, nil
}

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
