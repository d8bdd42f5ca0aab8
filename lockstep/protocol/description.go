package protocol

import (
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A side is an end of a connection, or both of them.
type side uint8

const (
	client side = 1 << iota
	server
)

// A description describes one kind of message: its sender and its values. Reader, Writer, [Kind.String] and the tables
// of docs/spec/live.md come from it.
type description struct {
	name   string
	sender side
	fields []field // in order
}

// descriptions has each kind of message at the place of its number. After a change here, run go test
// ./lockstep/protocol -run TestTablesOnPage -rewrite.
var descriptions = [256]description{
	KindAuth: {"auth", client, []field{
		{name: "protocol", at: func(m *Message) any { return &m.Auth.Protocol }},
		{name: "engine", high: record.MaxName, at: func(m *Message) any { return &m.Auth.Engine }},
		{name: "game", high: record.MaxName, at: func(m *Message) any { return &m.Auth.Game }},
		{name: "build", high: record.MaxName, at: func(m *Message) any { return &m.Auth.Build }},
		{name: "state schema", at: func(m *Message) any { return &m.Auth.StateSchema }},
		{name: "command schema", at: func(m *Message) any { return &m.Auth.CommandSchema }},
		{name: "self-test", at: func(m *Message) any { return &m.Auth.SelfTest }},
		{name: "platform", high: record.MaxName, at: func(m *Message) any { return &m.Auth.Platform }},
		{name: "token", high: maxToken, at: func(m *Message) any { return &m.Auth.Token }},
		{name: "session", at: func(m *Message) any { return &m.Auth.Session }},
		{name: "position", at: func(m *Message) any { return (*uint64)(&m.Auth.Position) }},
		{name: "capabilities", high: maxCapabilities, check: checkCapabilities, at: func(m *Message) any { return &m.Auth.Capabilities }},
	}},
	KindCommand: {"command", client, []field{
		{name: "sequence", at: sequence},
		{name: "kind", at: func(m *Message) any { return (*uint16)(&m.Command) }},
		{name: "payload", at: payload},
	}},
	KindChecksum: {"checksum", client, []field{
		{name: "tick", at: tick},
		{name: "state hash", at: func(m *Message) any { return &m.Hash }},
		{name: "sections", high: MaxSections, at: func(m *Message) any { return &m.Sections }},
	}},
	KindState:            {"state", client, []field{{name: "tick", at: tick}, offset, total, chunk}},
	KindStateSyncRequest: {"state_sync_request", client, nil},
	KindPing:             {"ping", client | server, []field{{name: "nonce", at: nonce}}},
	KindChat:             {"chat", client, []field{{name: "text", high: record.MaxNote, at: text, clip: true}}},
	KindLeave:            {"leave", client, []field{{name: "reason", high: record.MaxNote, at: text, clip: true}}},
	KindAck:              {"ack", client, []field{{name: "position", at: position}, {name: "tick", at: tick}}},
	KindReady:            {"ready", client, []field{{name: "ready", at: func(m *Message) any { return &m.Ready }}}},
	KindResimulated: {"resimulated", client, []field{
		{name: "tick", at: tick},
		{name: "first hash", at: func(m *Message) any { return &m.First }},
		{name: "state hash", at: func(m *Message) any { return &m.Hash }},
		{name: "sections", high: MaxSections, at: func(m *Message) any { return &m.Sections }},
	}},
	KindPhases: {"phases", client, []field{
		{name: "tick", at: tick},
		{name: "names", high: MaxPhases, at: func(m *Message) any { return &m.Names }},
		{name: "state hashes", high: MaxPhases, at: func(m *Message) any { return &m.Sections }, check: checkPhases, note: ", as many"},
	}},

	KindViewAck: {"view_ack", client, []field{view, {name: "tick", at: tick}}},
	KindPanicked: {"panicked", client, []field{
		{name: "tick", at: tick},
		{name: "where", high: record.MaxName, at: fieldText, clip: true},
		{name: "text", high: record.MaxNote, at: text, clip: true},
		{name: "stack", high: record.MaxStack, at: func(m *Message) any { return &m.Stack }, clip: true},
	}},

	KindWelcome: {"welcome", server, []field{
		{name: "seat", at: func(m *Message) any { return &m.Welcome.Seat }, note: " for a spectator"},
		{name: "role", high: uint64(roleCount - 1), at: func(m *Message) any { return (*uint8)(&m.Welcome.Role) }, note: ": 0 spectator, 1 player, 2 admin"},
		{name: "session", at: func(m *Message) any { return &m.Welcome.Session }, note: "; none for a spectator"},
		{name: "tick", at: func(m *Message) any { return (*uint32)(&m.Welcome.Tick) }},
		{name: "position", at: func(m *Message) any { return (*uint64)(&m.Welcome.Position) }},
		{name: "resumed", at: func(m *Message) any { return &m.Welcome.Resumed }},
		{name: "last sequence", at: func(m *Message) any { return (*uint32)(&m.Welcome.LastSequence) }},
		{name: "ack every", low: 1, at: func(m *Message) any { return &m.Welcome.AckEvery }},
		{name: "input delay", high: record.MaxInputDelay, at: func(m *Message) any { return &m.Welcome.InputDelay }},
		{name: "speed", low: record.MinSpeed, high: record.MaxSpeed, at: func(m *Message) any { return &m.Welcome.SpeedPercent }},
	}},
	KindStateSync:       {"state_sync", server, []field{{name: "position", low: 1, at: position}, {name: "tick", at: tick}, offset, total, chunk}},
	KindCommandAccepted: {"command_accepted", server, []field{{name: "sequence", low: 1, at: sequence}, {name: "tick", low: 1, at: tick}}},
	KindCommandRejected: {"command_rejected", server, []field{
		{name: "sequence", at: sequence},
		{name: "reason", at: func(m *Message) any { return (*uint8)(&m.Reason) }},
		{name: "detail", high: record.MaxNote, at: text, clip: true},
	}},
	KindStateRequest: {"state_request", server, []field{{name: "tick", at: tick}}},
	KindDesyncReport: {"desync_report", server, []field{
		{name: "tick", at: tick},
		{name: "player", at: func(m *Message) any { return &m.Player }},
		{name: "last agreed tick", at: func(m *Message) any { return (*uint32)(&m.Agreed) }, check: checkAgreed, note: ", less than tick; 0 for none"},
		{name: "section", high: record.MaxName, at: fieldText, clip: true},
	}},
	KindPong: {"pong", client | server, []field{{name: "nonce", at: nonce}, {name: "tick", at: tick}}},
	KindError: {"error", server, []field{
		{name: "code", at: code}, {name: "text", high: record.MaxNote, at: text, clip: true}, {name: "field", high: record.MaxName, at: fieldText, clip: true},
	}},
	KindClosing: {"closing", server, []field{
		{name: "code", at: code}, {name: "text", high: record.MaxNote, at: text, clip: true},
		{name: "retry after", at: func(m *Message) any { return &m.RetryMS }, note: ", milliseconds"},
	}},
	KindHeld: {"held", server, []field{
		{name: "reason", high: record.MaxNote, at: text, clip: true},
		{name: "seats", high: lockstep.MaxPlayers, at: func(m *Message) any { return &m.Seats }, check: checkSeats, note: ", a seat in each byte, ascending"},
		{name: "since", at: func(m *Message) any { return &m.SinceMS }, note: ", milliseconds ago"},
		{name: "until", at: func(m *Message) any { return &m.UntilMS }, note: ", milliseconds from now on; 0 if nobody knows"},
	}},
	KindResimulate: {"resimulate", server, []field{
		{name: "from", at: func(m *Message) any { return (*uint32)(&m.From) }},
		{name: "to", low: 1, at: tick, check: checkFrom, note: ", above from"},
		{name: "state", at: func(m *Message) any { return &m.State }},
	}},
	KindViewSync: {"view_sync", server, []field{
		{name: "viewer", high: record.MaxName, at: text},
		{name: "seats", low: 1, high: lockstep.MaxPlayers, at: func(m *Message) any { return &m.Players }},
		{name: "every", low: 1, at: func(m *Message) any { return &m.Every }, note: ", ticks from one view to the next"},
		{name: "period", low: 1, at: func(m *Message) any { return &m.Period }, note: ", microseconds of a tick at full speed"},
		{name: "plan", high: MaxPlan, at: payload},
	}},
	KindViewDelta: {"view_delta", server, []field{
		view, {name: "base", at: func(m *Message) any { return &m.Base }, check: checkBase, note: ", at most view; 0 for the view of zeros"},
		{name: "tick", at: tick}, offset, {name: "total", high: MaxDelta, at: ofTotal}, chunk,
	}},
}

// needs names the capability that a client must have to get a message of a kind, or to answer with one.
var needs = map[Kind]string{
	KindResimulate: Resimulate, KindResimulated: Resimulate, KindPhases: Resimulate, KindViewSync: Views, KindViewDelta: Views, KindViewAck: Views,
}

// Fields of several kinds of messages.
var (
	offset = field{name: "offset", at: func(m *Message) any { return &m.Offset }}
	total  = field{name: "total", high: lockstep.MaxStateSize + MaxServerMessage, at: ofTotal}
	chunk  = field{name: "chunk", high: MaxChunk, at: payload, check: checkChunk}
	view   = field{name: "view", low: 1, high: 1<<63 - 1, at: func(m *Message) any { return &m.View }}
)

func tick(m *Message) any      { return (*uint32)(&m.Tick) }
func sequence(m *Message) any  { return (*uint32)(&m.Sequence) }
func position(m *Message) any  { return (*uint64)(&m.Position) }
func nonce(m *Message) any     { return &m.Nonce }
func code(m *Message) any      { return &m.Code }
func text(m *Message) any      { return &m.Text }
func fieldText(m *Message) any { return &m.Field }
func payload(m *Message) any   { return &m.Bytes }
func ofTotal(m *Message) any   { return &m.Total }

func checkChunk(m *Message) error {
	if uint64(m.Offset)+uint64(len(m.Bytes)) > uint64(m.Total) {
		return fmt.Errorf("got a chunk of %d bytes at %d of %d", len(m.Bytes), m.Offset, m.Total)
	}
	return nil
}

func checkBase(m *Message) error {
	if m.Base > m.View {
		return fmt.Errorf("got view %d from view %d", m.View, m.Base)
	}
	return nil
}

func checkAgreed(m *Message) error {
	if m.Agreed >= m.Tick {
		return fmt.Errorf("got an agreement at tick %d, want one before tick %d", m.Agreed, m.Tick)
	}
	return nil
}

func checkFrom(m *Message) error {
	if m.From >= m.Tick {
		return fmt.Errorf("got ticks from %d to %d to compute again", m.From, m.Tick)
	}
	return nil
}

func checkPhases(m *Message) error {
	if len(m.Sections) != len(m.Names) {
		return fmt.Errorf("got %d state hashes of %d phases", len(m.Sections), len(m.Names))
	}
	return nil
}

func checkSeats(m *Message) error {
	for i, seat := range m.Seats {
		if seat >= lockstep.MaxPlayers || i > 0 && seat <= m.Seats[i-1] {
			return fmt.Errorf("got seat %d at place %d, want seats below %d, ascending", seat, i, lockstep.MaxPlayers)
		}
	}
	return nil
}

// describe returns the description of a kind, or nil if no message has it.
func describe(k Kind) *description {
	if d := &descriptions[k]; d.name != "" {
		return d
	}
	return nil
}

// String returns the kind's name as in docs/spec/live.md.
func (k Kind) String() string {
	if d := describe(k); d != nil {
		return d.name
	}
	return fmt.Sprintf("kind %d", uint8(k))
}
