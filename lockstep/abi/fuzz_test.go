package abi_test

import (
	"bytes"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep/abi"
	"github.com/seed-49bee653/samestep/state"
)

// No text makes the reading of a description panic, and what it accepts has types.
func FuzzParseDescription(f *testing.F) {
	f.Add([]byte(`{"abi":1,"game":"a","build":"1","state":"struct { A []uint8 }","config":"struct {}","commands":[{"kind":1,"name":"a","payload":"struct {}","limit":1,"per_us":"5"}]}`))
	f.Add([]byte(`{"abi":1,"state":"0100000001000000000000000000"}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := abi.ParseDescription(b)
		if err == nil && len(d.Schemas()) < 2 {
			t.Errorf("got %d types, want those of state and config", len(d.Schemas()))
		}
	})
}

// again decodes bytes and reports whether they are written back the same.
func again[T any](t *testing.T, codec *state.Codec[T], b []byte) {
	t.Helper()
	var m T
	if codec.Decode(b, &m) == nil && !bytes.Equal(codec.Append(nil, &m), b) {
		t.Errorf("got other bytes of %T, want %x", m, b)
	}
}

// Bytes that a message accepts are its only form.
func FuzzMessages(f *testing.F) {
	f.Add(abi.Frames.Append(nil, &abi.Frame{Tick: 3, Draws: true, Commands: []abi.Command{{Player: 1, Kind: 2, Payload: []byte{1}}}}))
	f.Add(abi.Outcomes.Append(nil, &abi.Outcome{Ended: true, Result: []byte{1}, Phases: []abi.Phase{{Name: "move", Sections: []uint64{1}}}}))
	f.Add(abi.Answers.Append(nil, &abi.Answer{Refusals: []abi.CommandRefusal{{Player: 1, Sequence: 2, Reason: "no"}}}))
	f.Add(abi.Matches.Append(nil, &abi.Match{Config: []byte{1}}))
	f.Fuzz(func(t *testing.T, b []byte) {
		again(t, abi.Matches, b)
		again(t, abi.Lists, b)
		again(t, abi.Loads, b)
		again(t, abi.States, b)
		again(t, abi.Commands, b)
		again(t, abi.Frames, b)
		again(t, abi.Outcomes, b)
		again(t, abi.Answers, b)
	})
}
