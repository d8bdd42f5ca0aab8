package player_test

import (
	"bytes"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/datagram"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// Package datagram has the tests of both sides together.

// A state begins the stream anew: the records that datagrams brought before it are not skipped in the stream after it, and those
// that waited for earlier ones are forgotten.
func TestStateAfterDatagrams(t *testing.T) {
	g, log := testgame.SampleLog(t)
	c := player.New(g, player.Options{Pacing: player.PacingOptions{AsTheyCome: true, Budget: 1000}})
	var w protocol.Writer
	give := func(b []byte) {
		t.Helper()
		if err := c.Receive(0, b); err != nil {
			t.Fatal(err)
		}
	}
	state := append(bytes.Clone(log[0].Bytes), log[1].Bytes...)
	sync := w.Append(nil, &protocol.Message{Kind: protocol.KindStateSync, Position: 1, Total: uint32(len(state)), Bytes: state})
	var records []datagram.Record
	last := lockstep.Tick(0)
	for _, r := range log[2:] {
		if r.Name != "keyframe" {
			records = append(records, datagram.Record{Position: protocol.Position(len(records) + 1), Bytes: r.Bytes})
		}
	}
	c.Advance(0)
	c.Connected(0)
	c.Send(nil)
	give(testgame.Welcome(func(*protocol.Welcome) {}))
	give(sync)
	if len(c.SendDatagram(nil)) == 0 {
		t.Fatal("no datagram")
	}
	var out datagram.Writer
	if err := c.ReceiveDatagram(0, out.ToPlayer(nil, &datagram.ToPlayer{
		Head:    datagram.Head{Number: 1, Seen: 1, Count: 1},
		Records: []datagram.Record{records[0], records[1], records[2], records[4]},
	})); err != nil {
		t.Fatal(err)
	}
	c.Advance(0)
	if last = c.Tick(); last == 0 {
		t.Fatal("nothing has run")
	}
	give(sync)
	if got := c.Tick(); got != 0 {
		t.Fatalf("got tick %d, want that of the state", got)
	}
	for _, r := range records[:4] {
		give(r.Bytes)
	}
	c.Advance(0)
	if got := c.Tick(); got < last {
		t.Errorf("got tick %d, want at least %d", got, last)
	}
	for _, r := range records[4:] {
		give(r.Bytes)
	}
}
