package datagram_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/datagram"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// playing returns a match in which two players have datagrams for some seconds.
func playing(t *testing.T) (m *match, s *seat) {
	m = newMatch(t, 2, host.Options{})
	s = m.join(0, true)
	m.join(0, true)
	m.run(5 * lockstep.Second)
	return m, s
}

// A bad datagram closes its sender's connection, as a bad message does, or is dropped. It concerns nobody else.
func TestHostileDatagrams(t *testing.T) {
	kind, earn := testgame.Encode(t, lockstep.MustGame(testgame.BankRules()), &testgame.Earn{Coins: 1})
	for name, row := range map[string]struct {
		change func(d *datagram.ToHost)
		bytes  []byte
		close  protocol.CloseCode
	}{
		"nothing":                  {bytes: []byte{}, close: protocol.CloseMalformed},
		"garbage":                  {bytes: []byte("garbage"), close: protocol.CloseMalformed},
		"too large":                {bytes: make([]byte, datagram.MaxSize+1), close: protocol.CloseMalformed},
		"the host's own kind":      {bytes: []byte{1, 1, 0, 0, 0x90, 0}, close: protocol.CloseMalformed},
		"a number of the future":   {change: func(d *datagram.ToHost) { d.Seen += 1000 }, close: protocol.CloseMalformed},
		"fewer than before":        {change: func(d *datagram.ToHost) { d.Seen, d.Count = 1, 1 }, close: protocol.CloseMalformed},
		"more than were sent":      {change: func(d *datagram.ToHost) { d.Count = 1 }, close: protocol.CloseMalformed},
		"a position of the future": {change: func(d *datagram.ToHost) { d.Position += 1000 }, close: protocol.CloseMalformed},
		"records of the future":    {change: func(d *datagram.ToHost) { d.Above = 1 << 62 }, close: protocol.CloseMalformed},
		"a tick of the future":     {change: func(d *datagram.ToHost) { d.Tick += 1000 }, close: protocol.CloseMalformed},
		"an older position":        {change: func(d *datagram.ToHost) { d.Position = 1 }},
		"a forged number":          {change: func(d *datagram.ToHost) { d.Number = 1<<32 - 1 }},
		"an old number with lies": {change: func(d *datagram.ToHost) {
			d.Number, d.Position, d.Tick = 1, 1<<40, 1<<30
		}},
		"an unknown kind of command": {change: func(d *datagram.ToHost) {
			d.Commands = []datagram.Command{{Sequence: 9, Kind: 999}}
		}},
		"a command of the far future": {change: func(d *datagram.ToHost) {
			d.Commands = []datagram.Command{{Sequence: 1 << 30, Kind: kind, Payload: earn}}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			m, s := playing(t)
			b := row.bytes
			if b == nil {
				d := s.lastUp
				d.Number++
				row.change(&d)
				var w datagram.Writer
				b = w.ToHost(nil, &d)
			}
			m.host.ReceiveDatagram(m.now, s.id, b)
			code, _, closed := m.host.Closed(s.id)
			if closed != (row.close != 0) || code != row.close {
				t.Fatalf("got closed %t, %v, want %v", closed, code, row.close)
			}
			if err := m.host.Info().CheckBounds(1 << 10); err != nil {
				t.Fatal(err)
			}
			m.serve(func() {})
			m.run(3 * lockstep.Second)
			for _, other := range m.players[1:] {
				if _, _, closed := m.host.Closed(other.id); closed || other.client.Tick() < m.host.Now()-2 {
					t.Errorf("%v is closed %t, at tick %d of %d", other, closed, other.client.Tick(), m.host.Now())
				}
			}
			if !closed {
				s.errors = nil // the host has acknowledged a number that the client never sent
				s.earn(&testgame.Earn{Coins: 1})
				m.settle()
			}
		})
	}
}

// Two different records of one position end the connection, whichever way comes first, and the player asks for a state.
func TestRecordsThatDiffer(t *testing.T) {
	for name, first := range map[string]string{"the datagram first": "datagram", "the stream first": "stream", "two datagrams": "twice", "two that wait": "wait"} {
		t.Run(name, func(t *testing.T) {
			m, s := playing(t)
			s.datagramsDown.hole, s.down.stream = true, true
			m.run(2 * lockstep.Second) // all that arrives comes over the stream, at once
			next := s.next
			d := datagram.ToPlayer{Head: datagram.Head{Number: 1 << 20, Seen: 0}}
			give := func(at protocol.Position, bytes ...byte) error {
				d.Number++
				d.Seen, d.Count = s.lastUp.Number, s.lastUp.Number
				d.Records = []datagram.Record{{Position: at, Bytes: bytes}}
				var w datagram.Writer
				return s.client.ReceiveDatagram(m.now, w.ToPlayer(nil, &d))
			}
			note := record.Note(0, "chat", "one")
			other := record.Note(0, "chat", "two")
			var err error
			switch first {
			case "datagram":
				if err = give(next, note...); err == nil {
					err = s.client.Receive(m.now, other)
				}
			case "stream":
				if err = s.client.Receive(m.now, note); err == nil {
					err = give(next, other...)
				}
			case "twice":
				if err = give(next, note...); err == nil {
					err = give(next, other...)
				}
			case "wait":
				if err = give(next+3, note...); err == nil {
					err = give(next+3, other...)
				}
			}
			if !errors.Is(err, record.ErrContent) || strings.Count(err.Error(), "bytes (") != 2 {
				t.Errorf("got %v, want an error that names both", err)
			}
			if s.client.Stage() != player.StageClosing {
				t.Errorf("the client is %v", s.client.Stage())
			}
		})
	}
}

// The memory of a client stays bounded when records never become complete, and it asks for nothing twice.
func TestRecordsThatNeverComplete(t *testing.T) {
	m, s := playing(t)
	var w datagram.Writer
	d := datagram.ToPlayer{Head: datagram.Head{Number: 1 << 20}}
	note := record.Note(0, "chat", strings.Repeat("x", 1000))
	for i := range protocol.Position(10_000) {
		d.Number++
		d.Seen, d.Count = s.lastUp.Number, s.lastUp.Number
		d.Records = []datagram.Record{{Position: s.next + 50 + i, Bytes: note}}
		if err := s.client.ReceiveDatagram(m.now, w.ToPlayer(nil, &d)); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := s.client.Memory(), s.client.MemoryBound(1<<10); got > want {
		t.Errorf("got %d bytes, want at most %d", got, want)
	}
}

// FuzzSides gives bytes to a host and a client in a match. Neither panics, and both keep their bounds.
func FuzzSides(f *testing.F) {
	var w datagram.Writer
	f.Add(w.ToPlayer(nil, &toPlayer), w.ToHost(nil, &toHost))
	f.Add([]byte{1, 0xce, 0, 1, 0, 0, 0, 0, 0x90, 0xcd, 0, 0x80, 1}, []byte{2, 0xce, 0, 1, 0, 0, 0, 0, 0x70, 0, 1, 1, 1, 0xc4, 0})
	f.Fuzz(func(t *testing.T, down, up []byte) {
		m := newMatch(t, 1, host.Options{})
		s := m.join(0, true)
		m.run(lockstep.Second)
		m.serve(func() { m.host.ReceiveDatagram(m.now, s.id, up) })
		_ = s.client.ReceiveDatagram(m.now, bytes.Clone(down))
		s.client.Advance(m.now)
		s.client.SendDatagram(nil)
		if err := m.host.Info().CheckBounds(1 << 10); err != nil {
			t.Fatal(err)
		}
		if got, want := s.client.Memory(), s.client.MemoryBound(1<<10); got > want {
			t.Errorf("got %d bytes, want at most %d", got, want)
		}
	})
}
