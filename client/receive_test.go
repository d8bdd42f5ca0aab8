package client

import (
	"bytes"
	"testing"

	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/internal/buffer"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// A client that is late gets each message, also while more arrive than may be unread. The stream has no numbers: a lost message
// would go unnoticed.
func TestReceiveAll(t *testing.T) {
	s := &Session{client: player.New(lockstep.MustGame(minimal.Rules()), player.Options{Token: "token"}), link: &link{arrived: make(chan *buffer.Buffer, maxUnread)}}
	s.client.Advance(1)
	s.client.Connected(1)
	var w protocol.Writer
	welcome := &protocol.Welcome{Role: protocol.Seated, Session: protocol.SessionToken{1}, Position: 1, AckEvery: 1, InputDelay: 2, SpeedPercent: 100}
	if err := s.client.Receive(1, w.Append(nil, &protocol.Message{Kind: protocol.KindWelcome, Welcome: welcome})); err != nil {
		t.Fatal(err)
	}
	before := s.client.Status().BytesIn
	message := w.Append(nil, &protocol.Message{Kind: protocol.KindHeld})
	const messages = 100 * maxUnread
	go func() {
		for range messages {
			s.link.arrived <- &buffer.Buffer{Bytes: bytes.Clone(message)} // all go to the pool
		}
		close(s.link.arrived)
	}()
	for b := range s.link.arrived {
		s.receive(b)
	}
	if got, want := s.client.Status().BytesIn-before, uint64(messages*len(message)); got != want {
		t.Errorf("got %d bytes of %d", got, want)
	}
}
