package host

import (
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// clientPanicked is the reason why a client is lost that has said so.
const clientPanicked = "the rules panicked on its machine"

// panicked takes what a client says of a panic of the rules on its machine. It then ends the connection, so one message is enough.
func (h *Host) panicked(p *peer, m *protocol.Message) {
	if p.panicked || m.Tick == 0 || m.Tick > h.Now() {
		h.offend(p, 0, "")
		return
	}
	p.panicked = true
	h.made.event(h.log.now(), Event{Kind: PeerPanicked, Tick: m.Tick, Peer: p.id, Player: p.seat, Text: m.Text, Stack: m.Stack})
	if h.options.Evidence && p.seat != lockstep.System {
		h.evidence.Panicked(m.Tick, p.seat, h.seats.participants(), &record.Panic{Where: m.Field, Text: m.Text, Stack: m.Stack})
		h.settle()
	}
}
