// Package stepper accounts for one tick of a match: what its commands, phases and draws of random numbers did to the state.
package stepper

import (
	"bytes"

	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/desync/internal/diff"
	"github.com/seed-49bee653/samestep/lockstep"
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
