package faultinjection

import (
	"fmt"
	"strings"

	"github.com/seed-49bee653/samestep/lockstep"
)

// A clue is what a tool found, or what it should have found. What it cannot find is
// zero.
type clue struct {
	What   string        // in a word or two: "desync", "cut short"
	Tick   lockstep.Tick // the first wrong one
	After  lockstep.Tick // the last right one, if only some ticks are compared
	Who    string        // "player 2", "the referee"
	Field  string        // of the state or the header, or a section of the state
	Fields int           // number of fields that differ
	Byte   int64         // in the file
}

func (c clue) String() string {
	var parts []string
	add := func(ok bool, format string, a ...any) {
		if ok {
			parts = append(parts, fmt.Sprintf(format, a...))
		}
	}
	add(c.What != "", "%s", c.What)
	add(c.Tick > 0 && c.After == 0, "tick %d", c.Tick)
	add(c.After > 0, "ticks %d to %d", c.After+1, c.Tick)
	add(c.Who != "", "%s", c.Who)
	add(c.Field != "" && c.Fields < 2, "%s", c.Field)
	add(c.Field != "" && c.Fields > 1, "%s and %d more", c.Field, c.Fields-1)
	add(c.Byte > 0, "byte %d", c.Byte)
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, ", ")
}

// A Row is the result of one tool for one fault.
type Row struct {
	Fault   string `json:"fault"`
	Planted string `json:"planted"` // in words
	Tool    string `json:"tool"`
	Found   string `json:"found"`
	Want    string `json:"want"`
	Right   bool   `json:"right"`
}

// A Result is the result of all tools for all faults.
type Result struct {
	Seed  uint64 `json:"seed,string"`
	Runs  int    `json:"runs"` // simulations of the match without a fault, which agree
	Rows  []Row  `json:"rows"`
	Wrong int    `json:"wrong"` // rows that are not right

	RuleBugs      Figure `json:"rule_bugs"`      // answers of explain
	CommandFaults Figure `json:"command_faults"` // answers of explain

	Unplanted []Unplanted `json:"not_planted"`
}

// An Unplanted is a fault that has no place in the match, such as in a field that Step
// sets anew in each tick. The tools were not asked about it.
type Unplanted struct {
	Fault string `json:"fault"`
	Why   string `json:"why"`
}

// add adds the result of a tool, which must be exactly what is wanted.
func (r *Result) add(f *fault, tool string, got, want clue) {
	if want.After == want.Tick-1 && got.After == 0 { // one tick, where each is checked
		want.After = 0
	}
	r.row(f, tool, got, want, got == want)
}

// row adds the result of a tool, and whether it is right.
func (r *Result) row(f *fault, tool string, got, want clue, right bool) {
	if !right {
		r.Wrong++
	}
	r.Rows = append(r.Rows, Row{Fault: f.name, Planted: f.planted, Tool: tool, Found: got.String(), Want: want.String(), Right: right})
}

// A fault is planted in a match or its file.
type fault struct {
	name    string
	planted string // where, in words
}

func player(p lockstep.Player) string { return fmt.Sprintf("player %d", p) }

// A Figure counts how often explain was right about faults of one kind.
type Figure struct {
	Faults int `json:"faults"`
	Tick   int `json:"tick"`        // the first divergent tick is not excluded
	Field  int `json:"field"`       // the field that is listed first is one of those that differed first
	False  int `json:"false_cause"` // a cause is named for certain that is not the right one
	Cause  int `json:"cause"`       // the cause that is named first is the right one
	Asked  int `json:"asked"`       // the machine computes the ticks again, and is wrong in the same way
	Exact  int `json:"exact_tick"`  // of these, the first divergent tick is exact
}

func (f *Figure) ruleText() string {
	return fmt.Sprintf("right tick %d, right field first %d, false cause %d, computed again: exact tick %d of %d", f.Tick, f.Field, f.False, f.Exact, f.Asked)
}

func (f *Figure) commandText() string {
	return fmt.Sprintf("right tick %d, right cause %d", f.Tick, f.Cause)
}
