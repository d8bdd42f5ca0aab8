package record_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// The contents of a log must fit its header: these records are well formed, and a Decoder that has read the header
// rejects the wrong ones.
func TestContents(t *testing.T) {
	g, h := testgame.NewBankMatch(t, 2)
	sim, err := g.NewSimulation(h)
	if err != nil {
		t.Fatal(err)
	}
	state := sim.AppendState(nil)
	floats := []byte("\x02\x00\x00\x00\x0d\x00\x01\x00\x00\x00\x00\x00\x00\x00\x0e\x00\x00\x00\x00\x00\x01\x00\x00\x00A") // struct { A float32 }
	command := func(p record.Player, k record.CommandKind, payload ...byte) func(*record.Encoder) []byte {
		return func(e *record.Encoder) []byte {
			return e.Frame(&record.Frame{Tick: 1, Commands: []record.Command{{Tick: 1, Player: p, Sequence: 1, Kind: k, Payload: payload}}})
		}
	}
	panicked := func(p record.Player, k record.CommandKind, payload ...byte) func(*record.Encoder) []byte {
		return func(e *record.Encoder) []byte {
			return e.Panic(&record.Panic{Where: "Step", Frame: record.Frame{Commands: []record.Command{{Player: p, Sequence: 1, Kind: k, Payload: payload}}}})
		}
	}
	same := func(*record.Header) {}
	foreign := func(h *record.Header) { h.Engine = "foreign" }
	none := func(*record.Encoder) []byte { return nil }
	for name, c := range map[string]struct {
		fits   bool
		header func(*record.Header)
		last   []record.LastSequence
		state  []byte
		then   func(*record.Encoder) []byte
	}{
		"nothing more":                           {true, same, nil, state, none},
		"a configuration too short":              {false, func(h *record.Header) { h.Config = h.Config[1:] }, nil, state, none},
		"a configuration without a schema":       {false, func(h *record.Header) { h.ConfigSchema = nil }, nil, state, none},
		"no schema of the state":                 {false, func(h *record.Header) { h.StateSchema = []byte{1} }, nil, state, none},
		"no schema of a command":                 {false, func(h *record.Header) { h.Commands[1].Schema = nil }, nil, state, none},
		"floats in the state":                    {false, func(h *record.Header) { h.StateSchema = floats }, nil, make([]byte, 4), none},
		"floats in a command":                    {false, func(h *record.Header) { h.Commands[1].Schema = floats }, nil, state, none},
		"a state too short":                      {false, same, nil, state[1:], none},
		"a state too long":                       {false, same, nil, append(state[:len(state):len(state)], 0), none},
		"a keyframe's player":                    {true, same, []record.LastSequence{{Player: 1, Sequence: 1}}, state, none},
		"a keyframe's player without a seat":     {false, same, []record.LastSequence{{Player: 2, Sequence: 1}}, state, none},
		"a later keyframe's state":               {false, same, nil, state, func(e *record.Encoder) []byte { return e.Keyframe(0, 0, nil, state[1:]) }},
		"a command":                              {true, same, nil, state, command(1, 1, 5, 0)},
		"a command without a seat":               {false, same, nil, state, command(2, 1, 5, 0)},
		"a command of player 249":                {false, same, nil, state, command(249, 1, 5, 0)},
		"a kind that is not in the header":       {false, same, nil, state, command(1, 3, 5, 0)},
		"a payload that ends too early":          {false, same, nil, state, command(1, 1, 5)},
		"a payload that is too long":             {false, same, nil, state, command(1, 1, 5, 0, 0)},
		"joined":                                 {true, same, nil, state, command(record.System, 1, 1)},
		"joined without a seat":                  {false, same, nil, state, command(record.System, 1, 77)},
		"joined, the system":                     {false, same, nil, state, command(record.System, 1, 255)},
		"left without a seat":                    {false, same, nil, state, command(record.System, 2, 2)},
		"lost without a seat":                    {false, same, nil, state, command(record.System, 3, 2)},
		"taken over without a seat":              {false, same, nil, state, command(record.System, 4, 2)},
		"paused for somebody without a seat":     {false, same, nil, state, command(record.System, 5, 2)},
		"resumed for somebody without a seat":    {false, same, nil, state, command(record.System, 6, 2)},
		"resumed for the system":                 {true, same, nil, state, command(record.System, 6, 255)},
		"a speed":                                {true, same, nil, state, command(record.System, 7, 10, 0)},
		"a speed of nothing":                     {false, same, nil, state, command(record.System, 7, 0, 0)},
		"an input delay of nothing":              {false, same, nil, state, command(record.System, 8, 0, 0)},
		"an unknown command of the system":       {false, same, nil, state, command(record.System, 9, 0)},
		"another engine's command of the system": {true, foreign, nil, state, command(record.System, 9, 0)},
		"another engine's player":                {false, foreign, nil, state, command(2, 1, 5, 0)},
		"a mismatch":                             {true, same, nil, state, func(e *record.Encoder) []byte { return e.Mismatch(0, 1, 7) }},
		"a mismatch without a seat":              {false, same, nil, state, func(e *record.Encoder) []byte { return e.Mismatch(0, 2, 7) }},
		"a line of an imported match":            {true, same, nil, state, func(e *record.Encoder) []byte { return e.Foreign([]byte(`{"t":0}`)) }},
		"a panic":                                {true, same, nil, state, panicked(1, 1, 5, 0)},
		"a panic in a command without a seat":    {false, same, nil, state, panicked(2, 1, 5, 0)},
		"a panic in an unknown kind":             {false, same, nil, state, panicked(1, 3, 5, 0)},
		"a panic in the payload of another kind": {false, same, nil, state, panicked(1, 1)},
		"a note of a spectator":                  {true, same, nil, state, func(e *record.Encoder) []byte { return e.Note(99, "chat", "hello") }},
	} {
		t.Run(name, func(t *testing.T) {
			own := *h
			own.Commands = append([]record.CommandDescription{}, h.Commands...)
			c.header(&own)
			var enc record.Encoder
			log := bytes.Clone(enc.Header(&own))
			log = append(log, enc.Keyframe(0, 0, c.last, c.state)...)
			log = append(log, c.then(&enc)...)
			if _, err := checkMalleable(t, log); (err == nil) != c.fits || err != nil && !errors.Is(err, record.ErrContent) {
				t.Errorf("got %v, want that it fits: %t", err, c.fits)
			}
		})
	}
}

// Compiling a schema costs many times its bytes, so the schemas of a header are bounded together before any is
// compiled.
func TestSchemasBounded(t *testing.T) {
	_, h := testgame.NewBankMatch(t, 2)
	for i := range h.Commands {
		h.Commands[i].Schema = make([]byte, 200<<10)
	}
	var enc record.Encoder
	var dec record.Decoder
	if _, _, err := dec.Decode(enc.Header(h)); err == nil || !strings.Contains(err.Error(), "too long: got schemas of ") {
		t.Errorf("got %v, want that the schemas are too long", err)
	}
}
