package conformance

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"

	"github.com/seed-49bee653/samestep/lockstep/flight"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/state"
)

// runFlight reads a flight record. With lines of what the machine computed before it, these must give the same record.
func runFlight(text []byte) Result {
	lines, err := hexLines(text)
	if err != nil || len(lines) == 0 {
		return Result{Verdict: "no record"}
	}
	last := len(lines) - 1
	r, err := flight.Parse(lines[last].bytes)
	if err != nil {
		return Result{Verdict: "malformed"}
	}
	if last > 0 {
		made, err := computedFlight(lines[:last], r)
		if err != nil {
			return Result{Verdict: "other"}
		}
		if !bytes.Equal(made, lines[last].bytes) {
			return Result{Verdict: "other"}
		}
	}
	return Result{"ok", flightFacts(r)}
}

// computedFlight returns the record of the ticks that lines describe, in the match of r and from its first tick on.
func computedFlight(lines []hexLine, r *flight.Record) ([]byte, error) {
	schema, err := state.ParseSchema(lines[0].bytes)
	if err != nil {
		return nil, err
	}
	var ring flight.Ring
	tick := r.First()
	ring.Begin(r.Match, tick-1)
	ring.Open()
	var commands []record.Command
	for _, l := range lines[1:] {
		switch b := l.bytes; l.label {
		case "command":
			commands = append(commands, record.Command{Player: record.Player(b[0]), Kind: record.CommandKind(binary.LittleEndian.Uint16(b[1:])), Sequence: record.Sequence(binary.LittleEndian.Uint32(b[3:])), Payload: b[7:]})
		case "phase":
			ring.Phase(string(b))
		case "draw":
			ring.Drew(string(b[4:]), binary.LittleEndian.Uint32(b))
		case "value": // ends the tick
			prints, err := schema.AppendPrints(nil, b)
			if err != nil {
				return nil, err
			}
			ring.Note(tick, commands, prints, len(b))
			ring.Open()
			tick, commands = tick+1, nil
		}
	}
	return ring.Record().Append(nil), nil
}

func flightFacts(r *flight.Record) map[string]any {
	ticks := []any{}
	for i := range r.Ticks {
		t := &r.Ticks[i]
		x := map[string]any{"tick": int(t.Tick), "phases": t.Phases}
		if len(t.Phases) == 0 {
			x["phases"] = []string{}
		}
		if t.Restored {
			x["restored"] = true
		}
		if t.Prints != nil {
			x["state"], x["prints"] = t.State, t.Prints
		}
		if t.Commands > 0 {
			x["commands"], x["sum"] = t.Commands, t.Sum
		}
		var draws []any
		for _, d := range t.Draws {
			streams := []any{}
			for _, s := range d.Streams {
				streams = append(streams, map[string]any{"stream": s.Stream, "count": s.Count})
			}
			draws = append(draws, map[string]any{"phase": d.Phase, "sum": d.Sum, "streams": streams})
		}
		if draws != nil {
			x["draws"] = draws
		}
		ticks = append(ticks, x)
	}
	return map[string]any{"match": hex.EncodeToString(r.Match[:]), "prints": r.Prints, "ticks": ticks}
}
