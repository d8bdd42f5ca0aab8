package desync

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// An Ending says how the end of the match by this build's rules differs from the end in the log.
type Ending struct {
	Tick lockstep.Tick   `json:"tick"`
	Text string          `json:"text"`
	Ours json.RawMessage `json:"ours,omitempty"` // the result of this build's rules, by their schema; empty without one
	Log  json.RawMessage `json:"log,omitempty"`  // the result in the log
}

// differs notes the first end that differs: our result, and the end record, which is nil if the log goes on.
func (x *rerun) differs(d *lockstep.DesyncError, ours []byte, end *record.Record) {
	if x.ending != nil {
		return
	}
	x.ending = &Ending{Tick: d.Tick, Text: d.End, Ours: json.RawMessage(x.header.ResultJSON(ours))}
	if end != nil {
		x.ending.Log = json.RawMessage(x.header.ResultJSON(end.Result))
	}
}

// resultOf returns a copy of the result with which the rules have ended the match at the current tick.
func resultOf(f *lockstep.Follower) []byte {
	if f.Simulation() == nil {
		return nil
	}
	result, _ := f.Simulation().Ended()
	return slices.Clone(result)
}

func (e *Ending) lines() []string {
	if e == nil {
		return nil
	}
	lines := []string{fmt.Sprintf("at tick %d, by the rules of this build: %s", e.Tick, e.Text)}
	for _, side := range []struct {
		name   string
		result json.RawMessage
	}{{"this build", e.Ours}, {"the log", e.Log}} {
		if len(side.result) > 0 {
			lines = append(lines, fmt.Sprintf("the result of %s: %s", side.name, side.result))
		}
	}
	return lines
}
