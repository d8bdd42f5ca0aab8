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

// roundTrip takes states and commands apart and puts them together again: they have one form, and nothing else is taken
// for it. The game finds the same words for a command each time.
func (m *match) roundTrip() error {
	schema, err := state.ParseSchema(m.header.StateSchema)
	if err != nil {
		return m.fail("round trip", 0, 0, err)
	}
	for t := lockstep.Tick(0); t <= m.options.Ticks; t += m.options.Every {
		if err := m.stateTrip(schema, m.states[t]); err != nil {
			return m.fail("round trip", t, t, err)
		}
	}
	payloads := m.game.NewPayloads()
	for i := range m.frames {
		f := &m.frames[i]
		for j := range f.Commands {
			c := f.Commands[j]
			if c.Player == lockstep.System {
				continue // the engine's own
			}
			if err := m.commandTrip(payloads, &c); err != nil {
				return m.fail("round trip", 0, f.Tick, fmt.Errorf("command %d of player %d, kind %d: %w", c.Sequence, c.Player, c.Kind, err))
			}
		}
	}
	return nil
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
	for _, bad := range [...][]byte{payload[:len(payload)-1], append(payload[:len(payload):len(payload)], 0)} {
		wrong := *c
		if wrong.Payload = bad; payloads.Decode(&wrong) == nil {
			return errAccepted
		}
	}
	return nil
}
