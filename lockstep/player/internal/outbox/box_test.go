package outbox_test

import (
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/datagram"
	"github.com/seed-49bee653/samestep/lockstep/player/internal/outbox"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// kinds returns the kinds of messages in b.
func kinds(t *testing.T, b []byte) (list []protocol.Kind) {
	var r protocol.Reader
	var m protocol.Message
	for len(b) > 0 {
		rest, err := r.Read(&m, b)
		if err != nil {
			t.Fatal(err)
		}
		b = rest
		list = append(list, m.Kind)
	}
	return list
}

// Progress is acknowledged after some ticks, after some records, or after a second; at once after a state; and never while the
// backlog is full or a state is awaited.
func TestAcks(t *testing.T) {
	for _, row := range []struct {
		name string
		p    outbox.Progress
		do   func(*outbox.Box)
		want bool
	}{
		{"nothing new", outbox.Progress{Now: 1 << 40, Tick: 9, Position: 20, Every: 4}, nil, false},
		{"few records", outbox.Progress{Now: 1, Tick: 9, Position: 41, Every: 4}, (*outbox.Box).Arrived, false},
		{"many records", outbox.Progress{Now: 1, Tick: 9, Position: 42, Every: 4}, (*outbox.Box).Arrived, true},
		{"few ticks", outbox.Progress{Now: 1, Tick: 12, Position: 13, Every: 4}, nil, false},
		{"many ticks", outbox.Progress{Now: 1, Tick: 13, Position: 14, Every: 4}, nil, true},
		{"a second", outbox.Progress{Now: lockstep.Second, Tick: 9, Position: 11, Every: 4}, (*outbox.Box).Arrived, true},
		{"at once", outbox.Progress{Now: 1, Tick: 9, Position: 10, Every: 4}, (*outbox.Box).AckSoon, true},
		{"full", outbox.Progress{Now: 1 << 40, Tick: 99, Position: 99, Every: 4, Full: true}, (*outbox.Box).AckSoon, false},
		{"no state", outbox.Progress{Now: 1 << 40, Tick: 99, Every: 4}, (*outbox.Box).AckSoon, false},
	} {
		var b outbox.Box
		b.Adopted(9)
		if got := kinds(t, b.Small(nil, &outbox.Progress{Tick: 9, Position: 10, Every: 4}, 0, false, nil)); len(got) != 1 {
			t.Fatalf("a state is not acknowledged: %v", got)
		}
		if row.do != nil {
			row.do(&b)
		}
		if got := len(b.Small(nil, &row.p, 0, false, nil)) > 0; got != row.want {
			t.Errorf("%s: got %t", row.name, got)
		}
	}
}

// What is wanted is sent once, and what belongs to a lost connection is forgotten, but not chat.
func TestWants(t *testing.T) {
	var b outbox.Box
	b.Want(outbox.Auth | outbox.Ping | outbox.Ready | outbox.Sync)
	b.Pong(7)
	for range outbox.MaxChat {
		if !b.Chat("hi") {
			t.Error("a line is refused")
		}
	}
	if b.Chat("hi") || b.Memory() != 2*outbox.MaxChat {
		t.Error("too many lines wait")
	}
	b.Begin()
	if b.Wants(outbox.Auth) {
		t.Error("something outlives its connection")
	}
	b.Want(outbox.Ping | outbox.Leave)
	p := &outbox.Progress{}
	if got := kinds(t, b.Small(nil, p, 3, true, nil)); len(got) != 1+outbox.MaxChat || got[0] != protocol.KindPing {
		t.Errorf("got %v", got)
	}
	if got := b.Small(nil, p, 3, true, nil); len(got) > 0 {
		t.Errorf("sent again: %v", kinds(t, got))
	}
	if len(b.Last(nil, true)) > 0 || len(kinds(t, b.Last(nil, false))) != 1 || len(b.Last(nil, false)) > 0 {
		t.Error("the player does not leave once, after all else")
	}
}

// A command goes over the stream of a connection once, and waits for room.
func TestCommands(t *testing.T) {
	var b outbox.Box
	var pending []*datagram.Pending
	for i := range lockstep.Sequence(3) {
		pending = append(pending, &datagram.Pending{Command: datagram.Command{Sequence: i + 1, Kind: 1, Payload: make([]byte, protocol.MaxClientMessage/2)}})
	}
	for i, want := range []int{1, 1, 1, 0} {
		if got := b.Commands(nil, 0, pending); len(got) > protocol.MaxClientMessage || len(kinds(t, got)) != want {
			t.Errorf("message %d: got %d bytes, want %d commands", i, len(got), want)
		}
	}
}
