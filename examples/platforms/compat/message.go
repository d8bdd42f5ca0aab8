//go:build !js

package compat

import (
	"errors"
	"fmt"
	"slices"

	"github.com/seed-49bee653/samestep/examples/platforms"
)

// The kinds of messages of a client.
const (
	kindAuth     = "auth"
	kindCommand  = "command"
	kindChecksum = "checksum"
	kindSync     = "state_sync_request"
)

// The types of commands.
const (
	typeMove = "MOVE"
	typeJump = "JUMP"
)

// A message is one of a client.
type message struct {
	kind     string
	token    string
	command  *command
	tick     int64
	checksum string
}

// A command is what a client wants to happen.
type command struct {
	kind     string
	sequence int64
	targets  []uint64 // ascending
	x        int64
	has      struct{ sequence, targets, x bool }
}

// parse reads a message of a client. Unknown kinds and keys are passed over.
func parse(b []byte) (*message, error) {
	u := unpacker{b: b}
	m := &message{}
	for range u.mapLen() {
		key := u.text()
		if u.err == nil {
			m.read(&u, key)
		}
		if u.err != nil {
			return nil, fmt.Errorf("%.40q: %w", key, u.err)
		}
	}
	if u.err == nil && len(u.b) > 0 {
		u.fail(errors.New("bytes follow the message"))
	}
	if u.err != nil {
		return nil, u.err
	}
	return m, m.check()
}

// read reads the value of a key.
func (m *message) read(u *unpacker, key string) {
	switch key {
	case "kind":
		m.kind = u.text()
	case "token":
		m.token = u.text()
	case "tick":
		m.tick = u.int()
	case "checksum":
		m.checksum = u.text()
	case "command":
		m.command = parseCommand(u)
	default:
		u.skip(0)
	}
}

// parseCommand reads a command.
func parseCommand(u *unpacker) *command {
	c := &command{}
	for range u.mapLen() {
		switch key := u.text(); key {
		case "type":
			c.kind = u.text()
		case "sequence":
			c.sequence, c.has.sequence = u.int(), true
		case "x":
			c.x, c.has.x = u.int(), true
		case "targets":
			c.readTargets(u)
		default:
			if u.err == nil {
				u.skip(0)
			}
		}
		if u.err != nil {
			return nil
		}
	}
	return c
}

// readTargets reads IDs.
func (c *command) readTargets(u *unpacker) {
	n := u.listLen()
	if n > platforms.MaxTargets {
		u.fail(fmt.Errorf("got %d targets, want at most %d", n, platforms.MaxTargets))
		return
	}
	c.targets, c.has.targets = make([]uint64, 0, n), true
	for range n {
		id := u.int()
		if id < 0 {
			u.fail(fmt.Errorf("got target %d, want an ID", id))
		}
		c.targets = append(c.targets, uint64(id))
	}
	slices.Sort(c.targets)
}

// check refuses a message without what its kind needs.
func (m *message) check() error {
	switch m.kind {
	case kindCommand:
		return m.command.check()
	case kindChecksum:
		if len(m.checksum) != 8 || slices.ContainsFunc([]byte(m.checksum), notHex) {
			return fmt.Errorf("got checksum %.20q, want eight lower-case hexadecimal digits", m.checksum)
		}
		if m.tick < 0 {
			return fmt.Errorf("got tick %d, want none below 0", m.tick)
		}
	}
	return nil
}

func notHex(c byte) bool { return (c < '0' || c > '9') && (c < 'a' || c > 'f') }

func (c *command) check() error {
	switch {
	case c == nil:
		return errors.New("want a command")
	case c.kind != typeMove && c.kind != typeJump:
		return fmt.Errorf("got a command of type %.20q, want %s or %s", c.kind, typeMove, typeJump)
	case !c.has.sequence || c.sequence < 0:
		return fmt.Errorf("got sequence %d, want one from 0 to 2^53-1", c.sequence)
	case len(c.targets) == 0:
		return errors.New("want targets")
	case c.kind == typeMove && !c.has.x:
		return errors.New("want an x")
	}
	return nil
}

// value returns the command in the terms of the game.
func (c *command) value() any {
	if c.kind == typeJump {
		return &platforms.Jump{Number: uint64(c.sequence), Targets: c.targets}
	}
	return &platforms.Move{Number: uint64(c.sequence), Targets: c.targets, X: int8(min(max(c.x, -1), 1))}
}
