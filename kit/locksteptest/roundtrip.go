package locksteptest

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/state"
)

// roundTrip encodes and decodes states and commands: each has one form, and decoders accept no other. The game describes
// a command in the same words each time.
func (r *trial) roundTrip() {
	schema, err := state.ParseSchema(r.header.StateSchema)
	if !r.ok(0, err) {
		return
	}
	for t := range r.saved {
		r.ok(t, r.stateTrip(schema, r.states[t]))
	}
	r.from = 0
	payloads := r.game.NewPayloads()
	for i := range r.frames {
		for _, c := range r.frames[i].Commands {
			if c.Player == lockstep.System {
				continue // the engine's own
			}
			if err := r.commandTrip(payloads, &c); err != nil {
				r.ok(r.frames[i].Tick, fmt.Errorf("command %d of player %d, kind %d: %w", c.Sequence, c.Player, c.Kind, err))
				return
			}
		}
	}
}

var errAccepted = errors.New("bytes that are not canonical were accepted")

// stateTrip reads a state as a tool does that does not have the game's code.
func (m *match) stateTrip(schema *state.Schema, b []byte) error {
	var own, described bytes.Buffer
	if err := m.game.StateSchema().Dump(&own, b); err != nil {
		return err
	}
	if err := schema.Dump(&described, b); err != nil {
		return err
	}
	if !bytes.Equal(own.Bytes(), described.Bytes()) {
		return errors.New("the described schema gives another dump")
	}
	if err := schema.DumpJSON(io.Discard, b); err != nil {
		return err
	}
	if schema.Validate(b[:max(len(b), 1)-1]) == nil && len(b) > 0 || schema.Validate(append(b[:len(b):len(b)], 0)) == nil {
		return errAccepted
	}
	return nil
}

// commandTrip decodes a payload and encodes it again.
func (m *match) commandTrip(payloads *record.Payloads, c *lockstep.Command) error {
	payload := c.Payload
	payloads.Reset()
	if err := payloads.Decode(c); err != nil {
		return err
	}
	again, err := payloads.EncodeAs(c.Kind, c.Value)
	if err != nil {
		return err
	}
	if !bytes.Equal(again, payload) {
		return fmt.Errorf("encoded again: got % x, want % x", again, payload)
	}
	first, err := m.game.Describe(c)
	if err != nil {
		return err
	}
	second, err := m.game.Describe(c)
	if err != nil {
		return err
	}
	if second != first {
		return fmt.Errorf("described twice: got %q, then %q", first, second)
	}
	if again, err = payloads.EncodeAs(c.Kind, c.Value); err != nil || !bytes.Equal(again, payload) {
		return errors.New("describing it has changed it")
	}
	for _, bad := range [...][]byte{payload[:max(len(payload), 1)-1], append(payload[:len(payload):len(payload)], 0)} {
		wrong := *c
		if wrong.Payload = bad; payloads.Decode(&wrong) == nil && len(bad) != len(payload) {
			return errAccepted
		}
	}
	return nil
}
