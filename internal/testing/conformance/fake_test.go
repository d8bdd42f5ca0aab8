package conformance

import (
	"encoding/hex"
	"slices"
)

// A fake is a scripted server for a client under test.
type fake struct {
	t   *Transcript
	cs  *clientSide
	now int64
	err error
}

func newFake(t *Transcript) *fake {
	f := &fake{t: t, cs: newClientSide(t.Client)}
	f.cs.dial = func() int {
		conn := len(t.Client.Conns) + 1
		t.Client.Conns = append(t.Client.Conns, conn)
		return conn
	}
	f.cs.emit = func(s Step) { f.note("client", s) }
	f.wait(0)
	return f
}

func (f *fake) note(from string, s Step) Step {
	s.AtMS, s.From = f.cs.now, from
	f.t.Steps = append(f.t.Steps, s)
	return s
}

// wait lets time pass, in milliseconds.
func (f *fake) wait(ms int64) {
	f.now += ms
	f.cs.runUntil(f.now)
	f.cs.now = f.now
}

// server sends messages and records in one WebSocket message.
func (f *fake) server(messages ...[]byte) {
	b := slices.Concat(messages...)
	f.give(Step{Conn: f.cs.conn, Hex: hex.EncodeToString(b), Says: contents(b)})
}

// datagram sends a datagram of records from a position on.
func (f *fake) datagram(number, position int, items ...[]byte) {
	b := slices.Concat(append([][]byte{values(1, number, 0, 0, array{}, position)}, items...)...)
	f.give(Step{Conn: f.cs.conn, Do: "datagram", Hex: hex.EncodeToString(b)})
}

// welcome returns a welcome of seat 0.
func welcome(resumed bool, position, tick, last int) []byte {
	return recordBytes(48, 0, 1, sessionOne, tick, position, resumed, last, 5, 1, 100)
}

// stateSync returns a state_sync of the current state of a match.
func stateSync(m *match, position int) []byte { return chunk(m, position, 0, len(m.joinBytes())) }

// chunk returns a part of a state_sync.
func chunk(m *match, position, from, to int) []byte {
	b := m.joinBytes()
	return recordBytes(49, position, m.tick, from, len(b), b[from:to])
}

// joinBytes returns the header and a keyframe of the current state.
func (m *match) joinBytes() []byte {
	return append(slices.Clone(m.records[0]), keyframe(m.tick, m.hash(), m.lasts(), m.state())...)
}

// refuse ends the connection without a message.
func (f *fake) refuse() { f.give(Step{Conn: f.cs.conn, Do: "close"}) }

func (f *fake) give(s Step) {
	s = f.note("server", s)
	if err := f.cs.receive([]Step{s}); err != nil && f.err == nil {
		f.err = err
	}
}

// player does something with the client.
func (f *fake) player(do string, number int64, text string) {
	s := f.note("player", Step{Do: do, Number: number, Text: text})
	if err := f.cs.play(&s); err != nil && f.err == nil {
		f.err = err
	}
}

// runUntil lets time pass up to a moment, including what is due at that moment.
func (s *clientSide) runUntil(until int64) {
	for next := s.next(); next <= until; next = s.next() {
		s.now = next
		s.settle()
		if s.next() <= s.now {
			return // it would never come to an end
		}
	}
}
