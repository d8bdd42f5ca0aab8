package testgame

import (
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// NewSeated returns the coordinator of a match whose seats are all taken.
func NewSeated(tb testing.TB, seats uint8, log lockstep.Log, o coordinator.Options) (*lockstep.Game, *coordinator.Coordinator) {
	tb.Helper()
	g, h := NewBankMatch(tb, seats)
	c, err := coordinator.New(g, h, log, o)
	if err != nil {
		tb.Fatal(err)
	}
	for p := range lockstep.Player(seats) {
		if _, err := c.Join(p); err != nil {
			tb.Fatal(err)
		}
	}
	if _, err := c.Tick(); err != nil {
		tb.Fatal(err)
	}
	return g, c
}

// Does returns a function that fails the test unless a command of System was issued.
func Does(t *testing.T) func(lockstep.Tick, error) {
	return func(_ lockstep.Tick, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Message returns the bytes of a message.
func Message(m *protocol.Message) []byte {
	var w protocol.Writer
	return w.Append(nil, m)
}

// Welcome returns the bytes of a valid welcome after a change.
func Welcome(change func(*protocol.Welcome)) []byte {
	w := protocol.Welcome{Role: protocol.Seated, Session: protocol.SessionToken{1}, Position: 1, AckEvery: 5, InputDelay: 2, SpeedPercent: 100}
	change(&w)
	return Message(&protocol.Message{Kind: protocol.KindWelcome, Welcome: &w})
}
