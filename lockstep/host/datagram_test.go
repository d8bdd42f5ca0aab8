package host_test

import (
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/datagram"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// Package datagram has the tests of both sides together.

// Datagrams count for the limits of messages and bytes, of a subject.
func TestDatagramFlood(t *testing.T) {
	m := newTreadmill(t, func(o *host.Options) {
		o.Rates.Messages, o.Rates.Bytes = host.Rate{}, host.Rate{}
	})
	m.now += 10 * lockstep.Second
	var w datagram.Writer
	b := w.ToHost(nil, &datagram.ToHost{Head: datagram.Head{Number: 1}}) // again and again: a repetition changes nothing
	offences := m.h.Stats().Offences
	for range 500 {
		m.h.ReceiveDatagram(m.now, m.ids[0], b)
	}
	if got := m.h.Stats().Offences; got > offences {
		t.Errorf("got %d offences within the limits", got-offences)
	}
	for range 600 {
		m.h.ReceiveDatagram(m.now, m.ids[0], b)
	}
	if code, _, closed := m.h.Closed(m.ids[0]); !closed || code != protocol.CloseAbuse {
		t.Errorf("a flood: got closed %t, %v, want %v", closed, code, protocol.CloseAbuse)
	}
	if err := m.h.Info().CheckBounds(1 << 10); err != nil {
		t.Error(err)
	}
}

// A command that was rejected over the stream without a decision does not run when a late datagram has it: the player knows
// that it does not. Over the stream the same sequence may come again.
func TestRejectedCommandIsOver(t *testing.T) {
	m := newTreadmill(t, func(o *host.Options) { o.Rates.Commands = host.Rate{} })
	m.now += 10 * lockstep.Second
	id := m.ids[0]
	send := func(seq lockstep.Sequence) {
		m.h.Receive(m.now, id, m.w.Append(nil, &protocol.Message{Kind: protocol.KindCommand, Sequence: seq, Command: m.kind, Bytes: m.load}))
	}
	seq := m.seq
	for m.h.Stats().Rejected[lockstep.RateLimited] == 0 {
		seq++
		send(seq)
	}
	for range 100 { // until the limit is over
		m.tick(0)
	}
	accepted := m.h.Stats().Rejected[lockstep.Accepted]
	d := datagram.ToHost{Head: datagram.Head{Number: 1}, Commands: []datagram.Command{{Sequence: seq, Kind: m.kind, Payload: m.load}}}
	var w datagram.Writer
	m.h.ReceiveDatagram(m.now, id, w.ToHost(nil, &d))
	if m.h.Stats().Rejected[lockstep.Accepted] != accepted {
		t.Error("a rejected command was accepted from a late datagram")
	}
	send(seq)
	if m.h.Stats().Rejected[lockstep.Accepted] != accepted+1 {
		t.Error("the same sequence was not accepted from the stream")
	}
	d.Number, d.Commands[0].Sequence = 2, seq+1
	m.h.ReceiveDatagram(m.now, id, w.ToHost(nil, &d))
	m.h.ReceiveDatagram(m.now, id, w.ToHost(nil, &d))
	if m.h.Stats().Rejected[lockstep.Accepted] != accepted+2 {
		t.Error("a new command of a datagram did not count once")
	}
}
