package testgame

import (
	"bytes"
	"slices"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A Discard is a log that keeps nothing.
type Discard struct{}

// Append implements [lockstep.Log].
func (Discard) Append([]byte) error { return nil }

// A LogFunc is a log that calls a function.
type LogFunc func(record []byte)

// Append implements [lockstep.Log].
func (f LogFunc) Append(record []byte) error { f(record); return nil }

// Records is a log that keeps its records.
type Records [][]byte

// Append implements [lockstep.Log].
func (r *Records) Append(record []byte) error {
	*r = append(*r, slices.Clone(record))
	return nil
}

// DecodeAll decodes a whole log and calls f with each record.
func DecodeAll(tb testing.TB, log []byte, f func(*record.Record)) {
	var dec record.Decoder
	for len(log) > 0 {
		r, rest, err := dec.Decode(log)
		if err != nil {
			tb.Fatal(err)
		}
		f(r)
		log = rest
	}
}

// A NamedRecord is a record of the sample log.
type NamedRecord struct {
	Name  string
	Bytes []byte
}

// SampleLog returns the log of a match of the bank with every kind of record. A follower
// agrees with all of its checksums.
func SampleLog(tb testing.TB) (*lockstep.Game, []NamedRecord) {
	g, h := NewBankMatch(tb, 2)
	h.Platform, h.Sources = "any", ""
	var enc record.Encoder
	var log []NamedRecord
	add := func(name string, b []byte) { log = append(log, NamedRecord{name, bytes.Clone(b)}) }
	sim, err := g.NewSimulation(h)
	if err != nil {
		tb.Fatal(err)
	}
	add("header", enc.Header(h))
	add("keyframe", enc.Keyframe(0, sim.Hash(), nil, sim.AppendState(nil)))
	frame := func(name string, commands ...lockstep.Command) {
		f := &lockstep.Frame{Tick: sim.Tick() + 1, Commands: commands}
		for i := range commands {
			commands[i].Tick = f.Tick
		}
		if err := sim.Step(f); err != nil {
			tb.Fatal(err)
		}
		add(name, enc.Frame(f))
	}
	payload := func(value any) []byte {
		_, b := Encode(tb, g, value)
		return b
	}
	joined := func(seq lockstep.Sequence, p byte) lockstep.Command {
		return lockstep.Command{Player: lockstep.System, Sequence: seq, Kind: 1, Payload: []byte{p}}
	}
	frame("frame of system commands", joined(1, 0), joined(2, 1))
	add("note", enc.Note(1, "name", "Ann"))
	add("event", enc.Event(1, record.EventPace, "slow"))
	frame("frame", lockstep.Command{Player: 0, Sequence: 1, Kind: 1, Payload: payload(&Earn{Coins: 500})},
		lockstep.Command{Player: 0, Sequence: 3, Kind: 2, Payload: payload(&Give{To: 1, Coins: []uint16{1, 300}})},
		lockstep.Command{Player: 1, Sequence: 1, Kind: 1, Payload: payload(&Earn{Coins: 5})})
	frame("empty")
	frame("empty")
	frame("frame", lockstep.Command{Player: 0, Sequence: 300, Kind: 1, Payload: payload(&Earn{Coins: 1})})
	add("checksum", enc.Checksum(5, sim.Hash()))
	add("mismatch", enc.Mismatch(5, 1, 0x1122334455667788))
	add("keyframe", enc.Keyframe(5, sim.Hash(), enc.AppendLast(nil), sim.AppendState(nil)))
	add("end", enc.End("player 0 has won"))
	return g, log
}
