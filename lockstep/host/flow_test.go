package host

import (
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// The limits of a player's messages and bytes hold over all of its connections.
func TestHostMessagesAndBytes(t *testing.T) {
	steps := 0
	h, ids := newCountingHost(t, 2, 0, &steps, false)
	var w protocol.Writer
	again := func() PeerID { // the first player connects again
		h.Disconnect(h.now, ids[0])
		id, _ := h.Connect(h.now, "")
		a := protocol.NewAuth(h.game)
		a.Token = "a"
		h.Receive(h.now, id, w.Append(nil, &protocol.Message{Kind: protocol.KindAuth, Auth: a}))
		return id
	}
	for n := range 600 {
		if n == 300 {
			ids[0] = again()
		}
		h.Receive(h.now, ids[0], w.Append(nil, &protocol.Message{Kind: protocol.KindAck}))
	}
	if h.stats.Offences > 0 {
		t.Errorf("%d offences within the rate", h.stats.Offences)
	}
	h.Receive(h.now, ids[0], w.Append(nil, &protocol.Message{Kind: protocol.KindAck}))
	if h.stats.Offences != 1 {
		t.Errorf("message 601 at once: got %d offences, want 1", h.stats.Offences)
	}

	large := protocol.Message{Kind: protocol.KindCommand, Command: 99, Bytes: make([]byte, 16000)}
	for n := range 40 {
		large.Sequence = lockstep.Sequence(n + 1)
		h.Receive(h.now, ids[1], w.Append(nil, &large))
	}
	if got := h.stats.Rejected[lockstep.RateLimited]; got != 40-16 { // 256 KiB at once
		t.Errorf("%d of 40 commands of 16,000 bytes exceed the rate, want 24", got)
	}
}
